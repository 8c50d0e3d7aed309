// Repairs of linear SVMs whose rows have changed, one task at a time.
#pragma once

#include <cstdint>

#include "localsvm/descent.hpp"
#include "localsvm/dual_cd.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

// A task whose rows have changed a little. nodes: in, the weights of the duals `alpha`;
// out, those of the solution. squared_norm: of [x; bias]. near: as Descent::update.
struct Change {
    const double* squared_norm;
    const std::uint8_t* near;
};

namespace detail {

template <class Weights>
Certificate update_task(Weights weights, const Batch& batch, const Change& change,
                        const Settings& settings, const StopFlag& stop) {
    const Targets targets{batch.label, batch.first_positive, batch.bound,
                          change.squared_norm};
    TwoClassModel model(weights, targets, settings.loss, batch.alpha, stop);
    const auto stream = static_cast<std::uint64_t>(batch.first_positive);
    return Descent(model, settings, stream, stop).update(change.near);
}

// Runs update(stop) while the calling thread watches.
template <class Update>
Certificate watched(const Watch& watch, StopFlag& stop, const Update& update) {
    Certificate found;
    run_tasks(1, 1, watch, stop,
              [&](std::int64_t, std::int64_t) { found = update(stop); });
    return found;
}

}  // namespace detail

template <class Rows>
Certificate update_coupled(const Rows& rows, const Batch& batch, const Blocks& blocks,
                           double coupling, const Change& change,
                           const Settings& settings, const Watch& watch,
                           StopFlag& stop) {
    return detail::watched(watch, stop, [&](const StopFlag& flag) {
        return detail::update_task(
            BlockWeights<Rows>({rows, batch.bias}, blocks, coupling, batch.nodes),
            batch, change, settings, flag);
    });
}

template <class Rows>
Certificate update_coded(const Rows& rows, const Batch& batch, const Blocks& all_rows,
                         const Codes<typename Rows::value_type>& codes,
                         const Change& change, const Settings& settings,
                         const Watch& watch, StopFlag& stop) {
    return detail::watched(watch, stop, [&](const StopFlag& flag) {
        return detail::update_task(CodedWeights<Rows>({rows, batch.bias}, all_rows,
                                                      codes, batch.nodes, batch.prior),
                                   batch, change, settings, flag);
    });
}

}  // namespace localsvm
