// Vectors of numbers that loops add lane by lane.
//
// Compiled once per instruction set, with LOCALSVM_ISA naming the set: only
// simd_loops.cpp includes it.
#pragma once

#include <cstddef>
#include <cstring>

namespace localsvm {
namespace LOCALSVM_ISA {

// Vectors of the compiler (GCC, Clang): `lanes` numbers that are added lane by lane, so
// a sum has one order without -ffast-math. Wider than the machine's, they are split.
template <class T>
struct Lanes {
    static constexpr std::size_t count = 32 / sizeof(T);
    typedef T Vector __attribute__((vector_size(32)));
};
template <class T>
using Vector = typename Lanes<T>::Vector;

// As wide as the machine's own, for loops in which lanes never meet: their results are
// the same at any width. Of a panel's sums, `panel_sums` vectors fit into the registers.
#ifdef __AVX512F__
constexpr std::size_t wide_bytes = 64;
constexpr std::size_t panel_sums = 16;
#else
constexpr std::size_t wide_bytes = 32;
constexpr std::size_t panel_sums = 8;
#endif
template <class T>
struct WideLanes {
    static constexpr std::size_t count = wide_bytes / sizeof(T);
    typedef T Vector __attribute__((vector_size(wide_bytes)));
};
template <class T>
using Wide = typename WideLanes<T>::Vector;

template <class W, class X>
inline Vector<W> load(const X* x) {
    if constexpr (sizeof(X) == sizeof(W)) {
        Vector<W> v;
        std::memcpy(&v, x, sizeof v);
        return v;
    } else {
        typedef X Half __attribute__((vector_size(32 / 2)));
        Half half;
        std::memcpy(&half, x, sizeof half);
        return __builtin_convertvector(half, Vector<W>);
    }
}

template <class T>
inline T total(Vector<T> v) {
    T sum = 0;
    for (std::size_t l = 0; l < Lanes<T>::count; ++l) sum += v[l];
    return sum;
}

}  // namespace LOCALSVM_ISA
}  // namespace localsvm
