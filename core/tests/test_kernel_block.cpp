// Panels of rows in every instruction set, and blocks of kernel values.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "localsvm/kernel_block.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/simd.hpp"
#include "loop_checks.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

// The sum over the entries in their order, with or without fused multiply-adds.
template <class T>
T plain_sum(Comparison comparison, const T* x, const T* panel, std::int64_t n,
            bool fused) {
    T sum = 0;
    double product = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        const T z = panel[j * static_cast<std::int64_t>(panel_width<T>)];
        const T step = x[j] - z;
        const auto a = static_cast<double>(x[j]), b = static_cast<double>(z);
        product = fused ? std::fma(a, b, product) : product + a * b;
        if (comparison == Comparison::absolute_distance)
            sum += std::abs(step);
        else
            sum = fused ? std::fma(step, step, sum) : sum + step * step;
    }
    return comparison == Comparison::product ? static_cast<T>(product) : sum;
}

template <class T>
auto panel_loop(const VectorLoops<T>& loops, Comparison comparison) {
    return comparison == Comparison::product ? loops.panel_dots
           : comparison == Comparison::squared_distance
               ? loops.panel_squared_distances
               : loops.panel_absolute_distances;
}

constexpr Comparison comparisons[] = {Comparison::product, Comparison::squared_distance,
                                      Comparison::absolute_distance};

// Panels of every number of rows in every instruction set: the same bits as one loop
// over the entries.
template <class T>
void panels_agree_with_plain_loop() {
    Numbers numbers(105);
    constexpr std::size_t width = panel_width<T>;
    const auto check = [&](const VectorLoops<T>& loops, Comparison comparison,
                           std::int64_t n, std::size_t count) {
        std::vector<Placed<T>> rows;
        std::vector<const T*> x;
        for (std::size_t r = 0; r < count; ++r)
            rows.push_back(random_placed<T>(n, r % 4, numbers));
        for (const Placed<T>& row : rows) x.push_back(row.data());
        const Placed<T> panel = random_placed<T>(n * static_cast<std::int64_t>(width),
                                                 (count + 1) % 4, numbers);
        Placed<T> out(std::vector<T>(count * width), count % 3);
        panel_loop(loops, comparison)(x.data(), count, panel.data(),
                                      static_cast<std::size_t>(n), out.data());
        bool fused = true, unfused = true;
        for (std::size_t p = 0; p < count * width; ++p) {
            const T* z = panel.data() + p % width;
            const T got = out.data()[p];
            fused = fused && got == plain_sum(comparison, x[p / width], z, n, true);
            unfused =
                unfused && got == plain_sum(comparison, x[p / width], z, n, false);
        }
        CHECK(fused || unfused);
    };
    for_each_set<T>("panels", [&](const VectorLoops<T>& loops) {
        for (const Comparison comparison : comparisons)
            for (const std::int64_t n : lengths())
                for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 20})
                    check(loops, comparison, n, count);
    });
}

template <class T>
std::vector<const T*> row_list(const DenseRows<T>& rows) {
    std::vector<const T*> list;
    for (std::int64_t i = 0; i < rows.n_rows(); ++i) list.push_back(rows.row(i));
    return list;
}

template <class T>
void check_blocks(const Kernel& kernel, const Table& table, const Table& queries) {
    const std::int64_t n = table.n_rows, n_cols = table.n_cols;
    const DenseStore<T> store(table), query_store(queries);
    const std::vector<const T*> rows = row_list(store.rows);
    std::vector<T> out(static_cast<std::size_t>(queries.n_rows * n));
    fill_kernel(kernel, n_cols, row_list(query_store.rows), rows, out.data());
    Worst worst;
    for (std::int64_t p = 0; p < queries.n_rows * n; ++p) {
        const double value =
            kernel_value(kernel, queries.row(p / n), table.row(p % n), n_cols);
        worst.see(out[static_cast<std::size_t>(p)], value,
                  1000 * unit<T> * std::max(1.0, std::abs(value)));
    }
    CHECK_AT_MOST(worst.excess, 0.0);
    std::vector<T> whole(static_cast<std::size_t>(n * n)), mirrored(whole);
    fill_kernel(kernel, n_cols, rows, rows, whole.data());
    fill_kernel_symmetric(kernel, n_cols, rows, mirrored.data());
    CHECK(whole == mirrored);
    for (std::int64_t i = 0; kernel.of_distances() && i < n; ++i)
        CHECK_EQUAL(whole[static_cast<std::size_t>(i * (n + 1))], T(1));
}

template <class T>
void blocks_agree_with_plain_loop() {
    Numbers numbers(106);
    for (const Kernel& kernel :
         {Kernel{KernelKind::laplace, 0.3, 0, 1}, Kernel{KernelKind::rbf, 0.3, 0, 1},
          Kernel{KernelKind::polynomial, 0.1, 0.5, 3}})
        for (const std::int64_t n_cols : {1, 5, 40})
            for (const std::int64_t n : {1, 15, 16, 17, 33, 70})
                for (const std::int64_t n_queries : {0, 1, 63, 64, 65, 130}) {
                    check::context = std::to_string(n) + " targets, " +
                                     std::to_string(n_queries) + " queries";
                    check_blocks<T>(kernel, random_table(n, n_cols, 70, numbers),
                                    random_table(n_queries, n_cols, 70, numbers));
                }
}

// A symmetric matrix, spread by tiles, from its upper triangle in the same memory.
template <class T>
void tiles_complete_a_triangle() {
    for (std::int64_t n : {0, 1, 16, 31, 33, 64, 65, 100, 131}) {
        check::context = std::to_string(n) + " rows";
        const std::int64_t stride = n + 3;
        const auto pair = [](std::int64_t i, std::int64_t j) {
            return static_cast<T>(1000 * std::min(i, j) + std::max(i, j));
        };
        std::vector<T> matrix(static_cast<std::size_t>(n * stride), T(-1));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i; j < n; ++j)
                matrix[static_cast<std::size_t>(i * stride + j)] = pair(i, j);
        std::vector<T> number(Tile<T>::size);
        const Kernel doubled{KernelKind::polynomial, 2, 0, 1};
        for_each_upper_tile(n, number.data(), [&](const Tile<T>& tile) {
            tile.read(matrix.data(), stride);
            tile.apply(doubled);
            tile.write_both(matrix.data(), stride);
        });
        bool same = true;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < stride; ++j)
                same = same && matrix[static_cast<std::size_t>(i * stride + j)] ==
                                   (j < n ? 2 * pair(i, j) : T(-1));
        CHECK(same);
    }
}

template <class T>
void every_check() {
    panels_agree_with_plain_loop<T>();
    blocks_agree_with_plain_loop<T>();
    tiles_complete_a_triangle<T>();
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    every_check<float>();
    every_check<double>();
    return check::summary();
}
