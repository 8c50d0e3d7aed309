// Sequential minimal optimisation for kernel SVMs with a box of their own for each row.
//
// Problem  min_b  1/2 b' K b - t' b,   l_i <= b_i <= u_i,   sum_i b_i = 0
//          b_i = a_i y_i are signed duals. A row of class y = +1 and penalty C_i has
//          the box [0, C_i], one of class -1 the box [-C_i, 0], and t_i = y_i. A row
//          with the box [0, 0] takes no part, but its decision value is known at the
//          end: that is how rows are held out.
// Step     g = K b - t;  i = argmin { g_i : b_i < u_i },
//          j = argmax { (g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij) : b_j > l_j, g_j > g_i }
//          [Fan 2005, WSS 2];  b_i += s, b_j -= s with s = (g_j - g_i) / curvature,
//          clipped to the boxes.
// Stop     max { g_j : b_j > l_j } - min { g_i : b_i < u_i } <= tol: the largest
//          violation of the optimality conditions, as in LIBSVM. Or the steps of a
//          window neither find a lower violation nor raise the dual by more than it is
//          rounded: the rows that were set aside come back; if none were, that is all
//          that the numbers allow. It has converged if the violation is what the
//          rounding of the gradients explains, and has stalled otherwise. A window is
//          as long as all before it.
// Shrink   Only where the source can reorder its rows (large problems). A row at a
//          bound that violates with no other row is set aside; the gradient of all
//          rows is computed anew before the end, and once when the violation nears tol.
// Intercept  minus the mean gradient of the rows inside their boxes, or the middle of
//          the two extremes if there is none.
// Gap      primal - dual = b'g + sum_i max(-u_i (g_i + b0), -l_i (g_i + b0)).
//
// [Fan 2005] Working set selection using second order information for training support
//            vector machines, JMLR 6.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/simd.hpp"
#include "localsvm/status.hpp"

namespace localsvm {

struct SmoSettings {
    double tol = 1e-3;
    std::int64_t max_iter = 20000;  // steps; below zero: generous

    // As many as LIBSVM takes at most.
    std::int64_t steps(std::int64_t n) const {
        return max_iter < 0 ? std::max<std::int64_t>(10'000'000, 100 * n) : max_iter;
    }
};

// Arrays of the problem, in the order of its rows.
struct BoxProblem {
    const double* lower;   // <= 0
    const double* upper;   // >= 0
    const double* target;  // t
};

struct SmoCertificate : Certificate {
    double violation = 0;
    double intercept = 0;
};

// Work space that can serve one problem after the other.
template <class T>
struct SmoSpace {
    AlignedVector<double> lower, upper, target, beta, gradient, up, low;
    AlignedVector<T> diagonal;

    void resize(std::size_t n) {
        for (AlignedVector<double>* v : arrays()) v->assign(n, 0.0);
        diagonal.assign(n, T(0));
    }
    std::array<AlignedVector<double>*, 7> arrays() {
        return {&lower, &upper, &target, &beta, &gradient, &up, &low};
    }
};

template <class Source>
class Smo {
  public:
    using T = typename Source::value_type;

    Smo(Source& source, const SmoSettings& settings, SmoSpace<T>& space,
        const StopFlag& stop)
        : source_(source),
          settings_(settings),
          s_(space),
          stop_(stop),
          loops_(vector_loops<T>()),
          n_(source.size()),
          active_(n_) {}

