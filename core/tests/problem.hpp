// Random problems for the tests, and owners of the memory that the core only views.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/random.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm::testing {

// Multiples of 2^-20 in [-1, 1): exact in float as well, so that the double and the
// float version of a table are the same numbers.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : random_(seed, 0) {}

    double next() {
        return static_cast<double>(random_.below(1 << 21) - (1 << 20)) / (1 << 20);
    }
    std::int64_t below(std::int64_t bound) { return random_.below(bound); }
    bool chance(int percent) { return random_.below(100) < percent; }

  private:
    Random random_;
};

template <class T>
std::vector<T> random_vector(std::int64_t n, Numbers& numbers) {
    std::vector<T> result(static_cast<std::size_t>(n));
    for (T& value : result) value = static_cast<T>(numbers.next());
    return result;
}

struct Table {
    std::int64_t n_rows, n_cols;
    std::vector<double> values;

    Table(std::int64_t n_rows, std::int64_t n_cols)
        : n_rows(n_rows),
          n_cols(n_cols),
          values(static_cast<std::size_t>(n_rows * n_cols)) {}
    double* row(std::int64_t i) { return values.data() + i * n_cols; }
    const double* row(std::int64_t i) const { return values.data() + i * n_cols; }
};

inline Table random_table(std::int64_t n_rows, std::int64_t n_cols, int percent_filled,
                          Numbers& numbers) {
    Table table(n_rows, n_cols);
    for (double& value : table.values)
        if (numbers.chance(percent_filled)) value = numbers.next();
    return table;
}

template <class T>
struct DenseStore {
    std::vector<T> values;
    DenseRows<T> rows;

    explicit DenseStore(const Table& table)
        : values(table.values.begin(), table.values.end()),
          rows(values.data(), table.n_rows, table.n_cols) {}
    DenseStore(const DenseStore&) = delete;
};

template <class T, class Index>
struct CsrStore {
    std::vector<T> data;
    std::vector<Index> columns, row_start;
    CsrRows<T, Index> rows;

    explicit CsrStore(const Table& table, bool keep_zeros = false)
        : row_start(1, 0), rows(fill(table, keep_zeros)) {}
    CsrStore(const CsrStore&) = delete;

  private:
    CsrRows<T, Index> fill(const Table& table, bool keep_zeros) {
        for (std::int64_t i = 0; i < table.n_rows; ++i) {
            for (std::int64_t j = 0; j < table.n_cols; ++j) {
                const double value = table.row(i)[j];
                if (value == 0 && !keep_zeros) continue;
                data.push_back(static_cast<T>(value));
                columns.push_back(static_cast<Index>(j));
            }
            row_start.push_back(static_cast<Index>(data.size()));
        }
        return {data.data(), columns.data(), row_start.data(), table.n_rows,
                table.n_cols};
    }
};

// Labels 0 ... n_classes - 1; with two classes, 1 is the positive one.
struct Problem {
    Table table;
    std::vector<std::int32_t> labels;
    std::vector<double> bounds;
    double bias = 1;
    std::vector<std::int64_t> block_start, block_rows;

    explicit Problem(Table rows, double bound = 1)
        : table(std::move(rows)),
          labels(static_cast<std::size_t>(table.n_rows), 1),
          bounds(static_cast<std::size_t>(table.n_rows), bound) {
        one_block();
    }

    std::int64_t n_rows() const { return table.n_rows; }
    std::int64_t width() const { return table.n_cols + 1; }
    std::int64_t n_blocks() const {
        return static_cast<std::int64_t>(block_start.size()) - 1;
    }
    Blocks blocks() const {
        return {block_start.data(), block_rows.data(), n_blocks()};
    }
    // The rows first ... last - 1 as a problem of their own.
    Problem part(std::int64_t first, std::int64_t last) const {
        Problem result(Table(last - first, table.n_cols));
        result.bias = bias;
        for (std::int64_t i = first; i < last; ++i) {
            std::copy_n(table.row(i), table.n_cols, result.table.row(i - first));
            result.labels[i - first] = labels[i];
            result.bounds[i - first] = bounds[i];
        }
        return result;
    }
    void one_block() { group(std::vector<std::int64_t>(labels.size(), 0), 1); }
    void group(const std::vector<std::int64_t>& block_of, std::int64_t count) {
        block_start.assign(1, 0);
        block_rows.clear();
        for (std::int64_t b = 0; b < count; ++b) {
            for (std::size_t i = 0; i < block_of.size(); ++i)
                if (block_of[i] == b)
                    block_rows.push_back(static_cast<std::int64_t>(i));
            block_start.push_back(static_cast<std::int64_t>(block_rows.size()));
        }
    }
    std::vector<std::int64_t> block_of() const {
        std::vector<std::int64_t> result(labels.size(), -1);
        for (std::int64_t b = 0; b < n_blocks(); ++b)
            for (std::int64_t p = block_start[b]; p < block_start[b + 1]; ++p)
                result[block_rows[p]] = b;
        return result;
    }
};

