// Non-owning views of a row matrix: dense (C order) and CSR.
//
// Both offer the same row operations, so each solver is one template. `W` is the
// type of the weights: the type of the data while iterating, double for certificates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "localsvm/aligned.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

// Scrambles one word (the finaliser of splitmix64).
inline std::uint64_t scramble(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// A running hash of the non-zero entries of a row: equal numbers in equal columns give
// equal hashes, whatever the storage or the floating point type.
class EntryHash {
  public:
    explicit EntryHash(std::uint64_t seed) : state_(scramble(seed)) {}

    template <class T>
    void add(std::uint64_t column, T value) {
        const double wide = static_cast<double>(value);
        std::uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        bits ^= column * 0x9e3779b97f4a7c15ULL;
        state_ = (((state_ << 23) | (state_ >> 41)) ^ bits) * 0xbf58476d1ce4e5b9ULL;
    }
    std::uint64_t value() const { return scramble(state_); }

  private:
    std::uint64_t state_;
};

template <class T>
class DenseRows {
  public:
    using value_type = T;
    static constexpr bool is_dense = true;

    DenseRows(const T* data, std::int64_t n_rows, std::int64_t n_cols)
        : data_(data), n_rows_(n_rows), n_cols_(n_cols), loops_(&vector_loops<T>()) {}

    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_cols() const { return n_cols_; }

    // Asks for the first lines of a row; the hardware follows with the rest.
    void prefetch(std::int64_t i) const {
        constexpr std::int64_t per_line = cache_line / sizeof(T);
        for (std::int64_t j = 0; j < std::min<std::int64_t>(n_cols_, 4 * per_line);
             j += per_line)
            __builtin_prefetch(row(i) + j);
        // A row rarely begins with a line, so it may reach into one more.
        __builtin_prefetch(row(i) + std::min<std::int64_t>(n_cols_, 4 * per_line) - 1);
    }
    T dot(std::int64_t i, const T* w) const {
        return loops_->dot(row(i), w, static_cast<std::size_t>(n_cols_));
    }
    double dot_wide(std::int64_t i, const double* w) const {
        return loops_->dot_wide(row(i), w, static_cast<std::size_t>(n_cols_));
    }
    void axpy(std::int64_t i, T a, T* w) const {
        loops_->axpy(a, row(i), w, static_cast<std::size_t>(n_cols_));
    }
    void axpy_wide(std::int64_t i, double a, double* w) const {
        loops_->axpy_wide(a, row(i), w, static_cast<std::size_t>(n_cols_));
    }
    void copy(std::int64_t i, T* out) const {
        std::copy(row(i), row(i) + n_cols_, out);
    }
    const T* row(std::int64_t i) const { return data_ + i * n_cols_; }
    const VectorLoops<T>& loops() const { return *loops_; }
    double squared_norm(std::int64_t i) const {
        double sum = 0;
        for (std::int64_t j = 0; j < n_cols_; ++j)
            sum += static_cast<double>(row(i)[j]) * static_cast<double>(row(i)[j]);
        return sum;
    }
    std::uint64_t hash(std::int64_t i, std::uint64_t seed) const {
        EntryHash hash(seed);
        for (std::int64_t j = 0; j < n_cols_; ++j)
            if (row(i)[j] != T(0)) hash.add(static_cast<std::uint64_t>(j), row(i)[j]);
        return hash.value();
    }

  private:
    const T* data_;
    std::int64_t n_rows_, n_cols_;
    const VectorLoops<T>* loops_;
};

// CSR without duplicate entries; the columns of a row are in ascending order.
template <class T, class Index>
class CsrRows {
  public:
    using value_type = T;
    static constexpr bool is_dense = false;

    CsrRows(const T* data, const Index* columns, const Index* row_start,
            std::int64_t n_rows, std::int64_t n_cols)
        : data_(data),
          columns_(columns),
          row_start_(row_start),
          n_rows_(n_rows),
          n_cols_(n_cols) {}

    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_cols() const { return n_cols_; }

    void prefetch(std::int64_t i) const {
        __builtin_prefetch(data_ + row_start_[i]);
        __builtin_prefetch(columns_ + row_start_[i]);
    }
    T dot(std::int64_t i, const T* w) const { return gather<T>(i, w); }
    double dot_wide(std::int64_t i, const double* w) const {
        return gather<double>(i, w);
    }
    void axpy(std::int64_t i, T a, T* w) const { scatter<T>(i, a, w); }
    void axpy_wide(std::int64_t i, double a, double* w) const {
        scatter<double>(i, a, w);
    }
    double squared_norm(std::int64_t i) const {
        double sum = 0;
        for (Index p = row_start_[i]; p < row_start_[i + 1]; ++p)
            sum += static_cast<double>(data_[p]) * static_cast<double>(data_[p]);
        return sum;
    }
    double absolute_norm(std::int64_t i) const {
        double sum = 0;
        for (Index p = row_start_[i]; p < row_start_[i + 1]; ++p)
            sum += std::abs(static_cast<double>(data_[p]));
        return sum;
    }
    // sum_j |x_j - w_j| for a w of the given sum of |w_j|. What the columns of the row
    // add to the sum is summed in their order, as the norm is: equal rows are at 0.
    double absolute_distance(std::int64_t i, const double* w, double norm) const {
        double apart = 0, shared = 0;
        for (Index p = row_start_[i]; p < row_start_[i + 1]; ++p) {
            const double other = w[columns_[p]];
            apart += std::abs(static_cast<double>(data_[p]) - other);
            shared += std::abs(other);
        }
        return apart + std::max(0.0, norm - shared);
    }
    std::uint64_t hash(std::int64_t i, std::uint64_t seed) const {
        EntryHash hash(seed);
        for (Index p = row_start_[i]; p < row_start_[i + 1]; ++p)
            if (data_[p] != T(0))
                hash.add(static_cast<std::uint64_t>(columns_[p]), data_[p]);
        return hash.value();
    }

  private:
    template <class W>
    W gather(std::int64_t i, const W* w) const {
        W sum = 0;
        for (Index p = row_start_[i]; p < row_start_[i + 1]; ++p)
            sum += static_cast<W>(data_[p]) * w[columns_[p]];
        return sum;
    }
    template <class W>
    void scatter(std::int64_t i, W a, W* w) const {
        for (Index p = row_start_[i]; p < row_start_[i + 1]; ++p)
            w[columns_[p]] += a * static_cast<W>(data_[p]);
    }

    const T* data_;
    const Index* columns_;
    const Index* row_start_;
    std::int64_t n_rows_, n_cols_;
};

// Rows of another matrix by their numbers, each as often as it is named. The squared
// norms of all rows of that matrix are given, since they outlive many choices of rows.
template <class Rows>
class PickedRows {
  public:
    using value_type = typename Rows::value_type;
    static constexpr bool is_dense = Rows::is_dense;

    PickedRows(const Rows& rows, const std::int64_t* row_of, std::int64_t count,
               const double* squared_norms)
        : rows_(rows), row_of_(row_of), count_(count), squared_norms_(squared_norms) {}

    std::int64_t n_rows() const { return count_; }
    std::int64_t n_cols() const { return rows_.n_cols(); }

    void prefetch(std::int64_t i) const { rows_.prefetch(row_of_[i]); }
    value_type dot(std::int64_t i, const value_type* w) const {
        return rows_.dot(row_of_[i], w);
    }
    double dot_wide(std::int64_t i, const double* w) const {
        return rows_.dot_wide(row_of_[i], w);
    }
    void axpy(std::int64_t i, value_type a, value_type* w) const {
        rows_.axpy(row_of_[i], a, w);
    }
    void axpy_wide(std::int64_t i, double a, double* w) const {
        rows_.axpy_wide(row_of_[i], a, w);
    }
    double squared_norm(std::int64_t i) const { return squared_norms_[row_of_[i]]; }

  private:
    Rows rows_;
    const std::int64_t* row_of_;
    std::int64_t count_;
    const double* squared_norms_;
};

}  // namespace localsvm
