// Does what a sanitizer must report: `heap` or `overflow`.
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "localsvm/matrix.hpp"

namespace {

// Row 1 of a matrix of one row, wide enough for the vector loop.
double read_past_the_last_row() {
    constexpr std::int64_t n_cols = 64;
    const std::vector<double> values(n_cols, 1.0), weights(n_cols, 1.0);
    return localsvm::DenseRows<double>(values.data(), 1, n_cols).dot(1, weights.data());
}

int overflow() {
    volatile int largest = std::numeric_limits<int>::max();
    return largest + 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string bug = argc > 1 ? argv[1] : "";
    if (bug == "heap") std::cout << read_past_the_last_row() << std::endl;
    if (bug == "overflow") std::cout << overflow() << std::endl;
}