struct Shape {
    std::int64_t n_rows, n_cols;
    std::int64_t n_classes = 2;
    std::int64_t n_blocks = 1;
    double bound = 1;
    int percent_filled = 100;
};

// Classes that a hyperplane separates in part, so that there are rows at both bounds
// and in between.
inline Problem random_problem(const Shape& shape, std::uint64_t seed) {
    Numbers numbers(seed);
    Problem problem(
        random_table(shape.n_rows, shape.n_cols, shape.percent_filled, numbers),
        shape.bound);
    std::vector<std::int64_t> block_of(problem.labels.size());
    for (std::size_t i = 0; i < block_of.size(); ++i) {
        const double* row = problem.table.row(static_cast<std::int64_t>(i));
        const double noisy = row[0] + 0.5 * numbers.next();
        problem.labels[i] = static_cast<std::int32_t>(
            numbers.chance(10) ? numbers.below(shape.n_classes)
                               : (noisy > 0 ? shape.n_classes - 1
                                            : numbers.below(shape.n_classes - 1)));
        problem.bounds[i] *= 1 + 0.5 * numbers.next();
        block_of[i] = numbers.below(shape.n_blocks);
    }
    problem.group(block_of, shape.n_blocks);
    return problem;
}

struct Options {
    Settings settings{Loss::hinge, 1e-8, 20000, 0};
    int n_threads = 1;
    std::int64_t n_problems = 1;
    Watch watch{};
    std::vector<double> start{};  // duals; zeros if empty
    std::vector<double> prior{};  // of coded problems; none if empty
};

struct Run {
    std::vector<double> alpha, nodes;
    std::vector<Certificate> certificates;
    StopReason reason = StopReason::none;

    const Certificate& certificate() const { return certificates.front(); }
};

// solve(batch, stop) on memory of the run.
template <class Solve>
Run run_batch(const Problem& problem, const Options& options, std::int64_t n_nodes,
              const Solve& solve) {
    Run run;
    run.alpha = options.start;
    run.alpha.resize(static_cast<std::size_t>(options.n_problems * problem.n_rows()));
    run.nodes.resize(
        static_cast<std::size_t>(options.n_problems * n_nodes * problem.width()));
    const std::int32_t first_positive = options.n_problems == 1 ? 1 : 0;
    const Batch batch{problem.labels.data(),
                      problem.bounds.data(),
                      first_positive,
                      options.n_problems,
                      problem.bias,
                      run.alpha.data(),
                      run.nodes.data(),
                      options.n_threads,
                      options.prior.empty() ? nullptr : options.prior.data()};
    StopFlag stop;
    run.certificates = solve(batch, stop);
    run.reason = stop.reason();
    return run;
}

template <class Store>
Run run_independent(const Store& store, const Problem& problem,
                    const Options& options) {
    return run_batch(
        problem, options, problem.n_blocks(), [&](const Batch& batch, StopFlag& stop) {
            return solve_independent(store.rows, batch, problem.blocks(),
                                     options.settings, options.watch, stop);
        });
}

template <class Store>
Run run_coupled(const Store& store, const Problem& problem, double lambda,
                const Options& options) {
    return run_batch(problem, options, problem.n_blocks() + 1,
                     [&](const Batch& batch, StopFlag& stop) {
                         return solve_coupled(store.rows, batch, problem.blocks(),
                                              1 / lambda, options.settings,
                                              options.watch, stop);
                     });
}

template <class Store>
Run run_coded(const Store& store, const Problem& problem,
              const Codes<typename decltype(Store::rows)::value_type>& codes,
              const Options& options) {
    return run_batch(problem, options, codes.n_nodes,
                     [&](const Batch& batch, StopFlag& stop) {
                         return solve_coded(store.rows, batch, problem.blocks(), codes,
                                            options.settings, options.watch, stop);
                     });
}

}  // namespace localsvm::testing
