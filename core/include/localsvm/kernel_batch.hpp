// Kernel SVMs of many neighbourhoods over the same rows, on threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "localsvm/kernels.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/neighborhood.hpp"
#include "localsvm/one_vs_one.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"

namespace localsvm {

// Neighbourhood m holds rows[start[m] .. start[m + 1]), the centre first.
struct Neighborhoods {
    const std::int64_t* start;
    const std::int32_t* rows;
    std::int64_t count;
};

// Factors of C (ascending) and gamma. Each neighbourhood takes the pair with the fewest
// errors on held-out folds of its own rows. With one of each there is no choice.
struct LocalGrid {
    std::vector<double> C{1.0};
    std::vector<double> gamma{1.0};
    std::int64_t n_folds = 3;

    bool trivial() const { return C.size() == 1 && gamma.size() == 1; }
};

// On how many threads, and when to stop.
struct Execution {
    int n_threads;
    const Watch& watch;
    StopFlag& stop;
};

namespace detail {

// Solves at one width for C in ascending order, each from the solution before.
template <class Rows, class Visit>
void run_through_penalties(Neighborhood<Rows>& local, double C,
                           const std::vector<double>& factors, const Visit& visit) {
    for (std::size_t c = 0; c < factors.size(); ++c) {
        const double warm = c == 0 ? 0 : factors[c] / factors[c - 1];
        local.solve(C * factors[c], warm, true);
        visit(c);
    }
}

// Loss of a setting on held-out rows: errors first, then the hinge loss.
struct ValidationLoss {
    double errors = 0, hinge = 0;
    bool operator<(const ValidationLoss& other) const {
        return errors != other.errors ? errors < other.errors : hinge < other.hinge;
    }
};

template <class Rows>
ValidationLoss loss_at(Neighborhood<Rows>& local, std::int64_t position,
                       std::vector<double>& scores) {
    local.scores(position, scores.data());
    const std::int32_t label = local.label(position);
    ValidationLoss loss;
    if (local.votes().winner(scores.data()) != label)
        loss.errors = local.weight(position);
    for (std::int64_t p = 0; p < local.n_pairs(); ++p) {
        const ClassPair& classes = local.pair(p).classes;
        if (label != classes.positive && label != classes.negative) continue;
        const double sign = label == classes.positive ? 1 : -1;
        loss.hinge += local.weight(position) *
                      std::max(0.0, 1 - sign * local.decision(p, position));
    }
    return loss;
}

template <class Rows>
std::pair<double, double> choose_factors(Neighborhood<Rows>& local, double C,
                                         double gamma, const LocalGrid& grid,
                                         const StopFlag& stop) {
    std::vector<double> scores(static_cast<std::size_t>(local.votes().n_outputs()));
    ValidationLoss least{std::numeric_limits<double>::infinity(), 0};
    std::pair<double, double> chosen{grid.C[0], grid.gamma[0]};
    for (const double factor : grid.gamma) {
        if (stop.raised()) break;
        local.set_gamma(gamma * factor, true);
        std::vector<ValidationLoss> losses(grid.C.size());
        for (std::int64_t fold = 0; fold < grid.n_folds; ++fold) {
            const auto in_fold = [&](std::int64_t p) {
                return p % grid.n_folds == fold;
            };
            local.hold_out(in_fold);
            if (local.classes().empty() || stop.raised()) continue;
            run_through_penalties(local, C, grid.C, [&](std::size_t c) {
                for (std::int64_t p = fold; p < local.size(); p += grid.n_folds) {
                    const ValidationLoss loss = loss_at(local, p, scores);
                    losses[c].errors += loss.errors;
                    losses[c].hinge += loss.hinge;
                }
            });
        }
        // A solve that was cut short must not be compared with a complete one.
        for (std::size_t c = 0; c < grid.C.size() && !stop.raised(); ++c)
            if (losses[c] < least) {
                least = losses[c];
                chosen = {grid.C[c], factor};
            }
    }
    local.hold_out([](std::int64_t) { return false; });
    return chosen;
}

template <class Rows>
double width(Neighborhood<Rows>& local, const KernelSettings& settings) {
    return settings.kernel.gamma * (settings.local_gamma ? local.local_gamma() : 1.0);
}

// voting: there is no time to compute a kernel matrix.
template <class Rows>
LocalModel fit_one(Neighborhood<Rows>& local, const KernelSettings& settings,
                   const LocalGrid& grid, const StopFlag& stop, bool voting) {
    if (local.classes().size() < 2) return LocalModel::from(local);
    if (voting) {
        local.vote(settings.C);
        return LocalModel::from(local);
    }
    const double gamma = width(local, settings);
    const auto [c_factor, gamma_factor] =
        grid.trivial() ? std::pair(grid.C[0], grid.gamma[0])
                       : choose_factors(local, settings.C, gamma, grid, stop);
    local.set_gamma(gamma * gamma_factor, false);
    local.solve(settings.C * c_factor, 0, false);
    LocalModel model = LocalModel::from(local);
    model.gamma = gamma * gamma_factor;
    model.C = settings.C * c_factor;
    return model;
}

// Calls task(local, m) with neighbourhood m loaded. Each thread has its own `local`.
template <class Rows, class Task>
void for_each_neighborhood(const Rows& rows, const LabelledRows& data,
                           const Neighborhoods& neighborhoods,
                           const KernelSettings& settings, const Execution& run,
                           const Task& task) {
    std::vector<std::optional<Neighborhood<Rows>>> locals(
        static_cast<std::size_t>(count_workers(neighborhoods.count, run.n_threads)));
    run_tasks(neighborhoods.count, run.n_threads, run.watch, run.stop,
              [&](std::int64_t m, std::int64_t worker) {
                  if (run.stop.reason() == StopReason::interrupted) return;
                  auto& local = locals[static_cast<std::size_t>(worker)];
                  if (!local) local.emplace(rows, data, settings, run.stop);
                  const std::int64_t first = neighborhoods.start[m];
                  local->load(neighborhoods.rows + first,
                              neighborhoods.start[m + 1] - first);
                  task(*local, m);
              });
}

}  // namespace detail

template <class Rows>
std::vector<LocalModel> fit_neighborhoods(const Rows& rows, const LabelledRows& data,
                                          const Neighborhoods& neighborhoods,
                                          const KernelSettings& settings,
                                          const LocalGrid& grid, const Execution& run) {
    std::vector<LocalModel> models(static_cast<std::size_t>(neighborhoods.count));
    detail::for_each_neighborhood(
        rows, data, neighborhoods, settings, run,
        [&](Neighborhood<Rows>& local, std::int64_t m) {
            // A single neighbourhood is the whole model, so it is solved even then.
            const bool voting = run.stop.raised() && neighborhoods.count > 1;
            models[static_cast<std::size_t>(m)] =
                detail::fit_one(local, settings, grid, run.stop, voting);
        });
    return models;
}

// Cross-validation of a cover. Fold f trains on the rows with in_train[f, row]; row i
// is tested in the folds test_fold[test_start[i] .. test_start[i + 1]), by the model
// that it is assigned to, trained without the rows outside the fold's training part.
// Rows that no fold trains on are queries: they do not count for the local width.
struct CrossValidation {
    const std::int32_t* assigned;  // model of each row
    const std::uint8_t* in_train;  // n_folds x n_rows
    std::int64_t n_folds;
    const std::int64_t* test_start;
    const std::int32_t* test_fold;

