// Buffers whose rows begin on cache lines: a vector load then touches one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace localsvm {

inline constexpr std::size_t cache_line = 64;

template <class T>
struct CacheLineAllocator {
    using value_type = T;

    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}

    T* allocate(std::size_t n) {
        return static_cast<T*>(
            ::operator new(n * sizeof(T), std::align_val_t(cache_line)));
    }
    void deallocate(T* p, std::size_t) {
        ::operator delete(p, std::align_val_t(cache_line));
    }
    template <class U>
    bool operator==(const CacheLineAllocator<U>&) const {
        return true;
    }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

template <class T>
std::int64_t rounded_up(std::int64_t n, std::size_t bytes) {
    const std::int64_t unit = static_cast<std::int64_t>(bytes / sizeof(T));
    return (n + unit - 1) / unit * unit;
}

// Length of a row of n numbers that ends with a cache line.
template <class T>
std::int64_t padded(std::int64_t n) {
    return rounded_up<T>(n, cache_line);
}

// Length that leaves no remainder to the vector loops; at most the padded one.
template <class T>
std::int64_t whole_vectors(std::int64_t n) {
    return rounded_up<T>(n, cache_line / 2);
}

}  // namespace localsvm
