// The dual of a kernel SVM over an explicit matrix in double: its objectives, a plain
// solver, and a plain cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/kernel_rows.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "reference.hpp"

namespace localsvm::testing {

// How far the worst of many numbers is beyond its error; a NaN is infinitely far.
struct Worst {
    double excess = 0;

    void see(double got, double exact, double error) {
        const double off = std::abs(got - exact) - error;
        if (got == exact || off <= excess) return;
        excess = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
    }
};

inline const Kernel kernels[] = {{KernelKind::linear, 1, 0, 1},
                                 {KernelKind::polynomial, 0.5, 1, 3},
                                 {KernelKind::rbf, 0.75, 0, 1},
                                 {KernelKind::laplace, 0.0625, 0, 1}};

inline std::string name_of(const Kernel& kernel) {
    const char* names[] = {"linear", "polynomial", "rbf", "laplace"};
    return names[static_cast<int>(kernel.kind)];
}

inline double kernel_value(const Kernel& kernel, const double* x, const double* z,
                           std::int64_t n) {
    double product = 0, distance = 0, absolute = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        product += x[j] * z[j];
        distance += (x[j] - z[j]) * (x[j] - z[j]);
        absolute += std::abs(x[j] - z[j]);
    }
    if (kernel.kind == KernelKind::linear) return product;
    if (kernel.kind == KernelKind::rbf) return std::exp(-kernel.gamma * distance);
    if (kernel.kind == KernelKind::laplace) {
        double sum = 0;
        for (int octave = 1; octave <= 64; octave *= 2)
            sum += std::exp(-kernel.gamma * octave * absolute) / 7;
        return sum;
    }
    double value = 1;
    for (int factor = 0; factor < kernel.degree; ++factor)
        value *= kernel.gamma * product + kernel.coef0;
    return value;
}

using Members = std::vector<std::int32_t>;

inline Members counted(std::int64_t n) {
    Members members(static_cast<std::size_t>(n));
    std::iota(members.begin(), members.end(), 0);
    return members;
}

inline Table kernel_matrix(const Kernel& kernel, const Table& table,
                           const Members& rows) {
    const auto n = static_cast<std::int64_t>(rows.size());
    Table k(n, n);
    for (std::int64_t p = 0; p < n * n; ++p)
        k.values[p] = kernel_value(kernel, table.row(rows[p / n]),
                                   table.row(rows[p % n]), table.n_cols);
    return k;
}

inline Table kernel_matrix(const Kernel& kernel, const Table& table) {
    return kernel_matrix(kernel, table, counted(table.n_rows));
}

// min 1/2 b'Kb - t'b, l <= b <= u, sum b = 0
struct BoxedDual {
    Table k;
    std::vector<double> lower, upper, target;

    // A sign of zero holds a row out.
    BoxedDual(Table matrix, const std::vector<double>& signs,
              const std::vector<double>& bounds)
        : k(std::move(matrix)), target(signs) {
        for (std::size_t i = 0; i < signs.size(); ++i) {
            lower.push_back(signs[i] < 0 ? -bounds[i] : 0.0);
            upper.push_back(signs[i] > 0 ? bounds[i] : 0.0);
        }
    }
    std::int64_t size() const { return k.n_rows; }
    BoxProblem view() const { return {lower.data(), upper.data(), target.data()}; }
    double total_width() const {
        double sum = 0;
        for (std::size_t i = 0; i < lower.size(); ++i) sum += upper[i] - lower[i];
        return sum;
    }
};

inline std::vector<double> gradient_of(const BoxedDual& dual,
                                       const std::vector<double>& beta) {
    std::vector<double> gradient(beta.size());
    for (std::size_t i = 0; i < beta.size(); ++i)
        gradient[i] =
            inner(dual.k.row(static_cast<std::int64_t>(i)), beta.data(), dual.size()) -
            dual.target[i];
    return gradient;
}

