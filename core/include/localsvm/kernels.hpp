// Kernels as a function of one number per pair of rows, so that the numbers can be
// shared by kernels that differ in their parameters:
//
//   linear      x . z
//   polynomial  (gamma x . z + coef0)^degree    homogeneous if coef0 = 0
//   rbf         exp(-gamma |x - z|^2)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/matrix.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

enum class KernelKind : std::int32_t { linear = 0, polynomial = 1, rbf = 2 };

struct Kernel {
    KernelKind kind = KernelKind::linear;
    double gamma = 1;
    double coef0 = 0;
    int degree = 3;

    // Of squared distances if true, of inner products if not.
    bool of_distances() const { return kind == KernelKind::rbf; }

    // Turns the numbers of n pairs into kernel values, in place.
    template <class T>
    void apply(T* values, std::int64_t n) const {
        const VectorLoops<T>& loops = vector_loops<T>();
        const auto count = static_cast<std::size_t>(n);
        if (kind == KernelKind::rbf)
            loops.exponentials(static_cast<T>(-gamma), values, count);
        else if (kind == KernelKind::polynomial)
            loops.powers(static_cast<T>(gamma), static_cast<T>(coef0), degree, values,
                         count);
    }
};

// Inner products, or squared distances, of one row with a list of rows.
// Distances are sums of squared differences where the rows are dense: they do not
// suffer when the data lie far from the origin.
template <class Rows>
class RowComparison;

template <class T>
class RowComparison<DenseRows<T>> {
  public:
    RowComparison(const DenseRows<T>& rows, bool distances)
        : rows_(rows),
          compare_(distances ? rows.loops().squared_distances : rows.loops().dots) {}

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

    RowComparison(const Rows& rows, bool distances)
        : rows_(rows),
          distances_(distances),
          dense_(static_cast<std::size_t>(rows.n_cols())) {}

    template <class RowIndex>
    void set_targets(const RowIndex* index, std::int64_t count) {
        targets_.assign(index, index + count);
        norms_.clear();
        if (!distances_) return;
        for (const std::int64_t t : targets_) norms_.push_back(rows_.squared_norm(t));
    }
    void compare(const Rows& queries, std::int64_t i, std::int64_t first,
                 std::int64_t last, T* out) {
        queries.axpy_wide(i, 1.0, dense_.data());
        const double norm = distances_ ? queries.squared_norm(i) : 0;
        for (std::int64_t t = first; t < last; ++t) {
            const auto target = static_cast<std::size_t>(t);
            const double product = rows_.dot_wide(targets_[target], dense_.data());
            out[t - first] = static_cast<T>(
                distances_ ? std::max(0.0, norm + norms_[target] - 2 * product)
                           : product);
        }
        queries.axpy_wide(i, -1.0, dense_.data());
    }

  private:
    Rows rows_;
    bool distances_;
    std::vector<double> dense_;  // the query; zeros between calls
    std::vector<std::int64_t> targets_;
    std::vector<double> norms_;
};

}  // namespace localsvm
