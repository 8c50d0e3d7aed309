// Decision values and the choice of pieces against plain loops.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "localsvm/decision.hpp"
#include "localsvm/weights.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

template <class T>
struct Model {
    std::int64_t n_nodes, n_outputs, per_row;
    std::vector<T> coef, intercept, coefficients;
    std::vector<std::int32_t> nodes;

    Model(const Table& table, std::int64_t n_nodes, std::int64_t n_outputs,
          std::int64_t per_row, Numbers& numbers)
        : n_nodes(n_nodes),
          n_outputs(n_outputs),
          per_row(per_row),
          coef(random_vector<T>(n_nodes * n_outputs * table.n_cols, numbers)),
          intercept(random_vector<T>(n_nodes * n_outputs, numbers)),
          coefficients(random_vector<T>(table.n_rows * per_row, numbers)) {
        for (std::int64_t p = 0; p < table.n_rows * per_row; ++p) {
            nodes.push_back(static_cast<std::int32_t>(numbers.below(n_nodes)));
            if (numbers.chance(20)) coefficients[static_cast<std::size_t>(p)] = 0;
        }
    }
    Codes<T> codes() const {
        return {nodes.data(), coefficients.data(), per_row, n_nodes};
    }
    PiecewiseLinear<T> pieces() const {
        return {coef.data(), intercept.data(), n_outputs};
    }
    double decide(const Table& table, std::int64_t i, std::int64_t output) const {
        double sum = 0;
        for (std::int64_t s = i * per_row; s < (i + 1) * per_row; ++s) {
            const std::int64_t piece = nodes[s] * n_outputs + output;
            double value = intercept[piece];
            for (std::int64_t j = 0; j < table.n_cols; ++j)
                value += table.row(i)[j] * coef[piece * table.n_cols + j];
            sum += coefficients[s] * value;
        }
        return sum;
    }
};

// Decides the rows in [first, last) and finds the others untouched.
template <class T, class Rows>
void check_decisions(const Rows& rows, const Table& table, const Model<T>& model,
                     std::int64_t first, std::int64_t last) {
    const T untouched = 1e6;
    std::vector<T> out(static_cast<std::size_t>(table.n_rows * model.n_outputs),
                       untouched);
    decide_rows(rows, model.codes(), model.pieces(), first, last, out.data());
    const double tolerance = 1000 * std::numeric_limits<T>::epsilon();
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
        for (std::int64_t p = 0; p < model.n_outputs; ++p) {
            const double got = out[i * model.n_outputs + p];
            if (i < first || i >= last)
                CHECK_EQUAL(got, untouched);
            else
                CHECK_NEAR(got, model.decide(table, i, p), tolerance);
        }
    }
}

template <class T>
void decisions_agree_with_plain_loop(const char* type) {
    Numbers numbers(41);
    for (const std::int64_t n_cols : {0, 1, 33, 61}) {
        const Table table = random_table(20, n_cols, 50, numbers);
        const DenseStore<T> dense(table);
        const CsrStore<T, std::int32_t> csr(table);
        for (const std::int64_t n_outputs : {1, 4}) {
            for (const std::int64_t per_row : {1, 3}) {
                check::context = std::string(type) + ", " + std::to_string(n_cols) +
                                 " columns, " + std::to_string(n_outputs) +
                                 " outputs, " + std::to_string(per_row) + " nodes";
                const Model<T> model(table, 5, n_outputs, per_row, numbers);
                check_decisions<T>(dense.rows, table, model, 0, 20);
                check_decisions<T>(dense.rows, table, model, 7, 13);
                check_decisions<T>(dense.rows, table, model, 4, 4);
                check_decisions<T>(csr.rows, table, model, 0, 20);
            }
        }
    }
}

struct Ranking {
    std::vector<std::int32_t> columns;
    std::vector<double> scores;
};

Ranking rank(const std::vector<double>& score, std::int64_t n_rows, std::int64_t n_cols,
             std::int64_t count) {
    Ranking result;
    result.columns.resize(static_cast<std::size_t>(n_rows * count));
    result.scores.resize(result.columns.size());
    smallest_scores(score.data(), n_rows, n_cols, count, result.columns.data(),
                    result.scores.data());
    return result;
}

// std::sort of (score, column) pairs puts ties in the order of their columns.
Ranking rank_by_sorting(const std::vector<double>& score, std::int64_t n_rows,
                        std::int64_t n_cols, std::int64_t count) {
    Ranking result;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        std::vector<std::pair<double, std::int32_t>> pairs;
        for (std::int32_t j = 0; j < n_cols; ++j)
            pairs.emplace_back(score[i * n_cols + j], j);
        std::sort(pairs.begin(), pairs.end());
        for (std::int64_t s = 0; s < count; ++s) {
            result.columns.push_back(pairs[static_cast<std::size_t>(s)].second);
            result.scores.push_back(pairs[static_cast<std::size_t>(s)].first);
        }
    }
    return result;
}

// n_values kinds of scores: few of them make many ties.
void check_ranking(std::int64_t n_cols, std::int64_t count, std::int64_t n_values,
                   Numbers& numbers) {
    constexpr std::int64_t n_rows = 8;
    std::vector<double> score(static_cast<std::size_t>(n_rows * n_cols));
    for (double& value : score)
        value = static_cast<double>(numbers.below(n_values)) - 2.0;
    if (!score.empty()) score.front() = std::numeric_limits<double>::infinity();
    const Ranking got = rank(score, n_rows, n_cols, count);
    const Ranking expected = rank_by_sorting(score, n_rows, n_cols, count);
    CHECK(got.columns == expected.columns);
    CHECK(got.scores == expected.scores);
}

void smallest_scores_agree_with_sorting() {
    Numbers numbers(42);
    for (const std::int64_t n_cols : {1, 2, 16, 100}) {
        for (const std::int64_t count :
             {std::int64_t{0}, std::int64_t{1}, n_cols / 2, n_cols}) {
            for (const std::int64_t n_values : {1, 3, 1000000}) {
                check::context = std::to_string(count) + " of " +
                                 std::to_string(n_cols) + ", " +
                                 std::to_string(n_values) + " values";
                check_ranking(n_cols, count, n_values, numbers);
            }
        }
    }
}

// NaN has no rank, but what comes out must still be columns.
void scores_that_are_not_numbers_give_columns() {
    check::context = "";
    constexpr std::int64_t n_cols = 50;
    Numbers numbers(43);
    std::vector<double> score;
    for (std::int64_t j = 0; j < n_cols; ++j)
        score.push_back(numbers.chance(30) ? std::numeric_limits<double>::quiet_NaN()
                                           : numbers.next());
    std::vector<std::int32_t> columns = rank(score, 1, n_cols, n_cols).columns;
    std::sort(columns.begin(), columns.end());
    std::vector<std::int32_t> expected(n_cols);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(columns == expected);
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    decisions_agree_with_plain_loop<float>("float");
    decisions_agree_with_plain_loop<double>("double");
    smallest_scores_agree_with_sorting();
    scores_that_are_not_numbers_give_columns();
    return check::summary();
}
