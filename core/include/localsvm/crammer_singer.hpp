// The multi-class linear SVM of Crammer and Singer on shared codes, a model for dual
// coordinate descent.
//
// Primal   min_W  1/2 |W|^2 + sum_i C_i max_r (e_ir + f_r(x_i) - f_{y_i}(x_i))
//          e_ir = 1 for r != y_i, else 0;
//          f_r(x) = sum_s c_s(x) W[r][node_s(x)] . [x; bias]
// Dual     max_a  -1/2 |W|^2 - sum_ir e_ir a_ir,   W[r] = sum_i a_ir c(x_i) [x_i; bias]
//          sum_r a_ir = 0,   a_ir <= U_ir = C_i for r = y_i, else 0
// Step     All a_ir of a row at once [Keerthi 2008, Section 3; Crammer 2002]. With
//          g_r = f_r(x_i) + e_ir and A = |c_i|^2 (|x_i|^2 + bias^2),
//              a_ir <- min(U_ir, v - b_r),   b_r = g_r / A - a_ir,
//          where the level v makes the sum 0; it is found by a scan of b_r + U_ir in
//          descending order.
// Held     max_r g_r <= min g_r over a_ir < U_ir: the row is optimal as it is.
// Shrink   Also a class rests, for one row, whose a_ir is 0 and whose g_r trails the
//          level of the row's free classes by a good part of the margin.
// Gap      of a row: C_i (max_r g_r - g_{y_i}) + sum_r a_ir g_r
//
// [Keerthi 2008] A sequential dual method for large scale multi-class linear SVMs, KDD.
// [Crammer 2002] On the learnability and design of output codes for multiclass
//                problems, Machine Learning 47 (Section 6).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

template <class Rows>
class CrammerSingerModel {
  public:
    using T = typename Rows::value_type;
    static constexpr bool drifts = sizeof(T) < sizeof(double);

    // Takes the n_problems classes of the batch as one problem.
    CrammerSingerModel(CodedWeights<Rows>& weights, const Rows& rows,
                       const Batch& batch, const StopFlag& stop)
        : weights_(weights),
          batch_(batch),
          n_rows_(rows.n_rows()),
          n_classes_(batch.n_problems),
          stop_(stop),
          curvature_(biased_squared_norms(rows, batch.bias)),
          alpha_(static_cast<std::size_t>(n_rows_ * n_classes_)),
          classes_(alpha_.size()),
          n_active_(static_cast<std::size_t>(n_rows_)),
          gradient_(static_cast<std::size_t>(n_classes_)),
          key_(gradient_.size()) {
        for (std::int64_t i = 0; i < n_rows_; ++i)
            curvature_[static_cast<std::size_t>(i)] *= weights.code_norm(i);
        for (std::size_t p = 0; p < classes_.size(); ++p)
            classes_[p] =
                static_cast<std::int32_t>(p % static_cast<std::size_t>(n_classes_));
    }

    const Blocks& blocks() const { return weights_.blocks(); }
    bool takes_part(std::int64_t i) const { return batch_.bound[i] > 0; }
    bool finite(std::int64_t i) const { return std::isfinite(curvature_[i]); }
    void restore() {
        std::fill(n_active_.begin(), n_active_.end(),
                  static_cast<std::int32_t>(n_classes_));
        complete_ = true;
    }
    bool complete() const { return complete_; }

