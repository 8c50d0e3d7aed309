// The two-class SVM over explicit rows: its objectives, and a textbook solver.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "localsvm/descent.hpp"
#include "problem.hpp"

namespace localsvm::testing {

// Rows with everything in them: bias, and the expansion of a clustered problem.
struct Machine {
    Table rows;
    std::vector<double> signs, bounds;
    Loss loss;

    bool squared() const { return loss == Loss::squared_hinge; }
    double ridge(std::size_t i) const { return squared() ? 0.5 / bounds[i] : 0.0; }
    double cap(std::size_t i) const {
        return squared() ? std::numeric_limits<double>::infinity() : bounds[i];
    }
};

struct Objectives {
    double primal = 0, dual = 0;

    double gap() const { return primal - dual; }
};

struct Optimum {
    std::vector<double> alpha;
    Objectives objectives;
};

inline double inner(const double* a, const double* b, std::int64_t n) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
    return sum;
}

inline std::vector<double> weights_of(const Machine& machine, const double* alpha) {
    std::vector<double> w(static_cast<std::size_t>(machine.rows.n_cols));
    for (std::size_t i = 0; i < machine.signs.size(); ++i)
        for (std::size_t j = 0; j < w.size(); ++j)
            w[j] += alpha[i] * machine.signs[i] *
                    machine.rows.row(static_cast<std::int64_t>(i))[j];
    return w;
}

inline Objectives evaluate(const Machine& machine, const double* alpha) {
    const std::vector<double> w = weights_of(machine, alpha);
    const std::int64_t width = machine.rows.n_cols;
    const double half_norm = 0.5 * inner(w.data(), w.data(), width);
    Objectives result{half_norm, -half_norm};
    for (std::size_t i = 0; i < machine.signs.size(); ++i) {
        if (machine.bounds[i] == 0) continue;
        const double* row = machine.rows.row(static_cast<std::int64_t>(i));
        const double slack =
            std::max(0.0, 1 - machine.signs[i] * inner(row, w.data(), width));
        result.primal +=
            machine.bounds[i] * (machine.squared() ? slack * slack : slack);
        result.dual += alpha[i] - 0.5 * machine.ridge(i) * alpha[i] * alpha[i];
    }
    return result;
}

// Q_ij = s_i s_j x_i . x_j, with the ridge on the diagonal.
inline Table dual_hessian(const Machine& machine) {
    const std::int64_t n = machine.rows.n_rows;
    Table q(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
            q.row(i)[j] =
                machine.signs[i] * machine.signs[j] *
                inner(machine.rows.row(i), machine.rows.row(j), machine.rows.n_cols);
        if (machine.bounds[i] > 0)
            q.row(i)[i] += machine.ridge(static_cast<std::size_t>(i));
    }
    return q;
}

// Cyclic coordinate descent on the explicit dual, to a relative gap of 1e-10.
inline Optimum solve_reference(const Machine& machine) {
    const Table q = dual_hessian(machine);
    const std::int64_t n = q.n_rows;
    Optimum best{std::vector<double>(static_cast<std::size_t>(n)), {}};
    std::vector<double> gradient(static_cast<std::size_t>(n), -1.0);
    for (int pass = 0; pass < 2000000; ++pass) {
        for (std::int64_t i = 0; i < n; ++i) {
            if (machine.bounds[i] == 0) continue;
            const double curvature = std::max(q.row(i)[i], 1e-300);
            const double moved =
                std::clamp(best.alpha[i] - gradient[i] / curvature, 0.0,
                           machine.cap(static_cast<std::size_t>(i)));
            const double step = moved - best.alpha[i];
            best.alpha[i] = moved;
            if (step == 0) continue;
            for (std::int64_t j = 0; j < n; ++j) gradient[j] += step * q.row(i)[j];
        }
        if (pass % 20 != 0) continue;
        best.objectives = evaluate(machine, best.alpha.data());
        if (best.objectives.gap() <= 1e-10 * best.objectives.primal) break;
    }
    return best;
}

inline Table biased(const Table& table, double bias) {
    Table result(table.n_rows, table.n_cols + 1);
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
        std::copy_n(table.row(i), table.n_cols, result.row(i));
        result.row(i)[table.n_cols] = bias;
    }
    return result;
}

inline std::vector<double> signs_of(const Problem& problem, std::int32_t positive = 1) {
    std::vector<double> signs;
    for (const std::int32_t label : problem.labels)
        signs.push_back(label == positive ? 1.0 : -1.0);
    return signs;
}

inline Machine plain_machine(const Problem& problem, Loss loss,
                             std::int32_t positive = 1) {
    return {biased(problem.table, problem.bias), signs_of(problem, positive),
            problem.bounds, loss};
}

// Row i becomes [c_i1 x_i, ..., c_im x_i]; codes: n_rows x m.
inline Machine expanded_machine(const Problem& problem, const Table& codes, Loss loss,
                                std::int32_t positive = 1) {
    const Machine plain = plain_machine(problem, loss, positive);
    const std::int64_t width = plain.rows.n_cols;
    Table rows(problem.n_rows(), codes.n_cols * width);
    for (std::int64_t i = 0; i < rows.n_rows; ++i)
        for (std::int64_t r = 0; r < codes.n_cols; ++r)
            for (std::int64_t j = 0; j < width; ++j)
                rows.row(i)[r * width + j] = codes.row(i)[r] * plain.rows.row(i)[j];
    return {rows, plain.signs, plain.bounds, loss};
}

// [Gu 2013, Eq. 6], with the global part last: 1 in the row's block, 1 / sqrt(lambda).
inline Table coupled_codes(const Problem& problem, double lambda) {
    Table codes(problem.n_rows(), problem.n_blocks() + 1);
    const std::vector<std::int64_t> block_of = problem.block_of();
    for (std::int64_t i = 0; i < codes.n_rows; ++i) {
        codes.row(i)[block_of[i]] = 1;
        codes.row(i)[problem.n_blocks()] = 1 / std::sqrt(lambda);
    }
    return codes;
}

}  // namespace localsvm::testing
