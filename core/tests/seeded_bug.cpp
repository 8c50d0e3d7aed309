// Does what a sanitizer must report: `heap`, `overflow` or `race`.
#include <atomic>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "localsvm/matrix.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"

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

// Two threads add to one number. Both are at work when they do.
int race() {
    int sum = 0;
    std::atomic<int> n_started{0};
    localsvm::StopFlag stop;
    localsvm::run_tasks(2, 2, localsvm::Watch{}, stop, [&](std::int64_t, std::int64_t) {
        n_started.fetch_add(1, std::memory_order_relaxed);
        while (n_started.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
        sum += 1;
    });
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string bug = argc > 1 ? argv[1] : "";
    if (bug == "heap") std::cout << read_past_the_last_row() << std::endl;
    if (bug == "overflow") std::cout << overflow() << std::endl;
    if (bug == "race") std::cout << race() << std::endl;
}
