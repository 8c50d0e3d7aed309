// The vector loops that every solver spends its time in.
//
// They are compiled once per instruction set (simd_loops.cpp) and chosen once at run
// time (simd_dispatch.cpp). Sums run over a fixed number of lanes, so a result depends
// on the instruction set and on nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace localsvm {

// A smallest or largest entry; index -1 if there is none.
struct Extreme {
    double value;
    std::int64_t index;
};

// The second row of an SMO step, and the largest gradient among those that may fall.
struct Partner {
    std::int64_t index;
    double highest;
};

// Rows of a panel, which stand side by side: entry j of row r is panel[j * width + r].
template <class T>
inline constexpr std::size_t panel_width = 128 / sizeof(T);

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
    // out[r] = x . rows[r], out[r] = |x - rows[r]|^2 and out[r] = sum_j |x_j - rows[r]_j|,
    // for r < count
    void (*dots)(const T* x, const T* const* rows, std::size_t count, std::size_t n,
                 T* out);
    void (*squared_distances)(const T* x, const T* const* rows, std::size_t count,
                              std::size_t n, T* out);
    void (*absolute_distances)(const T* x, const T* const* rows, std::size_t count,
                               std::size_t n, T* out);
    // The same of `count` rows with those of a panel; out is count x panel_width. Each sum
    // runs over the entries in their order, so a pair has the same bits wherever it
    // stands, in every instruction set that has fused multiply-adds.
    void (*panel_dots)(const T* const* x, std::size_t count, const T* panel,
                       std::size_t n, T* out);
    void (*panel_squared_distances)(const T* const* x, std::size_t count,
                                    const T* panel, std::size_t n, T* out);
    void (*panel_absolute_distances)(const T* const* x, std::size_t count,
                                     const T* panel, std::size_t n, T* out);
    // v = exp(a v) where a v <= 0, and v = (a v + b)^degree
    void (*exponentials)(T a, T* v, std::size_t n);
    // v = the mean of exp(a v)^(2^s) over s = 0 ... 6, where a v <= 0
    void (*octaves)(T a, T* v, std::size_t n);
    void (*powers)(T a, T b, int degree, T* v, std::size_t n);
    // The loops of SMO; n is a multiple of 8. A barrier is 0 where the row may move and
    // infinite (+ for up, - for low) where it may not.
    // gradient += step (plus - minus); the smallest gradient + up
    Extreme (*move)(double step, const T* plus, const T* minus, const double* up,
                    double* gradient, std::size_t n);
    // argmax over gradient + low > lowest of (gradient - lowest)^2 / curvature,
    // curvature = corner + diagonal - 2 row  [Fan 2005, WSS 2]
    Partner (*find_partner)(double lowest, double corner, const T* row,
                            const T* diagonal, const double* gradient,
                            const double* low, std::size_t n);
};

template <class T>
const VectorLoops<T>& vector_loops();

template <>
const VectorLoops<float>& vector_loops<float>();
template <>
const VectorLoops<double>& vector_loops<double>();

}  // namespace localsvm
