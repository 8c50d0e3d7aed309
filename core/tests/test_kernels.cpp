// The vector loops of the kernels in every instruction set; comparisons of rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/simd.hpp"
#include "loop_checks.hpp"
#include "problem.hpp"

namespace localsvm {

namespace testing {
namespace {

// What two rows have in common, in double.
struct Likeness {
    double product = 0, magnitude = 0, distance = 0, norms = 0, absolute = 0;

    template <class T>
    Likeness(const T* x, const T* z, std::int64_t n) {
        for (std::int64_t j = 0; j < n; ++j) {
            const double a = static_cast<double>(x[j]), b = static_cast<double>(z[j]);
            product += a * b;
            magnitude += std::abs(a * b);
            distance += (a - b) * (a - b);
            absolute += std::abs(a - b);
            norms += a * a + b * b;
        }
    }
    // Of products that are summed in double and rounded to T once.
    template <class T>
    double product_error(std::int64_t n) const {
        return unit<T> * std::abs(product) +
               static_cast<double>(n + 4) * wide_unit * magnitude;
    }
    // Of differences, squared or not, that are summed in T.
    template <class T>
    static double sum_error(std::int64_t n, double sum) {
        return static_cast<double>(n + 4) * unit<T> * sum;
    }
    // What a kernel is a function of, and the error of it.
    template <class Rows>
    std::pair<double, double> number(Comparison comparison, std::int64_t n) const {
        using T = typename Rows::value_type;
        if (comparison == Comparison::product) return {product, product_error<T>(n)};
        const bool squared = comparison == Comparison::squared_distance;
        const double sum = squared ? distance : absolute;
        if (Rows::is_dense) return {sum, sum_error<T>(n, sum)};
        // Of sparse rows a distance is the difference of larger numbers.
        const double size =
            squared ? norms : std::sqrt(static_cast<double>(2 * n) * norms);
        return {sum, unit<T> * sum + static_cast<double>(4 * n + 8) * wide_unit * size};
    }
};

template <class T>
void check_comparisons(const VectorLoops<T>& loops, std::int64_t n, std::size_t count,
                       std::size_t offset, Numbers& numbers) {
    const Placed<T> x = random_placed<T>(n, offset, numbers);
    std::vector<Placed<T>> rows;
    std::vector<const T*> pointers;
    for (std::size_t r = 0; r < count; ++r)
        rows.push_back(random_placed<T>(n, (offset + r) % 4, numbers));
    for (const Placed<T>& row : rows) pointers.push_back(row.data());
    Placed<T> dots(std::vector<T>(count), offset), distances(dots), absolute(dots);
    const auto width = static_cast<std::size_t>(n);
    loops.dots(x.data(), pointers.data(), count, width, dots.data());
    loops.squared_distances(x.data(), pointers.data(), count, width, distances.data());
    loops.absolute_distances(x.data(), pointers.data(), count, width, absolute.data());
    Worst worst;
    bool same_alone = true;
    for (std::size_t r = 0; r < count; ++r) {
        const Likeness exact(x.data(), pointers[r], n);
        worst.see(dots.data()[r], exact.product, exact.product_error<T>(n));
        worst.see(distances.data()[r], exact.distance,
                  Likeness::sum_error<T>(n, exact.distance));
        worst.see(absolute.data()[r], exact.absolute,
                  Likeness::sum_error<T>(n, exact.absolute));
        T alone[3];
        loops.dots(x.data(), &pointers[r], 1, width, alone);
        loops.squared_distances(x.data(), &pointers[r], 1, width, alone + 1);
        loops.absolute_distances(x.data(), &pointers[r], 1, width, alone + 2);
        same_alone = same_alone && alone[0] == dots.data()[r] &&
                     alone[1] == distances.data()[r] && alone[2] == absolute.data()[r];
    }
    CHECK_AT_MOST(worst.excess, 0.0);
    CHECK(same_alone);
}

template <class T>
void comparisons_agree_with_plain_loop() {
    Numbers numbers(101);
    for_each_set<T>("comparisons", [&](const VectorLoops<T>& loops) {
        for (const std::int64_t n : lengths())
            for (const std::size_t count : {0, 1, 3, 4, 5, 9})
                for (const std::size_t offset : {0, 1, 3})
                    check_comparisons(loops, n, count, offset, numbers);
    });
}

// In units of the last place of the exact value.
template <class T>
double units_off(T got, long double exact) {
    const T close = static_cast<T>(exact);
    const T step = std::nextafter(close, T(2)) - close;
    return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / step);
}

template <class T>
void exponentials_are_accurate(double lowest, double units) {
    for_each_set<T>("exponentials", [&](const VectorLoops<T>& loops) {
        for (const T a : {T(-1), T(-0.25), T(-0.7), T(1)}) {
            std::vector<T> v;
            for (int p = 0; p <= 20011; ++p)
                v.push_back(
                    static_cast<T>(lowest * p / 20011 / static_cast<double>(a)));
            std::vector<T> got = v;
            loops.exponentials(a, got.data(), got.size());
            Worst worst;
            for (std::size_t p = 0; p < v.size(); ++p) {
                const auto power = static_cast<long double>(T(a * v[p]));
                worst.see(units_off(got[p], std::exp(power)), 0, units);
            }
            CHECK_AT_MOST(worst.excess, 0.0);
            CHECK_EQUAL(got[0], T(1));
        }
    });
}

template <class T>
void exponentials_end_in_zero(double smallest) {
    for_each_set<T>("far below", [&](const VectorLoops<T>& loops) {
        const T nan = std::numeric_limits<T>::quiet_NaN();
        std::vector<T> v{T(smallest), T(2 * smallest), T(-1e30), T(-infinity),
                         T(0),        T(-0.0),         nan};
        loops.exponentials(T(1), v.data(), v.size());
        for (std::size_t p = 0; p < 4; ++p) CHECK_EQUAL(v[p], T(0));
        CHECK_EQUAL(v[4], T(1));
        CHECK_EQUAL(v[5], T(1));
        // The solver finds out about NaN by its gradient.
        CHECK(std::isnan(v[6]));
    });
}

// map(loops, v, n) in place against plain(x), for every length and place.
template <class T, class Map, class Plain>
void check_map(const std::string& what, const Map& map, const Plain& plain) {
    Numbers numbers(102);
    for_each_set<T>(what, [&](const VectorLoops<T>& loops) {
        Worst worst;
        for (const std::int64_t n : lengths())
            for (const std::size_t offset : {0, 1, 5}) {
                const Placed<T> before = random_placed<T>(n, offset, numbers);
                Placed<T> after = before;
                map(loops, after.data(), static_cast<std::size_t>(n));
                for (std::int64_t p = 0; p < n; ++p) {
                    const auto [value, error] = plain(before.data()[p]);
                    worst.see(after.data()[p], value, error);
                }
                for (std::size_t p = 1; p <= offset; ++p)
                    worst.see(after.data()[-static_cast<std::int64_t>(p)], 0, 0);
            }
        CHECK_AT_MOST(worst.excess, 0.0);
    });
}

template <class T>
void maps_agree_with_plain_loop() {
    check_map<T>(
        "exp",
        [](const VectorLoops<T>& loops, T* v, std::size_t n) {
            for (std::size_t p = 0; p < n; ++p) v[p] = std::abs(v[p]);
            loops.exponentials(T(-8), v, n);
        },
        [](T x) {
            const double value = std::exp(-8 * std::abs(static_cast<double>(x)));
            return std::pair(value, 4 * unit<T> * value);
        });
    check_map<T>(
        "octaves",
        [](const VectorLoops<T>& loops, T* v, std::size_t n) {
            for (std::size_t p = 0; p < n; ++p) v[p] = std::abs(v[p]);
            loops.octaves(T(-0.5), v, n);
        },
        [](T x) {
            double value = 0;
            for (int octave = 1; octave <= 64; octave *= 2)
                value += std::exp(-0.5 * octave * std::abs(static_cast<double>(x))) / 7;
            // A squaring doubles the relative error of a power.
            return std::pair(value, 64 * unit<T> * value);
        });
    for (int degree = 0; degree <= 7; ++degree)
        check_map<T>(
            "degree " + std::to_string(degree),
            [=](const VectorLoops<T>& loops, T* v, std::size_t n) {
                loops.powers(T(0.75), T(-0.5), degree, v, n);
            },
            [=](T x) {
                const double factor = 0.75 * static_cast<double>(x) - 0.5;
                double value = 1;
                for (int d = 0; d < degree; ++d) value *= factor;
                // Relative to the terms, which may cancel in the factor.
                const double bound = 0.75 * std::abs(static_cast<double>(x)) + 0.5;
                return std::pair(value,
                                 2 * degree * unit<T> *
                                     std::pow(bound, static_cast<double>(degree)));
            });
}

// 0 where a row may move, `barrier` where it may not.
std::vector<double> random_barriers(std::int64_t n, int percent_free, double barrier,
                                    Numbers& numbers) {
    std::vector<double> result(static_cast<std::size_t>(n));
    for (double& value : result) value = numbers.chance(percent_free) ? 0.0 : barrier;
    return result;
}

template <class T>
void check_move(const VectorLoops<T>& loops, std::int64_t n, std::size_t offset,
                int percent_free, double step, Numbers& numbers) {
    const Placed<T> plus = random_placed<T>(n, offset, numbers);
    const Placed<T> minus = random_placed<T>(n, (offset + 1) % 4, numbers);
    const Placed<double> up(random_barriers(n, percent_free, infinity, numbers),
                            (offset + 2) % 4);
    const Placed<double> before = random_placed<double>(n, offset, numbers);
    Placed<double> gradient = before;
    const Extreme got = loops.move(step, plus.data(), minus.data(), up.data(),
                                   gradient.data(), static_cast<std::size_t>(n));
    Worst worst;
    double lowest = infinity;
    for (std::int64_t j = 0; j < n; ++j) {
        const double moved =
            before.data()[j] + step * (static_cast<double>(plus.data()[j]) -
                                       static_cast<double>(minus.data()[j]));
        worst.see(gradient.data()[j], moved, 4 * wide_unit * (1 + 2 * std::abs(step)));
        lowest = std::min(lowest, gradient.data()[j] + up.data()[j]);
    }
    CHECK_AT_MOST(worst.excess, 0.0);
    CHECK_EQUAL(got.value, lowest);
    if (lowest == infinity)
        CHECK_EQUAL(got.index, -1);
    else
        CHECK(got.index >= 0 && got.index < n &&
              gradient.data()[got.index] + up.data()[got.index] == lowest);
}

template <class T>
void check_partner(const VectorLoops<T>& loops, std::int64_t n, std::size_t offset,
                   int percent_free, double lowest, Numbers& numbers) {
    const Placed<T> row = random_placed<T>(n, offset, numbers);
    Placed<T> diagonal = random_placed<T>(n, (offset + 1) % 4, numbers);
    // Some rows equal the first one of the pair: no curvature, or one below zero.
    for (std::int64_t j = 0; j < n; ++j)
        diagonal.data()[j] = numbers.chance(10) ? T(-3) : T(2) + diagonal.data()[j];
    const Placed<double> low(random_barriers(n, percent_free, -infinity, numbers),
                             (offset + 2) % 4);
    const Placed<double> gradient = random_placed<double>(n, offset, numbers);
    const Partner got =
        loops.find_partner(lowest, 0.5, row.data(), diagonal.data(), gradient.data(),
                           low.data(), static_cast<std::size_t>(n));
    double highest = -infinity, best = 0;
    const auto gain = [&](std::int64_t j) {
        const double excess = gradient.data()[j] + low.data()[j] - lowest;
        const double curvature = 0.5 + static_cast<double>(diagonal.data()[j]) -
                                 2 * static_cast<double>(row.data()[j]);
        return excess > 0 ? excess * excess / std::max(curvature, 1e-12) : 0.0;
    };
    for (std::int64_t j = 0; j < n; ++j) {
        highest = std::max(highest, gradient.data()[j] + low.data()[j]);
        best = std::max(best, gain(j));
    }
    CHECK_EQUAL(got.highest, highest);
    if (best == 0)
        CHECK_EQUAL(got.index, -1);
    else
        CHECK(got.index >= 0 && got.index < n && gain(got.index) >= best * (1 - 1e-13));
}

template <class T>
void smo_loops_agree_with_plain_loop() {
    Numbers numbers(103);
    for_each_set<T>("loops of SMO", [&](const VectorLoops<T>& loops) {
        for (const std::int64_t n : {0, 8, 16, 24, 40, 128})
            for (const std::size_t offset : {0, 1, 2, 3})
                for (const int percent_free : {0, 3, 50, 100}) {
                    check_move(loops, n, offset, percent_free, 0.375, numbers);
                    check_move(loops, n, offset, percent_free, 0.0, numbers);
                    for (const double lowest : {-1.0, 0.25, 0.9})
                        check_partner(loops, n, offset, percent_free, lowest, numbers);
                }
    });
}

template <class T>
Table rounded(Table table, double offset, double spread) {
    for (double& value : table.values)
        if (value != 0)
            value = static_cast<double>(static_cast<T>(spread * value + offset));
    return table;
}

// Rows of `queries` with aimed rows of `table`, in parts and not in order.
template <class Store>
void check_row_comparison(const Table& table, const Table& queries,
                          const Kernel& kernel) {
    using Rows = decltype(Store::rows);
    using T = typename Rows::value_type;
    const Store store(table), query_store(queries);
    const std::int64_t n = table.n_cols;
    const std::vector<std::int32_t> aimed{4, 0, 6, 6, 1, 2, 5, 3, 0};
    RowComparison<Rows> comparison(store.rows, kernel.comparison());
    comparison.set_targets(aimed.data(), 3);
    comparison.set_targets(aimed.data(), 9);
    Worst worst, worst_value;
    for (const auto& [i, first, last] : std::vector<std::array<std::int64_t, 3>>{
             {1, 0, 9}, {0, 2, 7}, {2, 0, 9}, {1, 8, 9}, {1, 5, 5}, {1, 0, 9}}) {
        std::vector<T> out(static_cast<std::size_t>(last - first));
        comparison.compare(query_store.rows, i, first, last, out.data());
        std::vector<T> values = out;
        kernel.apply(values.data(), last - first);
        for (std::int64_t t = first; t < last; ++t) {
            const double* target = table.row(aimed[t]);
            const Likeness exact(queries.row(i), target, n);
            const auto [number, error] =
                exact.template number<Rows>(kernel.comparison(), n);
            if (kernel.of_distances()) CHECK(out[t - first] >= 0);
            worst.see(out[t - first], number, error);
            const double value = kernel_value(kernel, queries.row(i), target, n);
            // More roundings than there are, far less than a wrong entry.
            const double slack = 1000 * unit<T> * std::max(1.0, std::abs(value));
            // The narrowest octave of the Laplace kernel is 64 times as steep.
            worst_value.see(values[t - first], value, 64 * error + slack);
        }
    }
    CHECK_AT_MOST(worst.excess, 0.0);
    CHECK_AT_MOST(worst_value.excess, 0.0);
}

template <class T>
void rows_compare_as_in_the_formula() {
    Numbers numbers(104);
    for (const std::int64_t n_cols : {1, 3, 8, 13, 61})
        for (const auto& [offset, spread] :
             {std::pair(0.0, 1.0), {1e4, 1.0}, {1e4, 1e-7}})
            for (const Kernel& kernel : kernels) {
                check::context = name_of(kernel) + ", " + std::to_string(n_cols) +
                                 " columns at " + std::to_string(offset);
                // Only distances are small far from the origin.
                if (offset != 0 && !kernel.of_distances()) continue;
                const int filled = offset == 0 ? 60 : 100;
                const Table table = rounded<T>(random_table(7, n_cols, filled, numbers),
                                               offset, spread);
                const Table queries = rounded<T>(
                    random_table(3, n_cols, filled, numbers), offset, spread);
                check_row_comparison<DenseStore<T>>(table, queries, kernel);
                check_row_comparison<CsrStore<T, std::int32_t>>(table, queries, kernel);
                check_row_comparison<CsrStore<T, std::int64_t>>(table, queries, kernel);
            }
}

template <class T>
void every_check() {
    comparisons_agree_with_plain_loop<T>();
    maps_agree_with_plain_loop<T>();
    smo_loops_agree_with_plain_loop<T>();
    rows_compare_as_in_the_formula<T>();
}

}  // namespace
}  // namespace testing
}  // namespace localsvm

int main() {
    using namespace localsvm::testing;
    every_check<float>();
    every_check<double>();
    exponentials_are_accurate<float>(-87, 2);
    exponentials_are_accurate<double>(-708, 4);
    exponentials_end_in_zero<float>(-88);
    exponentials_end_in_zero<double>(-709);
    return check::summary();
}
