// The code of bins that the additive SVM is linear in, and the blocks of its Hessian.
//
// A column has B bins, of which the first m are ordered and the others have an indicator
// each. The ordered ones share m - 1 steps: step j is +s in the bins after bin j and -s
// in those up to it, s = 1 / sqrt(c (m - 1)); an indicator is 1 / sqrt(c); c is the
// number of columns that have more than one bin of positive weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "localsvm/bins.hpp"

namespace localsvm::detail {

using Doubles = std::vector<double>;

// r of the primal.
constexpr double kBiasPenalty = 1e-3;

inline double dot(const Doubles& a, const Doubles& b) {
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
    return sum;
}

// Weights of the code and tables of the bins, and how one becomes the other.
class StepCode {
  public:
    // `mass`: weight of the rows in each bin, column after column.
    StepCode(const std::int32_t* n_bins, const std::int32_t* n_ordered,
             std::int64_t n_cols, const Doubles& mass)
        : bin_start_{0}, weight_start_{0} {
        std::int64_t n_varying = 0;
        for (std::int64_t k = 0; k < n_cols; ++k) {
            const double* own = mass.data() + bin_start_.back();
            n_varying += std::count_if(own, own + n_bins[k],
                                       [](double value) { return value > 0; }) > 1;
            n_steps_.push_back(std::max(0, n_ordered[k] - 1));
            n_ordered_.push_back(n_ordered[k]);
            bin_start_.push_back(bin_start_.back() + n_bins[k]);
            weight_start_.push_back(weight_start_.back() + n_steps_.back() + n_bins[k] -
                                    n_ordered[k]);
        }
        indicator_ =
            1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, n_varying)));
    }

    std::int64_t n_cols() const { return static_cast<std::int64_t>(n_steps_.size()); }
    std::int64_t n_bins() const { return bin_start_.back(); }
    std::int64_t bin_start(std::int64_t k) const { return bin_start_[index(k)]; }
    // Weights of the code; the bias comes after them.
    std::int64_t n_weights() const { return weight_start_.back(); }

    std::int64_t weight_start(std::int64_t k) const { return weight_start_[index(k)]; }
    std::int64_t n_steps(std::int64_t k) const { return n_steps_[index(k)]; }
    std::int64_t n_ordered(std::int64_t k) const { return n_ordered_[index(k)]; }
    std::int64_t width(std::int64_t k) const { return bin_start(k + 1) - bin_start(k); }
    // Size of the entries of the code.
    double indicator() const { return indicator_; }
    double step(std::int64_t k) const {
        return n_steps(k) ? indicator_ / std::sqrt(static_cast<double>(n_steps(k)))
                          : 0.0;
    }

    void tables(const double* weights, double* table) const {
        for (std::int64_t k = 0; k < n_cols(); ++k) {
            const double* w = weights + weight_start(k);
            double* out = table + bin_start(k);
            const std::int64_t n_steps = this->n_steps(k);
            const double size = step(k);
            double sum = 0;
            for (std::int64_t j = 0; j < n_steps; ++j) sum -= w[j];
            for (std::int64_t j = 0; j < n_ordered_[index(k)]; ++j) {
                out[j] = size * sum;
                if (j < n_steps) sum += 2 * w[j];
            }
            const double* own = w + n_steps;
            for (std::int64_t j = n_ordered(k); j < width(k); ++j)
                out[j] = indicator_ * *own++;
        }
    }

    // The transposed map, of one column.
    void gather(std::int64_t k, const double* histogram, double* weights) const {
        double* w = weights + weight_start(k);
        const std::int64_t n_steps = this->n_steps(k);
        const std::int64_t n_ordered = this->n_ordered(k);
        const double size = step(k);
        double sum = 0;
        for (std::int64_t j = 0; j < n_ordered; ++j) sum += histogram[j];
        for (std::int64_t j = 0; j < n_steps; ++j) {
            sum -= 2 * histogram[j];
            w[j] = size * sum;
        }
        for (std::int64_t j = n_ordered; j < width(k); ++j)
            w[n_steps + j - n_ordered] = indicator_ * histogram[j];
    }

  private:
    static std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

    std::vector<std::int64_t> n_steps_, n_ordered_, bin_start_, weight_start_;
    double indicator_;
};

// n_bins, n_ordered: of each column.
template <class Code>
StepCode step_code(const BinCodes<Code>& rows, const std::int32_t* n_bins,
                   const std::int32_t* n_ordered, const double* weight) {
    Doubles mass;
    for (std::int64_t k = 0; k < rows.n_cols; ++k) {
        const Doubles own = weigh_bins(rows.column(k), weight, rows.n_rows, n_bins[k]);
        mass.insert(mass.end(), own.begin(), own.end());
    }
    return StepCode(n_bins, n_ordered, rows.n_cols, mass);
}

// The Hessian without what couples the columns: blocks A_k = I + Z_k' W Z_k, W the
// curvatures of the rows, for columns whose mean by W is taken out.
//
// Without their means they are free of the bias: b + sum_k mean_k . w_k takes its
// place. The block of the centred column is A_k - c_k c_k' / h with c_k = Z_k' W 1,
// h = 1' W 1, and inverted by the formula of Sherman and Morrison.
//
// A_k of the ordered bins: for their table F, w_j = (F_j+1 - F_j) / (2 s) and F_0 +
// F_m-1 = 0, so that A w = r are the conditions of
//     min_F |w|^2 / 2 + sum_j H_j F_j^2 / 2 - r . w,   F_0 + F_m-1 = 0,
// a tridiagonal system with one Lagrange multiplier: O(bins).
class ColumnBlocks {
  public:
    explicit ColumnBlocks(const StepCode& code)
        : code_(code),
          columns_(static_cast<std::size_t>(code.n_cols())),
          cross_(static_cast<std::size_t>(code.n_weights())),
          solved_(cross_.size()) {}

