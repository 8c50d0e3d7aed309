// The equations of Newton's method for coded rows, by conjugate gradients.
//
// z_i = c(x_i) (x) [x_i; b], H = I + sum_i h_i z_i z_i' with the curvatures h_i. The
// preconditioner is the part of H within single nodes, I + sum_i h_i c_r(x_i)^2 [x_i; b]
// [x_i; b]' for node r, by its Cholesky factor. Factors are kept until more than a tenth
// of the rows with curvature are others. Products with H are in the type of the data:
// they err by rounding in the direction of the step, not in the objective.
//
// Every product reads all rows, so they are copied once, sorted by leading node and with
// the constant column: neighbours use the same nodes, and memory is read in its order.
//
// Cost of a factorisation O(m n D^2 + k D^3), of a product O(m n D + k D^2) for rows of
// m non-zero codes and k nodes, D = columns + 1; factors: k D^2 numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/cholesky.hpp"
#include "localsvm/dual_cd.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/newton.hpp"
#include "localsvm/simd.hpp"
#include "localsvm/status.hpp"
#include "localsvm/team.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

// Rows of positive bound, sorted by leading node, in chunks; all tasks share them.
template <class T>
class SortedCodes {
  public:
    struct Code {
        std::int32_t node;
        T weight;
    };

    SortedCodes(const BiasedRows<DenseRows<T>>& rows, const Codes<T>& codes,
                const double* bound)
        : n_nodes(codes.n_nodes), width(rows.width()), stride(padded<T>(width)) {
        for (std::int64_t i = 0; i < rows.rows.n_rows(); ++i)
            (bound[i] > 0 ? row_of : idle).push_back(i);
        std::stable_sort(
            row_of.begin(), row_of.end(), [&](std::int64_t a, std::int64_t b) {
                return codes.nodes[a * codes.per_row] < codes.nodes[b * codes.per_row];
            });
        values_.resize(row_of.size() * static_cast<std::size_t>(stride));
        for (std::size_t p = 0; p < row_of.size(); ++p) {
            const std::int64_t i = row_of[p];
            T* copy = values_.data() + static_cast<std::int64_t>(p) * stride;
            rows.rows.copy(i, copy);
            copy[width - 1] = static_cast<T>(rows.bias);
            for (std::int64_t s = i * codes.per_row; s < (i + 1) * codes.per_row; ++s)
                if (codes.coefficients[s] != T(0))
                    codes_.push_back({codes.nodes[s], codes.coefficients[s]});
            start_.push_back(static_cast<std::int64_t>(codes_.size()));
        }
    }
    std::int64_t size() const { return static_cast<std::int64_t>(row_of.size()); }
    // [x; bias; 0 ...]
    const T* row(std::int64_t p) const { return values_.data() + p * stride; }
    std::span<const Code> codes(std::int64_t p) const {
        return {codes_.data() + start_[p],
                static_cast<std::size_t>(start_[p + 1] - start_[p])};
    }

    std::int64_t n_nodes, width, stride;
    std::vector<std::int64_t> row_of, idle;  // idle: rows without a bound

  private:
    AlignedVector<T> values_;
    std::vector<Code> codes_;  // without those that are zero
    std::vector<std::int64_t> start_{0};
};

template <class T>
class CodedSystem {
  public:
    CodedSystem(const SortedCodes<T>& rows, std::int64_t per_row,
                const Targets& targets, Team& team, const StopFlag& stop)
        : rows_(rows),
          n_nodes_(rows.n_nodes),
          width_(rows.width),
          stride_(rows.stride),
          team_(team),
          stop_(stop),
          weights_(static_cast<std::size_t>(n_nodes_ * width_)),
          direction_(static_cast<std::size_t>(n_nodes_ * stride_)),
          factors_(static_cast<std::size_t>(n_nodes_ * width_ * width_)) {
        cut_into_chunks(targets);
        list_nodes();
        const auto chunks = static_cast<std::size_t>(places_.n_chunks());
        wide_sums_.resize(chunks * weights_.size());
        sums_.resize(chunks * direction_.size());
        working_.resize(chunks);
        for (Working& each : working_) {
            each.from.resize(static_cast<std::size_t>(per_row));
            each.to.resize(each.from.size());
            each.counts.resize(each.from.size());
        }
        for (std::vector<double>* each : {&residual_, &scaled_, &search_, &image_})
            each->resize(weights_.size());
    }

    const Places& places() const { return places_; }
    std::vector<double>& weights() { return weights_; }

