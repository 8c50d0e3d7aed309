// What every solution of the solver must satisfy.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "check.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "reference.hpp"

namespace localsvm::testing {

inline constexpr Loss losses[] = {Loss::hinge, Loss::squared_hinge};

inline std::string name_of(Loss loss) {
    return loss == Loss::hinge ? "hinge" : "squared hinge";
}

inline Options options_of(Loss loss, double tol = 1e-8) {
    Options options;
    options.settings.loss = loss;
    options.settings.tol = tol;
    return options;
}

// The certificate is what the returned duals give, computed here in double.
inline void check_honest(const Certificate& certificate, const Machine& machine,
                         const double* alpha) {
    const Objectives exact = evaluate(machine, alpha);
    const double scale = 1e-10 * (std::abs(exact.primal) + std::abs(exact.dual));
    CHECK_NEAR(certificate.primal, exact.primal, scale);
    CHECK_NEAR(certificate.dual, exact.dual, scale);
    CHECK_AT_MOST(certificate.dual, certificate.primal + scale);
}

inline void check_box(const Machine& machine, const double* alpha) {
    bool inside = true;
    for (std::size_t i = 0; i < machine.bounds.size(); ++i) {
        const double cap = machine.bounds[i] > 0 ? machine.cap(i) : 0.0;
        inside = inside && alpha[i] >= 0 && alpha[i] <= cap;
    }
    CHECK(inside);
}

inline void check_optimal(const Certificate& certificate, const Machine& machine,
                          const double* alpha, double tol = 1e-8) {
    CHECK(certificate.status == Status::converged);
    CHECK_AT_MOST(certificate.relative_gap(), tol);
    check_honest(certificate, machine, alpha);
    check_box(machine, alpha);
    const Objectives best = solve_reference(machine).objectives;
    CHECK_AT_MOST(best.gap(), 1e-10 * best.primal);
    CHECK_AT_MOST(certificate.primal, best.primal * (1 + 1e-6));
    CHECK_AT_MOST(best.dual * (1 - 1e-9), certificate.primal);
}

}  // namespace localsvm::testing
