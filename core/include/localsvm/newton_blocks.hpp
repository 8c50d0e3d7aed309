// The equations of Newton's method for rows in blocks: f(x) = (w + v_l) . [x; bias].
//
// |W|^2 = lambda |w|^2 + sum_l |v_l|^2. With G_l = sum of h_i [x_i; b] [x_i; b]' over the
// block's rows, h_i the curvatures, the Hessian is an arrow:
//     H_ll = I + G_l,  H_l0 = G_l,  H_00 = lambda I + sum_l G_l.
// Eliminating the v_l leaves a matrix as large as one of its blocks:
//     S = lambda I + sum_l (I - (I + G_l)^-1)
//     S dw = -grad_0 + sum_l (grad_l - (I + G_l)^-1 grad_l)
//     dv_l = -(I + G_l)^-1 grad_l - dw + (I + G_l)^-1 dw
// Cost of a step O(n D^2 + k D^3), D = columns + 1; factors: k D^2 numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/cholesky.hpp"
#include "localsvm/dual_cd.hpp"
#include "localsvm/newton.hpp"
#include "localsvm/team.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

template <class Rows>
class BlockSystem {
  public:
    using T = typename Rows::value_type;

    // coupling = 1 / lambda; 0 is for one block without a global vector.
    BlockSystem(const BiasedRows<Rows>& rows, const Blocks& blocks, double coupling,
                const Targets& targets, Team& team)
        : rows_(rows),
          count_(blocks.count),
          width_(rows.width()),
          penalty_(coupling > 0 ? 1 / coupling : 0.0),
          team_(team),
          weights_(static_cast<std::size_t>((count_ + is_coupled()) * width_)),
          factors_(static_cast<std::size_t>(count_ * width_ * width_)) {
        collect(blocks, targets);
        const auto chunks = static_cast<std::size_t>(places_.n_chunks());
        sums_.resize(chunks * static_cast<std::size_t>(width_ * width_));
        pulls_.resize(chunks * static_cast<std::size_t>(width_));
        const auto workers = static_cast<std::size_t>(team.size());
        inverse_.resize(workers * static_cast<std::size_t>(width_ * width_));
        row_.resize(workers * static_cast<std::size_t>(width_));
    }

    const Places& places() const { return places_; }
    std::vector<double>& weights() { return weights_; }

