// A generator that belongs to one call: no global state, the same on every platform.
#pragma once

#include <cstdint>
#include <utility>

#include "localsvm/matrix.hpp"

namespace localsvm {

class Random {
  public:
    // `stream` separates the problems of one call.
    Random(std::uint64_t seed, std::uint64_t stream)
        : state_(scramble(scramble(seed) ^ stream)) {}

    // Uniform in [0, bound); the bias is below bound / 2^32.
    std::int64_t below(std::int64_t bound) {
        const std::uint64_t high = next() >> 32;
        if (bound <= 0xffffffffLL)
            return static_cast<std::int64_t>(
                (high * static_cast<std::uint64_t>(bound)) >> 32);
        return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
    }

    template <class Item>
    void shuffle(Item* first, std::int64_t count) {
        for (std::int64_t i = count - 1; i > 0; --i)
            std::swap(first[i], first[below(i + 1)]);
    }

  private:
    std::uint64_t next() {
        counter_ += 1;
        return scramble(state_ ^ scramble(counter_));
    }

    std::uint64_t state_;
    std::uint64_t counter_ = 0;
};

}  // namespace localsvm