// The rows that violate most; -1 if no row may rise, or fall.
struct WorstPair {
    std::int64_t rises = -1, falls = -1;
    double up = std::numeric_limits<double>::infinity(), low = -up;

    double violation() const {
        return rises < 0 || falls < 0 ? 0.0 : std::max(0.0, low - up);
    }
};

inline WorstPair worst_pair(const BoxedDual& dual, const std::vector<double>& beta,
                            const std::vector<double>& gradient) {
    WorstPair worst;
    for (std::size_t i = 0; i < beta.size(); ++i) {
        if (beta[i] < dual.upper[i] && gradient[i] < worst.up) {
            worst.up = gradient[i];
            worst.rises = static_cast<std::int64_t>(i);
        }
        if (beta[i] > dual.lower[i] && gradient[i] > worst.low) {
            worst.low = gradient[i];
            worst.falls = static_cast<std::int64_t>(i);
        }
    }
    return worst;
}

inline double intercept_of(const BoxedDual& dual, const std::vector<double>& beta,
                           const std::vector<double>& gradient) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < beta.size(); ++i)
        if (dual.lower[i] < beta[i] && beta[i] < dual.upper[i]) {
            sum += gradient[i];
            count += 1;
        }
    if (count > 0) return -sum / count;
    const WorstPair worst = worst_pair(dual, beta, gradient);
    if (worst.rises < 0 && worst.falls < 0) return 0;
    if (worst.rises < 0) return -worst.low;
    return worst.falls < 0 ? -worst.up : -(worst.low + worst.up) / 2;
}

// The primal with its losses written out: rows of zero width lose nothing.
inline Objectives objectives_of(const BoxedDual& dual, const std::vector<double>& beta,
                                double intercept) {
    const std::vector<double> gradient = gradient_of(dual, beta);
    double half_norm = 0, linear = 0, losses = 0;
    for (std::size_t i = 0; i < beta.size(); ++i) {
        const double decision = gradient[i] + dual.target[i];
        half_norm += 0.5 * beta[i] * decision;
        linear += dual.target[i] * beta[i];
        losses += (dual.upper[i] - dual.lower[i]) *
                  std::max(0.0, 1 - dual.target[i] * (decision + intercept));
    }
    return {half_norm + losses, linear - half_norm};
}

// Exact steps along the pair that violates most, until none does.
inline Optimum solve_pairwise(const BoxedDual& dual) {
    std::vector<double> beta(dual.target.size()), gradient;
    for (std::int64_t step = 0; step < 3000000; ++step) {
        if (step % std::max<std::int64_t>(dual.size(), 1) == 0)
            gradient = gradient_of(dual, beta);
        const WorstPair worst = worst_pair(dual, beta, gradient);
        if (worst.violation() <= 1e-11) break;
        const std::int64_t i = worst.rises, j = worst.falls;
        const double curvature =
            dual.k.row(i)[i] + dual.k.row(j)[j] - 2 * dual.k.row(i)[j];
        const double room = std::min(dual.upper[i] - beta[i], beta[j] - dual.lower[j]);
        const double move =
            std::min(worst.violation() / std::max(curvature, 1e-14), room);
        // Assigned, not added: a row is at its bound or it is not.
        beta[i] = move == dual.upper[i] - beta[i] ? dual.upper[i] : beta[i] + move;
        beta[j] = move == beta[j] - dual.lower[j] ? dual.lower[j] : beta[j] - move;
        for (std::int64_t p = 0; p < dual.size(); ++p)
            gradient[p] += move * (dual.k.row(i)[p] - dual.k.row(j)[p]);
    }
    const double intercept = intercept_of(dual, beta, gradient_of(dual, beta));
    return {beta, objectives_of(dual, beta, intercept)};
}

struct KernelCalls {
    std::int64_t fills = 0, entries = 0, reorders = 0;
    std::function<void()> before_fill = [] {};
};

