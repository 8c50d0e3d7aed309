// How a solve ended, how good its result is, and the flag that ends it early.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace localsvm {

// In the order in which the worst of many is reported.
enum class Status : std::int32_t {
    converged = 0,
    stalled = 1,  // rounding allows no further progress
    max_iter = 2,
    max_time = 3,
    not_finite = 4,
};

// Objectives of a solution: the optimum lies between the two.
struct Certificate {
    double primal = 0;
    double dual = 0;
    std::int64_t n_iter = 0;
    Status status = Status::max_iter;

    double relative_gap() const {
        return primal > 0 ? std::max(0.0, primal - dual) / primal : 0.0;
    }
};

enum class StopReason : int { none = 0, interrupted = 1, out_of_time = 2 };

// Set by the thread that watches, read by those that work.
class StopFlag {
  public:
    // An interrupt outranks the end of time: its caller has an exception to deliver.
    void raise(StopReason reason) {
        int expected = 0;
        if (reason == StopReason::interrupted)
            reason_.store(static_cast<int>(reason));
        else
            reason_.compare_exchange_strong(expected, static_cast<int>(reason));
    }
    bool raised() const { return reason_.load(std::memory_order_relaxed) != 0; }
    StopReason reason() const { return static_cast<StopReason>(reason_.load()); }

  private:
    std::atomic<int> reason_{0};
};

}  // namespace localsvm
