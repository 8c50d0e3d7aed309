// Linear SVMs in regions, one row at a time: the nearest few centres, what each of them
// counts, and the sum of their linear functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "localsvm/decision.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/row_models.hpp"
#include "localsvm/simd.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

enum class RegionCoding : std::int32_t {
    hard = 0,               // the nearest one
    softmax = 1,            // exp(-tau d^2) less the cut, of unit l2 norm
    inverse_distance = 2,   // 1 / d, of sum one
    local_coordinates = 3,  // the least squares of x by its centres, of sum one
};

// Where the regions are, and how a row is coded by them.
struct RegionCode {
    RegionCoding coding;
    std::int64_t n_nearest;
    double tau;              // of the softmax
    double cut;              // what its weights lack, the largest being one
    double ridge, close_to;  // of the coordinates
    std::int64_t n_cols;
    std::vector<double> centers;  // regions x columns

    std::int64_t n_regions() const {
        return static_cast<std::int64_t>(centers.size()) / n_cols;
    }
    bool of_distances() const {
        return coding == RegionCoding::inverse_distance ||
               coding == RegionCoding::local_coordinates;
    }
};

namespace detail {

// Scores of centres that order them by distance: |x - c|^2 less what all have in common.
template <class S>
class CenterScores {
  public:
    explicit CenterScores(const RegionCode& code)
        : middle_(unsigned_of(code.n_cols)),
          slope_(code.centers.size()),
          offset_(unsigned_of(code.n_regions())) {
        const auto n = unsigned_of(code.n_cols);
        for (std::size_t place = 0; place < code.centers.size(); ++place)
            middle_[place % n] += code.centers[place];
        for (double& value : middle_) value /= static_cast<double>(code.n_regions());
        for (std::size_t l = 0; l < offset_.size(); ++l) {
            double offset = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const double moved = code.centers[l * n + j] - middle_[j];
                slope_[l * n + j] = static_cast<S>(-2 * moved);
                offset += moved * (moved + 2 * middle_[j]);
            }
            offset_[l] = static_cast<S>(offset);
            rows_.push_back(nullptr);
        }
        for (std::size_t l = 0; l < offset_.size(); ++l)
            rows_[l] = slope_.data() + l * n;
    }
    CenterScores(const CenterScores&) = delete;
    CenterScores& operator=(const CenterScores&) = delete;

    void fill(const S* row, S* scores) const {
        vector_loops<S>().dots(row, rows_.data(), rows_.size(), middle_.size(), scores);
        for (std::size_t l = 0; l < offset_.size(); ++l) scores[l] += offset_[l];
    }
    const std::vector<double>& middle() const { return middle_; }

  private:
    std::vector<double> middle_;
    std::vector<S> slope_, offset_;
    std::vector<const S*> rows_;
};

