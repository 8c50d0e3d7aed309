// The multi-class machine: optimality, honest certificates, and inputs at the edge.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "codes.hpp"
#include "localsvm/crammer_singer.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "solver_checks.hpp"

namespace localsvm::testing {
namespace {

// A problem, the number of its classes and the codes of its rows.
template <class T = double>
struct Task {
    Problem problem;
    std::int64_t n_classes;
    CodeStore<T> codes;

    Machine machine() const {
        return expanded_machine(problem, codes.table(), Loss::hinge);
    }
};

template <class T = double>
Task<T> random_task(const Shape& shape, std::uint64_t seed) {
    Numbers numbers(seed + 1000);
    return {random_problem(shape, seed), shape.n_classes,
            random_codes<T>(shape.n_rows, 5, numbers)};
}

template <class T>
CodeStore<T> one_node(std::int64_t n_rows) {
    CodeStore<T> codes{{}, {}, 1, 1};
    for (std::int64_t i = 0; i < n_rows; ++i) codes.add(0, 1);
    return codes;
}

template <class Store, class T>
Run run_jointly(const Store& store, const Task<T>& task, Options options) {
    options.n_problems = task.n_classes;
    return run_batch(task.problem, options, task.codes.n_nodes,
                     [&](const Batch& batch, StopFlag& stop) {
                         return std::vector<Certificate>{solve_jointly(
                             store.rows, batch, task.problem.blocks(),
                             task.codes.view(), options.settings, options.watch, stop)};
                     });
}

template <class T>
Run run_dense(const Task<T>& task, const Options& options = options_of(Loss::hinge)) {
    return run_jointly(DenseStore<T>(task.problem.table), task, options);
}

// Weights of one class: all nodes, one after the other.
std::vector<double> class_weights(const Machine& machine, const double* alpha) {
    std::vector<double> w(static_cast<std::size_t>(machine.rows.n_cols));
    for (std::int64_t i = 0; i < machine.rows.n_rows; ++i)
        for (std::size_t j = 0; j < w.size(); ++j)
            w[j] += alpha[i] * machine.rows.row(i)[j];
    return w;
}

template <class T>
Objectives evaluate(const Task<T>& task, const double* alpha) {
    const Machine machine = task.machine();
    const std::int64_t n = machine.rows.n_rows, width = machine.rows.n_cols;
    Table scores(n, task.n_classes);
    Objectives result;
    for (std::int64_t r = 0; r < task.n_classes; ++r) {
        const std::vector<double> w = class_weights(machine, alpha + r * n);
        result.primal += 0.5 * inner(w.data(), w.data(), width);
        for (std::int64_t i = 0; i < n; ++i)
            scores.row(i)[r] = inner(machine.rows.row(i), w.data(), width);
    }
    result.dual = -result.primal;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t own = task.problem.labels[i];
        double worst = 0;
        for (std::int64_t r = 0; r < task.n_classes; ++r) {
            if (r == own) continue;
            worst = std::max(worst, 1 + scores.row(i)[r] - scores.row(i)[own]);
            result.dual -= alpha[r * n + i];
        }
        result.primal += task.problem.bounds[i] > 0 ? machine.bounds[i] * worst : 0.0;
    }
    return result;
}

template <class T>
void check_feasible(const Task<T>& task, const Run& run) {
    const std::int64_t n = task.problem.n_rows();
    for (std::int64_t i = 0; i < n; ++i) {
        const double bound = task.problem.bounds[i];
        double sum = 0;
        for (std::int64_t r = 0; r < task.n_classes; ++r) {
            const double alpha = run.alpha[r * n + i];
            CHECK_AT_MOST(alpha, r == task.problem.labels[i] ? bound : 0.0);
            sum += alpha;
        }
        CHECK_NEAR(sum, 0.0, 1e-10 * bound);
    }
}

template <class T>
void check_honest(const Task<T>& task, const Run& run) {
    const Objectives exact = evaluate(task, run.alpha.data());
    const double scale = 1e-10 * (std::abs(exact.primal) + std::abs(exact.dual));
    CHECK_NEAR(run.certificate().primal, exact.primal, scale);
    CHECK_NEAR(run.certificate().dual, exact.dual, scale);
    check_feasible(task, run);
}

// Feasible duals whose gap is small are a proof that needs no second solver.
template <class T>
void check_optimal(const Task<T>& task, const Run& run, double tol = 1e-8) {
    CHECK(run.certificate().status == Status::converged);
    CHECK_AT_MOST(run.certificate().relative_gap(), tol);
    check_honest(task, run);
}

void random_problems_are_solved() {
    const Shape shapes[] = {{10, 2, 3}, {40, 5, 2}, {60, 5, 4}, {60, 20, 11}};
    std::uint64_t seed = 0;
    for (Shape shape : shapes) {
        for (const double bound : {0.01, 1.0, 20.0}) {
            check::context = "seed " + std::to_string(++seed);
            shape.bound = bound;
            Task<> task = random_task(shape, seed);
            check_optimal(task, run_dense(task));
            task.codes = one_node<double>(shape.n_rows);
            check_optimal(task, run_dense(task));
        }
    }
}

void nodes_are_what_the_duals_define() {
    check::context = "";
    const Task<> task = random_task({60, 4, 3}, 20);
    const Run run = run_dense(task);
    const std::int64_t width = task.problem.width(), n_nodes = task.codes.n_nodes;
    for (std::int64_t r = 0; r < task.n_classes; ++r) {
        const std::vector<double> w =
            class_weights(task.machine(), run.alpha.data() + r * 60);
        for (std::int64_t node = 0; node < n_nodes; ++node)
            for (std::int64_t j = 0; j < width; ++j)
                CHECK_NEAR(run.nodes[(node * task.n_classes + r) * width + j],
                           w[node * width + j], 1e-10);
    }
}

// With f_1 = -f_0 and w = W_1 - W_0, 1/2 |W|^2 is 1/4 |w|^2.
void two_classes_are_the_two_class_machine() {
    const Task<> task = random_task({60, 4}, 21);
    Problem doubled = task.problem;
    for (double& bound : doubled.bounds) bound *= 2;
    const double two_class = run_coded(DenseStore<double>(doubled.table), doubled,
                                       task.codes.view(), options_of(Loss::hinge))
                                 .certificate()
                                 .primal;
    CHECK_NEAR(2 * run_dense(task).certificate().primal, two_class, 4e-8 * two_class);
}

void sparse_equals_dense() {
    const Task<> task = random_task({60, 30, 4, 1, 1, 20}, 22);
    const Run sparse = run_jointly(CsrStore<double, std::int32_t>(task.problem.table),
                                   task, options_of(Loss::hinge));
    check_optimal(task, sparse);
    const double dense = run_dense(task).certificate().primal;
    CHECK_NEAR(sparse.certificate().primal, dense, 2e-8 * dense);
}

void float_certificates_are_honest() {
    for (const double tol : {1e-2, 1e-4, 1e-12}) {
        check::context = std::to_string(tol);
        const Task<float> task = random_task<float>({60, 20, 4, 1, 5}, 23);
        Options options = options_of(Loss::hinge, tol);
        options.settings.max_iter = 3000;
        const Run run = run_dense(task, options);
        check_honest(task, run);
        CHECK_EQUAL(run.certificate().status == Status::converged,
                    run.certificate().relative_gap() <= tol);
        if (tol >= 1e-4) CHECK(run.certificate().status == Status::converged);
    }
}

// No run can meet -1. Near 1e-6 the gap of a float run is noise.
void more_passes_in_float_are_no_worse() {
    for (const std::uint64_t seed : {31, 32, 33}) {
        check::context = "seed " + std::to_string(seed);
        const Task<float> task = random_task<float>({60, 5, 4, 1, 1}, seed);
        Options options = options_of(Loss::hinge, -1);
        options.settings.max_iter = 300;
        const double some = run_dense(task, options).certificate().relative_gap();
        options.settings.max_iter = 10000;
        const Run run = run_dense(task, options);
        CHECK_AT_MOST(run.certificate().relative_gap(), std::max(some, 1e-6));
        check_honest(task, run);
    }
}

void rows_of_weight_zero_take_no_part() {
    check::context = "";
    Task<> task = random_task({40, 5, 3}, 24);
    for (std::size_t i = 0; i < 40; i += 2) task.problem.bounds[i] = 0;
    Options options = options_of(Loss::hinge);
    options.start.assign(120, -0.5);
    const Run run = run_dense(task, options);
    check_optimal(task, run);
    for (std::size_t i = 0; i < 120; i += 2) CHECK_EQUAL(run.alpha[i], 0.0);
}

void a_warm_start_costs_next_to_nothing() {
    const Task<> task = random_task({60, 5, 4}, 25);
    Options options = options_of(Loss::hinge);
    const Run cold = run_dense(task, options);
    CHECK(cold.certificate().n_iter > 40);
    options.start = cold.alpha;
    CHECK_AT_MOST(run_dense(task, options).certificate().n_iter, 10);
}

void a_start_that_is_not_feasible_is_made_so() {
    const Task<> task = random_task({30, 5, 3}, 26);
    Options options = options_of(Loss::hinge);
    for (int p = 0; p < 90; ++p) options.start.push_back(p % 3 == 0 ? -1e3 : 0.1 * p);
    check_optimal(task, run_dense(task, options));
    options.settings.max_iter = 0;
    check_honest(task, run_dense(task, options));
}

void max_iter_is_honoured() {
    for (const std::int64_t max_iter : {0, 1, 3}) {
        check::context = std::to_string(max_iter);
        const Task<> task = random_task({60, 5, 4, 1, 20}, 27);
        Options options = options_of(Loss::hinge);
        options.settings.max_iter = max_iter;
        const Run run = run_dense(task, options);
        CHECK(run.certificate().status == Status::max_iter);
        CHECK_EQUAL(run.certificate().n_iter, max_iter);
        check_honest(task, run);
    }
}

void the_watch_is_obeyed() {
    check::context = "";
    const Task<> task = random_task({2000, 20, 4, 1, 100}, 28);
    Options options = options_of(Loss::hinge, 0);
    options.settings.max_iter = 1'000'000'000;
    options.watch.max_seconds = 0.02;
    const Run late = run_dense(task, options);
    CHECK(late.certificate().status == Status::max_time);
    check_feasible(task, late);
    options.watch.interrupted = [] { return true; };
    CHECK(run_dense(task, options).reason == StopReason::interrupted);
}

void the_seed_decides_the_path() {
    const Task<> task = random_task({60, 5, 4}, 29);
    Options options = options_of(Loss::hinge, 1e-2);
    const Run first = run_dense(task, options);
    CHECK(run_dense(task, options).alpha == first.alpha);
    options.settings.seed = 1;
    CHECK(run_dense(task, options).alpha != first.alpha);
}

void edges_are_solved() {
    Task<> zeros{Problem(Table(5, 3), 2.0), 3, one_node<double>(5)};
    zeros.problem.bias = 0;
    check_optimal(zeros, run_dense(zeros));
    CHECK_NEAR(run_dense(zeros).certificate().primal, 10.0, 1e-7);

    const Task<> none{Problem(Table(0, 3)), 3, one_node<double>(0)};
    CHECK(run_dense(none).certificate().status == Status::converged);
    CHECK_EQUAL(run_dense(none).certificate().primal, 0.0);

    Task<> one_class = random_task({20, 3, 3}, 30);
    one_class.problem.labels.assign(20, 2);
    check_optimal(one_class, run_dense(one_class));

    for (const double factor : {1e-200, 1e-9, 1e3}) {
        check::context = "factor " + std::to_string(factor);
        Task<> scaled = random_task({30, 5, 3}, 31);
        scaled.problem.bias = 0;
        for (double& value : scaled.problem.table.values) value *= factor;
        Options options = options_of(Loss::hinge, 1e-6);
        options.settings.max_iter = 1'000'000;
        check_optimal(scaled, run_dense(scaled, options), 1e-6);
    }
}

// With the duals of the other rows fixed, the first rows find their share.
void a_prior_stands_for_other_rows() {
    constexpr std::int64_t n = 60, own = 35;
    const Task<> task = random_task({n, 5, 4}, 33);
    const Options tight = options_of(Loss::hinge, 1e-10);
    const Run whole = run_dense(task, tight);
    std::vector<double> duals;
    for (std::int64_t c = 0; c < task.n_classes; ++c)
        duals.insert(duals.end(), whole.alpha.begin() + c * n + own,
                     whole.alpha.begin() + (c + 1) * n);
    const Problem others = task.problem.part(own, n);
    const DenseStore<double> other_store(others.table);
    Options options = tight;
    options.prior.resize(whole.nodes.size());
    weigh_coded(BiasedRows<DenseRows<double>>{other_store.rows, others.bias},
                task.codes.part(own, n).view(), duals.data(), task.n_classes,
                options.prior.data());
    const Task<> part{task.problem.part(0, own), task.n_classes,
                      task.codes.part(0, own)};
    const Run run = run_dense(part, options);
    CHECK(run.certificate().status == Status::converged);
    CHECK_AT_MOST(run.certificate().dual, run.certificate().primal);
    for (std::size_t j = 0; j < whole.nodes.size(); ++j)
        CHECK_NEAR(run.nodes[j] + options.prior[j], whole.nodes[j], 1e-4);
}

void what_is_not_finite_ends() {
    for (const double bad : {1e200, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
        check::context = std::to_string(bad);
        Task<> task = random_task({30, 5, 3}, 32);
        task.problem.table.row(7)[2] = bad;
        CHECK(run_dense(task).certificate().status == Status::not_finite);
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    random_problems_are_solved();
    nodes_are_what_the_duals_define();
    two_classes_are_the_two_class_machine();
    sparse_equals_dense();
    float_certificates_are_honest();
    more_passes_in_float_are_no_worse();
    rows_of_weight_zero_take_no_part();
    a_warm_start_costs_next_to_nothing();
    a_start_that_is_not_feasible_is_made_so();
    max_iter_is_honoured();
    the_watch_is_obeyed();
    the_seed_decides_the_path();
    edges_are_solved();
    a_prior_stands_for_other_rows();
    what_is_not_finite_ends();
    return check::summary();
}