    // `histogram`: sum of W in the bins of column k. Columns may be set by any thread.
    void set(std::int64_t k, const double* histogram) {
        columns_[static_cast<std::size_t>(k)] = Column(code_, k, histogram);
        code_.gather(k, histogram, cross_.data());
        solve_column(k, cross_.data(), solved_.data());
    }

    void finish(double total_curvature) {
        total_ = std::max(total_curvature, std::numeric_limits<double>::min());
        for (std::int64_t k = 0; k < code_.n_cols(); ++k)
            columns_[static_cast<std::size_t>(k)].left =
                total_ - dot_column(k, cross_.data(), solved_.data());
    }

    // The bias is the last entry of both.
    void solve(const Doubles& residual, Doubles& out) const {
        Doubles own(residual.begin(), residual.end() - 1);
        const double bias = residual.back();
        for (std::size_t j = 0; j < own.size(); ++j)
            own[j] -= bias * cross_[j] / total_;
        out.back() = bias / (total_ + kBiasPenalty);
        for (std::int64_t k = 0; k < code_.n_cols(); ++k) {
            solve_column(k, own.data(), out.data());
            const double left = columns_[static_cast<std::size_t>(k)].left;
            const double along = dot_column(k, cross_.data(), out.data());
            if (left > kTiny * total_)
                for (std::int64_t j = code_.weight_start(k);
                     j < code_.weight_start(k + 1); ++j)
                    out[static_cast<std::size_t>(j)] +=
                        solved_[static_cast<std::size_t>(j)] * along / left;
            out.back() -= dot_column(k, cross_.data(), out.data()) / total_;
        }
    }

  private:
    static constexpr double kTiny = 1e-10;

    // The tridiagonal matrix as L D L', and what it makes of e_0 + e_m-1.
    struct Column {
        Column() = default;
        Column(const StepCode& code, std::int64_t k, const double* histogram)
            : step(code.step(k)), width_of_steps(code.n_steps(k)) {
            for (std::int64_t j = code.n_ordered(k); j < code.width(k); ++j)
                indicators.push_back(1 + code.indicator() * code.indicator() *
                                             histogram[j]);
            double sum = 0;
            for (std::int64_t j = 0; j < code.n_ordered(k); ++j) sum += histogram[j];
            if (width_of_steps == 0 || !(sum * step * step > kTiny)) return;
            factor(histogram);
            multiplier.assign(pivots.size(), 0.0);
            multiplier.front() += 1;
            multiplier.back() += 1;
            substitute(multiplier);
        }

        void factor(const double* histogram) {
            const double slack = 1 / (4 * step * step);
            for (std::int64_t j = 0; j <= width_of_steps; ++j) {
                double pivot = histogram[j] + slack;
                if (j > 0 && j < width_of_steps) pivot += slack;
                if (j > 0) {
                    factors.push_back(-slack / pivots.back());
                    pivot += slack * factors.back();
                }
                pivots.push_back(pivot);
            }
        }

        void substitute(Doubles& values) const {
            const std::size_t n = values.size();
            for (std::size_t j = 1; j < n; ++j)
                values[j] -= factors[j - 1] * values[j - 1];
            for (std::size_t j = 0; j < n; ++j) values[j] /= pivots[j];
            for (std::size_t j = n - 1; j > 0; --j)
                values[j - 1] -= factors[j - 1] * values[j];
        }

        void solve_steps(const double* r, double* w) const {
            if (pivots.empty()) {
                std::copy_n(r, width_of_steps, w);
                return;
            }
            Doubles table(pivots.size());
            for (std::int64_t j = 0; j < width_of_steps; ++j) {
                table[static_cast<std::size_t>(j)] -= r[j] / (2 * step);
                table[static_cast<std::size_t>(j) + 1] += r[j] / (2 * step);
            }
            substitute(table);
            const double share = (table.front() + table.back()) /
                                 (multiplier.front() + multiplier.back());
            for (std::size_t j = 0; j < table.size(); ++j)
                table[j] -= share * multiplier[j];
            for (std::int64_t j = 0; j < width_of_steps; ++j)
                w[j] = (table[static_cast<std::size_t>(j) + 1] -
                        table[static_cast<std::size_t>(j)]) /
                       (2 * step);
        }

        double step = 0;
        std::int64_t width_of_steps = 0;
        Doubles indicators, pivots, factors, multiplier;
        double left = 1;  // h - c' A^-1 c
    };

    void solve_column(std::int64_t k, const double* residual, double* out) const {
        const Column& own = columns_[static_cast<std::size_t>(k)];
        const std::int64_t first = code_.weight_start(k);
        own.solve_steps(residual + first, out + first);
        std::int64_t place = first + own.width_of_steps;
        for (const double diagonal : own.indicators) {
            out[place] = residual[place] / diagonal;
            ++place;
        }
    }

    double dot_column(std::int64_t k, const double* a, const double* b) const {
        double sum = 0;
        for (std::int64_t j = code_.weight_start(k); j < code_.weight_start(k + 1); ++j)
            sum += a[j] * b[j];
        return sum;
    }

    const StepCode& code_;
    std::vector<Column> columns_;
    Doubles cross_, solved_;
    double total_ = 1;
};

}  // namespace localsvm::detail
