// One kernel SVM of any size, from rows or from a given kernel matrix.
#pragma once

#include <cstdint>
#include <utility>

#include "localsvm/kernel_rows.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"

namespace localsvm {

// beta: in the start, out the solution; gradient: out, K beta - target.
template <class Provider>
SmoCertificate solve_cached(Provider provider, const BoxProblem& problem,
                            const SmoSettings& settings, std::int64_t cache_bytes,
                            const Watch& watch, StopFlag& stop, double* beta,
                            double* gradient) {
    SmoCertificate certificate;
    run_tasks(1, 1, watch, stop, [&](std::int64_t, std::int64_t) {
        CachedRows<Provider> source(std::move(provider), cache_bytes);
        SmoSpace<typename Provider::value_type> space;
        certificate = Smo(source, settings, space, stop).solve(problem, beta, gradient);
    });
    return certificate;
}

}  // namespace localsvm
