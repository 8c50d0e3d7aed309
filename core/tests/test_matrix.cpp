// Dense and CSR rows agree; every instruction set agrees with a plain loop.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "instruction_sets.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/simd.hpp"
#include "problem.hpp"

namespace localsvm {

namespace {

using testing::CsrStore;
using testing::DenseStore;
using testing::instruction_sets;
using testing::Numbers;
using testing::random_table;
using testing::Table;

constexpr std::int64_t widths[] = {0, 1, 7, 8, 31, 32, 33, 61, 784};

// How far a sum of n products may be from the exact one, relative to the sum of their
// absolute values; any order of the additions.
template <class T>
double rounding(std::int64_t n) {
    return static_cast<double>(n + 4) * std::numeric_limits<T>::epsilon();
}

struct Sum {
    double value = 0, magnitude = 0;

    void add(double term) {
        value += term;
        magnitude += std::abs(term);
    }
};

template <class X, class W>
Sum plain_dot(const X* x, const W* w, std::int64_t n) {
    Sum sum;
    for (std::int64_t j = 0; j < n; ++j)
        sum.add(static_cast<double>(x[j]) * static_cast<double>(w[j]));
    return sum;
}

template <class T>
std::vector<const T*> read_only(const std::vector<T*>& pointers) {
    return {pointers.begin(), pointers.end()};
}

// `after` must be before + a x, and what follows x's entries must be as it was.
template <class X, class W>
void check_moved(const std::vector<W>& before, double a, const X* x, std::int64_t n,
                 const std::vector<W>& after) {
    double excess = 0;
    for (std::size_t j = 0; j < before.size(); ++j) {
        const double step = static_cast<std::int64_t>(j) < n ? a * x[j] : 0.0;
        const double magnitude =
            std::abs(static_cast<double>(before[j])) + std::abs(step);
        const double error = std::abs(static_cast<double>(after[j]) -
                                      (static_cast<double>(before[j]) + step));
        excess = std::max(excess, error - rounding<W>(0) * magnitude);
    }
    CHECK_AT_MOST(excess, 0.0);
    CHECK_EQUAL(after.back(), before.back());
}

// The operations of a row x of n entries, as functions of the weights alone.
template <class T>
struct RowOperations {
    std::function<double(const T*)> dot;
    std::function<double(const double*)> dot_wide;
    std::function<void(T, T*)> axpy;
    std::function<void(double, double*)> axpy_wide;
    // Loops have these two, views of rows do not.
    std::function<double(const T* const*, const T*, std::size_t)> dot_mix;
    std::function<void(T, T* const*, const T*, std::size_t)> axpy_mix;
};

template <class T>
void check_dots(const RowOperations<T>& row, const T* x, std::int64_t n,
                Numbers& numbers) {
    const std::vector<T> w = random_vector<T>(n, numbers);
    const Sum exact = plain_dot(x, w.data(), n);
    CHECK_NEAR(row.dot(w.data()), exact.value, rounding<T>(n) * exact.magnitude);
    const std::vector<double> wide = random_vector<double>(n, numbers);
    const Sum wide_sum = plain_dot(x, wide.data(), n);
    CHECK_NEAR(row.dot_wide(wide.data()), wide_sum.value,
               rounding<double>(n) * wide_sum.magnitude);
}

template <class T>
void check_steps(const RowOperations<T>& row, const T* x, std::int64_t n,
                 Numbers& numbers) {
    const std::vector<T> before = random_vector<T>(n + 1, numbers);
    std::vector<T> w = before;
    row.axpy(T(0.625), w.data());
    check_moved(before, 0.625, x, n, w);
    const std::vector<double> before_wide = random_vector<double>(n + 1, numbers);
    std::vector<double> wide = before_wide;
    row.axpy_wide(-0.7, wide.data());
    check_moved(before_wide, -0.7, x, n, wide);
}

template <class T>
void check_mixes(const RowOperations<T>& row, const T* x, std::int64_t n,
                 std::size_t n_nodes, Numbers& numbers) {
    const std::vector<T> c =
        random_vector<T>(static_cast<std::int64_t>(n_nodes), numbers);
    std::vector<std::vector<T>> nodes;
    for (std::size_t s = 0; s < n_nodes; ++s)
        nodes.push_back(random_vector<T>(n + 1, numbers));
    const std::vector<std::vector<T>> before = nodes;
    std::vector<T*> met;
    for (std::vector<T>& node : nodes) met.push_back(node.data());

    double value = 0, magnitude = 0;
    for (std::size_t s = 0; s < n_nodes; ++s) {
        const Sum sum = plain_dot(x, met[s], n);
        value += c[s] * sum.value;
        magnitude += std::abs(c[s]) * sum.magnitude;
    }
    CHECK_NEAR(row.dot_mix(read_only(met).data(), c.data(), n_nodes), value,
               rounding<T>(n + static_cast<std::int64_t>(n_nodes)) * magnitude);
    row.axpy_mix(T(0.375), met.data(), c.data(), n_nodes);
    for (std::size_t s = 0; s < n_nodes; ++s)
        check_moved(before[s], 0.375 * c[s], x, n, nodes[s]);
}

template <class T>
void check_operations(const RowOperations<T>& row, const T* x, std::int64_t n,
                      Numbers& numbers) {
    check_dots(row, x, n, numbers);
    check_steps(row, x, n, numbers);
    if (!row.dot_mix) return;
    for (const std::size_t n_nodes : {0, 1, 2, 5})
        check_mixes(row, x, n, n_nodes, numbers);
}

template <class T>
RowOperations<T> operations_of_loops(const VectorLoops<T>& loops, const T* x,
                                     std::int64_t width) {
    const auto n = static_cast<std::size_t>(width);
    return {[=](const T* w) { return loops.dot(x, w, n); },
            [=](const double* w) { return loops.dot_wide(x, w, n); },
            [=](T a, T* w) { loops.axpy(a, x, w, n); },
            [=](double a, double* w) { loops.axpy_wide(a, x, w, n); },
            [=](const T* const* w, const T* c, std::size_t m) {
                return loops.dot_mix(x, w, c, m, n);
            },
            [=](T a, T* const* w, const T* c, std::size_t m) {
                loops.axpy_mix(a, x, w, c, m, n);
            }};
}

template <class Rows, class T = typename Rows::value_type>
RowOperations<T> operations_of_row(const Rows& rows, std::int64_t i) {
    return {[=](const T* w) { return rows.dot(i, w); },
            [=](const double* w) { return rows.dot_wide(i, w); },
            [=](T a, T* w) { rows.axpy(i, a, w); },
            [=](double a, double* w) { rows.axpy_wide(i, a, w); },
            {},
            {}};
}

template <class T>
void loops_agree_with_plain_loop(const char* type) {
    Numbers numbers(1);
    for (const auto& [name, loops] : instruction_sets<T>()) {
        for (const std::int64_t n : widths) {
            check::context = std::string(name) + ", " + type + ", " + std::to_string(n);
            const std::vector<T> x = random_vector<T>(n, numbers);
            check_operations(operations_of_loops(*loops, x.data(), n), x.data(), n,
                             numbers);
        }
    }
}

// A sum must not depend on where its operands lie.
template <class T>
void dot_ignores_alignment(const char* type) {
    Numbers numbers(2);
    for (const auto& [name, loops] : instruction_sets<T>()) {
        check::context = std::string(name) + ", " + type;
        const std::vector<T> x = random_vector<T>(61, numbers);
        const std::vector<T> w = random_vector<T>(61, numbers);
        for (std::size_t offset = 0; offset < 8; ++offset) {
            std::vector<T> moved(x.size() + offset);
            std::copy(x.begin(), x.end(), moved.begin() + offset);
            CHECK_EQUAL(loops->dot(moved.data() + offset, w.data(), x.size()),
                        loops->dot(x.data(), w.data(), x.size()));
        }
    }
}

template <class Store>
void check_rows(const Store& store, const Table& table, Numbers& numbers) {
    using T = typename decltype(store.rows)::value_type;
    CHECK_EQUAL(store.rows.n_rows(), table.n_rows);
    CHECK_EQUAL(store.rows.n_cols(), table.n_cols);
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
        const std::vector<T> x(table.row(i), table.row(i) + table.n_cols);
        check_operations(operations_of_row(store.rows, i), x.data(), table.n_cols,
                         numbers);
        const double norm = plain_dot(x.data(), x.data(), table.n_cols).value;
        CHECK_NEAR(store.rows.squared_norm(i), norm, rounding<double>(784) * norm);
    }
}

template <class T, class Index>
void check_csr(const Table& table, Numbers& numbers) {
    check_rows(CsrStore<T, Index>(table), table, numbers);
    check_rows(CsrStore<T, Index>(table, true), table, numbers);
}

template <class T>
void storages_agree(const char* type) {
    Numbers numbers(3);
    for (const std::int64_t n : widths) {
        check::context = std::string(type) + ", " + std::to_string(n);
        const Table table = random_table(3, n, 40, numbers);
        check_rows(DenseStore<T>(table), table, numbers);
        check_csr<T, std::int32_t>(table, numbers);
        check_csr<T, std::int64_t>(table, numbers);
    }
}

void check_hashes_agree(const Table& table) {
    const DenseStore<double> dense(table);
    const DenseStore<float> narrow(table);
    const CsrStore<double, std::int32_t> csr(table);
    const CsrStore<float, std::int64_t> with_zeros(table, true);
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
        for (const std::uint64_t seed : {0, 1, 12345}) {
            const std::uint64_t expected = dense.rows.hash(i, seed);
            CHECK_EQUAL(narrow.rows.hash(i, seed), expected);
            CHECK_EQUAL(csr.rows.hash(i, seed), expected);
            CHECK_EQUAL(with_zeros.rows.hash(i, seed), expected);
        }
        CHECK(dense.rows.hash(i, 0) != dense.rows.hash(i, 1));
    }
}

