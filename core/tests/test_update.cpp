// Solutions whose rows have changed: repaired, with certificates that are honest.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "codes.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/linear_update.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "solver_checks.hpp"

namespace localsvm::testing {
namespace {

// Some rows of a solution get another penalty, one of them none: the duals that this
// leaves, and their weights by `rebuild`.
template <class Rebuild>
void change_rows(Problem& problem, Run& run, const Rebuild& rebuild) {
    for (std::size_t i = 0; i < problem.bounds.size(); i += 9) {
        problem.bounds[i] *= i == 0 ? 0.0 : (i % 2 == 0 ? 0.5 : 3.0);
        run.alpha[i] = std::min(run.alpha[i], problem.bounds[i]);
    }
    rebuild([&](std::int64_t i, std::int64_t) {
        return run.alpha[i] * (problem.labels[i] == 1 ? 1.0 : -1.0);
    });
}

// Updates a solution after some of its rows changed, and checks it.
template <class Update>
void check_repaired(const Problem& problem, Run& run, const Machine& machine,
                    const Options& options, double tol, const Update& update) {
    const std::vector<double> norms =
        biased_squared_norms(DenseStore<double>(problem.table).rows, problem.bias);
    std::vector<std::uint8_t> near(problem.labels.size(), 0);
    for (std::size_t i = 0; i < near.size(); i += 9) near[i] = 1;
    const Batch batch{problem.labels.data(), problem.bounds.data(), 1, 1, problem.bias,
                      run.alpha.data(),      run.nodes.data(),      1};
    StopFlag stop;
    const Certificate found = update(batch, Change{norms.data(), near.data()}, stop);
    CHECK(found.status == Status::converged);
    CHECK_AT_MOST(found.relative_gap(), tol);
    check_honest(found, machine, run.alpha.data());
    check_box(machine, run.alpha.data());
    const double best = solve_reference(machine).objectives.primal;
    CHECK_AT_MOST(found.primal, best * (1 + 2 * tol + 1e-9));
    CHECK_AT_MOST(found.n_iter, options.settings.max_iter - 1);
}

template <class T>
void changed_rows_are_repaired(double tol) {
    const double lambda = 0.5;
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Options options = options_of(loss, tol);
        Problem problem = random_problem({60, 4, 2, 4}, 41);
        const DenseStore<T> store(problem.table);
        Run run = run_coupled(store, problem, lambda, options);
        BlockWeights<DenseRows<T>> weights({store.rows, problem.bias}, problem.blocks(),
                                           1 / lambda, run.nodes.data());
        change_rows(problem, run, [&](const auto& dual) { weights.rebuild(dual); });
        check_repaired(
            problem, run,
            expanded_machine(problem, coupled_codes(problem, lambda), loss), options,
            tol, [&](const Batch& batch, const Change& change, StopFlag& stop) {
                return update_coupled(store.rows, batch, problem.blocks(), 1 / lambda,
                                      change, options.settings, options.watch, stop);
            });

        Problem mixed = random_problem({60, 4, 2, 1}, 42);
        const DenseStore<T> rows(mixed.table);
        Numbers numbers(43);
        const CodeStore<T> codes = random_codes<T>(60, 5, numbers);
        Run coded = run_coded(rows, mixed, codes.view(), options);
        CodedWeights<DenseRows<T>> vectors({rows.rows, mixed.bias}, mixed.blocks(),
                                           codes.view(), coded.nodes.data(), nullptr);
        change_rows(mixed, coded, [&](const auto& dual) { vectors.rebuild(dual); });
        check_repaired(
            mixed, coded, expanded_machine(mixed, codes.table(), loss), options, tol,
            [&](const Batch& batch, const Change& change, StopFlag& stop) {
                return update_coded(rows.rows, batch, mixed.blocks(), codes.view(),
                                    change, options.settings, options.watch, stop);
            });
    }
}

void an_update_that_may_not_iterate_is_honest() {
    Problem problem = random_problem({60, 4, 2, 4}, 44);
    Options options = options_of(Loss::hinge);
    const DenseStore<double> store(problem.table);
    Run run = run_coupled(store, problem, 1.0, options);
    BlockWeights<DenseRows<double>> weights({store.rows, problem.bias},
                                            problem.blocks(), 1.0, run.nodes.data());
    change_rows(problem, run, [&](const auto& dual) { weights.rebuild(dual); });
    options.settings.max_iter = 1;
    const std::vector<double> norms = biased_squared_norms(store.rows, problem.bias);
    const std::vector<std::uint8_t> near(problem.labels.size(), 0);
    const Batch batch{problem.labels.data(), problem.bounds.data(), 1, 1, problem.bias,
                      run.alpha.data(),      run.nodes.data(),      1};
    StopFlag stop;
    const Certificate found = update_coupled(store.rows, batch, problem.blocks(), 1.0,
                                             Change{norms.data(), near.data()},
                                             options.settings, options.watch, stop);
    check_honest(found,
                 expanded_machine(problem, coupled_codes(problem, 1.0), Loss::hinge),
                 run.alpha.data());
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    changed_rows_are_repaired<double>(1e-8);
    changed_rows_are_repaired<float>(1e-5);
    an_update_that_may_not_iterate_is_honest();
    return check::summary();
}