    void decide(const std::vector<double>& W, std::vector<double>& f) const {
        const auto& loops = vector_loops<T>();
        each_place([&](std::int64_t p, std::int64_t) {
            double sum = 0;
            for (const auto& [node, weight] : rows_.codes(p))
                sum += static_cast<double>(weight) *
                       loops.dot_wide(rows_.row(p), W.data() + node * width_,
                                      static_cast<std::size_t>(width_));
            f[p] = sum;
        });
    }
    void gather(const std::vector<double>& a, std::vector<double>& W) {
        const auto& loops = vector_loops<T>();
        std::fill(wide_sums_.begin(), wide_sums_.end(), 0.0);
        each_place([&](std::int64_t p, std::int64_t chunk) {
            if (a[p] == 0) return;
            double* sum = wide_sums_.data() + chunk * n_nodes_ * width_;
            for (const auto& [node, weight] : rows_.codes(p))
                loops.axpy_wide(a[p] * static_cast<double>(weight), rows_.row(p),
                                sum + node * width_, static_cast<std::size_t>(width_));
        });
        each_node([&](std::int64_t r) {
            for (std::int64_t j = r * width_; j < (r + 1) * width_; ++j) {
                W[j] = 0;
                for (std::int64_t c = 0; c < places_.n_chunks(); ++c)
                    W[j] += wide_sums_[c * n_nodes_ * width_ + j];
            }
        });
    }
    double product(const std::vector<double>& a, const std::vector<double>& b) const {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }
    // Preconditioned conjugate gradients from zero.
    void direction(const std::vector<double>& gradient,
                   const std::vector<double>& curvature, double wanted,
                   std::vector<double>& step) {
        prepare(curvature);
        std::fill(step.begin(), step.end(), 0.0);
        for (std::size_t j = 0; j < residual_.size(); ++j) residual_[j] = -gradient[j];
        precondition();
        search_ = scaled_;
        double size = product(residual_, scaled_);
        for (int k = 0; k < most_products && product(residual_, residual_) > wanted;
             ++k) {
            if (k > 0 && stop_.raised()) return;
            multiply(curvature);
            const double bend = product(search_, image_);
            if (!(bend > 0)) return;
            const double length = size / bend;
            for (std::size_t j = 0; j < step.size(); ++j) {
                step[j] += length * search_[j];
                residual_[j] -= length * image_[j];
            }
            precondition();
            const double next = product(residual_, scaled_);
            for (std::size_t j = 0; j < step.size(); ++j)
                search_[j] = scaled_[j] + next / size * search_[j];
            size = next;
        }
    }

  private:
    static constexpr std::int64_t most_chunks = 16, least_rows = 1024;
    static constexpr std::int64_t rows_per_node = 4;
    static constexpr double most_change = 0.1;
    static constexpr int most_products = 100;

    struct Member {
        std::int64_t place;
        T weight;
    };
    struct Working {  // of a chunk
        std::vector<const T*> from;
        std::vector<T*> to;
        std::vector<T> counts;
        std::vector<std::int64_t> active;
    };

    void cut_into_chunks(const Targets& targets) {
        const std::int64_t most = std::min(
            most_chunks, rows_.size() / std::max(least_rows, rows_per_node * n_nodes_));
        const std::int64_t share = rows_.size() / std::max<std::int64_t>(1, most) + 1;
        for (std::int64_t p = 0; p < rows_.size(); ++p) {
            if (p == places_.start.back() + share) places_.end_chunk();
            places_.add(rows_.row_of[p], targets);
        }
        places_.end_chunk();
        places_.idle = rows_.idle;
    }
    // The places of each node, and the nodes by how many these are.
    void list_nodes() {
        const auto n = static_cast<std::size_t>(n_nodes_);
        member_start_.assign(n + 1, 0);
        for (std::int64_t p = 0; p < rows_.size(); ++p)
            for (const auto& code : rows_.codes(p)) member_start_[code.node + 1] += 1;
        std::partial_sum(member_start_.begin(), member_start_.end(),
                         member_start_.begin());
        members_.resize(static_cast<std::size_t>(member_start_.back()));
        std::vector<std::int64_t> next(member_start_.begin(), member_start_.end() - 1);
        for (std::int64_t p = 0; p < rows_.size(); ++p)
            for (const auto& [node, weight] : rows_.codes(p))
                members_[next[node]++] = {p, weight};
        by_size_.resize(n);
        std::iota(by_size_.begin(), by_size_.end(), 0);
        const auto size = [&](std::int64_t r) {
            return member_start_[r + 1] - member_start_[r];
        };
        std::stable_sort(
            by_size_.begin(), by_size_.end(),
            [&](std::int64_t a, std::int64_t b) { return size(a) > size(b); });
    }
    // visit(place, chunk)
    template <class Visit>
    void each_place(const Visit& visit) const {
        team_.each(places_.n_chunks(), [&](std::int64_t chunk, std::int64_t) {
            for (std::int64_t p = places_.start[chunk]; p < places_.start[chunk + 1];
                 ++p)
                visit(p, chunk);
        });
    }
    // visit(node), the node with most places first
    template <class Visit>
    void each_node(const Visit& visit) const {
        team_.each(n_nodes_,
                   [&](std::int64_t index, std::int64_t) { visit(by_size_[index]); });
    }