// Solves a x = b in place by Gauss's elimination; a is n x n, b the result.
inline void solve_in_place(double* a, double* b, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
        std::int64_t pivot = k;
        for (std::int64_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
        if (pivot != k) {
            std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
            std::swap(b[k], b[pivot]);
        }
        for (std::int64_t i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (std::int64_t j = k + 1; j < n; ++j)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (std::int64_t k = n; k-- > 0;) {
        for (std::int64_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

}  // namespace detail

template <class T>
class RegionRows final : public RowModel<T> {
  public:
    // coef: (regions + 1) x outputs x columns, intercept: (regions + 1) x outputs; the
    // last node gets what the others of a row leave of one.
    RegionRows(RegionCode code, std::vector<T> coef, std::vector<T> intercept)
        : code_(std::move(code)),
          coef_(std::move(coef)),
          intercept_(std::move(intercept)),
          narrow_(code_),
          wide_(code_) {
        const auto is_set = [](T value) { return value != 0; };
        const auto from = [&](const std::vector<T>& nodes, std::int64_t size) {
            return std::any_of(nodes.end() - size, nodes.end(), is_set);
        };
        has_rest_ =
            from(coef_, n_outputs() * code_.n_cols) || from(intercept_, n_outputs());
        if (code_.coding == RegionCoding::local_coordinates) measure_between();
    }

    std::int64_t n_cols() const override { return code_.n_cols; }
    std::int64_t n_outputs() const override {
        return static_cast<std::int64_t>(intercept_.size()) / n_nodes();
    }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*this);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const RegionRows& model)
            : model_(model),
              n_(model.code_.n_nearest),
              nodes_(detail::unsigned_of(n_ + 1)),
              weights_(detail::unsigned_of(n_ + 1)),
              scores_(detail::unsigned_of(model.code_.n_regions())),
              nearest_(detail::unsigned_of(n_)),
              decisions_(detail::unsigned_of(model.n_outputs())) {
            if (!model.code_.of_distances()) return;
            wide_row_.resize(detail::unsigned_of(model.code_.n_cols));
            wide_scores_.resize(scores_.size());
            squared_.resize(nearest_.size());
            gram_.resize(detail::unsigned_of(n_ * n_));
        }
        void decide(const T* row, double* out) override {
            if (model_.code_.of_distances())
                code_by_distances(row);
            else
                code_by_scores(row);
            std::int64_t used = n_;
            T sum = 0;
            for (std::int64_t s = 0; s < n_; ++s) sum += weights_[at(s)];
            const T rest = T(1) - sum;
            if (model_.has_rest_ && rest != 0) {
                nodes_[at(n_)] = static_cast<std::int32_t>(model_.code_.n_regions());
                weights_[at(n_)] = rest;
                ++used;
            }
            decide_rows(
                DenseRows<T>(row, 1, model_.code_.n_cols),
                Codes<T>{nodes_.data(), weights_.data(), used, model_.n_nodes()},
                PiecewiseLinear<T>{model_.coef_.data(), model_.intercept_.data(),
                                   model_.n_outputs()},
                0, 1, decisions_.data());
            std::copy(decisions_.begin(), decisions_.end(), out);
        }

      private:
        static std::size_t at(std::int64_t s) { return detail::unsigned_of(s); }

        void code_by_scores(const T* row) {
            model_.narrow_.fill(row, scores_.data());
            smallest_scores(scores_.data(), 1, model_.code_.n_regions(), n_,
                            nodes_.data(), nearest_.data());
            weights_[0] = T(1);
            if (model_.code_.coding == RegionCoding::hard) return;
            const T tau = static_cast<T>(-model_.code_.tau);
            const T cut = static_cast<T>(model_.code_.cut);
            T squares = 0;
            for (std::int64_t s = 0; s < n_; ++s) {
                const T weight = std::exp(tau * (nearest_[at(s)] - nearest_[0]));
                weights_[at(s)] = std::max(weight - cut, T(0));
                squares += weights_[at(s)] * weights_[at(s)];
            }
            const T norm = std::sqrt(squares);
            for (std::int64_t s = 0; s < n_; ++s) weights_[at(s)] /= norm;
        }
        void code_by_distances(const T* row) {
            measure(row);
            std::vector<double>& weights = wide_scores_;  // their room is free again
            if (model_.code_.coding == RegionCoding::inverse_distance)
                for (std::int64_t s = 0; s < n_; ++s)
                    weights[at(s)] =
                        squared_[at(s)] > 0
                            ? std::sqrt(squared_[0]) / std::sqrt(squared_[at(s)])
                            : 1.0;
            else
                fit_coordinates(weights);
            double sum = 0;
            for (std::int64_t s = 0; s < n_; ++s) sum += weights[at(s)];
            for (std::int64_t s = 0; s < n_; ++s)
                weights_[at(s)] = static_cast<T>(weights[at(s)] / sum);
        }
        // Nearest centres of the row, and the squared distances to them.
        void measure(const T* row) {
            const RegionCode& code = model_.code_;
            double own = 0;
            for (std::size_t j = 0; j < wide_row_.size(); ++j) {
                wide_row_[j] = static_cast<double>(row[j]);
                const double moved = wide_row_[j] - model_.wide_.middle()[j];
                own += moved * moved;
            }
            model_.wide_.fill(wide_row_.data(), wide_scores_.data());
            smallest_scores(wide_scores_.data(), 1, code.n_regions(), n_, nodes_.data(),
                            squared_.data());
            for (double& value : squared_) value = std::max(0.0, own + value);
            // Small differences of large numbers are measured again.
            if (!(squared_.front() <= code.close_to * squared_.back())) return;
            for (std::int64_t s = 0; s < n_; ++s) {
                const double* center =
                    code.centers.data() + nodes_[at(s)] * code.n_cols;
                double sum = 0;
                for (std::size_t j = 0; j < wide_row_.size(); ++j) {
                    const double step = wide_row_[j] - center[j];
                    sum += step * step;
                }
                squared_[at(s)] = sum;
            }
        }
        void fit_coordinates(std::vector<double>& solved) {
            double trace = 0;
            for (const double value : squared_) trace += value;
            const double scale = trace > 0 ? trace : 1.0;
            for (std::int64_t s = 0; s < n_; ++s)
                for (std::int64_t t = 0; t < n_; ++t) {
                    const double between = model_.between_[at(
                        nodes_[at(s)] * model_.code_.n_regions() + nodes_[at(t)])];
                    gram_[at(s * n_ + t)] =
                        (squared_[at(s)] + squared_[at(t)] - between) / 2 / scale +
                        (s == t ? model_.code_.ridge : 0.0);
                }
            std::fill(solved.begin(), solved.end(), 1.0);
            detail::solve_in_place(gram_.data(), solved.data(), n_);
        }

        const RegionRows& model_;
        std::int64_t n_;
        std::vector<std::int32_t> nodes_;
        std::vector<T> weights_, scores_, nearest_, decisions_;
        std::vector<double> wide_row_, wide_scores_, squared_, gram_;
    };

    std::int64_t n_nodes() const { return code_.n_regions() + 1; }
    void measure_between() {
        const std::int64_t n = code_.n_regions();
        between_.resize(detail::unsigned_of(n * n));
        for (std::int64_t s = 0; s < n; ++s)
            for (std::int64_t t = 0; t < n; ++t) {
                double sum = 0;
                for (std::int64_t j = 0; j < code_.n_cols; ++j) {
                    const double step =
                        code_.centers[detail::unsigned_of(s * code_.n_cols + j)] -
                        code_.centers[detail::unsigned_of(t * code_.n_cols + j)];
                    sum += step * step;
                }
                between_[detail::unsigned_of(s * n + t)] = sum;
            }
    }

    RegionCode code_;
    std::vector<T> coef_, intercept_;
    detail::CenterScores<T> narrow_;
    detail::CenterScores<double> wide_;
    bool has_rest_ = false;
    std::vector<double> between_;
};

}  // namespace localsvm
