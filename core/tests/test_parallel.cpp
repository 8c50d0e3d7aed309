// Tasks on threads: each once, exceptions, interrupts and deadlines.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "solver_checks.hpp"

namespace localsvm::testing {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_each_task_once(std::int64_t n_tasks, int n_threads) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n_tasks));
    std::atomic<int> at_work{0}, most_at_work{0};
    StopFlag stop;
    run_tasks(n_tasks, n_threads, Watch{}, stop, [&](std::int64_t t, std::int64_t) {
        const int now = ++at_work;
        int most = most_at_work;
        while (now > most && !most_at_work.compare_exchange_weak(most, now)) {
        }
        visits[static_cast<std::size_t>(t)] += 1;
        --at_work;
    });
    bool once = true;
    for (const std::atomic<int>& count : visits) once = once && count == 1;
    CHECK(once);
    CHECK_AT_MOST(most_at_work.load(), std::max(1, n_threads));
    CHECK(!stop.raised());
}

void each_task_runs_once() {
    for (const std::int64_t n_tasks : {0, 1, 7, 1000}) {
        for (const int n_threads : {0, 1, 2, 3, 4}) {
            check::context = std::to_string(n_tasks) + " tasks, " +
                             std::to_string(n_threads) + " threads";
            check_each_task_once(n_tasks, n_threads);
        }
    }
}

// The other tasks wait for the flag: without it the test would not end.
void check_exception_arrives(int n_threads) {
    StopFlag stop;
    std::string message;
    try {
        run_tasks(4, n_threads, Watch{}, stop, [&](std::int64_t t, std::int64_t) {
            if (t == 0) throw std::runtime_error("task 0");
            while (!stop.raised()) std::this_thread::yield();
        });
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    CHECK_EQUAL(message, "task 0");
    CHECK(stop.reason() == StopReason::interrupted);
}

void exceptions_reach_the_caller() {
    for (const int n_threads : {2, 3, 4}) {
        check::context = std::to_string(n_threads) + " threads";
        check_exception_arrives(n_threads);
    }
    check::context = "every task fails";
    StopFlag stop;
    bool caught = false;
    try {
        run_tasks(100, 4, Watch{}, stop,
                  [](std::int64_t, std::int64_t) { throw std::runtime_error("all"); });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
}

void an_exception_of_the_watch_reaches_the_caller() {
    check::context = "";
    StopFlag stop;
    bool caught = false;
    const Watch watch{[]() -> bool { throw std::runtime_error("watch"); }};
    try {
        run_tasks(2, 2, watch, stop, [&](std::int64_t, std::int64_t) {
            while (!stop.raised()) std::this_thread::yield();
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
}

// The watch may hold an exception that it has to deliver, which a second question
// would lose; and tasks may need longer to end than the watch waits between two.
void an_interrupt_is_asked_for_no_more_once_it_was_seen() {
    for (const int n_threads : {1, 2}) {
        check::context = std::to_string(n_threads) + " threads";
        StopFlag stop;
        int polls = 0;
        const Watch watch{[&] {
            polls += 1;
            return true;
        }};
        run_tasks(n_threads, n_threads, watch, stop, [&](std::int64_t, std::int64_t) {
            while (!stop.raised()) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        });
        CHECK_EQUAL(polls, 1);
        CHECK(stop.reason() == StopReason::interrupted);
    }
}

// No gap is below a negative tolerance, so only the watch ends the solve.
Options endless(int n_threads) {
    Options options = options_of(Loss::hinge, -1);
    options.settings.max_iter = std::numeric_limits<std::int64_t>::max();
    options.n_threads = n_threads;
    return options;
}

template <class Solve>
void check_interrupt_ends(const Solve& solve) {
    for (const int n_threads : {1, 2}) {
        Options options = endless(n_threads);
        int polls = 0;
        Clock::time_point signal;
        options.watch.interrupted = [&] {
            if (++polls == 2) signal = Clock::now();
            return polls >= 2;
        };
        const Run run = solve(options);
        CHECK_AT_MOST(2, polls);
        CHECK_AT_MOST(seconds_since(signal), 0.5);
        CHECK(run.reason == StopReason::interrupted);
    }
}

void an_interrupt_ends_a_solve() {
    const Problem small = random_problem({100, 5, 2, 40}, 51);
    const Problem large = random_problem({20000, 50, 2, 4}, 52);
    for (const Problem* problem : {&small, &large}) {
        check::context = std::to_string(problem->n_rows()) + " rows";
        const DenseStore<double> store(problem->table);
        check_interrupt_ends([&](const Options& options) {
            return run_independent(store, *problem, options);
        });
        check_interrupt_ends([&](const Options& options) {
            return run_coupled(store, *problem, 1.0, options);
        });
    }
}

void check_out_of_time(const Certificate& certificate, const Machine& machine,
                       const double* alpha) {
    CHECK(certificate.status == Status::max_time);
    check_honest(certificate, machine, alpha);
    check_box(machine, alpha);
}

void the_end_of_time_leaves_a_valid_certificate() {
    const Problem problem = random_problem({60, 5, 2, 3}, 53);
    const DenseStore<double> store(problem.table);
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        Options options = endless(2);
        options.settings.loss = loss;
        options.watch.max_seconds = 0.1;
        const Clock::time_point start = Clock::now();
        const Run run = run_coupled(store, problem, 2.0, options);
        CHECK_AT_MOST(seconds_since(start), 0.6);
        CHECK_AT_MOST(0.1, seconds_since(start));
        CHECK(run.reason == StopReason::out_of_time);
        check_out_of_time(run.certificate(),
                          expanded_machine(problem, coupled_codes(problem, 2.0), loss),
                          run.alpha.data());
    }
}

// More problems than threads: those that never started have a certificate as well.
void problems_that_never_started_have_a_certificate() {
    check::context = "";
    const Problem problem = random_problem({60, 5, 6}, 54);
    Options options = endless(2);
    options.n_problems = 6;
    options.watch.max_seconds = 0.1;
    const Run run =
        run_independent(DenseStore<double>(problem.table), problem, options);
    CHECK(run.reason == StopReason::out_of_time);
    for (std::int32_t c = 0; c < 6; ++c)
        check_out_of_time(run.certificates[static_cast<std::size_t>(c)],
                          plain_machine(problem, Loss::hinge, c),
                          run.alpha.data() + c * problem.n_rows());
}

void no_time_at_all_is_enough_to_end() {
    check::context = "";
    const Problem problem = random_problem({60, 5}, 55);
    Options options = endless(1);
    options.watch.max_seconds = 0;
    const Run run =
        run_independent(DenseStore<double>(problem.table), problem, options);
    check_out_of_time(run.certificate(), plain_machine(problem, Loss::hinge),
                      run.alpha.data());
}

// The caller asks the flag whether it was interrupted, and must not miss it.
void an_interrupt_counts_after_the_end_of_time() {
    StopFlag stop;
    stop.raise(StopReason::out_of_time);
    stop.raise(StopReason::interrupted);
    CHECK(stop.reason() == StopReason::interrupted);
    stop.raise(StopReason::out_of_time);
    CHECK(stop.reason() == StopReason::interrupted);
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    each_task_runs_once();
    exceptions_reach_the_caller();
    an_exception_of_the_watch_reaches_the_caller();
    an_interrupt_is_asked_for_no_more_once_it_was_seen();
    an_interrupt_ends_a_solve();
    the_end_of_time_leaves_a_valid_certificate();
    problems_that_never_started_have_a_certificate();
    no_time_at_all_is_enough_to_end();
    an_interrupt_counts_after_the_end_of_time();
    return check::summary();
}
