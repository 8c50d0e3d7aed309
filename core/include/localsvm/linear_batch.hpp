// Many linear SVMs over the same rows, on threads: the three forms of the solver.
//
//   independent  one problem per (class, block); global_reg = inf
//   coupled      one problem per class, blocks tied to a global vector [Gu 2013, Eq. 3]
//   coded        one problem per class, each row with its own nodes and coefficients
//
// The coupled and the coded form with the squared hinge have a second solver, Newton's
// method on the primal, where prefers_newton says so.
//
// One plain linear SVM is the independent form with a single block. Blocks that share
// rows are the independent form on PickedRows, where each place has a bound and a dual.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "localsvm/descent.hpp"
#include "localsvm/dual_cd.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/newton.hpp"
#include "localsvm/newton_blocks.hpp"
#include "localsvm/newton_codes.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/team.hpp"
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
        return run(parts, [&](std::int64_t task, const Targets& targets) {
            const std::int64_t problem = task / parts;
            auto weights = make_weights(problem, task % parts);
            TwoClassModel model(weights, targets, settings_.loss, alpha(problem),
                                stop_);
            return Descent(model, settings_, static_cast<std::uint64_t>(task), stop_)
                .solve();
        });
    }

    // begin(problem, targets) may iterate otherwise first: where it stops at its limit,
    // Newton's method starts from its duals. make_system(part, targets, team) builds the
    // equations of one task, whose weights go to nodes_of(problem, part). Threads that
    // problems leave over work on the rows of each.
    template <class Begin, class MakeSystem, class NodesOf>
    std::vector<Certificate> solve_by_newton(std::int64_t parts, const Begin& begin,
                                             const MakeSystem& make_system,
                                             const NodesOf& nodes_of) {
        return run(parts, [&](std::int64_t task, const Targets& targets) {
            const std::int64_t problem = task / parts;
            const Certificate before = begin(problem, targets);
            if (before.status != Status::max_iter ||
                before.n_iter == settings_.max_iter)
                return before;
            Settings rest = settings_;
            rest.max_iter -= before.n_iter;
            Team team(crew(batch_.n_problems * parts));
            auto system = make_system(task % parts, targets, team);
            Certificate certificate =
                Newton(system, rest, team, stop_).solve(alpha(problem));
            certificate.n_iter += before.n_iter;
            const std::vector<double>& weights = system.weights();
            std::copy(weights.begin(), weights.end(), nodes_of(problem, task % parts));
            return certificate;
        });
    }

    // At most so many passes of descent over one problem.
    template <class Weights>
    Certificate descend(Weights weights, std::int64_t problem, const Targets& targets,
                        std::int64_t most_passes) {
        Settings few = settings_;
        few.max_iter = std::min(most_passes, settings_.max_iter);
        TwoClassModel model(weights, targets, few.loss, alpha(problem), stop_);
        return Descent(model, few, static_cast<std::uint64_t>(problem), stop_).solve();
    }

    bool all_finite() const {
        return std::all_of(norms_.begin(), norms_.end(),
                           [](double norm) { return std::isfinite(norm); });
    }

    const BiasedRows<Rows>& rows() const { return rows_; }
    double* nodes(std::int64_t problem, std::int64_t n_nodes, std::int64_t node) const {
        return batch_.nodes + (problem * n_nodes + node) * rows_.width();
    }
    double* alpha(std::int64_t problem) const {
        return batch_.alpha + problem * rows_.rows.n_rows();
    }
    const double* prior(std::int64_t problem, std::int64_t n_nodes) const {
        return batch_.prior ? batch_.prior + problem * n_nodes * rows_.width()
                            : nullptr;
    }

  private:
    // solve(task, targets) for all parts of all problems
    template <class Solve>
    std::vector<Certificate> run(std::int64_t parts, const Solve& solve) {
        std::vector<Certificate> certificates(
            static_cast<std::size_t>(batch_.n_problems * parts));
        run_tasks(
            batch_.n_problems * parts, batch_.n_threads, watch_, stop_,
            [&](std::int64_t task, std::int64_t) {
                if (stop_.reason() == StopReason::interrupted) return;
                const auto problem = static_cast<std::int32_t>(task / parts);
                const Targets targets{batch_.label, batch_.first_positive + problem,
                                      batch_.bound, norms_.data()};
                certificates[static_cast<std::size_t>(task)] = solve(task, targets);
            });
        return certificates;
    }
    // Threads of a task, if all work at once.
    int crew(std::int64_t n_tasks) const {
        return static_cast<int>(batch_.n_threads / std::max<std::int64_t>(1, n_tasks));
    }

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

