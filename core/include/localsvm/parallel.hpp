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

struct Watch {
    std::function<bool()> interrupted = [] { return false; };
    double max_seconds = std::numeric_limits<double>::infinity();
};

namespace detail {

// Joins its threads on every path out of run_tasks, also if one cannot be started.
class Crew {
  public:
    explicit Crew(StopFlag& stop) : stop_(stop) {}
    ~Crew() {
        if (!finished_) stop_.raise(StopReason::interrupted);
        for (std::thread& member : members_) member.join();
    }
    template <class Work>
    void hire(Work work) {
        members_.emplace_back(work);
    }
    void finished() { finished_ = true; }

  private:
    StopFlag& stop_;
    std::vector<std::thread> members_;
    bool finished_ = false;
};

}  // namespace detail

// Calls task(t) for t in [0, n_tasks) on at most n_threads threads, dynamic schedule.
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
    const std::int64_t n_workers =
        std::max<std::int64_t>(1, std::min<std::int64_t>(n_threads, n_tasks));
    std::int64_t running = n_workers;

    auto work = [&] {
        try {
            for (std::int64_t t = next++; t < n_tasks; t = next++) task(t);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            failure = std::current_exception();
            stop.raise(StopReason::interrupted);
        }
        const std::lock_guard<std::mutex> lock(mutex);
        if (--running == 0) done.notify_one();
    };

    {
        detail::Crew crew(stop);
        for (std::int64_t w = 0; w < n_workers; ++w) crew.hire(work);
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
        crew.finished();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace localsvm
