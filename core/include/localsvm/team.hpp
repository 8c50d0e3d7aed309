// Threads that run many short loops one after the other, for one solve.
//
// An item of a loop writes to its own place, so the result does not depend on the number
// of threads. Items must not throw.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace localsvm {

class Team {
  public:
    // The calling thread is one of them. Where the system has no more, there are fewer.
    explicit Team(int n_threads) {
        try {
            for (int t = 1; t < n_threads; ++t)
                threads_.emplace_back([this, t] { serve(t); });
        } catch (const std::system_error&) {
        }
    }
    ~Team() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Team(const Team&) = delete;

    std::int64_t size() const { return static_cast<std::int64_t>(threads_.size()) + 1; }

    // Calls item(i, worker) for i in [0, count), worker < size().
    template <class Item>
    void each(std::int64_t count, const Item& item) {
        if (threads_.empty() || count <= 1) {
            for (std::int64_t i = 0; i < count; ++i) item(i, std::int64_t(0));
            return;
        }
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            work_ = [this, count, &item](std::int64_t worker) {
                for (std::int64_t i = take(); i < count; i = take()) item(i, worker);
            };
            next_.store(0, std::memory_order_relaxed);
            busy_ = threads_.size();
            loop_ += 1;
        }
        wake_.notify_all();
        work_(0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

  private:
    std::int64_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }

    void serve(std::int64_t worker) {
        std::unique_lock<std::mutex> lock(mutex_);
        // The next loop begins only after all have ended this one.
        for (std::int64_t seen = 0;; ++seen) {
            wake_.wait(lock, [&] { return over_ || loop_ != seen; });
            if (over_) return;
            lock.unlock();
            work_(worker);
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::function<void(std::int64_t)> work_;
    std::atomic<std::int64_t> next_{0};
    std::int64_t loop_ = 0;
    std::size_t busy_ = 0;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace localsvm
