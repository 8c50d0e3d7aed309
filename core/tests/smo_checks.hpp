// Runs of SMO on cached rows, and checks that a certificate is true.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "localsvm/kernel_solve.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "reference.hpp"

namespace localsvm::testing {

template <class T>
std::vector<T> narrowed(const Table& table) {
    return {table.values.begin(), table.values.end()};
}

template <class Provider>
Outcome run_cached(Provider provider, const BoxedDual& dual, const How& how,
                   StopFlag& stop, const Watch& watch = {}) {
    Outcome outcome(dual, how);
    outcome.certificate = solve_cached(
        std::move(provider), dual.view(), {how.tol, how.max_iter}, how.cache_bytes,
        watch, stop, outcome.beta.data(), outcome.gradient.data());
    return outcome;
}

template <class T>
Outcome run_watched(const BoxedDual& dual, const How& how, KernelCalls& calls,
                    StopFlag& stop, const Watch& watch = {}) {
    const std::vector<T> values = narrowed<T>(dual.k);
    return run_cached(WatchedKernel<T>(values.data(), dual.size(), calls), dual, how,
                      stop, watch);
}

template <class T>
Outcome run_given(const BoxedDual& dual, const How& how) {
    KernelCalls calls;
    StopFlag stop;
    return run_watched<T>(dual, how, calls, stop);
}

inline double sum_of_sizes(const std::vector<double>& beta) {
    double sum = 0;
    for (const double b : beta) sum += std::abs(b);
    return sum;
}

// How far a gradient may be off with kernel values of type T.
template <class T>
double gradient_error(const BoxedDual& dual, const Outcome& outcome) {
    double largest = 1;
    for (const double value : dual.k.values)
        largest = std::max(largest, std::abs(value));
    return 20 * std::numeric_limits<T>::epsilon() * largest *
           (1 + sum_of_sizes(outcome.beta));
}

// The certificate is what the returned duals give, whether they are optimal or not.
template <class T>
void check_honest(const BoxedDual& dual, const Outcome& outcome) {
    const SmoCertificate& certificate = outcome.certificate;
    const double error = gradient_error<T>(dual, outcome);
    const std::vector<double> exact = gradient_of(dual, outcome.beta);
    Worst worst;
    double sum = 0;
    bool inside = true;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        worst.see(outcome.gradient[i], exact[i], error);
        sum += outcome.beta[i];
        inside = inside && dual.lower[i] <= outcome.beta[i] &&
                 outcome.beta[i] <= dual.upper[i];
    }
    CHECK(inside);
    CHECK_AT_MOST(worst.excess, 0.0);
    CHECK_NEAR(sum, 0.0, 1e-13 * (1 + dual.total_width()));
    const double intercept = intercept_of(dual, outcome.beta, exact);
    CHECK_NEAR(certificate.intercept, intercept, error);
    CHECK_NEAR(certificate.violation, worst_pair(dual, outcome.beta, exact).violation(),
               2 * error);
    const Objectives objectives = objectives_of(dual, outcome.beta, intercept);
    const double slack = error * (1 + dual.total_width());
    CHECK_NEAR(certificate.dual, objectives.dual, slack);
    CHECK_NEAR(certificate.primal, objectives.primal, slack);
}

inline Setup large_setup() {
    return random_setup(403, {KernelKind::rbf, 4, 0, 1}, 270, 2, 10);
}

}  // namespace localsvm::testing
