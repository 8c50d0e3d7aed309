// One score per class from the decisions of the pairs of classes.
//
// As in scikit-learn: a vote per pair, and within equal votes the sum of the decisions,
// squeezed into (-1/3, 1/3). A class without a pair has the score -1, below all others.
// Two classes have one score, the decision itself, positive for class 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace localsvm {

struct ClassPair {
    std::int32_t negative, positive;
};

class OneVsOne {
  public:
    explicit OneVsOne(std::int32_t n_classes)
        : n_classes_(n_classes), sums_(static_cast<std::size_t>(n_classes)) {}

    std::int64_t n_outputs() const { return n_classes_ == 2 ? 1 : n_classes_; }

    // Share of a pair in given scores of a row, one per output.
    double between(const double* scores, const ClassPair& pair) const {
        if (n_classes_ == 2) return scores[0];
        return (scores[pair.positive] - scores[pair.negative]) / 2;
    }
    // Where all training rows had the class `only`.
    template <class T>
    void constant(std::int32_t only, T* out) const {
        if (n_classes_ == 2) {
            out[0] = only == 1 ? T(1) : T(-1);
            return;
        }
        for (std::int32_t c = 0; c < n_classes_; ++c) out[c] = c == only ? T(1) : T(-1);
    }
    // decision(p) is that of pairs[p], positive for pairs[p].positive.
    template <class Decision, class T>
    void combine(const ClassPair* pairs, std::int64_t n_pairs, const Decision& decision,
                 T* out) {
        if (n_classes_ == 2) {
            out[0] = static_cast<T>(decision(0));
            return;
        }
        std::fill(sums_.begin(), sums_.end(), Sum{});
        for (std::int64_t p = 0; p < n_pairs; ++p) {
            const double value = decision(p);
            Sum& negative = sums_[static_cast<std::size_t>(pairs[p].negative)];
            Sum& positive = sums_[static_cast<std::size_t>(pairs[p].positive)];
            negative.confidence -= value;
            positive.confidence += value;
            (value > 0 ? positive : negative).votes += 1;
            negative.present = positive.present = true;
        }
        for (std::int32_t c = 0; c < n_classes_; ++c) {
            const Sum& sum = sums_[static_cast<std::size_t>(c)];
            out[c] = static_cast<T>(
                sum.present
                    ? sum.votes + sum.confidence / (3 * (std::abs(sum.confidence) + 1))
                    : -1.0);
        }
    }
    template <class T>
    std::int32_t winner(const T* scores) const {
        if (n_classes_ == 2) return scores[0] > 0 ? 1 : 0;
        std::int32_t best = 0;
        for (std::int32_t c = 1; c < n_classes_; ++c)
            if (scores[c] > scores[best]) best = c;
        return best;
    }

  private:
    struct Sum {
        double confidence = 0;
        double votes = 0;
        bool present = false;
    };
    std::int32_t n_classes_;
    std::vector<Sum> sums_;
};

}  // namespace localsvm
