// Kernels as a function of one number per pair of rows, so that the numbers can be
// shared by kernels that differ in their parameters:
//
//   linear      x . z
//   polynomial  (gamma x . z + coef0)^degree    homogeneous if coef0 = 0
//   rbf         exp(-gamma |x - z|^2)
//   laplace     1/7 sum_{s=0..6} exp(-gamma 2^s |x - z|_1)    seven widths at once
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/matrix.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

enum class KernelKind : std::int32_t {
    linear = 0,
    polynomial = 1,
    rbf = 2,
    laplace = 3
};

// The number that a kernel is a function of.
enum class Comparison { product, squared_distance, absolute_distance };

struct Kernel {
    KernelKind kind = KernelKind::linear;
    double gamma = 1;
    double coef0 = 0;
    int degree = 3;

    Comparison comparison() const {
        if (kind == KernelKind::rbf) return Comparison::squared_distance;
        if (kind == KernelKind::laplace) return Comparison::absolute_distance;
        return Comparison::product;
    }
    bool of_distances() const { return comparison() != Comparison::product; }
    // gamma for rows that are typically so far from each other. The widest of the
    // octaves of the Laplace kernel is ten times as wide as that.
    double gamma_of(double distance) const {
        return kind == KernelKind::laplace ? 0.1 / distance : 1 / distance;
    }

    // Turns the numbers of n pairs into kernel values, in place.
    template <class T>
    void apply(T* values, std::int64_t n) const {
        const VectorLoops<T>& loops = vector_loops<T>();
        const auto count = static_cast<std::size_t>(n);
        if (kind == KernelKind::rbf)
            loops.exponentials(static_cast<T>(-gamma), values, count);
        else if (kind == KernelKind::laplace)
            loops.octaves(static_cast<T>(-gamma), values, count);
        else if (kind == KernelKind::polynomial)
            loops.powers(static_cast<T>(gamma), static_cast<T>(coef0), degree, values,
                         count);
    }
};

// Inner products or distances of one row with a list of rows.
// Distances are sums of squared differences where the rows are dense: they do not
// suffer when the data lie far from the origin.
template <class Rows>
class RowComparison;

template <class T>
class RowComparison<DenseRows<T>> {
  public:
    RowComparison(const DenseRows<T>& rows, Comparison comparison)
        : rows_(rows),
          compare_(comparison == Comparison::product ? rows.loops().dots
                   : comparison == Comparison::squared_distance
                       ? rows.loops().squared_distances
                       : rows.loops().absolute_distances) {}

    // Sets the rows that `compare` compares with.
    template <class Index>
    void set_targets(const Index* index, std::int64_t count) {
        targets_.resize(static_cast<std::size_t>(count));
        for (std::int64_t t = 0; t < count; ++t)
            targets_[static_cast<std::size_t>(t)] = rows_.row(index[t]);
    }
    // Row i of `queries` with the targets first <= t < last.
    void compare(const DenseRows<T>& queries, std::int64_t i, std::int64_t first,
                 std::int64_t last, T* out) {
        compare_(queries.row(i), targets_.data() + first,
                 static_cast<std::size_t>(last - first),
                 static_cast<std::size_t>(rows_.n_cols()), out);
    }

  private:
    DenseRows<T> rows_;
    void (*compare_)(const T*, const T* const*, std::size_t, std::size_t, T*);
    std::vector<const T*> targets_;
};

template <class T, class Index>
class RowComparison<CsrRows<T, Index>> {
  public:
    using Rows = CsrRows<T, Index>;

    RowComparison(const Rows& rows, Comparison comparison)
        : rows_(rows),
          comparison_(comparison),
          dense_(static_cast<std::size_t>(rows.n_cols())) {}

    template <class RowIndex>
    void set_targets(const RowIndex* index, std::int64_t count) {
        targets_.assign(index, index + count);
        norms_.clear();
        if (comparison_ != Comparison::squared_distance) return;
        for (const std::int64_t t : targets_) norms_.push_back(rows_.squared_norm(t));
    }
    void compare(const Rows& queries, std::int64_t i, std::int64_t first,
                 std::int64_t last, T* out) {
        queries.axpy_wide(i, 1.0, dense_.data());
        const double norm =
            comparison_ == Comparison::squared_distance    ? queries.squared_norm(i)
            : comparison_ == Comparison::absolute_distance ? queries.absolute_norm(i)
                                                           : 0;
        for (std::int64_t t = first; t < last; ++t)
            out[t - first] = static_cast<T>(number(static_cast<std::size_t>(t), norm));
        queries.axpy_wide(i, -1.0, dense_.data());
    }

  private:
    double number(std::size_t target, double norm) const {
        const std::int64_t row = targets_[target];
        if (comparison_ == Comparison::absolute_distance)
            return rows_.absolute_distance(row, dense_.data(), norm);
        const double product = rows_.dot_wide(row, dense_.data());
        if (comparison_ == Comparison::product) return product;
        return std::max(0.0, norm + norms_[target] - 2 * product);
    }

    Rows rows_;
    Comparison comparison_;
    std::vector<double> dense_;  // the query; zeros between calls
    std::vector<std::int64_t> targets_;
    std::vector<double> norms_;
};

}  // namespace localsvm