    // beta: in the start, out the solution. gradient: out, unless null.
    SmoCertificate solve(const BoxProblem& problem, double* beta, double* gradient) {
        load(problem, beta);
        start_gradient();
        SmoCertificate result;
        result.status = iterate(result);
        certify(result);
        for (std::int64_t p = 0; p < n_; ++p) {
            beta[source_.original(p)] = s_.beta[at(p)];
            if (gradient) gradient[source_.original(p)] = s_.gradient[at(p)];
        }
        return result;
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    // Relative accuracy of a dual, or of a sum of duals.
    static constexpr double precision = 1e-14;
    // Fraction of a margin above which an error matters, whatever its cause.
    static constexpr double visible = 1e-6;
    // Steps taken even if there is no time left, on the most violating pairs.
    static constexpr std::int64_t fewest_steps = 100;

    static std::size_t at(std::int64_t p) { return static_cast<std::size_t>(p); }
    std::size_t whole(std::int64_t n) const { return at(padded<T>(n)); }

    void load(const BoxProblem& problem, const double* beta) {
        s_.resize(whole(n_));
        for (std::int64_t p = 0; p < n_; ++p) {
            const std::int64_t i = source_.original(p);
            s_.lower[at(p)] = problem.lower[i];
            s_.upper[at(p)] = problem.upper[i];
            s_.target[at(p)] = problem.target[i];
            s_.beta[at(p)] = into_box(beta[i], problem.lower[i], problem.upper[i]);
            s_.diagonal[at(p)] = source_.diagonal(p);
        }
        balance();
        largest_ = 0;
        for (const double b : s_.beta) largest_ = std::max(largest_, std::abs(b));
        std::fill(s_.up.begin(), s_.up.end(), infinity);
        std::fill(s_.low.begin(), s_.low.end(), -infinity);
        for (std::int64_t p = 0; p < n_; ++p) set_barriers(p);
    }
    // A dual that misses its bound by a rounding error would count as free: it would
    // cost a step and enter the intercept. The rounding error of a dual is bounded by
    // that of the largest one, however large its box is.
    double into_box(double b, double lower, double upper) const {
        const double rounding = precision * std::min(upper - lower, largest_);
        if (b >= upper - rounding) return upper;
        if (b <= lower + rounding) return lower;
        return b;
    }
    // A clipped start may not sum to zero: the heavier side is scaled down.
    // The rounding error left over goes to rows inside their boxes; a row at its bound
    // stays there.
    void balance() {
        double positive = 0, negative = 0;
        for (const double b : s_.beta) (b > 0 ? positive : negative) += b;
        double rest = positive + negative;
        if (std::abs(rest) > 1e-12 * (positive - negative)) {
            const double factor =
                rest > 0 ? -negative / positive : -positive / negative;
            const bool heavier = rest > 0;
            rest = 0;
            for (double& b : s_.beta) {
                if ((b > 0) == heavier) b *= factor;
                rest += b;
            }
        }
        for (const bool inside : {true, false})
            for (std::int64_t p = 0; p < n_ && rest != 0; ++p) {
                double& b = s_.beta[at(p)];
                const double l = s_.lower[at(p)], u = s_.upper[at(p)];
                if (inside != (l < b && b < u)) continue;
                const double moved = std::clamp(b - rest, l, u);
                rest += moved - b;
                b = moved;
            }
    }
    void set_barriers(std::int64_t p) {
        s_.up[at(p)] = s_.beta[at(p)] < s_.upper[at(p)] ? 0 : infinity;
        s_.low[at(p)] = s_.beta[at(p)] > s_.lower[at(p)] ? 0 : -infinity;
    }
    void start_gradient() {
        for (std::int64_t p = 0; p < n_; ++p) s_.gradient[at(p)] = -s_.target[at(p)];
        for (std::int64_t p = 0; p < n_ && stop_.reason() != StopReason::interrupted;
             ++p)
            if (s_.beta[at(p)] != 0)
                loops_.axpy_wide(s_.beta[at(p)], source_.row(p, n_), s_.gradient.data(),
                                 at(n_));
    }

    Extreme lowest() {
        // A step of zero looks for the smallest entry and moves nothing.
        return loops_.move(0.0, s_.diagonal.data(), s_.diagonal.data(), s_.up.data(),
                           s_.gradient.data(), whole(active_));
    }

    Status iterate(SmoCertificate& result) {
        // Look at the flag about every 100,000 entries.
        const std::int64_t patience = std::max<std::int64_t>(1, 100000 / (n_ + 1));
        const std::int64_t interval = std::min<std::int64_t>(n_, 1000);
        Extreme i = lowest();
        start_window(result.n_iter);
        while (true) {
            if (result.n_iter % patience == 0 && must_stop(result.n_iter)) {
                restore();
                return Status::max_time;
            }
            if (result.n_iter == window_end_) {
                if (!progressed()) {
                    if (active_ == n_) return ending_of_stall();
                    may_shrink_ = false;
                    restore();
                    i = lowest();
                }
                start_window(result.n_iter);
            }
            if (i.index < 0 && active_ == n_)
                return finite() ? Status::converged : Status::not_finite;
            const T* row = i.index < 0 ? nullptr : source_.row(i.index, active_);
            const Partner j =
                row ? loops_.find_partner(i.value,
                                          static_cast<double>(s_.diagonal[at(i.index)]),
                                          row, s_.diagonal.data(), s_.gradient.data(),
                                          s_.low.data(), whole(active_))
                    : Partner{-1, -infinity};
            const double violation = j.highest - i.value;
            if (j.index < 0 || !(violation > settings_.tol)) {
                if (active_ == n_)
                    return finite() ? Status::converged : Status::not_finite;
                restore();
                i = lowest();
                continue;
            }
            if (result.n_iter >= settings_.steps(n_)) {
                restore();
                return Status::max_iter;
            }
            least_ = std::min(least_, violation);
            i = take_step(i, j, row);
            ++result.n_iter;
            if constexpr (Source::reorders) {
                if (may_shrink_ && result.n_iter % interval == 0) {
                    if (!restored_ && violation <= 10 * settings_.tol) {
                        restored_ = true;
                        restore();
                    }
                    shrink();
                    i = lowest();
                }
            }
        }
    }

    Extreme take_step(const Extreme& i, const Partner& j, const T* row_i) {
        const std::size_t a = at(i.index), b = at(j.index);
        const T* row_j = source_.row(j.index, active_);
        const double curvature = std::max(static_cast<double>(s_.diagonal[a]) +
                                              static_cast<double>(s_.diagonal[b]) -
                                              2 * static_cast<double>(row_i[b]),
                                          1e-12);
        const double room_up = s_.upper[a] - s_.beta[a];
        const double room_down = s_.beta[b] - s_.lower[b];
        const double step = std::min(
            {(s_.gradient[b] - s_.gradient[a]) / curvature, room_up, room_down});
        gain_ += step * (s_.gradient[b] - s_.gradient[a] - step * curvature / 2);
        s_.beta[a] = into_box(s_.beta[a] + step, s_.lower[a], s_.upper[a]);
        s_.beta[b] = into_box(s_.beta[b] - step, s_.lower[b], s_.upper[b]);
        largest_ = std::max({largest_, std::abs(s_.beta[a]), std::abs(s_.beta[b])});
        set_barriers(i.index);
        set_barriers(j.index);
        return loops_.move(step, row_i, row_j, s_.up.data(), s_.gradient.data(),
                           whole(active_));
    }

    bool must_stop(std::int64_t n_iter) const {
        return stop_.raised() && (n_iter >= std::min(n_, fewest_steps) ||
                                  stop_.reason() == StopReason::interrupted);
    }

    void start_window(std::int64_t n_iter) {
        window_end_ = n_iter + std::max<std::int64_t>({1000, 10 * n_, n_iter});
        gain_ = 0;
        least_before_ = std::min(least_, least_before_);
        least_ = infinity;
    }
    // Whether the steps of the window have led to a lower violation than ever, or have
    // raised the dual by more than a rounding. Near the optimum the dual is flat: the
    // violation may still fall to the square root of what the dual can tell.
    bool progressed() const {
        if (least_ < 0.99 * least_before_) return true;
        double size = 0;
        for (std::int64_t p = 0; p < n_; ++p)
            size += std::abs(s_.beta[at(p)]) *
                    (std::abs(s_.target[at(p)]) + std::abs(s_.gradient[at(p)]));
        return gain_ > std::numeric_limits<double>::epsilon() / 2 * size;
    }
    // No gradient is known better than the sum of kernel values times duals in it.
    Status ending_of_stall() const {
        if (!finite()) return Status::not_finite;
        double low = -infinity, up = infinity, size = 0, diagonal = 0, target = 0;
        for (std::int64_t p = 0; p < n_; ++p) {
            low = std::max(low, s_.gradient[at(p)] + s_.low[at(p)]);
            up = std::min(up, s_.gradient[at(p)] + s_.up[at(p)]);
            size += std::abs(s_.beta[at(p)]);
            diagonal = std::max(diagonal, static_cast<double>(s_.diagonal[at(p)]));
            target = std::max(target, std::abs(s_.target[at(p)]));
        }
        const double rounding = precision * (target + diagonal * size);
        const bool explained = low - up <= std::min(rounding, visible * target);
        return explained ? Status::converged : Status::stalled;
    }

    // Rows that may rise and lie above every row that may fall, and the reverse; a row
    // that may do both is neither.
    bool idle(std::int64_t p, double lowest_up, double highest_low) const {
        const bool rises = s_.up[at(p)] == 0, falls = s_.low[at(p)] == 0;
        if (rises) return s_.gradient[at(p)] > highest_low;
        if (falls) return s_.gradient[at(p)] < lowest_up;
        return true;
    }
    void shrink() {
        double lowest_up = infinity, highest_low = -infinity;
        for (std::int64_t p = 0; p < active_; ++p) {
            lowest_up = std::min(lowest_up, s_.gradient[at(p)] + s_.up[at(p)]);
            highest_low = std::max(highest_low, s_.gradient[at(p)] + s_.low[at(p)]);
        }
        std::vector<std::int64_t> from, idle_rows;
        for (std::int64_t p = 0; p < active_; ++p)
            (idle(p, lowest_up, highest_low) ? idle_rows : from).push_back(p);
        // A copy of the cache is only worth a good part of the rows.
        if (static_cast<std::int64_t>(idle_rows.size()) * 10 < active_) return;
        const auto kept = static_cast<std::int64_t>(from.size());
        from.insert(from.end(), idle_rows.begin(), idle_rows.end());
        source_.reorder(from, active_);
        reorder(from);
        // Barriers are infinite outside the active rows, where `move` may write.
        for (std::int64_t p = kept; p < active_; ++p) {
            s_.up[at(p)] = infinity;
            s_.low[at(p)] = -infinity;
        }
        active_ = kept;
    }
    void reorder(const std::vector<std::int64_t>& from) {
        std::vector<double> moved(from.size());
        for (AlignedVector<double>* v : s_.arrays()) {
            for (std::size_t p = 0; p < from.size(); ++p) moved[p] = (*v)[at(from[p])];
            std::copy(moved.begin(), moved.end(), v->begin());
        }
        std::vector<T> diagonal(from.size());
        for (std::size_t p = 0; p < from.size(); ++p)
            diagonal[p] = s_.diagonal[at(from[p])];
        std::copy(diagonal.begin(), diagonal.end(), s_.diagonal.begin());
    }
    // Brings every row back, with its gradient computed from the duals.
    void restore() {
        if constexpr (Source::reorders) {
            if (active_ == n_) return;
            for (std::int64_t p = active_; p < n_; ++p)
                s_.gradient[at(p)] = -s_.target[at(p)];
            for (std::int64_t p = 0; p < n_; ++p) {
                if (s_.beta[at(p)] == 0) continue;
                if (stop_.reason() == StopReason::interrupted) break;
                loops_.axpy_wide(s_.beta[at(p)], source_.peek(p, active_, n_),
                                 s_.gradient.data() + active_, at(n_ - active_));
            }
            for (std::int64_t p = active_; p < n_; ++p) set_barriers(p);
            active_ = n_;
            least_ = least_before_ = infinity;
        }
    }
    bool finite() const {
        for (std::int64_t p = 0; p < n_; ++p)
            if (!std::isfinite(s_.gradient[at(p)])) return false;
        return true;
    }

    void certify(SmoCertificate& result) const {
        double low = -infinity, up = infinity, free_sum = 0;
        std::int64_t n_free = 0;
        for (std::int64_t p = 0; p < n_; ++p) {
            const double g = s_.gradient[at(p)];
            const bool rises = s_.up[at(p)] == 0, falls = s_.low[at(p)] == 0;
            if (rises) up = std::min(up, g);
            if (falls) low = std::max(low, g);
            if (rises && falls) {
                free_sum += g;
                ++n_free;
            }
        }
        result.violation =
            up < infinity && low > -infinity ? std::max(0.0, low - up) : 0;
        if (n_free > 0)
            result.intercept = -free_sum / static_cast<double>(n_free);
        else if (up < infinity && low > -infinity)
            result.intercept = -(up + low) / 2;
        else if (up < infinity || low > -infinity)
            result.intercept = up < infinity ? -up : -low;
        double gap = 0, linear = 0, quadratic = 0;
        for (std::int64_t p = 0; p < n_; ++p) {
            const double g = s_.gradient[at(p)], margin = -(g + result.intercept);
            gap += std::max(s_.upper[at(p)] * margin, s_.lower[at(p)] * margin) +
                   s_.beta[at(p)] * g;
            linear += s_.target[at(p)] * s_.beta[at(p)];
            quadratic += s_.beta[at(p)] * (g + s_.target[at(p)]);
        }
        result.dual = linear - quadratic / 2;
        result.primal = result.dual + gap;
    }

    Source& source_;
    SmoSettings settings_;
    SmoSpace<T>& s_;
    const StopFlag& stop_;
    const VectorLoops<T>& loops_;
    std::int64_t n_, active_;
    bool restored_ = false, may_shrink_ = true;
    std::int64_t window_end_ = 0;
    double gain_ = 0;                 // of the dual, by the steps of the window
    double least_ = infinity;         // violation of the window
    double least_before_ = infinity;  // of the windows before
    double largest_ = infinity;       // dual, so far
};

}  // namespace localsvm