// A given matrix that counts what is asked of it.
template <class T>
class WatchedKernel : public GivenKernel<T> {
  public:
    WatchedKernel(const T* values, std::int64_t n, KernelCalls& calls)
        : GivenKernel<T>(values, n), calls_(&calls) {}

    void fill(std::int64_t member, std::int64_t first, std::int64_t last, T* out) {
        calls_->before_fill();
        ++calls_->fills;
        calls_->entries += last - first;
        GivenKernel<T>::fill(member, first, last, out);
    }
    void reorder(const std::vector<std::int64_t>& order) {
        ++calls_->reorders;
        GivenKernel<T>::reorder(order);
    }

  private:
    KernelCalls* calls_;
};

struct Setup {
    Table table;
    Kernel kernel;
    BoxedDual dual;
};

// A sixth of the rows is held out: half with a target, half without.
inline Setup random_setup(std::int64_t n, const Kernel& kernel, std::uint64_t seed,
                          std::int64_t n_cols = 5, double bound = 1) {
    const Problem problem = random_problem({n, n_cols, 2, 1, bound, 80}, seed);
    std::vector<double> signs = signs_of(problem), bounds = problem.bounds;
    Numbers numbers(seed + 1);
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (numbers.chance(17)) (numbers.chance(50) ? bounds : signs)[i] = 0;
    return {problem.table, kernel,
            BoxedDual(kernel_matrix(kernel, problem.table), signs, bounds)};
}

struct How {
    double tol = 1e-8;
    std::int64_t max_iter = 1000000;
    std::int64_t cache_bytes = 1 << 30;
    std::vector<double> start{};  // zeros if empty
};

struct Outcome {
    std::vector<double> beta, gradient;
    SmoCertificate certificate{};

    Outcome(const BoxedDual& dual, const How& how)
        : beta(how.start), gradient(dual.target.size(), 1e300) {
        beta.resize(dual.target.size());
    }
};

template <class T>
Outcome run_gram(const BoxedDual& dual, const How& how, SmoSpace<T>& space,
                 const StopFlag& stop = StopFlag()) {
    const std::int64_t n = dual.size(), stride = padded<T>(n);
    std::vector<T> values(static_cast<std::size_t>(n * stride));
    for (std::int64_t i = 0; i < n; ++i)
        std::copy_n(dual.k.row(i), n, values.begin() + i * stride);
    GramRows<T> source(values.data(), n, stride);
    Outcome outcome(dual, how);
    outcome.certificate =
        Smo(source, {how.tol, how.max_iter}, space, stop)
            .solve(dual.view(), outcome.beta.data(), outcome.gradient.data());
    return outcome;
}

template <class T>
Outcome run_gram(const BoxedDual& dual, const How& how) {
    SmoSpace<T> space;
    return run_gram(dual, how, space);
}

// What a cache of rows should hold: members from the newest to the oldest, in part.
struct PlainCache {
    struct Row {
        std::int64_t member, length;
    };
    std::size_t capacity;
    std::vector<Row> rows{};
    std::int64_t entries = 0;  // to be computed

    std::int64_t length_of(std::int64_t member) const {
        for (const Row& row : rows)
            if (row.member == member) return row.length;
        return 0;
    }
    void use(std::int64_t member, std::int64_t length) {
        const std::int64_t known = length_of(member);
        std::erase_if(rows, [&](const Row& row) { return row.member == member; });
        rows.insert(rows.begin(), {member, std::max(known, length)});
        if (rows.size() > capacity) rows.pop_back();
        entries += std::max<std::int64_t>(0, length - known);
    }
    void peek(std::int64_t member, std::int64_t first, std::int64_t last) {
        if (length_of(member) < last) entries += last - first;
    }
    void reorder(std::int64_t active) {
        for (Row& row : rows)
            if (row.length < active) row.length = 0;
    }
};

}  // namespace localsvm::testing