    void decide(const std::vector<double>& W, std::vector<double>& f) const {
        each_block([&](std::int64_t b, std::int64_t, std::int64_t) {
            std::vector<double> own = block_vector(W, b);
            for (std::int64_t p = start_[b]; p < start_[b + 1]; ++p)
                f[p] = rows_.dot_wide(places_.row[p], own.data());
        });
    }
    void gather(const std::vector<double>& a, std::vector<double>& W) const {
        std::fill(W.begin(), W.end(), 0.0);
        each_block([&](std::int64_t b, std::int64_t, std::int64_t) {
            for (std::int64_t p = start_[b]; p < start_[b + 1]; ++p)
                if (a[p] != 0)
                    rows_.axpy_wide(places_.row[p], a[p], W.data() + b * width_);
        });
        if (!is_coupled()) return;
        for (std::int64_t b = 0; b < count_; ++b)
            for (std::int64_t j = 0; j < width_; ++j)
                W[global() + j] += W[b * width_ + j] / penalty_;
    }
    double product(const std::vector<double>& a, const std::vector<double>& b) const {
        double local = 0, shared = 0;
        for (std::int64_t j = 0; j < global(); ++j) local += a[j] * b[j];
        if (is_coupled())
            for (std::int64_t j = 0; j < width_; ++j)
                shared += a[global() + j] * b[global() + j];
        return local + penalty_ * shared;
    }
    // Exact, whatever is wanted.
    void direction(const std::vector<double>& gradient,
                   const std::vector<double>& curvature, double,
                   std::vector<double>& step) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(pulls_.begin(), pulls_.end(), 0.0);
        each_block([&](std::int64_t b, std::int64_t chunk, std::int64_t worker) {
            factorise_block(b, curvature, row_.data() + worker * width_);
            double* own = step.data() + b * width_;
            std::copy_n(gradient.data() + b * width_, width_, own);
            solve_factorised(factor(b), width_, own);
            if (!is_coupled()) return;
            double* sum = sums_.data() + chunk * width_ * width_;
            add_to_diagonal(1.0, width_, sum);
            subtract_inverse(factor(b), width_,
                             inverse_.data() + worker * width_ * width_, sum);
            for (std::int64_t j = 0; j < width_; ++j)
                pulls_[chunk * width_ + j] += gradient[b * width_ + j] - own[j];
        });
        if (is_coupled()) solve_global(gradient, step);
        each_block([&](std::int64_t b, std::int64_t, std::int64_t) {
            double* own = step.data() + b * width_;
            for (std::int64_t j = 0; j < width_; ++j) own[j] = -own[j];
            if (!is_coupled()) return;
            const double* shared = step.data() + global();
            std::vector<double> kept(shared, shared + width_);
            solve_factorised(factor(b), width_, kept.data());
            for (std::int64_t j = 0; j < width_; ++j) own[j] += kept[j] - shared[j];
        });
    }

  private:
    static constexpr std::int64_t most_chunks = 32;

    bool is_coupled() const { return penalty_ > 0; }
    std::int64_t global() const { return count_ * width_; }
    double* factor(std::int64_t b) { return factors_.data() + b * width_ * width_; }

    // Chunks are of whole blocks, with about the same rows each.
    void collect(const Blocks& blocks, const Targets& targets) {
        const std::int64_t n_rows = blocks.start[count_] - blocks.start[0];
        const std::int64_t share = n_rows / most_chunks + 1;
        start_.assign(1, 0);
        chunk_start_.assign(1, 0);
        for (std::int64_t b = 0; b < count_; ++b) {
            for (std::int64_t p = blocks.start[b]; p < blocks.start[b + 1]; ++p)
                if (const std::int64_t i = blocks.row_of[p]; targets.bound[i] > 0)
                    places_.add(i, targets);
                else
                    places_.idle.push_back(i);
            start_.push_back(static_cast<std::int64_t>(places_.row.size()));
            if (b + 1 < count_ && start_.back() - places_.start.back() < share)
                continue;
            places_.start.push_back(start_.back());
            chunk_start_.push_back(b + 1);
        }
    }
    // visit(block, chunk, worker)
    template <class Visit>
    void each_block(const Visit& visit) const {
        team_.each(places_.n_chunks(), [&](std::int64_t chunk, std::int64_t worker) {
            for (std::int64_t b = chunk_start_[chunk]; b < chunk_start_[chunk + 1]; ++b)
                visit(b, chunk, worker);
        });
    }
    // w + v_l
    std::vector<double> block_vector(const std::vector<double>& W,
                                     std::int64_t b) const {
        std::vector<double> own(W.begin() + b * width_, W.begin() + (b + 1) * width_);
        if (is_coupled())
            for (std::int64_t j = 0; j < width_; ++j) own[j] += W[global() + j];
        return own;
    }
    void factorise_block(std::int64_t b, const std::vector<double>& curvature, T* row) {
        double* gram = factor(b);
        std::fill(gram, gram + width_ * width_, 0.0);
        row[width_ - 1] = static_cast<T>(rows_.bias);
        for (std::int64_t p = start_[b]; p < start_[b + 1]; ++p) {
            if (curvature[p] == 0) continue;
            rows_.rows.copy(places_.row[p], row);
            add_outer(curvature[p], row, width_, gram);
        }
        add_to_diagonal(1.0, width_, gram);
        factorise(width_, gram);
    }
    void solve_global(const std::vector<double>& gradient, std::vector<double>& step) {
        double* matrix = sums_.data();
        double* shared = step.data() + global();
        // The gradient is that of |W|^2, of which the global part counts lambda times.
        for (std::int64_t j = 0; j < width_; ++j)
            shared[j] = -penalty_ * gradient[global() + j];
        for (std::int64_t c = 0; c < places_.n_chunks(); ++c) {
            const double* sum = sums_.data() + c * width_ * width_;
            for (std::int64_t j = 0; c > 0 && j < width_ * width_; ++j)
                matrix[j] += sum[j];
            for (std::int64_t j = 0; j < width_; ++j)
                shared[j] += pulls_[c * width_ + j];
        }
        add_to_diagonal(penalty_, width_, matrix);
        factorise(width_, matrix);
        solve_factorised(matrix, width_, shared);
    }

    BiasedRows<Rows> rows_;
    std::int64_t count_, width_;
    double penalty_;
    Team& team_;
    Places places_;
    std::vector<std::int64_t> start_;        // places of each block
    std::vector<std::int64_t> chunk_start_;  // blocks of each chunk
    std::vector<double> weights_;            // v_l, then w
    std::vector<double> factors_;            // of I + G_l
    std::vector<double> sums_, pulls_;  // terms of S and of its right side, by chunk
    std::vector<double> inverse_;       // by worker
    std::vector<T> row_;
};

}  // namespace localsvm
