// From the decisions of pairs of classes to scores and a winner.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "local_reference.hpp"
#include "localsvm/one_vs_one.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

void votes_count_before_decisions() {
    check::context = "votes";
    OneVsOne votes(4), two(2);
    const std::vector<ClassPair> pairs{{0, 1}, {0, 3}, {1, 3}};
    Numbers numbers(370);
    std::vector<std::vector<double>> cases{{0, 0, 0}, {0, 1e9, 1e-9}, {0, 0, -1e9}};
    for (int more = 0; more < 50; ++more)
        cases.push_back(random_vector<double>(3, numbers));
    double got[4];
    for (const std::vector<double>& decisions : cases) {
        const auto decision = [&](std::int64_t p) { return decisions[p]; };
        const std::vector<double> expected = plain_scores(4, pairs, decisions);
        votes.combine(pairs.data(), 3, decision, got);
        for (std::size_t c = 0; c < 4; ++c) CHECK_NEAR(got[c], expected[c], 1e-14);
        CHECK_EQUAL(got[2], -1.0);
        CHECK_EQUAL(votes.winner(got), plain_winner(expected));
        two.combine(pairs.data(), 1, decision, got);
        CHECK_EQUAL(got[0], decisions[0]);
        CHECK_EQUAL(two.winner(got), decisions[0] > 0 ? 1 : 0);
    }
    // One vote each, in a circle, and then the sum of the decisions.
    const double circle[] = {1, -2, 0.5};
    votes.combine(pairs.data(), 3, [&](std::int64_t p) { return circle[p]; }, got);
    CHECK_NEAR(got[0], 1 + 1.0 / 6, 1e-15);
    CHECK_NEAR(got[1], 1 + 0.5 / 4.5, 1e-15);
    CHECK_NEAR(got[3], 1 - 1.5 / 7.5, 1e-15);
    const double ties[2][4] = {{2, 2, 1, 2}, {-1, 0, 3, 3}};
    CHECK_EQUAL(votes.winner(ties[0]), 0);
    CHECK_EQUAL(votes.winner(ties[1]), 2);
    for (const std::int32_t only : {0, 1}) {
        two.constant(only, got);
        CHECK_EQUAL(got[0], 2.0 * only - 1);
        votes.constant(only, got);
        for (std::int32_t c = 0; c < 4; ++c)
            CHECK_EQUAL(got[c], c == only ? 1.0 : -1.0);
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    votes_count_before_decisions();
    return check::summary();
}
