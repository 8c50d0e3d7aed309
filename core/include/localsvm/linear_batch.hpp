// Many linear SVMs over the same rows, on threads: the three forms of the solver.
//
//   independent  one problem per (class, block); global_reg = inf
//   coupled      one problem per class, blocks tied to a global vector [Gu 2013, Eq. 3]
//   coded        one problem per class, each row with its own nodes and coefficients
//
// One plain linear SVM is the independent form with a single block. Blocks that share
// rows are the independent form on PickedRows, where each place has a bound and a dual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/descent.hpp"
#include "localsvm/dual_cd.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

// What all problems of a batch share. A two-class task is one problem whose positive
// label is `first_positive`; one-vs-rest counts up from there.
struct Batch {
    const std::int32_t* label;
    const double* bound;
    std::int32_t first_positive;
    std::int64_t n_problems;
    double bias;
    double* alpha;  // n_problems x n_rows, in: start, out: solution
    double* nodes;  // n_problems x n_nodes x (n_cols + 1), out
    int n_threads;
    const double* prior = nullptr;  // of coded problems, as nodes
};

template <class Rows>
std::vector<double> biased_squared_norms(const Rows& rows, double bias) {
    std::vector<double> norms(static_cast<std::size_t>(rows.n_rows()));
    for (std::int64_t i = 0; i < rows.n_rows(); ++i)
        norms[static_cast<std::size_t>(i)] = rows.squared_norm(i) + bias * bias;
    return norms;
}

namespace detail {

template <class Rows>
class BatchSolver {
  public:
    BatchSolver(const Rows& rows, const Batch& batch, const Settings& settings,
                const Watch& watch, StopFlag& stop)
        : rows_{rows, batch.bias},
          batch_(batch),
          settings_(settings),
          watch_(watch),
          stop_(stop),
          norms_(biased_squared_norms(rows, batch.bias)) {}

    // make_weights(problem, part) builds the weights of one task.
    template <class MakeWeights>
    std::vector<Certificate> solve(std::int64_t parts,
                                   const MakeWeights& make_weights) {
        std::vector<Certificate> certificates(
            static_cast<std::size_t>(batch_.n_problems * parts));
        run_tasks(batch_.n_problems * parts, batch_.n_threads, watch_, stop_,
                  [&](std::int64_t task, std::int64_t) {
                      if (stop_.reason() == StopReason::interrupted) return;
                      const std::int64_t problem = task / parts;
                      auto weights = make_weights(problem, task % parts);
                      const Targets targets{
                          batch_.label,
                          batch_.first_positive + static_cast<std::int32_t>(problem),
                          batch_.bound, norms_.data()};
                      TwoClassModel model(weights, targets, settings_.loss,
                                          batch_.alpha + problem * rows_.rows.n_rows(),
                                          stop_);
                      certificates[static_cast<std::size_t>(task)] =
                          Descent(model, settings_, static_cast<std::uint64_t>(task),
                                  stop_)
                              .solve();
                  });
        return certificates;
    }

    const BiasedRows<Rows>& rows() const { return rows_; }
    double* nodes(std::int64_t problem, std::int64_t n_nodes, std::int64_t node) const {
        return batch_.nodes + (problem * n_nodes + node) * rows_.width();
    }
    const double* prior(std::int64_t problem, std::int64_t n_nodes) const {
        return batch_.prior ? batch_.prior + problem * n_nodes * rows_.width()
                            : nullptr;
    }

  private:
    BiasedRows<Rows> rows_;
    Batch batch_;
    Settings settings_;
    Watch watch_;
    StopFlag& stop_;
    std::vector<double> norms_;
};

}  // namespace detail

// nodes: blocks.count local vectors, then the global one. coupling = 1 / lambda.
template <class Rows>
std::vector<Certificate> solve_coupled(const Rows& rows, const Batch& batch,
                                       const Blocks& blocks, double coupling,
                                       const Settings& settings, const Watch& watch,
                                       StopFlag& stop) {
    detail::BatchSolver<Rows> solver(rows, batch, settings, watch, stop);
    return solver.solve(1, [&](std::int64_t problem, std::int64_t) {
        return BlockWeights<Rows>(solver.rows(), blocks, coupling,
                                  solver.nodes(problem, blocks.count + 1, 0));
    });
}

// nodes: blocks.count vectors per problem; certificates: one per (problem, block).
template <class Rows>
std::vector<Certificate> solve_independent(const Rows& rows, const Batch& batch,
                                           const Blocks& blocks,
                                           const Settings& settings, const Watch& watch,
                                           StopFlag& stop) {
    detail::BatchSolver<Rows> solver(rows, batch, settings, watch, stop);
    return solver.solve(blocks.count, [&](std::int64_t problem, std::int64_t block) {
        const Blocks single{blocks.start + block, blocks.row_of, 1};
        return BlockWeights<Rows>(solver.rows(), single, 0.0,
                                  solver.nodes(problem, blocks.count, block));
    });
}

template <class Rows>
std::vector<Certificate> solve_coded(const Rows& rows, const Batch& batch,
                                     const Blocks& all_rows,
                                     const Codes<typename Rows::value_type>& codes,
                                     const Settings& settings, const Watch& watch,
                                     StopFlag& stop) {
    detail::BatchSolver<Rows> solver(rows, batch, settings, watch, stop);
    return solver.solve(1, [&](std::int64_t problem, std::int64_t) {
        return CodedWeights<Rows>(solver.rows(), all_rows, codes,
                                  solver.nodes(problem, codes.n_nodes, 0),
                                  solver.prior(problem, codes.n_nodes));
    });
}

}  // namespace localsvm
