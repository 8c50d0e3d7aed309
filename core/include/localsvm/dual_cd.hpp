// Two-class (clustered) linear SVMs, a model for dual coordinate descent.
//
// Primal   min_W  1/2 |W|^2 + sum_i C_i loss(1 - y_i f(x_i))
//          loss = max(0, .) (hinge) or max(0, .)^2 (squared hinge)
// Dual     max_a  sum_i a_i - 1/2 a' (Q + D) a,   0 <= a_i <= U_i
//          hinge: U_i = C_i, D = 0; squared hinge: U_i = inf, D_ii = 1 / (2 C_i)
// Step     g = y_i f(x_i) - 1 + D_ii a_i;  a_i <- clip(a_i - g / (Q_ii + D_ii), 0, U_i)
//          [Hsieh 2008, Algorithm 1]
// Gap      of a row, with m_i = y_i f(x_i) - 1:
//              hinge:   C_i max(0, -m_i)   + a_i m_i
//              squared: C_i max(0, -m_i)^2 + a_i m_i + a_i^2 / (4 C_i)
//
// [Hsieh 2008] A dual coordinate descent method for large-scale linear SVM, ICML.
// [Gu 2013]    Clustered support vector machines, AISTATS (Eq. 3-7).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "localsvm/descent.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

// The rows of one two-class problem: sign +1 where label == positive, C_i = bound.
struct Targets {
    const std::int32_t* label;
    std::int32_t positive;
    const double* bound;
    const double* squared_norm;  // of [x_i; bias]

    double sign(std::int64_t i) const { return label[i] == positive ? 1.0 : -1.0; }
};

template <class Weights>
class TwoClassModel {
  public:
    static constexpr bool drifts = sizeof(typename Weights::T) < sizeof(double);

    TwoClassModel(Weights& weights, const Targets& targets, Loss loss, double* alpha,
                  const StopFlag& stop)
        : weights_(weights),
          targets_(targets),
          squared_(loss == Loss::squared_hinge),
          alpha_(alpha),
          stop_(stop) {}

    const Blocks& blocks() const { return weights_.blocks(); }
    bool takes_part(std::int64_t i) const { return targets_.bound[i] > 0; }
    bool finite(std::int64_t i) const {
        return std::isfinite(targets_.squared_norm[i]);
    }
    void restore() {}
    bool complete() const { return true; }

    void clip_duals() {
        for (const std::int64_t i : rows())
            alpha_[i] = takes_part(i) ? std::clamp(alpha_[i], 0.0, cap(i)) : 0.0;
    }

    std::vector<double> duals() const {
        std::vector<double> copy;
        for (const std::int64_t i : rows()) copy.push_back(alpha_[i]);
        return copy;
    }
    void set_duals(const std::vector<double>& duals) {
        auto next = duals.begin();
        for (const std::int64_t i : rows()) alpha_[i] = *next++;
    }

    void enter(std::int64_t block) { weights_.enter(block); }
    void leave(std::int64_t block) { weights_.leave(block); }
    void prefetch(std::int64_t i) const {
        __builtin_prefetch(alpha_ + i);
        __builtin_prefetch(targets_.bound + i);
        __builtin_prefetch(targets_.squared_norm + i);
        __builtin_prefetch(targets_.label + i);
        weights_.prefetch(i);
    }
    bool visit(std::int64_t i, Estimate& estimate) {
        const double sign = targets_.sign(i);
        const double margin = sign * weights_.decide(i) - 1.0;
        const double gradient = margin + ridge(i) * alpha_[i];
        estimate.gap +=
            loss_of(i, margin) + alpha_[i] * (margin + 0.5 * ridge(i) * alpha_[i]);
        const bool held =
            (alpha_[i] == 0 && gradient >= 0) || (alpha_[i] == cap(i) && gradient <= 0);
        if (!held && gradient != 0) estimate.dual += step(i, sign, gradient);
        return !held;
    }

    double rebuild() {
        double linear = 0;
        weights_.rebuild([&](std::int64_t i, std::int64_t) {
            if (alpha_[i] == 0 || stop_.reason() == StopReason::interrupted) return 0.0;
            linear += alpha_[i] * (1.0 - 0.5 * ridge(i) * alpha_[i]);
            return alpha_[i] * targets_.sign(i);
        });
        return linear - weights_.prior_product() - 0.5 * squared_norm();
    }
    // The same from weights that are those of the duals already.
    double load() {
        weights_.load();
        double linear = 0;
        for (const std::int64_t i : rows())
            linear += alpha_[i] * (1.0 - 0.5 * ridge(i) * alpha_[i]);
        return linear - weights_.prior_product() - 0.5 * squared_norm();
    }
    bool is_free(std::int64_t i) const { return alpha_[i] > 0 && alpha_[i] < cap(i); }
    double loss(std::int64_t i, std::int64_t block) const {
        return loss_of(i, targets_.sign(i) * weights_.decide_wide(i, block) - 1.0);
    }
    double squared_norm() const { return weights_.squared_norm(); }

  private:
    std::span<const std::int64_t> rows() const {
        const Blocks& b = blocks();
        return {b.row_of + b.start[0], b.row_of + b.start[b.count]};
    }
    double cap(std::int64_t i) const {
        return squared_ ? std::numeric_limits<double>::infinity() : targets_.bound[i];
    }
    double ridge(std::int64_t i) const {
        return squared_ ? 0.5 / targets_.bound[i] : 0.0;
    }
    double loss_of(std::int64_t i, double margin) const {
        const double slack = std::max(0.0, -margin);
        return targets_.bound[i] * (squared_ ? slack * slack : slack);
    }

    // Returns what the dual gains.
    double step(std::int64_t i, double sign, double gradient) {
        const double curvature =
            weights_.code_norm(i) * targets_.squared_norm[i] + ridge(i);
        const double newton = curvature > 0 ? alpha_[i] - gradient / curvature
                                            : std::numeric_limits<double>::infinity();
        const double moved = std::clamp(newton, 0.0, cap(i));
        const double delta = moved - alpha_[i];
        alpha_[i] = moved;
        if (delta == 0) return 0.0;
        weights_.update(i, delta * sign);
        return -delta * (gradient + 0.5 * curvature * delta);
    }

    Weights& weights_;
    Targets targets_;
    bool squared_;
    double* alpha_;
    const StopFlag& stop_;
};

}  // namespace localsvm