void hashes_do_not_see_the_storage() {
    Numbers numbers(4);
    for (const std::int64_t n : widths) {
        check::context = std::to_string(n);
        Table table = random_table(3, n, 40, numbers);
        check_hashes_agree(table);
        const std::uint64_t before = DenseStore<double>(table).rows.hash(0, 7);
        for (double& value : table.values)
            if (value == 0) value = -0.0;
        check_hashes_agree(table);
        CHECK_EQUAL(DenseStore<double>(table).rows.hash(0, 7), before);
    }
}

void hashes_tell_rows_apart() {
    check::context = "";
    Table table(6, 3);
    const double rows[6][3] = {{0, 0, 0}, {1, 2, 0},  {2, 1, 0},
                               {1, 0, 2}, {-1, 2, 0}, {1, 2, 1e-300}};
    for (std::int64_t i = 0; i < 6; ++i) std::copy_n(rows[i], 3, table.row(i));
    const DenseStore<double> dense(table);
    for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < i; ++j)
            CHECK(dense.rows.hash(i, 0) != dense.rows.hash(j, 0));
}

}  // namespace
}  // namespace localsvm

int main() {
    localsvm::loops_agree_with_plain_loop<float>("float");
    localsvm::loops_agree_with_plain_loop<double>("double");
    localsvm::dot_ignores_alignment<float>("float");
    localsvm::dot_ignores_alignment<double>("double");
    localsvm::storages_agree<float>("float");
    localsvm::storages_agree<double>("double");
    localsvm::hashes_do_not_see_the_storage();
    localsvm::hashes_tell_rows_apart();
    return check::summary();
}
