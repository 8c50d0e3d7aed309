// Panels of rows in every instruction set, and blocks of the Laplace kernel.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "localsvm/kernel_block.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/simd.hpp"
#include "loop_checks.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

// Panels of every number of rows in every instruction set: the same bits as one loop
// over the entries.
template <class T>
void panels_agree_with_plain_loop() {
    Numbers numbers(105);
    constexpr std::size_t width = panel_width<T>;
    for_each_set<T>("panels", [&](const VectorLoops<T>& loops) {
        bool same = true;
        for (const std::int64_t n : lengths())
            for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 20}) {
                const auto n_x = n * static_cast<std::int64_t>(count);
                const Placed<T> x = random_placed<T>(n_x, count % 4, numbers);
                const Placed<T> panel = random_placed<T>(
                    n * static_cast<std::int64_t>(width), (count + 1) % 4, numbers);
                Placed<T> out(std::vector<T>(count * width), count % 3);
                loops.panel_distances(x.data(), count, panel.data(),
                                      static_cast<std::size_t>(n), out.data());
                for (std::size_t p = 0; p < count * width; ++p) {
                    T sum = 0;
                    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
                        sum += std::abs(x.data()[p / width * n + j] -
                                        panel.data()[j * width + p % width]);
                    same = same && out.data()[p] == sum;
                }
            }
        CHECK(same);
    });
}

template <class T>
void laplace_blocks_agree_with_plain_loop() {
    Numbers numbers(106);
    for (const std::int64_t n_cols : {1, 5, 40})
        for (const std::int64_t n : {1, 15, 16, 17, 33, 70})
            for (const std::int64_t n_queries : {0, 1, 63, 64, 65, 130}) {
                check::context = std::to_string(n) + " targets, " +
                                 std::to_string(n_queries) + " queries";
                const Table table = random_table(n, n_cols, 70, numbers);
                const Table queries = random_table(n_queries, n_cols, 70, numbers);
                const DenseStore<T> store(table), query_store(queries);
                const Kernel kernel{KernelKind::laplace, 0.3, 0, 1};
                std::vector<T> out(static_cast<std::size_t>(n_queries * n));
                LaplaceBlock<T>(store.rows, kernel.gamma)
                    .fill(query_store.rows, out.data());
                Worst worst;
                for (std::int64_t p = 0; p < n_queries * n; ++p)
                    worst.see(out[p],
                              kernel_value(kernel, queries.row(p / n), table.row(p % n),
                                           n_cols),
                              1000 * unit<T>);
                CHECK_AT_MOST(worst.excess, 0.0);
                std::vector<T> whole(static_cast<std::size_t>(n * n)), mirrored(whole);
                LaplaceBlock<T>(store.rows, kernel.gamma)
                    .fill(store.rows, whole.data());
                LaplaceBlock<T>(store.rows, kernel.gamma)
                    .fill_symmetric(mirrored.data());
                CHECK(whole == mirrored);
                for (std::int64_t i = 0; i < n; ++i)
                    CHECK_EQUAL(whole[i * (n + 1)], T(1));
            }
}

template <class T>
void every_check() {
    panels_agree_with_plain_loop<T>();
    laplace_blocks_agree_with_plain_loop<T>();
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    every_check<float>();
    every_check<double>();
    return check::summary();
}
