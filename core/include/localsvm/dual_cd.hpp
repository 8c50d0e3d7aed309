// Dual coordinate descent for (clustered) linear SVMs.
//
// Primal   min_W  1/2 |W|^2 + sum_i C_i loss(1 - y_i f(x_i))
//          loss = max(0, .) (hinge) or max(0, .)^2 (squared hinge)
// Dual     max_a  sum_i a_i - 1/2 a' (Q + D) a,   0 <= a_i <= U_i
//          hinge: U_i = C_i, D = 0; squared hinge: U_i = inf, D_ii = 1 / (2 C_i)
// Step     g = y_i f(x_i) - 1 + D_ii a_i;  a_i <- clip(a_i - g / (Q_ii + D_ii), 0, U_i)
//          [Hsieh 2008, Algorithm 1]
// Shrink   A row that its bound has held for three visits in a row is set aside. The
//          rows come back when the gap of the others has fallen to a tenth of what the
//          last full epoch saw; only a full epoch can lead to the end. A pass, the unit
//          of max_iter, is as many visits as there are rows.
// Stop     (primal - dual) / primal <= tol, both recomputed from a in double.
//          The gap splits over the rows: with m_i = y_i f(x_i) - 1,
//              hinge:   C_i max(0, -m_i)   + a_i m_i
//              squared: C_i max(0, -m_i)^2 + a_i m_i + a_i^2 / (4 C_i),
//          each term >= 0. Their sum over the visited rows is an estimate that an epoch
//          gives for free; the exact gap is computed only when the estimate is small.
//
// [Hsieh 2008] A dual coordinate descent method for large-scale linear SVM, ICML.
// [Gu 2013]    Clustered support vector machines, AISTATS (Eq. 3-7).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "localsvm/random.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

enum class Loss : std::int32_t { hinge = 0, squared_hinge = 1 };

struct Settings {
    Loss loss = Loss::hinge;
    double tol = 1e-3;
    std::int64_t max_iter = 1000;  // passes
    std::uint64_t seed = 0;
};

// The rows of one two-class problem: sign +1 where label == positive, C_i = bound.
struct Targets {
    const std::int32_t* label;
    std::int32_t positive;
    const double* bound;
    const double* squared_norm;  // of [x_i; bias]

    double sign(std::int64_t i) const { return label[i] == positive ? 1.0 : -1.0; }
};

template <class Weights>
class DualCoordinateDescent {
  public:
    // `stream` makes the permutations of this problem its own.
    DualCoordinateDescent(Weights& weights, const Targets& targets,
                          const Settings& settings, std::uint64_t stream, double* alpha,
                          const StopFlag& stop)
        : weights_(weights),
          targets_(targets),
          settings_(settings),
          random_(settings.seed, stream),
          alpha_(alpha),
          stop_(stop) {}

    Certificate solve() {
        collect_rows();
        clip_duals();
        rebuild();
        if (!finite_norms()) return finish(Status::not_finite);
        double goal = settings_.tol;
        certificate_.primal = std::numeric_limits<double>::infinity();
        while (!solved()) {
            if (stop_.raised()) return finish(Status::max_time);
            if (certificate_.n_iter == settings_.max_iter)
                return finish(Status::max_iter);
            const bool full = n_active() == n_rows();
            run_epoch();
            count_passes();
            if (!std::isfinite(gap_estimate_)) return finish(Status::not_finite);
            const double target = goal * (dual_estimate_ + gap_estimate_);
            if (full) {
                full_gap_ = gap_estimate_;
                if (gap_estimate_ <= target) {
                    certify();
                    goal *= 0.5;
                }
            } else if (gap_estimate_ <= std::max(target, 0.1 * full_gap_)) {
                restore_rows();
            }
        }
        certificate_.status = Status::converged;
        return certificate_;
    }

  private:
    static constexpr std::uint8_t patience = 3;
    // Entering and leaving a block costs about as much as visiting two rows.
    static constexpr std::int64_t block_overhead = 2;
    static constexpr std::int64_t lookahead = 4;

    struct Place {
        std::int64_t row;
        std::uint8_t held;  // visits in a row at which a bound held it
    };

    void count_passes() {
        const std::int64_t passes = work_ / std::max<std::int64_t>(1, n_rows());
        certificate_.n_iter = std::clamp<std::int64_t>(passes, 1, settings_.max_iter);
    }
    bool solved() const {
        return std::isfinite(certificate_.primal) && std::isfinite(certificate_.dual) &&
               certificate_.relative_gap() <= settings_.tol;
    }
    bool finite_norms() const {
        return std::all_of(order_.begin(), order_.end(), [this](const Place& place) {
            return std::isfinite(targets_.squared_norm[place.row]);
        });
    }
    // The caller throws the result away, so nothing needs to be completed.
    bool abandoned() const { return stop_.reason() == StopReason::interrupted; }

