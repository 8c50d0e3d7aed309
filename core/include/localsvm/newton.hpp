// Two-class (clustered) linear SVMs with the squared hinge loss, by Newton's method on
// the primal.
//
// Primal   P(W) = 1/2 |W|^2 + sum_i C_i max(0, 1 - y_i f(x_i))^2,  f(x_i) = <z_i, W>
// Step     W <- W + t D,  H D = -grad,  H = I + 2 sum_{m_i < 1} C_i z_i z_i',
//          m_i = y_i f(x_i); a system of equations solves for D, exactly or nearly.
// Search   P(W + t D) is a piecewise quadratic in t, of which the margins m + t dm give
//          the derivative; t is its root, exactly.
// Dual     alpha_i = 2 C_i max(0, 1 - m_i), W(alpha) = sum_i alpha_i y_i z_i,
//          grad = W - W(alpha), P - D = |grad|^2 / 2, which is how exactly the equations
//          have to be solved. The best factor of all alphas gives a little more:
//              beta = sum alpha / (sum alpha^2 / (2 C) + |W(alpha)|^2)
//              D(beta alpha) = beta sum alpha / 2
// Stop     (P - D) / P <= tol, both in double. D is the best one seen.
//
// Sums over rows are those of fixed chunks of rows, added up in their order, so that any
// number of threads gives the same bits.
//
// [Keerthi 2005] A modified finite Newton method for fast solution of large scale linear
// SVMs, JMLR 6.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "localsvm/descent.hpp"
#include "localsvm/dual_cd.hpp"
#include "localsvm/status.hpp"
#include "localsvm/team.hpp"

namespace localsvm {

// The rows that take part, in the order in which they are worked on.
struct Places {
    std::vector<std::int64_t> row;
    std::vector<std::int64_t> start{0};  // of each chunk, and the end
    std::vector<double> sign, bound;
    std::vector<std::int64_t> idle;  // rows that take no part

    std::int64_t n_chunks() const {
        return static_cast<std::int64_t>(start.size()) - 1;
    }
    void add(std::int64_t i, const Targets& targets) {
        row.push_back(i);
        sign.push_back(targets.sign(i));
        bound.push_back(targets.bound[i]);
    }
    void end_chunk() {
        if (start.back() < static_cast<std::int64_t>(row.size()))
            start.push_back(static_cast<std::int64_t>(row.size()));
    }
};

// Calls visit(place) for the places of all chunks, and returns the sum, in their order,
// of what it returns.
template <std::size_t Count, class Visit>
std::array<double, Count> sum_over(const Places& places, Team& team,
                                   const Visit& visit) {
    std::vector<std::array<double, Count>> sums(
        static_cast<std::size_t>(places.n_chunks()));
    team.each(places.n_chunks(), [&](std::int64_t chunk, std::int64_t) {
        std::array<double, Count> sum{};
        for (std::int64_t p = places.start[chunk]; p < places.start[chunk + 1]; ++p) {
            const std::array<double, Count> own = visit(p);
            for (std::size_t k = 0; k < Count; ++k) sum[k] += own[k];
        }
        sums[chunk] = sum;
    });
    std::array<double, Count> total{};
    for (const auto& sum : sums)
        for (std::size_t k = 0; k < Count; ++k) total[k] += sum[k];
    return total;
}

// System: places(), size() of W; weights(), which Newton changes;
// decide(W, f), f of each place; gather(a, W), W <- sum_p a_p z_p; product(A, B), the
// inner product of two W; direction(gradient, curvature, wanted, D), curvature 2 C_i
// where m_i < 1 and else 0, |H D + grad|^2 <= wanted.
template <class System>
class Newton {
  public:
    Newton(System& system, const Settings& settings, Team& team, const StopFlag& stop)
        : system_(system),
          places_(system.places()),
          settings_(settings),
          team_(team),
          stop_(stop),
          weights_(system.weights()),
          pull_(weights_.size()),
          gradient_(weights_.size()),
          step_(weights_.size()),
          margin_(places_.row.size()),
          change_(places_.row.size()),
          pulled_(places_.row.size()),
          curvature_(places_.row.size()) {}

    // alpha: one per row, where to start, and the solution.
    Certificate solve(double* alpha) {
        start(alpha);
        certify(alpha);
        while (certificate_.relative_gap() > settings_.tol) {
            if (stop_.raised() && (certificate_.n_iter > 0 || abandoned()))
                return finish(Status::max_time);
            if (certificate_.n_iter == settings_.max_iter)
                return finish(Status::max_iter);
            const double before = certificate_.primal;
            advance();
            certify(alpha);
            if (abandoned()) return finish(Status::max_time);
            if (!std::isfinite(certificate_.primal)) return finish(Status::not_finite);
            if (certificate_.relative_gap() > settings_.tol &&
                certificate_.primal >= before)
                return finish(Status::stalled);
        }
        return finish(Status::converged);
    }

