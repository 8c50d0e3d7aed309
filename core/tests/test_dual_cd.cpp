// One two-class problem: optimality, honest certificates, and inputs at the edge.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "solver_checks.hpp"

namespace localsvm::testing {
namespace {

template <class T = double>
Run run_dense(const Problem& problem, const Options& options) {
    return run_independent(DenseStore<T>(problem.table), problem, options);
}

void check_solves(const Problem& problem, Loss loss) {
    const Run run = run_dense(problem, options_of(loss));
    check_optimal(run.certificate(), plain_machine(problem, loss), run.alpha.data());
}

void random_problems_are_solved() {
    const Shape shapes[] = {{10, 2}, {30, 5}, {60, 5}, {60, 20}, {20, 61}};
    std::uint64_t seed = 0;
    for (const Loss loss : losses) {
        for (Shape shape : shapes) {
            for (const double bound : {0.01, 1.0, 20.0}) {
                check::context = name_of(loss) + ", seed " + std::to_string(++seed);
                shape.bound = bound;
                check_solves(random_problem(shape, seed), loss);
            }
        }
    }
}

void sparse_equals_dense() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Problem problem = random_problem({60, 30, 2, 1, 1, 20}, 5);
        const Options options = options_of(loss);
        const Machine machine = plain_machine(problem, loss);
        const Run run = run_independent(CsrStore<double, std::int32_t>(problem.table),
                                        problem, options);
        check_optimal(run.certificate(), machine, run.alpha.data());
        const Run wide = run_independent(
            CsrStore<double, std::int64_t>(problem.table, true), problem, options);
        CHECK(wide.alpha == run.alpha);
        const double dense = run_dense(problem, options).certificate().primal;
        CHECK_NEAR(run.certificate().primal, dense, 2e-8 * dense);
    }
}

void rows_of_weight_zero_take_no_part() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        Problem problem = random_problem({40, 5}, 6);
        for (std::size_t i = 0; i < 40; i += 2) problem.bounds[i] = 0;
        Options options = options_of(loss);
        options.start.assign(40, 0.5);
        const Run run = run_dense(problem, options);
        check_optimal(run.certificate(), plain_machine(problem, loss),
                      run.alpha.data());
        for (std::size_t i = 0; i < 40; i += 2) CHECK_EQUAL(run.alpha[i], 0.0);
    }
}

void a_row_twice_is_a_row_of_twice_the_weight() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Problem once = random_problem({20, 4}, 7);
        Problem twice(Table(40, 4));
        Problem heavy = once;
        for (std::size_t i = 0; i < 40; ++i) {
            std::copy_n(once.table.row(static_cast<std::int64_t>(i / 2)), 4,
                        twice.table.row(static_cast<std::int64_t>(i)));
            twice.labels[i] = once.labels[i / 2];
            twice.bounds[i] = once.bounds[i / 2];
            heavy.bounds[i / 2] = 2 * once.bounds[i / 2];
        }
        const Options options = options_of(loss);
        const double primal = run_dense(heavy, options).certificate().primal;
        CHECK_NEAR(run_dense(twice, options).certificate().primal, primal,
                   2e-8 * primal);
    }
}

void a_warm_start_costs_next_to_nothing() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Problem problem = random_problem({60, 5}, 8);
        Options options = options_of(loss);
        const Run cold = run_dense(problem, options);
        CHECK(cold.certificate().n_iter > 40);
        options.start = cold.alpha;
        const Run warm = run_dense(problem, options);
        CHECK_AT_MOST(warm.certificate().n_iter, 10);
        CHECK_NEAR(warm.certificate().primal, cold.certificate().primal,
                   2e-8 * cold.certificate().primal);
    }
}

void a_start_outside_the_box_is_clipped() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Problem problem = random_problem({30, 5}, 9);
        Options options = options_of(loss);
        for (int i = 0; i < 30; ++i) options.start.push_back(i % 2 == 0 ? -3.0 : 1e3);
        const Run run = run_dense(problem, options);
        check_optimal(run.certificate(), plain_machine(problem, loss),
                      run.alpha.data());
    }
}

