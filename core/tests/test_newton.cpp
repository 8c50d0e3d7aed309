// Newton's method on the primal: the optimum, its certificate, threads, starts, limits.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "codes.hpp"
#include "localsvm/cholesky.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/status.hpp"
#include "localsvm/team.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "solver_checks.hpp"

namespace localsvm::testing {
namespace {

Options exactly(double tol = 1e-9) {
    Options options = options_of(Loss::squared_hinge, tol);
    options.settings.max_iter = 500;
    return options;
}

template <class Store>
Run run_blocks(const Store& store, const Problem& problem, double lambda,
               const Options& options) {
    return run_batch(problem, options, problem.n_blocks() + 1,
                     [&](const Batch& batch, StopFlag& stop) {
                         return solve_coupled_by_newton(
                             store.rows, batch, problem.blocks(), 1 / lambda,
                             options.settings, options.watch, stop);
                     });
}

template <class T>
Run run_codes(const DenseStore<T>& store, const Problem& problem,
              const CodeStore<T>& codes, const Options& options) {
    return run_batch(
        problem, options, codes.n_nodes, [&](const Batch& batch, StopFlag& stop) {
            return solve_coded_by_newton(store.rows, batch, problem.blocks(),
                                         codes.view(), options.settings, options.watch,
                                         stop);
        });
}

// 1 in the row's block, 1 / sqrt(lambda) in the global node.
Table coupled_table(const Problem& problem, double lambda) {
    Table codes(problem.n_rows(), problem.n_blocks() + 1);
    const std::vector<std::int64_t> block_of = problem.block_of();
    for (std::int64_t i = 0; i < problem.n_rows(); ++i) {
        codes.row(i)[block_of[i]] = 1;
        codes.row(i)[problem.n_blocks()] = 1 / std::sqrt(lambda);
    }
    return codes;
}

double primal_of(const Machine& machine, const std::vector<double>& w) {
    double sum = 0.5 * inner(w.data(), w.data(), machine.rows.n_cols);
    for (std::int64_t i = 0; i < machine.rows.n_rows; ++i) {
        const double margin = machine.signs[i] *
                              inner(machine.rows.row(i), w.data(), machine.rows.n_cols);
        const double slack = std::max(0.0, 1 - margin);
        sum += machine.bounds[i] * slack * slack;
    }
    return sum;
}

// The primal is that of the nodes, the dual that of the duals.
void check_certificate(const Certificate& found, const Machine& machine,
                       const std::vector<double>& nodes, const double* alpha,
                       double rounding = 1e-10) {
    CHECK_NEAR(found.primal, primal_of(machine, nodes), rounding * found.primal);
    CHECK_NEAR(found.dual, evaluate(machine, alpha).dual, rounding * found.primal);
    CHECK_AT_MOST(found.dual, found.primal * (1 + rounding));
    check_box(machine, alpha);
}

void check_best(const Certificate& found, const Machine& machine, double tol) {
    CHECK(found.status == Status::converged);
    CHECK_AT_MOST(found.relative_gap(), tol);
    const Objectives best = solve_reference(machine).objectives;
    CHECK_NEAR(found.primal, best.primal, (tol + 1e-9) * best.primal);
}

std::vector<double> expanded_nodes(const Run& run, const Problem& problem,
                                   double lambda) {
    std::vector<double> nodes = run.nodes;
    for (std::size_t j = nodes.size() - problem.width(); j < nodes.size(); ++j)
        nodes[j] *= std::sqrt(lambda);
    return nodes;
}

void blocks_reach_the_optimum() {
    for (const double bound : {0.02, 1.0, 100.0}) {
        const Problem problem = random_problem({90, 4, 2, 5, bound}, 41);
        for (const double lambda : {0.1, 1.0, 50.0}) {
            check::context =
                "C " + std::to_string(bound) + ", lambda " + std::to_string(lambda);
            const Run run = run_blocks(DenseStore<double>(problem.table), problem,
                                       lambda, exactly());
            const Machine expanded = expanded_machine(
                problem, coupled_table(problem, lambda), Loss::squared_hinge);
            check_best(run.certificate(), expanded, 1e-9);
            check_certificate(run.certificate(), expanded,
                              expanded_nodes(run, problem, lambda), run.alpha.data());
        }
    }
}

// Few enough passes come first that Newton's method has work left.
void codes_reach_the_optimum() {
    for (const double bound : {1.0, 100.0}) {
        check::context = "C " + std::to_string(bound);
        const Problem problem = random_problem({120, 4, 2, 1, bound}, 42);
        Numbers numbers(43);
        const CodeStore<double> codes = random_codes<double>(120, 6, numbers);
        const Run run =
            run_codes(DenseStore<double>(problem.table), problem, codes, exactly());
        CHECK(run.certificate().n_iter > 25);
        const Machine expanded =
            expanded_machine(problem, codes.table(), Loss::squared_hinge);
        check_best(run.certificate(), expanded, 1e-9);
        check_certificate(run.certificate(), expanded, run.nodes, run.alpha.data());
    }
}

void float_certificates_are_those_of_what_is_returned() {
    const Problem problem = random_problem({120, 10, 2, 4, 20}, 44);
    const DenseStore<float> store(problem.table);
    const Run blocks = run_blocks(store, problem, 2.0, exactly(1e-6));
    check::context = "blocks";
    CHECK_AT_MOST(blocks.certificate().relative_gap(), 1e-6);
    check_certificate(
        blocks.certificate(),
        expanded_machine(problem, coupled_table(problem, 2.0), Loss::squared_hinge),
        expanded_nodes(blocks, problem, 2.0), blocks.alpha.data());
    check::context = "codes";
    Problem ungrouped = problem;
    ungrouped.one_block();
    Numbers numbers(45);
    const CodeStore<float> codes = random_codes<float>(120, 6, numbers);
    const Run coded = run_codes(store, ungrouped, codes, exactly(1e-6));
    CHECK_AT_MOST(coded.certificate().relative_gap(), 1e-6);
    check_certificate(coded.certificate(),
                      expanded_machine(problem, codes.table(), Loss::squared_hinge),
                      coded.nodes, coded.alpha.data());
}

void independent_blocks_are_solved_alone() {
    const Problem problem = random_problem({90, 4, 2, 5}, 46);
    const DenseStore<double> store(problem.table);
    const Options options = exactly();
    const Run run = run_batch(
        problem, options, problem.n_blocks(), [&](const Batch& batch, StopFlag& stop) {
            return solve_independent_by_newton(store.rows, batch, problem.blocks(),
                                               options.settings, options.watch, stop);
        });
    const Run expected = run_independent(store, problem, options);
    CHECK_EQUAL(run.certificates.size(), expected.certificates.size());
    for (std::size_t b = 0; b < run.certificates.size(); ++b) {
        CHECK(run.certificates[b].status == Status::converged);
        CHECK_NEAR(run.certificates[b].primal, expected.certificates[b].primal,
                   1e-8 * expected.certificates[b].primal);
    }
    for (std::size_t j = 0; j < run.nodes.size(); ++j)
        CHECK_NEAR(run.nodes[j], expected.nodes[j], 1e-4);
}

void check_same(const Run& a, const Run& b) {
    CHECK(a.alpha == b.alpha);
    CHECK(a.nodes == b.nodes);
    CHECK_EQUAL(a.certificate().primal, b.certificate().primal);
    CHECK_EQUAL(a.certificate().dual, b.certificate().dual);
    CHECK_EQUAL(a.certificate().n_iter, b.certificate().n_iter);
}

void threads_change_nothing() {
    const Problem problem = random_problem({5000, 6, 2, 40, 5}, 47);
    const DenseStore<float> store(problem.table);
    Problem ungrouped = problem;
    ungrouped.one_block();
    Numbers numbers(48);
    const CodeStore<float> codes = random_codes<float>(5000, 12, numbers);
    Options options = exactly(1e-5);
    const Run blocks = run_blocks(store, problem, 1.0, options);
    const Run coded = run_codes(store, ungrouped, codes, options);
    CHECK(coded.certificate().n_iter > 25);
    for (const int n_threads : {2, 3, 8}) {
        check::context = std::to_string(n_threads) + " threads";
        options.n_threads = n_threads;
        check_same(run_blocks(store, problem, 1.0, options), blocks);
        check_same(run_codes(store, ungrouped, codes, options), coded);
    }
}

// A row of weight two is the row twice, one of weight zero its absence.
void weights_count_copies() {
    Problem problem = random_problem({60, 4, 2, 3}, 49);
    std::fill(problem.bounds.begin(), problem.bounds.end(), 1.0);
    Problem copies(Table(61, 4));
    std::vector<std::int64_t> block_of = problem.block_of();
    for (std::int64_t i = 0; i < 61; ++i) {
        std::copy_n(problem.table.row(i % 60), 4, copies.table.row(i));
        copies.labels[i] = problem.labels[i % 60];
    }
    block_of.push_back(block_of[0]);
    copies.group(block_of, 3);
    problem.bounds[0] = 2;
    problem.bounds[1] = copies.bounds[1] = 0;
    Options options = exactly();
    options.start.assign(60, 0.5);
    const Run run =
        run_blocks(DenseStore<double>(problem.table), problem, 1.0, options);
    options.start.clear();
    const Run twice =
        run_blocks(DenseStore<double>(copies.table), copies, 1.0, options);
    CHECK_EQUAL(run.alpha[1], 0.0);
    for (std::size_t j = 0; j < run.nodes.size(); ++j)
        CHECK_NEAR(run.nodes[j], twice.nodes[j], 1e-4);
}

// Duals of another C give a start; those of the optimum end the solve at once.
void a_start_saves_steps() {
    const Problem problem = random_problem({200, 5, 2, 4}, 50);
    const DenseStore<double> store(problem.table);
    Options options = exactly(1e-6);
    const Run cold = run_blocks(store, problem, 1.0, options);
    options.start = cold.alpha;
    const Run again = run_blocks(store, problem, 1.0, options);
    CHECK_AT_MOST(again.certificate().n_iter, 1);
    CHECK_NEAR(again.certificate().primal, cold.certificate().primal,
               1e-6 * cold.certificate().primal);
}

void limits_end_the_solve() {
    const Problem problem = random_problem({200, 5, 2, 4}, 51);
    const DenseStore<double> store(problem.table);
    Options options = exactly();
    options.settings.max_iter = 1;
    const Run one = run_blocks(store, problem, 1.0, options);
    CHECK(one.certificate().status == Status::max_iter);
    CHECK_EQUAL(one.certificate().n_iter, 1);
    CHECK(one.certificate().primal < 200);
    options = exactly();
    options.watch.max_seconds = 0;
    const Run late = run_blocks(store, problem, 1.0, options);
    CHECK(late.certificate().status == Status::max_time);
    CHECK_EQUAL(late.certificate().n_iter, 1);
    options = exactly();
    options.settings.tol = 0;
    const Certificate last = run_blocks(store, problem, 1.0, options).certificate();
    CHECK(last.status == Status::stalled || last.status == Status::converged);
    CHECK_AT_MOST(last.relative_gap(), 1e-13);
}

void rows_that_are_not_finite_are_reported() {
    Problem problem = random_problem({40, 4, 2, 2}, 52);
    problem.table.row(3)[1] = INFINITY;
    const Run run =
        run_blocks(DenseStore<double>(problem.table), problem, 1.0, exactly());
    CHECK(run.certificate().status == Status::not_finite);
}

void the_rule_goes_by_loss_and_size() {
    const Table table(1000, 9);
    const DenseStore<double> dense(table);
    const CsrStore<double, std::int32_t> sparse(table);
    CHECK(prefers_newton(Loss::squared_hinge, dense.rows, 100));
    CHECK(!prefers_newton(Loss::squared_hinge, dense.rows, 101));
    CHECK(!prefers_newton(Loss::hinge, dense.rows, 100));
    CHECK(!prefers_newton(Loss::squared_hinge, sparse.rows, 100));
    const DenseStore<double> wide(Table(1000, 301));
    CHECK(!prefers_newton(Loss::squared_hinge, wide.rows, 1));
}

void factors_solve_and_invert() {
    constexpr std::int64_t n = 19;
    Numbers numbers(53);
    std::vector<double> matrix(n * n), full(n * n), inverse(n * n), work(n * n);
    for (int k = 0; k < 30; ++k) {
        const std::vector<double> x = random_vector<double>(n, numbers);
        add_outer(0.5, x.data(), n, matrix.data());
    }
    add_to_diagonal(1.0, n, matrix.data());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            full[i * n + j] = matrix[std::max(i, j) * n + std::min(i, j)];
    const std::vector<double> x = random_vector<double>(n, numbers);
    std::vector<double> b(n);
    for (std::int64_t i = 0; i < n; ++i) b[i] = inner(full.data() + i * n, x.data(), n);
    factorise(n, matrix.data());
    solve_factorised(matrix.data(), n, b.data());
    for (std::int64_t i = 0; i < n; ++i) CHECK_NEAR(b[i], x[i], 1e-12);
    subtract_inverse(matrix.data(), n, work.data(), inverse.data());
    for (std::int64_t i = 0; i < n; ++i) {
        std::vector<double> column(n);
        for (std::int64_t j = 0; j < n; ++j)
            column[j] = -inverse[std::max(i, j) * n + std::min(i, j)];
        for (std::int64_t j = 0; j < n; ++j)
            CHECK_NEAR(inner(full.data() + j * n, column.data(), n), i == j, 1e-12);
    }
}

void a_team_runs_each_item_once() {
    for (const int n_threads : {1, 2, 4}) {
        Team team(n_threads);
        for (int loop = 0; loop < 300; ++loop) {
            std::vector<int> visits(static_cast<std::size_t>(loop % 17));
            team.each(static_cast<std::int64_t>(visits.size()),
                      [&](std::int64_t i, std::int64_t worker) {
                          visits[i] += worker < team.size() ? 1 : 100;
                      });
            CHECK(std::all_of(visits.begin(), visits.end(),
                              [](int count) { return count == 1; }));
        }
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    factors_solve_and_invert();
    a_team_runs_each_item_once();
    blocks_reach_the_optimum();
    codes_reach_the_optimum();
    float_certificates_are_those_of_what_is_returned();
    independent_blocks_are_solved_alone();
    threads_change_nothing();
    weights_count_copies();
    a_start_saves_steps();
    limits_end_the_solve();
    rows_that_are_not_finite_are_reported();
    the_rule_goes_by_loss_and_size();
    return check::summary();
}