  private:
    // Of the squared gradient, what a step leaves of it if rows keep their sides of the
    // margin; and below what it need not go.
    static constexpr double reduction = 0.05, margin_for_search = 0.3;

    bool abandoned() const { return stop_.reason() == StopReason::interrupted; }
    Certificate finish(Status status) {
        certificate_.status = status;
        return certificate_;
    }
    std::int64_t n_places() const {
        return static_cast<std::int64_t>(places_.row.size());
    }

    // W(alpha) for given alphas, as far along as it pays: they may be of another C.
    void start(double* alpha) {
        for (const std::int64_t i : places_.idle) alpha[i] = 0;
        bool any = false;
        for (std::int64_t p = 0; p < n_places(); ++p) {
            const double dual = std::max(0.0, alpha[places_.row[p]]);
            pulled_[p] = places_.sign[p] * dual;
            any = any || dual > 0;
        }
        std::fill(weights_.begin(), weights_.end(), 0.0);
        std::fill(margin_.begin(), margin_.end(), 0.0);
        if (!any) return;
        system_.gather(pulled_, step_);
        move();
    }

    // Primal and dual objective at W; keeps the alphas if no better ones were seen.
    void certify(double* alpha) {
        const auto [loss, linear, ridge] =
            sum_over<3>(places_, team_, [this](std::int64_t p) {
                const double slack = std::max(0.0, 1.0 - margin_[p]);
                const double dual = 2 * places_.bound[p] * slack;
                pulled_[p] = places_.sign[p] * dual;
                curvature_[p] = slack > 0 ? 2 * places_.bound[p] : 0.0;
                return std::array<double, 3>{places_.bound[p] * slack * slack, dual,
                                             dual * slack};
            });
        system_.gather(pulled_, pull_);
        const double spread = ridge + system_.product(pull_, pull_);
        const double factor = spread > 0 ? linear / spread : 0.0;
        const double dual = 0.5 * factor * linear;
        certificate_.primal = 0.5 * system_.product(weights_, weights_) + loss;
        if (certificate_.n_iter > 0 && !(dual > certificate_.dual)) return;
        certificate_.dual = dual;
        for (std::int64_t p = 0; p < n_places(); ++p)
            alpha[places_.row[p]] = factor * places_.sign[p] * pulled_[p];
    }

    void advance() {
        for (std::size_t j = 0; j < weights_.size(); ++j)
            gradient_[j] = weights_[j] - pull_[j];
        // The gap is half of the squared gradient.
        const double goal = 2 * settings_.tol * certificate_.primal;
        const double wanted =
            std::max(reduction * system_.product(gradient_, gradient_),
                     margin_for_search * goal);
        system_.direction(gradient_, curvature_, wanted, step_);
        move();
        certificate_.n_iter += 1;
    }

    // Goes along step_ to the least P.
    void move() {
        system_.decide(step_, change_);
        for (std::int64_t p = 0; p < n_places(); ++p) change_[p] *= places_.sign[p];
        const double length = step_length();
        for (std::size_t j = 0; j < weights_.size(); ++j)
            weights_[j] += length * step_[j];
        system_.decide(weights_, margin_);
        for (std::int64_t p = 0; p < n_places(); ++p) margin_[p] *= places_.sign[p];
    }

    // Root of the derivative of P along step_: Newton steps in a bracket.
    double step_length() const {
        const double slope = system_.product(weights_, step_);
        const double bend = system_.product(step_, step_);
        const auto at = [&](double t) {
            const auto [pull, steep] =
                sum_over<2>(places_, team_, [this, t](std::int64_t p) {
                    const double slack = 1.0 - margin_[p] - t * change_[p];
                    if (slack <= 0) return std::array<double, 2>{};
                    const double weight = 2 * places_.bound[p] * change_[p];
                    return std::array<double, 2>{weight * slack, weight * change_[p]};
                });
            return std::array<double, 2>{slope + t * bend - pull, bend + steep};
        };
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const auto [first, first_bend] = at(0.0);
        if (!(first < 0)) return 0.0;
        double low = 0, high = infinity, t = -first / first_bend;
        for (int k = 0; k < 50 && t > low && t < high; ++k) {
            const auto [value, curvature] = at(t);
            if (std::abs(value) <= 1e-12 * -first) break;
            (value < 0 ? low : high) = t;
            const double newton = t - value / curvature;
            const double middle = high < infinity ? 0.5 * (low + high) : 2 * low;
            t = newton > low && newton < high ? newton : middle;
        }
        return t;
    }

    System& system_;
    const Places& places_;
    Settings settings_;
    Team& team_;
    const StopFlag& stop_;
    std::vector<double>& weights_;
    std::vector<double> pull_, gradient_, step_;  // W(alpha), grad, D
    std::vector<double> margin_, change_;         // m, dm
    std::vector<double> pulled_, curvature_;      // alpha_i y_i, 2 C_i or 0
    Certificate certificate_;
};

}  // namespace localsvm