    // Takes the start from the batch: what the classes other than the row's own lose,
    // at most C_i in all, is what its own gains.
    void clip_duals() {
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            double* alpha = duals(i);
            double lost = 0;
            for (std::int64_t r = 0; r < n_classes_; ++r) {
                alpha[r] = std::min(0.0, batch_.alpha[r * n_rows_ + i]);
                if (r == batch_.label[i]) alpha[r] = 0;
                lost -= alpha[r];
            }
            const double total = std::min(lost, batch_.bound[i]);
            for (std::int64_t r = 0; r < n_classes_ && lost > 0; ++r)
                alpha[r] *= total / lost;
            alpha[batch_.label[i]] = total;
        }
    }
    const std::vector<double>& duals() const { return alpha_; }
    void set_duals(const std::vector<double>& duals) { alpha_ = duals; }
    void store_duals() const {
        for (std::int64_t i = 0; i < n_rows_; ++i)
            for (std::int64_t r = 0; r < n_classes_; ++r)
                batch_.alpha[r * n_rows_ + i] = duals(i)[r];
    }

    void enter(std::int64_t) {}
    void leave(std::int64_t) {}
    void prefetch(std::int64_t i) const {
        __builtin_prefetch(duals(i));
        __builtin_prefetch(classes_.data() + i * n_classes_);
        __builtin_prefetch(n_active_.data() + i);
        __builtin_prefetch(batch_.bound + i);
        __builtin_prefetch(batch_.label + i);
        __builtin_prefetch(curvature_.data() + i);
        weights_.prefetch(i);
    }
    bool visit(std::int64_t i, Estimate& estimate) {
        const double* alpha = duals(i);
        const std::int32_t* classes = active(i);
        weights_.load_row(i);
        double highest = -std::numeric_limits<double>::infinity();
        double lowest = std::numeric_limits<double>::infinity();
        double own = 0, inner = 0;
        for (std::int32_t p = 0; p < n_active_[i]; ++p) {
            const std::int32_t r = classes[p];
            weights_.select_class(r);
            const bool is_own = r == batch_.label[i];
            const double g = weights_.decide_met(i) + (is_own ? 0.0 : 1.0);
            gradient_[p] = g;
            if (is_own) own = g;
            inner += alpha[r] * g;
            highest = std::max(highest, g);
            if (alpha[r] < cap(i, r)) lowest = std::min(lowest, g);
        }
        estimate.gap += batch_.bound[i] * (highest - own) + inner;
        const bool held = highest <= lowest;
        const double level = held ? lowest : step(i, highest, estimate);
        rest_classes(i, level);
        return !held;
    }

    double rebuild() {
        double linear = 0;
        weights_.rebuild([&](std::int64_t i, std::int64_t r) {
            if (stop_.reason() == StopReason::interrupted) return 0.0;
            if (r != batch_.label[i]) linear -= duals(i)[r];
            return duals(i)[r];
        });
        return linear - weights_.prior_product() - 0.5 * squared_norm();
    }
    double loss(std::int64_t i, std::int64_t block) const {
        const double own = weights_.decide_wide(i, block, batch_.label[i]);
        double worst = 0;
        for (std::int64_t r = 0; r < n_classes_; ++r)
            if (r != batch_.label[i])
                worst = std::max(worst, 1.0 + weights_.decide_wide(i, block, r) - own);
        return batch_.bound[i] * worst;
    }
    double squared_norm() const { return weights_.squared_norm(); }

  private:
    // As a part of the margin, which is 1.
    static constexpr double trail = 0.3;

    double* duals(std::int64_t i) { return alpha_.data() + i * n_classes_; }
    const double* duals(std::int64_t i) const { return alpha_.data() + i * n_classes_; }
    std::int32_t* active(std::int64_t i) { return classes_.data() + i * n_classes_; }
    double cap(std::int64_t i, std::int64_t r) const {
        return r == batch_.label[i] ? batch_.bound[i] : 0.0;
    }

    // Returns the level of g that the free classes end on.
    double step(std::int64_t i, double highest, Estimate& estimate) {
        // Without curvature any positive number leads to the bounds.
        const double curvature =
            std::max(curvature_[i], std::numeric_limits<double>::min());
        double* alpha = duals(i);
        const std::int32_t* classes = active(i);
        const auto base = [&](std::int32_t p) {
            return (gradient_[p] - highest) / curvature - alpha[classes[p]];
        };
        for (std::int32_t p = 0; p < n_active_[i]; ++p)
            key_[p] = base(p) + cap(i, classes[p]);
        const double rough = find_level(n_active_[i], batch_.bound[i]);
        // Again without the caps, in which duals much smaller than C_i drown.
        double sum = 0, held = batch_.bound[i];
        int n_free = 0;
        for (std::int32_t p = 0; p < n_active_[i]; ++p) {
            if (base(p) + cap(i, classes[p]) <= rough) continue;
            sum += base(p);
            n_free += 1;
            if (classes[p] == batch_.label[i]) held = 0;
        }
        const double level = (sum - held) / n_free;
        for (std::int32_t p = 0; p < n_active_[i]; ++p) {
            const std::int32_t r = classes[p];
            const double moved = std::min(cap(i, r), level - base(p));
            const double delta = moved - alpha[r];
            if (delta == 0) continue;
            alpha[r] = moved;
            estimate.dual -= delta * (gradient_[p] + 0.5 * curvature_[i] * delta);
            weights_.select_class(r);
            weights_.update(i, delta);
        }
        return highest + level * curvature;
    }

    // v with sum_r min(0, v - k_r) = -bound. Few keys lie above it, so they are drawn
    // from a heap instead of sorted.
    double find_level(std::int32_t count, double bound) {
        const auto first = key_.begin();
        auto last = first + count;
        std::make_heap(first, last);
        double sum = *first - bound;
        int above = 1;
        std::pop_heap(first, last--);
        while (last != first && sum < above * *first) {
            sum += *first;
            above += 1;
            std::pop_heap(first, last--);
        }
        return sum / above;
    }

    void rest_classes(std::int64_t i, double level) {
        std::int32_t* classes = active(i);
        for (std::int32_t p = n_active_[i] - 1; p >= 0; --p) {
            const std::int32_t r = classes[p];
            if (gradient_[p] >= level - trail || duals(i)[r] != 0 ||
                r == batch_.label[i])
                continue;
            n_active_[i] -= 1;
            std::swap(classes[p], classes[n_active_[i]]);
            complete_ = false;
        }
    }

    CodedWeights<Rows>& weights_;
    Batch batch_;
    std::int64_t n_rows_, n_classes_;
    const StopFlag& stop_;

    std::vector<double> curvature_;
    std::vector<double> alpha_;           // n_rows x n_classes
    std::vector<std::int32_t> classes_;   // of each row, the active ones first
    std::vector<std::int32_t> n_active_;  // classes of each row
    bool complete_ = true;
    std::vector<double> gradient_, key_;  // of the row at hand
};

// nodes: codes.n_nodes x n_problems vectors.
template <class Rows>
Certificate solve_jointly(const Rows& rows, const Batch& batch, const Blocks& all_rows,
                          const Codes<typename Rows::value_type>& codes,
                          const Settings& settings, const Watch& watch,
                          StopFlag& stop) {
    Certificate certificate;
    run_tasks(1, 1, watch, stop, [&](std::int64_t, std::int64_t) {
        CodedWeights<Rows> weights({rows, batch.bias}, all_rows, codes, batch.nodes,
                                   batch.prior, batch.n_problems);
        CrammerSingerModel<Rows> model(weights, rows, batch, stop);
        certificate = Descent(model, settings, 0, stop).solve();
        model.store_duals();
    });
    return certificate;
}

}  // namespace localsvm