void max_iter_is_honoured() {
    for (const Loss loss : losses) {
        for (const std::int64_t max_iter : {0, 1, 3}) {
            check::context = name_of(loss) + ", " + std::to_string(max_iter);
            const Problem problem = random_problem({60, 5, 2, 1, 20}, 10);
            Options options = options_of(loss);
            options.settings.max_iter = max_iter;
            const Run run = run_dense(problem, options);
            CHECK(run.certificate().status == Status::max_iter);
            CHECK_EQUAL(run.certificate().n_iter, max_iter);
            check_honest(run.certificate(), plain_machine(problem, loss),
                         run.alpha.data());
        }
    }
}

// At 1e-12 a float run cannot tell that it is done, but must not claim more than it
// has.
void float_certificates_are_honest() {
    for (const Loss loss : losses) {
        for (const double tol : {1e-2, 1e-4, 1e-12}) {
            check::context = name_of(loss) + ", " + std::to_string(tol);
            const Problem problem = random_problem({60, 20, 2, 1, 5}, 11);
            Options options = options_of(loss, tol);
            options.settings.max_iter = 3000;
            const Run run = run_dense<float>(problem, options);
            const Certificate& certificate = run.certificate();
            const Machine machine = plain_machine(problem, loss);
            check_honest(certificate, machine, run.alpha.data());
            check_box(machine, run.alpha.data());
            CHECK_EQUAL(certificate.status == Status::converged,
                        certificate.relative_gap() <= tol);
            if (tol >= 1e-4) CHECK(certificate.status == Status::converged);
        }
    }
}

// No run can meet -1. Near 1e-6 the gap of a float run is noise.
void more_passes_in_float_are_no_worse() {
    for (const Loss loss : losses) {
        for (const std::uint64_t seed : {31, 32, 33}) {
            check::context = name_of(loss) + ", seed " + std::to_string(seed);
            const Problem problem = random_problem({100, 5, 2, 1, 1}, seed);
            Options options = options_of(loss, -1);
            options.settings.max_iter = 300;
            const double some =
                run_dense<float>(problem, options).certificate().relative_gap();
            options.settings.max_iter = 10000;
            const Run run = run_dense<float>(problem, options);
            CHECK_AT_MOST(run.certificate().relative_gap(), std::max(some, 1e-6));
            const Machine machine = plain_machine(problem, loss);
            check_honest(run.certificate(), machine, run.alpha.data());
            check_box(machine, run.alpha.data());
        }
    }
}

void the_seed_decides_the_path() {
    const Problem problem = random_problem({60, 5}, 12);
    Options options = options_of(Loss::hinge, 1e-2);
    const Run first = run_dense(problem, options);
    CHECK(run_dense(problem, options).alpha == first.alpha);
    options.settings.seed = 1;
    CHECK(run_dense(problem, options).alpha != first.alpha);
}

void one_class_is_solved() {
    for (const Loss loss : losses) {
        for (const std::int32_t label : {0, 1}) {
            check::context = name_of(loss) + ", label " + std::to_string(label);
            Problem problem = random_problem({20, 3}, 13);
            problem.labels.assign(20, label);
            check_solves(problem, loss);
        }
    }
}

void one_row_is_solved() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        check_solves(random_problem({1, 3}, 14), loss);
    }
}

void equal_rows_are_solved() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        Problem problem = random_problem({20, 3}, 15);
        for (std::int64_t i = 0; i < 20; ++i)
            std::copy_n(problem.table.row(0), 3, problem.table.row(i));
        check_solves(problem, loss);
    }
}

// Such rows have no curvature: the hinge sends their duals to the bound at once.
void zero_rows_without_bias_are_solved() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        Problem problem{Table(5, 3), 2.0};
        problem.bias = 0;
        const Run run = run_dense(problem, options_of(loss));
        CHECK(run.certificate().status == Status::converged);
        CHECK_NEAR(run.certificate().primal, 10.0, 1e-7);
        check_honest(run.certificate(), plain_machine(problem, loss), run.alpha.data());
    }
}

