// Arrays of NumPy as vectors of the core, and checks of what they hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "arrays.hpp"  // IWYU pragma: keep

namespace localsvm {

template <class T, class... Config>
std::vector<std::remove_const_t<T>> copied(const nb::ndarray<T, Config...>& array) {
    return {array.data(), array.data() + array.size()};
}

inline bool are_starts(const std::vector<std::int64_t>& start, std::size_t count,
                       std::size_t end) {
    return start.size() == count + 1 && start.front() == 0 &&
           std::is_sorted(start.begin(), start.end()) &&
           static_cast<std::size_t>(start.back()) == end;
}

}  // namespace localsvm
