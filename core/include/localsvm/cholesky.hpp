// Cholesky factors of small symmetric positive definite matrices, in double.
//
// A matrix is its lower triangle, by rows of n numbers; above the diagonal is anything.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "localsvm/simd.hpp"

namespace localsvm {

// A <- A + weight x x'
template <class T>
void add_outer(double weight, const T* x, std::int64_t n, double* a) {
    const auto& loops = vector_loops<T>();
    for (std::int64_t j = 0; j < n; ++j)
        if (x[j] != T(0))
            loops.axpy_wide(weight * static_cast<double>(x[j]), x, a + j * n,
                            static_cast<std::size_t>(j + 1));
}

inline void add_to_diagonal(double value, std::int64_t n, double* a) {
    for (std::int64_t j = 0; j < n; ++j) a[j * n + j] += value;
}

// A <- L with L L' = A. A pivot below what rounding leaves is replaced by that.
inline void factorise(std::int64_t n, double* a) {
    const auto& loops = vector_loops<double>();
    constexpr double least = 1e-14;
    for (std::int64_t i = 0; i < n; ++i) {
        double* row = a + i * n;
        const double diagonal = row[i];
        for (std::int64_t j = 0; j <= i; ++j) {
            const double* other = a + j * n;
            const double rest =
                row[j] - loops.dot(row, other, static_cast<std::size_t>(j));
            row[j] = j < i ? rest / other[j]
                           : std::sqrt(std::max(rest, least * std::max(diagonal, 1.0)));
        }
    }
}

// b <- A^-1 b
inline void solve_factorised(const double* factor, std::int64_t n, double* b) {
    const auto& loops = vector_loops<double>();
    for (std::int64_t i = 0; i < n; ++i) {
        const double* row = factor + i * n;
        b[i] = (b[i] - loops.dot(row, b, static_cast<std::size_t>(i))) / row[i];
    }
    for (std::int64_t i = n - 1; i >= 0; --i) {
        const double* row = factor + i * n;
        b[i] /= row[i];
        loops.axpy(-b[i], row, b, static_cast<std::size_t>(i));
    }
}

// sum <- sum - A^-1; `inverse` is n x n work space, for L^-1.
inline void subtract_inverse(const double* factor, std::int64_t n, double* inverse,
                             double* sum) {
    const auto& loops = vector_loops<double>();
    for (std::int64_t i = 0; i < n; ++i) {
        const double* row = factor + i * n;
        double* own = inverse + i * n;
        std::fill(own, own + i, 0.0);
        own[i] = 1;
        for (std::int64_t j = 0; j < i; ++j)
            loops.axpy(-row[j], inverse + j * n, own, static_cast<std::size_t>(j + 1));
        for (std::int64_t j = 0; j <= i; ++j) own[j] /= row[i];
        for (std::int64_t j = 0; j <= i; ++j)
            loops.axpy(-own[j], own, sum + j * n, static_cast<std::size_t>(j + 1));
    }
}

}  // namespace localsvm