void nothing_to_solve_is_solved() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Run none = run_dense(Problem(Table(0, 3)), options_of(loss));
        CHECK(none.certificate().status == Status::converged);
        CHECK_EQUAL(none.certificate().primal, 0.0);
        CHECK(none.nodes == std::vector<double>(4, 0.0));

        const Run weightless = run_dense(Problem(Table(3, 2), 0.0), options_of(loss));
        CHECK(weightless.certificate().status == Status::converged);
        CHECK_EQUAL(weightless.certificate().primal, 0.0);

        Problem no_columns(Table(4, 0));
        no_columns.labels = {0, 1, 1, 1};
        check_solves(no_columns, loss);
    }
}

// What no arithmetic can solve must end, and must not be called a solution.
template <class T>
void check_ends(const Problem& problem, Options options) {
    options.settings.max_iter = 200;
    const Run run = run_dense<T>(problem, options);
    const Certificate& certificate = run.certificate();
    CHECK_AT_MOST(certificate.n_iter, 200);
    const bool finite =
        std::isfinite(certificate.primal) && std::isfinite(certificate.dual);
    CHECK(finite || certificate.status == Status::not_finite);
    // From a bad start the weights are all rounding, and so is their recomputation.
    if (finite && options.start.empty())
        check_honest(certificate, plain_machine(problem, options.settings.loss),
                     run.alpha.data());
}

Problem scaled(Problem problem, double factor) {
    for (double& value : problem.table.values) value *= factor;
    return problem;
}

void huge_rows_end() {
    const Problem problem = random_problem({30, 5}, 16);
    for (const Loss loss : losses) {
        for (const double factor : {1e100, 1e150, 1e160, 1e200, 1e308}) {
            check::context = name_of(loss) + ", factor " + std::to_string(factor);
            Options options = options_of(loss);
            check_ends<double>(scaled(problem, factor), options);
            options.start.assign(30, 0.5);
            check_ends<double>(scaled(problem, factor), options);
        }
        check::context = name_of(loss) + ", float";
        check_ends<float>(scaled(problem, 0x1p100), options_of(loss));
    }
}

// Their squared norm is infinite, so that no step could move a dual.
void rows_of_infinite_norm_are_refused() {
    const Problem problem = scaled(random_problem({30, 5}, 16), 1e200);
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Run run = run_dense(problem, options_of(loss));
        CHECK(run.certificate().status == Status::not_finite);
        CHECK_EQUAL(run.certificate().n_iter, 0);
    }
}

void tiny_rows_are_solved() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        check_solves(scaled(random_problem({30, 5}, 17), 1e-200), loss);
    }
}

void rows_that_are_not_finite_end() {
    for (const Loss loss : losses) {
        for (const double bad : {std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}) {
            check::context = name_of(loss) + ", " + std::to_string(bad);
            Problem problem = random_problem({30, 5}, 18);
            problem.table.row(7)[2] = bad;
            const Run run = run_dense(problem, options_of(loss));
            CHECK(run.certificate().status == Status::not_finite);
        }
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    random_problems_are_solved();
    sparse_equals_dense();
    rows_of_weight_zero_take_no_part();
    a_row_twice_is_a_row_of_twice_the_weight();
    a_warm_start_costs_next_to_nothing();
    a_start_outside_the_box_is_clipped();
    max_iter_is_honoured();
    float_certificates_are_honest();
    more_passes_in_float_are_no_worse();
    the_seed_decides_the_path();
    one_class_is_solved();
    one_row_is_solved();
    equal_rows_are_solved();
    zero_rows_without_bias_are_solved();
    nothing_to_solve_is_solved();
    huge_rows_end();
    rows_of_infinite_norm_are_refused();
    tiny_rows_are_solved();
    rows_that_are_not_finite_end();
    return check::summary();
}
