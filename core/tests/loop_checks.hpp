// What the tests of vector loops share: every instruction set, every length, and memory
// that ends where the numbers do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "instruction_sets.hpp"
#include "problem.hpp"

namespace localsvm::testing {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double wide_unit = std::numeric_limits<double>::epsilon();

template <class T>
inline constexpr double unit = std::numeric_limits<T>::epsilon();

// Calls test(loops) for every instruction set of this CPU.
template <class T, class Test>
void for_each_set(const std::string& what, const Test& test) {
    for (const auto& [name, loops] : instruction_sets<T>()) {
        check::context =
            what + ", " + name + ", " + std::to_string(sizeof(T)) + " bytes";
        test(*loops);
    }
}

// Numbers whose memory ends with the last of them and begins `offset` entries before
// the first: a sanitizer sees every step over the end.
template <class T>
class Placed {
  public:
    Placed(const std::vector<T>& values, std::size_t offset)
        : memory_(offset + values.size()), offset_(offset) {
        std::copy(values.begin(), values.end(), data());
    }
    T* data() { return memory_.data() + offset_; }
    const T* data() const { return memory_.data() + offset_; }

  private:
    std::vector<T> memory_;
    std::size_t offset_;
};

template <class T>
Placed<T> random_placed(std::int64_t n, std::size_t offset, Numbers& numbers) {
    return Placed<T>(random_vector<T>(n, numbers), offset);
}

inline std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> result(41);
    std::iota(result.begin(), result.end(), 0);
    result.insert(result.end(), {61, 67, 100, 257});
    return result;
}

}  // namespace localsvm::testing
