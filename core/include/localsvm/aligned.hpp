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

// Length of a row of n numbers, rounded up to whole cache lines.
template <class T>
std::int64_t padded(std::int64_t n) {
    constexpr std::int64_t per_line = cache_line / sizeof(T);
    return (n + per_line - 1) / per_line * per_line;
}

}  // namespace localsvm