    void prepare(const std::vector<double>& curvature) {
        std::int64_t n_active = 0, n_changed = 0;
        for (std::int64_t c = 0; c < places_.n_chunks(); ++c) {
            std::vector<std::int64_t>& active = working_[c].active;
            active.clear();
            for (std::int64_t p = places_.start[c]; p < places_.start[c + 1]; ++p) {
                if (curvature[p] > 0) active.push_back(p);
                if (!factored_.empty())
                    n_changed += (curvature[p] > 0) != (factored_[p] > 0);
            }
            n_active += static_cast<std::int64_t>(active.size());
        }
        const double most = most_change * static_cast<double>(n_active);
        if (!factored_.empty() && static_cast<double>(n_changed) <= most) return;
        factored_ = curvature;
        each_node([&](std::int64_t r) {
            double* gram = factors_.data() + r * width_ * width_;
            std::fill(gram, gram + width_ * width_, 0.0);
            for (std::int64_t s = member_start_[r]; s < member_start_[r + 1]; ++s) {
                const auto [p, weight] = members_[s];
                if (curvature[p] == 0) continue;
                const double share = static_cast<double>(weight);
                add_outer(curvature[p] * share * share, rows_.row(p), width_, gram);
            }
            add_to_diagonal(1.0, width_, gram);
            factorise(width_, gram);
        });
    }
    // scaled_ <- the preconditioner's inverse times residual_
    void precondition() {
        std::copy(residual_.begin(), residual_.end(), scaled_.begin());
        each_node([&](std::int64_t r) {
            solve_factorised(factors_.data() + r * width_ * width_, width_,
                             scaled_.data() + r * width_);
        });
    }
    // image_ <- H search_
    void multiply(const std::vector<double>& curvature) {
        const auto& loops = vector_loops<T>();
        for (std::int64_t r = 0; r < n_nodes_; ++r)
            for (std::int64_t j = 0; j < width_; ++j)
                direction_[r * stride_ + j] = static_cast<T>(search_[r * width_ + j]);
        team_.each(places_.n_chunks(), [&](std::int64_t chunk, std::int64_t) {
            Working& own = working_[chunk];
            T* sum = sums_.data() + chunk * n_nodes_ * stride_;
            std::fill(sum, sum + n_nodes_ * stride_, T(0));
            const auto n = static_cast<std::size_t>(whole_vectors<T>(width_));
            for (const std::int64_t p : own.active) {
                std::size_t n_met = 0;
                for (const auto& [node, weight] : rows_.codes(p)) {
                    own.from[n_met] = direction_.data() + node * stride_;
                    own.to[n_met] = sum + node * stride_;
                    own.counts[n_met++] = weight;
                }
                const T value = loops.dot_mix(rows_.row(p), own.from.data(),
                                              own.counts.data(), n_met, n);
                loops.axpy_mix(static_cast<T>(curvature[p]) * value, rows_.row(p),
                               own.to.data(), own.counts.data(), n_met, n);
            }
        });
        each_node([&](std::int64_t r) {
            for (std::int64_t j = 0; j < width_; ++j) {
                double sum = search_[r * width_ + j];
                for (std::int64_t c = 0; c < places_.n_chunks(); ++c)
                    sum += static_cast<double>(sums_[(c * n_nodes_ + r) * stride_ + j]);
                image_[r * width_ + j] = sum;
            }
        });
    }

    const SortedCodes<T>& rows_;
    std::int64_t n_nodes_, width_, stride_;
    Team& team_;
    const StopFlag& stop_;
    Places places_;
    std::vector<Member> members_;
    std::vector<std::int64_t> member_start_, by_size_;
    std::vector<double> weights_;
    std::vector<double> residual_, scaled_, search_, image_;
    AlignedVector<T> direction_;  // search_ in the type of the data
    AlignedVector<T> sums_;       // of each chunk
    std::vector<double> wide_sums_;
    std::vector<Working> working_;
    std::vector<double> factors_;
    std::vector<double> factored_;  // the curvatures that they are of
};

}  // namespace localsvm
