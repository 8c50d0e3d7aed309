// Runs independent tasks on threads while the calling thread watches for a signal
// or the end of the allowed time.
//
// The threads live for one call, so there is no pool to survive a fork. A task writes
// to its own place, so the result does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "localsvm/status.hpp"

namespace localsvm {

// What the calling thread looks at while the others work.
struct Watch {
    std::function<bool()> interrupted = [] { return false; };
    double max_seconds = std::numeric_limits<double>::infinity();
};

namespace detail {

// Joins its threads on every path out of run_tasks, also if one cannot be started.
class ThreadGroup {
  public:
    explicit ThreadGroup(StopFlag& stop) : stop_(stop) {}
    ~ThreadGroup() {
        if (!finished_) stop_.raise(StopReason::interrupted);
        for (std::thread& thread : threads_) thread.join();
    }
    template <class Work>
    void add(const Work& work, std::int64_t worker) {
        threads_.emplace_back([&work, worker] { work(worker); });
    }
    void finished() { finished_ = true; }

  private:
    StopFlag& stop_;
    std::vector<std::thread> threads_;
    bool finished_ = false;
};

}  // namespace detail

// Number of workers that run_tasks starts.
inline std::int64_t count_workers(std::int64_t n_tasks, int n_threads) {
    return std::max<std::int64_t>(1, std::min<std::int64_t>(n_threads, n_tasks));
}

// Calls task(t, worker) for t in [0, n_tasks) on at most n_threads threads, dynamic
// schedule. worker < count_workers(n_tasks, n_threads) is the number of the thread, so
// that tasks can share the work space of their thread.
// If max_seconds is not positive, the flag is raised before the first task starts.
// Tasks check the stop flag themselves: run_tasks calls each of them even if it is
// raised.
template <class Task>
void run_tasks(std::int64_t n_tasks, int n_threads, const Watch& watch, StopFlag& stop,
               const Task& task) {
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;
    const Seconds poll_interval(std::clamp(watch.max_seconds, 0.001, 0.05));
    const auto start = Clock::now();
    if (watch.max_seconds <= 0) stop.raise(StopReason::out_of_time);

    std::mutex mutex;
    std::condition_variable done;
    std::exception_ptr failure;
    std::atomic<std::int64_t> next{0};
    const std::int64_t n_workers = count_workers(n_tasks, n_threads);
    std::int64_t running = n_workers;

    // Relaxed: tasks share nothing. A stronger order would make ThreadSanitizer take one
    // task for finished before the next starts, and hide races between them.
    const auto take = [&] { return next.fetch_add(1, std::memory_order_relaxed); };
    const auto work = [&](std::int64_t worker) {
        try {
            for (std::int64_t t = take(); t < n_tasks; t = take()) task(t, worker);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            failure = std::current_exception();
            stop.raise(StopReason::interrupted);
        }
        const std::lock_guard<std::mutex> lock(mutex);
        if (--running == 0) done.notify_one();
    };

    {
        detail::ThreadGroup threads(stop);
        for (std::int64_t w = 0; w < n_workers; ++w) threads.add(work, w);
        std::unique_lock<std::mutex> lock(mutex);
        while (!done.wait_for(lock, poll_interval, [&] { return running == 0; })) {
            // A Python exception may be set already: do not call the watch again.
            if (stop.reason() == StopReason::interrupted) continue;
            lock.unlock();
            if (Seconds(Clock::now() - start).count() >= watch.max_seconds)
                stop.raise(StopReason::out_of_time);
            if (watch.interrupted()) stop.raise(StopReason::interrupted);
            lock.lock();
        }
        threads.finished();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace localsvm