// Whether Newton's method solves a problem of so many rows, columns and weight vectors
// faster than descent: its equations, D^3 for each node, have to cost no more than what
// their sums cost, D^2 for each row, and its factors then take no more than eight bytes
// per number of the rows. Beyond 300 columns D^2 is much for a row as well. Of sparse
// rows descent visits the non-zero numbers only.
template <class Rows>
bool prefers_newton(Loss loss, const Rows& rows, std::int64_t n_nodes) {
    constexpr std::int64_t most_columns = 300;
    return Rows::is_dense && loss == Loss::squared_hinge &&
           rows.n_cols() <= most_columns &&
           n_nodes * (rows.n_cols() + 1) <= rows.n_rows();
}

// The same problems as of solve_coupled, with the squared hinge, by Newton's method.
template <class Rows>
std::vector<Certificate> solve_coupled_by_newton(const Rows& rows, const Batch& batch,
                                                 const Blocks& blocks, double coupling,
                                                 const Settings& settings,
                                                 const Watch& watch, StopFlag& stop) {
    detail::BatchSolver<Rows> solver(rows, batch, settings, watch, stop);
    if (!solver.all_finite())
        return solve_coupled(rows, batch, blocks, coupling, settings, watch, stop);
    return solver.solve_by_newton(
        1, [](std::int64_t, const Targets&) { return Certificate{}; },
        [&](std::int64_t, const Targets& targets, Team& team) {
            return BlockSystem<Rows>(solver.rows(), blocks, coupling, targets, team);
        },
        [&](std::int64_t problem, std::int64_t) {
            return solver.nodes(problem, blocks.count + 1, 0);
        });
}

// The same problems as of solve_independent.
template <class Rows>
std::vector<Certificate> solve_independent_by_newton(
    const Rows& rows, const Batch& batch, const Blocks& blocks,
    const Settings& settings, const Watch& watch, StopFlag& stop) {
    detail::BatchSolver<Rows> solver(rows, batch, settings, watch, stop);
    if (!solver.all_finite())
        return solve_independent(rows, batch, blocks, settings, watch, stop);
    return solver.solve_by_newton(
        blocks.count, [](std::int64_t, const Targets&) { return Certificate{}; },
        [&](std::int64_t block, const Targets& targets, Team& team) {
            const Blocks single{blocks.start + block, blocks.row_of, 1};
            return BlockSystem<Rows>(solver.rows(), single, 0.0, targets, team);
        },
        [&](std::int64_t problem, std::int64_t block) {
            return solver.nodes(problem, blocks.count, block);
        });
}

// The same problems as of solve_coded, of dense rows, which are copied. Descent begins:
// some problems take it few passes, and others lose little by them.
template <class T>
std::vector<Certificate> solve_coded_by_newton(const DenseRows<T>& rows,
                                               const Batch& batch,
                                               const Blocks& all_rows,
                                               const Codes<T>& codes,
                                               const Settings& settings,
                                               const Watch& watch, StopFlag& stop) {
    detail::BatchSolver<DenseRows<T>> solver(rows, batch, settings, watch, stop);
    if (!solver.all_finite())
        return solve_coded(rows, batch, all_rows, codes, settings, watch, stop);
    constexpr std::int64_t first_passes = 25;
    const SortedCodes<T> sorted(solver.rows(), codes, batch.bound);
    return solver.solve_by_newton(
        1,
        [&](std::int64_t problem, const Targets& targets) {
            CodedWeights<DenseRows<T>> weights(solver.rows(), all_rows, codes,
                                               solver.nodes(problem, codes.n_nodes, 0),
                                               nullptr);
            return solver.descend(std::move(weights), problem, targets, first_passes);
        },
        [&](std::int64_t, const Targets& targets, Team& team) {
            return CodedSystem<T>(sorted, codes.per_row, targets, team, stop);
        },
        [&](std::int64_t problem, std::int64_t) {
            return solver.nodes(problem, codes.n_nodes, 0);
        });
}

}  // namespace localsvm