    bool trains_on(std::int64_t fold, std::int64_t row, std::int64_t n_rows) const {
        return in_train[fold * n_rows + row] != 0;
    }
    bool is_query(std::int64_t row, std::int64_t n_rows) const {
        for (std::int64_t fold = 0; fold < n_folds; ++fold)
            if (trains_on(fold, row, n_rows)) return false;
        return true;
    }
};

// scores: (gamma, C) settings x tests x outputs. gamma and C of the grid are factors.
template <class Rows, class T = typename Rows::value_type>
void cross_validate(const Rows& rows, const LabelledRows& data,
                    const Neighborhoods& neighborhoods, const CrossValidation& cv,
                    const KernelSettings& settings, const LocalGrid& grid,
                    const Execution& run, T* scores) {
    const std::int64_t n_tests = cv.test_start[rows.n_rows()];
    detail::for_each_neighborhood(
        rows, data, neighborhoods, settings, run,
        [&](Neighborhood<Rows>& local, std::int64_t m) {
            const auto row_at = [&](std::int64_t p) {
                return local.members()[static_cast<std::size_t>(p)];
            };
            local.hold_out(
                [&](std::int64_t p) { return cv.is_query(row_at(p), rows.n_rows()); });
            const double gamma = detail::width(local, settings);
            const std::int64_t n_outputs = local.votes().n_outputs();
            std::vector<std::int64_t> assigned;
            for (std::int64_t p = 0; p < local.size(); ++p)
                if (cv.assigned[row_at(p)] == m) assigned.push_back(p);
            for (std::size_t g = 0; g < grid.gamma.size(); ++g) {
                local.set_gamma(gamma * grid.gamma[g], grid.gamma.size() > 1);
                for (std::int64_t fold = 0; fold < cv.n_folds; ++fold) {
                    local.hold_out([&](std::int64_t p) {
                        return !cv.trains_on(fold, row_at(p), rows.n_rows());
                    });
                    if (local.classes().empty()) continue;
                    detail::run_through_penalties(
                        local, settings.C, grid.C, [&](std::size_t c) {
                            T* out = scores +
                                     static_cast<std::int64_t>(g * grid.C.size() + c) *
                                         n_tests * n_outputs;
                            for (const std::int64_t p : assigned) {
                                const std::int64_t row = row_at(p);
                                for (std::int64_t t = cv.test_start[row];
                                     t < cv.test_start[row + 1]; ++t)
                                    if (cv.test_fold[t] == fold)
                                        local.scores(p, out + t * n_outputs);
                            }
                        });
                }
            }
        });
}

// Query i is answered by the model route[i]. Queries of one model stand together in
// `order`, so that its support vectors are looked up once.
struct Routing {
    const std::int64_t* route;
    const std::int64_t* order;
    const double* prior = nullptr;  // queries x outputs, or null
};

// Scores of each query by its model. The gamma of `kernel` is replaced by the model's.
template <class Rows, class T = typename Rows::value_type>
void decide_by_models(const Rows& support_rows, const LocalModels& models,
                      const Kernel& kernel, const Rows& queries, const Routing& routing,
                      int n_threads, T* out) {
    constexpr std::int64_t chunk = 256;
    const std::int64_t n = queries.n_rows();
    const auto task = [&](std::int64_t block, std::int64_t) {
        LocalDecision<Rows> decision(support_rows, models, kernel);
        std::int64_t current = -1;
        for (std::int64_t q = block * chunk; q < std::min(n, (block + 1) * chunk);
             ++q) {
            const std::int64_t i = routing.order[q];
            if (routing.route[i] != current)
                decision.choose(current = routing.route[i]);
            const std::int64_t first = i * decision.n_outputs();
            decision.decide(queries, i, routing.prior ? routing.prior + first : nullptr,
                            out + first);
        }
    };
    const std::int64_t n_blocks = (n + chunk - 1) / chunk;
    if (n_threads <= 1 || n_blocks <= 1) {
        for (std::int64_t block = 0; block < n_blocks; ++block) task(block, 0);
        return;
    }
    StopFlag stop;
    run_tasks(n_blocks, n_threads, Watch{}, stop, task);
}

}  // namespace localsvm