    bool squared() const { return settings_.loss == Loss::squared_hinge; }
    double cap(std::int64_t i) const {
        return squared() ? std::numeric_limits<double>::infinity() : targets_.bound[i];
    }
    double ridge(std::int64_t i) const {
        return squared() ? 0.5 / targets_.bound[i] : 0.0;
    }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(order_.size()); }
    std::int64_t n_active() const {
        std::int64_t count = 0;
        for (std::size_t b = 0; b + 1 < start_.size(); ++b)
            count += end_[b] - start_[b];
        return count;
    }

    // Rows of weight zero take no part at all.
    void collect_rows() {
        const Blocks& blocks = weights_.blocks();
        start_.assign(1, 0);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            for (std::int64_t p = blocks.start[b]; p < blocks.start[b + 1]; ++p)
                if (targets_.bound[blocks.row_of[p]] > 0)
                    order_.push_back(Place{blocks.row_of[p], 0});
            start_.push_back(n_rows());
        }
        block_order_.resize(static_cast<std::size_t>(blocks.count));
        std::iota(block_order_.begin(), block_order_.end(), 0);
        restore_rows();
    }

    void restore_rows() { end_.assign(start_.begin() + 1, start_.end()); }

    void clip_duals() {
        const Blocks& blocks = weights_.blocks();
        for (std::int64_t p = blocks.start[0]; p < blocks.start[blocks.count]; ++p) {
            const std::int64_t i = blocks.row_of[p];
            alpha_[i] =
                targets_.bound[i] > 0 ? std::clamp(alpha_[i], 0.0, cap(i)) : 0.0;
        }
    }

    void run_epoch() {
        gap_estimate_ = 0;
        random_.shuffle(block_order_.data(),
                        static_cast<std::int64_t>(block_order_.size()));
        for (const std::int64_t block : block_order_) {
            if (start_[block] == end_[block]) continue;
            work_ += end_[block] - start_[block] + block_overhead;
            weights_.enter(block);
            sweep_block(block);
            weights_.leave(block);
            if (stop_.raised()) return;
        }
    }

    void sweep_block(std::int64_t block) {
        constexpr std::int64_t stop_check_mask = 255;
        random_.shuffle(order_.data() + start_[block], end_[block] - start_[block]);
        for (std::int64_t p = start_[block]; p < end_[block]; ++p) {
            if ((p & stop_check_mask) == 0 && stop_.raised()) return;
            if (p + lookahead < end_[block]) prefetch(order_[p + lookahead].row);
            Place& place = order_[p];
            place.held = visit(place.row) ? 0 : place.held + 1;
            if (place.held < patience) continue;
            place.held = patience - 1;
            end_[block] -= 1;
            std::swap(place, order_[end_[block]]);
            p -= 1;
        }
    }

    // Rows are visited in random order, which no hardware prefetcher foresees.
    void prefetch(std::int64_t i) const {
        __builtin_prefetch(alpha_ + i);
        __builtin_prefetch(targets_.bound + i);
        __builtin_prefetch(targets_.squared_norm + i);
        __builtin_prefetch(targets_.label + i);
        weights_.prefetch(i);
    }

    // Whether the row could move.
    bool visit(std::int64_t i) {
        const double sign = targets_.sign(i);
        const double margin = sign * weights_.decide(i) - 1.0;
        const double gradient = margin + ridge(i) * alpha_[i];
        gap_estimate_ += gap_of_row(i, margin);
        const bool held =
            (alpha_[i] == 0 && gradient >= 0) || (alpha_[i] == cap(i) && gradient <= 0);
        if (!held && gradient != 0) step(i, sign, gradient);
        return !held;
    }

    void step(std::int64_t i, double sign, double gradient) {
        const double curvature =
            weights_.code_norm(i) * targets_.squared_norm[i] + ridge(i);
        const double newton = curvature > 0 ? alpha_[i] - gradient / curvature
                                            : std::numeric_limits<double>::infinity();
        const double moved = std::clamp(newton, 0.0, cap(i));
        const double delta = moved - alpha_[i];
        alpha_[i] = moved;
        if (delta == 0) return;
        dual_estimate_ -= delta * (gradient + 0.5 * curvature * delta);
        weights_.update(i, delta * sign);
    }

    double loss_of_row(std::int64_t i, double margin) const {
        const double slack = std::max(0.0, -margin);
        return targets_.bound[i] * (squared() ? slack * slack : slack);
    }
    double gap_of_row(std::int64_t i, double margin) const {
        return loss_of_row(i, margin) +
               alpha_[i] * (margin + 0.5 * ridge(i) * alpha_[i]);
    }

    // Weights and dual from the duals alone, in double.
    void rebuild() {
        double linear = 0;
        weights_.rebuild([&](std::int64_t i) {
            if (alpha_[i] == 0 || abandoned()) return 0.0;
            linear += alpha_[i] * (1.0 - 0.5 * ridge(i) * alpha_[i]);
            return alpha_[i] * targets_.sign(i);
        });
        certificate_.dual = linear - 0.5 * weights_.squared_norm();
        dual_estimate_ = certificate_.dual;
    }

    // The same, and the primal.
    void certify() {
        rebuild();
        double loss = 0;
        for (std::size_t b = 0; b + 1 < start_.size(); ++b) {
            for (std::int64_t p = start_[b]; p < start_[b + 1]; ++p) {
                if (abandoned()) return;
                const std::int64_t i = order_[p].row;
                const double f = weights_.decide_wide(i, static_cast<std::int64_t>(b));
                loss += loss_of_row(i, targets_.sign(i) * f - 1.0);
            }
        }
        certificate_.primal = 0.5 * weights_.squared_norm() + loss;
    }

    Certificate finish(Status status) {
        certify();
        const bool rescued = solved() && status != Status::not_finite;
        certificate_.status = rescued ? Status::converged : status;
        return certificate_;
    }

    Weights& weights_;
    Targets targets_;
    Settings settings_;
    Random random_;
    double* alpha_;
    const StopFlag& stop_;

    std::vector<Place> order_;               // rows with weight, by block
    std::vector<std::int64_t> start_, end_;  // of the active rows of a block
    std::vector<std::int64_t> block_order_;
    std::int64_t work_ = 0;  // row visits, and what counts as such
    double gap_estimate_ = 0;
    double full_gap_ = std::numeric_limits<double>::infinity();
    double dual_estimate_ = 0;
    Certificate certificate_;
};

}  // namespace localsvm
