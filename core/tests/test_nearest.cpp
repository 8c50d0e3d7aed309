// The search for the nearest row against a plain loop over all rows.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "localsvm/nearest_rows.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

// Orthonormal directions by Gram and Schmidt.
std::vector<double> random_directions(std::int64_t count, std::int64_t n_cols,
                                      Numbers& numbers) {
    Table found(count, n_cols);
    for (std::int64_t s = 0; s < count; ++s) {
        for (std::int64_t j = 0; j < n_cols; ++j) found.row(s)[j] = numbers.next();
        for (std::int64_t t = 0; t <= s; ++t) {
            double product = 0;
            for (std::int64_t j = 0; j < n_cols; ++j)
                product += found.row(s)[j] * found.row(t)[j];
            for (std::int64_t j = 0; j < n_cols; ++j)
                if (t < s)
                    found.row(s)[j] -= product * found.row(t)[j];
                else
                    found.row(s)[j] /= std::sqrt(product);
        }
    }
    return found.values;
}

std::int32_t plain_nearest(const Table& rows, const double* query) {
    std::int32_t best = 0;
    double closest = 0;
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < rows.n_cols; ++j) {
            const double step = query[j] - rows.row(i)[j];
            sum += step * step;
        }
        if (i == 0 || sum < closest) {
            closest = sum;
            best = static_cast<std::int32_t>(i);
        }
    }
    return best;
}

// Whole numbers, so that many rows are equally near and all sums are exact.
Table coarse_table(std::int64_t n_rows, std::int64_t n_cols, Numbers& numbers) {
    Table table(n_rows, n_cols);
    for (double& value : table.values)
        value = static_cast<double>(numbers.below(4)) - 1;
    return table;
}

template <class T>
void check_search(const Table& table, const Table& queries, RowSketch sketch) {
    const DenseStore<T> rows(table), asked(queries);
    const NearestRows<T> index(rows.rows, std::move(sketch));
    std::vector<std::int32_t> found(static_cast<std::size_t>(queries.n_rows), -1);
    index.find(asked.rows, 0, queries.n_rows, found.data());
    typename NearestRows<T>::Search search(index);
    for (std::int64_t q = 0; q < queries.n_rows; ++q) {
        const std::int32_t expected = plain_nearest(table, queries.row(q));
        CHECK_EQUAL(found[static_cast<std::size_t>(q)], expected);
        CHECK_EQUAL(search.find(asked.rows.row(q)), expected);
    }
}

template <class T>
void every_search_is_that_of_a_plain_loop() {
    Numbers numbers(301);
    for (const std::int64_t n_rows : {1, 2, 31, 32, 33, 500})
        for (const std::int64_t n_cols : {1, 3, 8, 65, 130})
            for (const std::int64_t n_directions : {0, 1, 3}) {
                if (n_directions > n_cols) continue;
                check::context = std::to_string(n_rows) + " rows, " +
                                 std::to_string(n_cols) + " columns, " +
                                 std::to_string(n_directions) + " directions";
                const Table table = coarse_table(n_rows, n_cols, numbers);
                Table queries = coarse_table(40, n_cols, numbers);
                // A row of the table, one that is far from all, one farther yet.
                for (std::int64_t j = 0; j < n_cols; ++j) {
                    queries.row(0)[j] = table.row(n_rows - 1)[j];
                    queries.row(1)[j] *= 1 << 10;
                    queries.row(2)[j] = table.row(0)[j] + (1 << 23);
                }
                const auto middle = random_vector<double>(n_cols, numbers);
                check_search<T>(table, queries,
                                RowSketch(middle, random_directions(n_directions,
                                                                    n_cols, numbers)));
            }
}

// Rows that differ by the last digits only, far from the middle.
void small_differences_count() {
    Table table(70, 2);
    for (std::int64_t i = 0; i < 70; ++i) {
        table.row(i)[0] = 1e6 + static_cast<double>((i * 37) % 70) * 1e-7;
        table.row(i)[1] = -1e6;
    }
    check::context = "small differences";
    check_search<double>(table, table, RowSketch({0.0, 0.0}, {}));
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    every_search_is_that_of_a_plain_loop<float>();
    every_search_is_that_of_a_plain_loop<double>();
    small_differences_count();
    return check::summary();
}
