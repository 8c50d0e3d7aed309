// The vector loops that every solver spends its time in.
//
// They are compiled once per instruction set (simd_loops.cpp) and chosen once at run
// time (simd_dispatch.cpp). Sums run over a fixed number of lanes, so a result depends
// on the instruction set and on nothing else.
#pragma once

#include <cstddef>

namespace localsvm {

template <class T>
struct VectorLoops {
    T (*dot)(const T* x, const T* w, std::size_t n);
    double (*dot_wide)(const T* x, const double* w, std::size_t n);
    void (*axpy)(T a, const T* x, T* w, std::size_t n);
    void (*axpy_wide)(double a, const T* x, double* w, std::size_t n);
    // sum_s c[s] (x . w[s]), and w[s] += a c[s] x for every s
    T (*dot_mix)(const T* x, const T* const* w, const T* c, std::size_t m,
                 std::size_t n);
    void (*axpy_mix)(T a, const T* x, T* const* w, const T* c, std::size_t m,
                     std::size_t n);
};

template <class T>
const VectorLoops<T>& vector_loops();

template <>
const VectorLoops<float>& vector_loops<float>();
template <>
const VectorLoops<double>& vector_loops<double>();

}  // namespace localsvm
