// SMO and the cache of kernel rows against plain solvers and plain lists.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "localsvm/aligned.hpp"
#include "localsvm/kernel_rows.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "smo_checks.hpp"

namespace localsvm::testing {
namespace {

template <class Store>
Outcome run_computed(const Setup& setup, const How& how) {
    // The rows of the problem are every other row of the store, from the last on.
    const std::int64_t n = setup.table.n_rows;
    Table spread(2 * n, setup.table.n_cols);
    std::vector<std::int64_t> members;
    for (std::int64_t i = 0; i < n; ++i) {
        members.push_back(2 * (n - 1 - i));
        std::copy_n(setup.table.row(i), spread.n_cols, spread.row(members.back()));
    }
    const Store store(spread);
    StopFlag stop;
    return run_cached(ComputedKernel(store.rows, setup.kernel, members), setup.dual,
                      how, stop);
}

template <class T>
void check_optimal(const BoxedDual& dual, const Outcome& outcome, const How& how,
                   const Objectives& best) {
    const SmoCertificate& certificate = outcome.certificate;
    check_honest<T>(dual, outcome);
    CHECK(certificate.status == Status::converged);
    CHECK_AT_MOST(certificate.violation, how.tol);
    const double slack = gradient_error<T>(dual, outcome) * (1 + dual.total_width());
    const double gap = certificate.primal - certificate.dual;
    CHECK_AT_MOST(gap, how.tol * dual.total_width() + slack);
    CHECK_AT_MOST(best.dual - certificate.dual, gap + slack);
    CHECK_AT_MOST(certificate.dual - best.primal, slack);
}

bool same_bits(const Outcome& a, const Outcome& b) {
    return a.beta == b.beta && a.gradient == b.gradient &&
           a.certificate.n_iter == b.certificate.n_iter &&
           a.certificate.primal == b.certificate.primal &&
           a.certificate.intercept == b.certificate.intercept;
}

template <class T>
void check_every_source(const Setup& setup, const How& how) {
    const std::string context = check::context;
    const Optimum best = solve_pairwise(setup.dual);
    CHECK_AT_MOST(best.objectives.gap(), 1e-9 * (1 + setup.dual.total_width()));
    const auto check = [&](const char* source, const Outcome& outcome) {
        check::context = context + ", " + source;
        check_optimal<T>(setup.dual, outcome, how, best.objectives);
    };
    check("gram", run_gram<T>(setup.dual, how));
    check("given", run_given<T>(setup.dual, how));
    check("dense", run_computed<DenseStore<T>>(setup, how));
    check("csr", run_computed<CsrStore<T, std::int32_t>>(setup, how));
}

template <class T>
void solutions_are_optimal(double tol) {
    for (const Kernel& kernel : kernels)
        for (const std::int64_t n : {1, 2, 3, 7, 8, 9, 17, 40, 61}) {
            check::context = name_of(kernel) + ", " + std::to_string(n) + " rows";
            check_every_source<T>(
                random_setup(n, kernel, static_cast<std::uint64_t>(200 + n)), {tol});
        }
}

// Every row is there twice, and half of the copies contradict.
void copies_are_no_obstacle() {
    for (const Kernel& kernel : kernels) {
        check::context = "copies, " + name_of(kernel);
        const Problem problem = random_problem({20, 3}, 230);
        Table table(40, 3);
        std::vector<double> signs = signs_of(problem), bounds(40, 0.5);
        for (std::int64_t i = 0; i < 40; ++i)
            std::copy_n(problem.table.row(i % 20), 3, table.row(i));
        for (std::size_t i = 0; i < 20; ++i)
            signs.push_back(i % 2 == 0 ? signs[i] : -signs[i]);
        check_every_source<double>(
            {table, kernel, BoxedDual(kernel_matrix(kernel, table), signs, bounds)},
            {});
    }
}

template <class T>
void starts_do_not_matter(double tol) {
    for (const Kernel& kernel : kernels) {
        check::context = "start, " + name_of(kernel);
        const Setup setup = random_setup(61, kernel, 240);
        const Objectives best = solve_pairwise(setup.dual).objectives;
        How how{tol};
        const Outcome cold = run_given<T>(setup.dual, how);
        how.start = cold.beta;
        for (const Outcome& warm :
             {run_given<T>(setup.dual, how), run_gram<T>(setup.dual, how)}) {
            check_optimal<T>(setup.dual, warm, how, best);
            CHECK_AT_MOST(warm.certificate.n_iter, 3);
        }
        Numbers numbers(241);
        for (const double shift : {0.0, 1.0, -1.0, 100.0}) {
            for (double& b : how.start) b = 10 * (numbers.next() + shift);
            check_optimal<T>(setup.dual, run_given<T>(setup.dual, how), how, best);
            check_optimal<T>(setup.dual, run_gram<T>(setup.dual, how), how, best);
        }
    }
}

template <class T>
void work_space_leaves_no_trace() {
    check::context = "work space";
    SmoSpace<T> space;
    for (const std::int64_t n : {40, 9, 61, 1}) {
        const BoxedDual dual = random_setup(n, kernels[2], 250).dual;
        CHECK(same_bits(run_gram<T>(dual, {1e-5}, space), run_gram<T>(dual, {1e-5})));
    }
}

// All boxes lie on one side of zero, so that no step is possible.
void one_side_alone_has_a_constant_decision() {
    for (const double sign : {1.0, -1.0})
        for (const std::int64_t n : {1, 2, 9}) {
            check::context =
                std::to_string(n) + " rows of class " + std::to_string(sign);
            const Setup setup = random_setup(n, kernels[2], 260);
            const std::vector<double> signs(n, sign), bounds(n, 1.5);
            const BoxedDual dual(setup.dual.k, signs, bounds);
            How how;
            how.start = signs;
            for (const Outcome& outcome :
                 {run_gram<double>(dual, how), run_given<double>(dual, how)}) {
                check_optimal<double>(dual, outcome, how, {});
                CHECK_EQUAL(outcome.certificate.intercept, sign);
                CHECK_EQUAL(outcome.certificate.primal, 0.0);
                CHECK_EQUAL(sum_of_sizes(outcome.beta), 0.0);
            }
        }
    check::context = "no rows in use";
    for (const std::int64_t n : {0, 5}) {
        const BoxedDual dual(Table(n, n), std::vector<double>(n, 1),
                             std::vector<double>(n, 0));
        for (const Outcome& outcome :
             {run_gram<double>(dual, {}), run_given<double>(dual, {})})
            check_optimal<double>(dual, outcome, {}, {});
    }
}

// Large enough for rows to be set aside, more than once.
template <class T>
void rows_are_set_aside_and_come_back(double tol) {
    const Setup setup = large_setup();
    const Outcome whole = run_gram<T>(setup.dual, {tol / 10});
    const Objectives best{whole.certificate.primal, whole.certificate.dual};
    for (const std::int64_t cached : {2, 3, 50, 403}) {
        check::context = std::to_string(cached) + " rows in the cache";
        How how{tol};
        how.cache_bytes =
            cached * padded<T>(403) * static_cast<std::int64_t>(sizeof(T));
        KernelCalls calls, again;
        StopFlag stop;
        const Outcome outcome = run_watched<T>(setup.dual, how, calls, stop);
        check_optimal<T>(setup.dual, outcome, how, best);
        CHECK(calls.reorders >= 2);
        CHECK(same_bits(run_watched<T>(setup.dual, how, again, stop), outcome));
        CHECK_EQUAL(again.entries, calls.entries);
        // Two rows a step in full would be almost twice as much.
        if (cached == 2) CHECK_AT_MOST(calls.entries, outcome.certificate.n_iter * 403);
        check_optimal<T>(setup.dual, run_computed<DenseStore<T>>(setup, how), how,
                         best);
        check_optimal<T>(
            setup.dual, run_computed<CsrStore<T, std::int32_t>>(setup, how), how, best);
    }
}

void the_number_of_steps_is_obeyed() {
    const Setup setup = large_setup();
    const Outcome full = run_gram<double>(setup.dual, {});
    double dual_before = -1;
    // Rows are set aside after 403 steps.
    for (const std::int64_t max_iter : {0, 1, 20, 403, 450, 900}) {
        check::context = std::to_string(max_iter) + " steps";
        How how;
        how.max_iter = max_iter;
        for (const Outcome& outcome :
             {run_gram<double>(setup.dual, how), run_given<double>(setup.dual, how)}) {
            check_honest<double>(setup.dual, outcome);
            CHECK(outcome.certificate.status == Status::max_iter);
            CHECK_EQUAL(outcome.certificate.n_iter, max_iter);
            CHECK_AT_MOST(full.certificate.dual, outcome.certificate.primal + 1e-9);
            CHECK(outcome.certificate.dual > dual_before);
        }
        dual_before = run_given<double>(setup.dual, how).certificate.dual;
    }
}

void a_raised_flag_ends_the_work() {
    const Setup setup = large_setup();
    for (const StopReason reason : {StopReason::out_of_time, StopReason::interrupted}) {
        const bool timed = reason == StopReason::out_of_time;
        check::context = timed ? "out of time" : "interrupted";
        StopFlag stop;
        stop.raise(reason);
        KernelCalls calls;
        SmoSpace<double> space;
        for (const Outcome& outcome : {run_watched<double>(setup.dual, {}, calls, stop),
                                       run_gram<double>(setup.dual, {}, space, stop)}) {
            check_honest<double>(setup.dual, outcome);
            CHECK(outcome.certificate.status == Status::max_time);
            CHECK_EQUAL(outcome.certificate.n_iter > 0, timed);
        }
        CHECK_EQUAL(calls.fills > 0, timed);

        // In the midst of it, with rows set aside.
        KernelCalls later;
        StopFlag midway;
        later.before_fill = [&] {
            if (later.reorders > 0) midway.raise(reason);
        };
        How how;
        how.cache_bytes = 0;
        const Outcome outcome = run_watched<double>(setup.dual, how, later, midway);
        CHECK(outcome.certificate.status == Status::max_time);
        CHECK_AT_MOST(outcome.certificate.n_iter, 1000);
        if (timed) check_honest<double>(setup.dual, outcome);
    }
}

// The start of no time at all is optimal here, and is recognised as such.
void a_start_without_time_has_an_honest_certificate() {
    check::context = "no time for the start";
    const Setup setup = random_setup(61, kernels[2], 280);
    How how;
    how.start = run_given<double>(setup.dual, how).beta;
    StopFlag stop;
    stop.raise(StopReason::out_of_time);
    KernelCalls calls;
    SmoSpace<double> space;
    for (const Outcome& outcome : {run_watched<double>(setup.dual, how, calls, stop),
                                   run_gram<double>(setup.dual, how, space, stop)}) {
        CHECK(outcome.certificate.status == Status::converged);
        CHECK_EQUAL(outcome.certificate.n_iter, 0);
        check_honest<double>(setup.dual, outcome);
    }
}

void the_watch_raises_the_flag() {
    check::context = "watch";
    const Setup setup = large_setup();
    StopFlag stop;
    KernelCalls calls;
    calls.before_fill = [&] {
        for (int wait = 0; wait < 2000 && !stop.raised(); ++wait)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    Watch watch;
    watch.max_seconds = 0;
    const Outcome outcome = run_watched<double>(setup.dual, {}, calls, stop, watch);
    CHECK(outcome.certificate.status == Status::max_time);
    CHECK(stop.reason() == StopReason::out_of_time);
}

template <class T>
void numbers_that_are_none_are_reported() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    // So small a box that every row is at its bound, so that each is looked at.
    const Setup setup = random_setup(40, kernels[2], 290);
    std::vector<double> signs(40, 1.0), bounds(40, 1e-3);
    std::fill(signs.begin() + 20, signs.end(), -1.0);
    bounds[7] = 0;
    for (const auto& [i, j] :
         std::vector<std::pair<int, int>>{{3, 30}, {5, 5}, {7, 2}}) {
        check::context = "NaN at " + std::to_string(i) + ", " + std::to_string(j);
        BoxedDual dual(setup.dual.k, signs, bounds);
        CHECK(run_gram<T>(dual, {1e-6}).certificate.status == Status::converged);
        dual.k.row(i)[j] = dual.k.row(j)[i] = nan;
        CHECK(run_gram<T>(dual, {1e-6}).certificate.status == Status::not_finite);
        CHECK(run_given<T>(dual, {1e-6}).certificate.status == Status::not_finite);
    }
}

// Rows in use, in part and in any order of their positions.
template <class T>
void the_cache_keeps_the_rows_used_last(std::int64_t bytes, std::size_t capacity) {
    check::context = std::to_string(capacity) + " rows";
    constexpr std::int64_t n = 21;
    std::vector<T> values(n * n);
    for (std::size_t p = 0; p < values.size(); ++p) values[p] = static_cast<T>(p + 1);
    KernelCalls calls;
    CachedRows cache(WatchedKernel<T>(values.data(), n, calls), bytes);
    PlainCache plain{capacity};
    std::vector<std::int64_t> order(n), from;
    std::iota(order.begin(), order.end(), 0);
    Numbers numbers(210);
    struct View {
        const T* values;
        std::int64_t member, first, last;
    };
    const auto right = [&](const View& view) {
        for (std::int64_t p = view.first; p < view.last; ++p)
            if (view.values[p - view.first] != values[view.member * n + order[p]])
                return false;
        return true;
    };
    View before{nullptr, 0, 0, 0};
    for (int use = 0; use < 3000; ++use) {
        const std::int64_t p = numbers.below(n), length = numbers.below(n + 1);
        const std::int64_t member = order[p];
        if (numbers.chance(5)) {
            from.resize(static_cast<std::size_t>(length));
            std::iota(from.begin(), from.end(), 0);
            for (std::int64_t q = length - 1; q > 0; --q)
                std::swap(from[q], from[numbers.below(q + 1)]);
            const std::vector<std::int64_t> old = order;
            for (std::int64_t q = 0; q < length; ++q) order[q] = old[from[q]];
            cache.reorder(from, length);
            plain.reorder(length);
            before.last = 0;
        } else if (numbers.chance(20)) {
            const std::int64_t first = numbers.below(length + 1);
            const View part{cache.peek(p, first, length), member, first, length};
            plain.peek(member, first, length);
            CHECK(right(part));
        } else {
            const View now{cache.row(p, length), member, 0, length};
            plain.use(member, length);
            CHECK(right(now) && right(before));
            before = now;
        }
        CHECK_EQUAL(calls.entries, plain.entries);
        CHECK_EQUAL(cache.original(p), order[p]);
        CHECK_EQUAL(cache.diagonal(p), values[order[p] * (n + 1)]);
    }
}

template <class T>
void every_check(double tol) {
    const std::int64_t row = padded<T>(21) * static_cast<std::int64_t>(sizeof(T));
    the_cache_keeps_the_rows_used_last<T>(0, 2);
    the_cache_keeps_the_rows_used_last<T>(3 * row, 3);
    the_cache_keeps_the_rows_used_last<T>(5 * row - 1, 4);
    the_cache_keeps_the_rows_used_last<T>(1 << 20, 21);
    solutions_are_optimal<T>(tol);
    starts_do_not_matter<T>(tol);
    work_space_leaves_no_trace<T>();
    rows_are_set_aside_and_come_back<T>(tol);
    numbers_that_are_none_are_reported<T>();
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    every_check<float>(1e-3);
    every_check<double>(1e-7);
    copies_are_no_obstacle();
    one_side_alone_has_a_constant_decision();
    the_number_of_steps_is_obeyed();
    a_raised_flag_ends_the_work();
    a_start_without_time_has_an_honest_certificate();
    the_watch_raises_the_flag();
    return check::summary();
}
