// The weight vectors of a clustered linear SVM, kept consistent with its duals.
//
// A row x uses one or more nodes (weight vectors) with coefficients c:
//     f(x) = sum_s c_s(x) W[node_s(x)] . [x; bias]
//     W[r] = sum_i alpha_i y_i c_r(x_i) [x_i; bias]
// so that the dual Hessian is Q_ij = y_i y_j <c(x_i), c(x_j)> <x_i, x_j>.
//
// BlockWeights: each row belongs to one region, and the regions share a global vector
//     [Gu 2013, Eq. 3-7]: c = (1 in its region, 1/sqrt(lambda) in the global node).
// CodedWeights: each row lists its nodes and coefficients freely. A node has one vector
//     or, if all classes are solved together, one per class. The vectors may be added
//     to given ones P, the prior: f(x) = sum_s c_s(x) (P + W)[node_s(x)] . [x; bias];
//     the penalty is that of W, and the dual loses the inner product of P and W.
//
// Both keep working copies in the type of the data and can rebuild every vector from
// the duals in double, which bounds the drift of a float32 run.
//
// [Gu 2013] Clustered support vector machines, AISTATS.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "localsvm/aligned.hpp"

namespace localsvm {

// [x; bias] . w and w += a [x; bias], for weights with one entry more than x.
template <class Rows>
struct BiasedRows {
    using T = typename Rows::value_type;

    const Rows& rows;
    double bias;

    std::int64_t width() const { return rows.n_cols() + 1; }
    double dot(std::int64_t i, const T* w) const {
        return static_cast<double>(rows.dot(i, w)) +
               bias * static_cast<double>(w[rows.n_cols()]);
    }
    double dot_wide(std::int64_t i, const double* w) const {
        return rows.dot_wide(i, w) + bias * w[rows.n_cols()];
    }
    void axpy(std::int64_t i, double a, T* w) const {
        rows.axpy(i, static_cast<T>(a), w);
        w[rows.n_cols()] += static_cast<T>(a * bias);
    }
    void axpy_wide(std::int64_t i, double a, double* w) const {
        rows.axpy_wide(i, a, w);
        w[rows.n_cols()] += a * bias;
    }
};

// Rows grouped by block: rows row_of[start[b]] ... row_of[start[b+1]-1] are in block b.
struct Blocks {
    const std::int64_t* start;
    const std::int64_t* row_of;
    std::int64_t count;
};

inline double squared_norm(const double* w, std::int64_t n) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += w[j] * w[j];
    return sum;
}

// coupling = 1 / lambda; 0 leaves the blocks independent.
// nodes: one vector per block (v_l), then, if coupled, the global one (w).
template <class Rows>
class BlockWeights {
  public:
    using T = typename Rows::value_type;

    BlockWeights(const BiasedRows<Rows>& rows, const Blocks& blocks, double coupling,
                 double* nodes)
        : rows_(rows),
          blocks_(blocks),
          coupling_(coupling),
          nodes_(nodes),
          local_(static_cast<std::size_t>(blocks.count * rows.width())),
          global_(static_cast<std::size_t>(rows.width())),
          current_(static_cast<std::size_t>(rows.width())) {}

    const Blocks& blocks() const { return blocks_; }
    double code_norm(std::int64_t) const { return 1.0 + coupling_; }

    // Inside block l only u = w + v_l changes: one dot and one axpy per step.
    void enter(std::int64_t block) {
        const T* v = local_.data() + block * rows_.width();
        for (std::size_t j = 0; j < current_.size(); ++j)
            current_[j] = global_[j] + v[j];
    }
    void prefetch(std::int64_t i) const { rows_.rows.prefetch(i); }
    double decide(std::int64_t i) const { return rows_.dot(i, current_.data()); }
    void update(std::int64_t i, double step) {
        rows_.axpy(i, (1.0 + coupling_) * step, current_.data());
    }
    void leave(std::int64_t block) {
        T* v = local_.data() + block * rows_.width();
        const T share = static_cast<T>(1.0 / (1.0 + coupling_));
        const T coupling = static_cast<T>(coupling_);
        for (std::size_t j = 0; j < current_.size(); ++j) {
            const T delta = (current_[j] - global_[j] - v[j]) * share;
            v[j] += delta;
            global_[j] += coupling * delta;
        }
    }

    // nodes <- the vectors that the signed duals define; then the working copies.
    template <class SignedDual>
    void rebuild(const SignedDual& signed_dual) {
        const std::int64_t width = rows_.width();
        std::fill(nodes_, nodes_ + blocks_.count * width, 0.0);
        for (std::int64_t b = 0; b < blocks_.count; ++b) {
            for (std::int64_t p = blocks_.start[b]; p < blocks_.start[b + 1]; ++p) {
                const double a = signed_dual(blocks_.row_of[p], 0);
                if (a != 0) rows_.axpy_wide(blocks_.row_of[p], a, nodes_ + b * width);
            }
        }
        if (coupled()) sum_global();
        load();
    }
    // The working copies <- nodes.
    void load() {
        std::copy(nodes_, nodes_ + blocks_.count * rows_.width(), local_.begin());
        if (coupled())
            std::copy(global_node(), global_node() + rows_.width(), global_.begin());
    }
    double decide_wide(std::int64_t i, std::int64_t block) const {
        const double local = rows_.dot_wide(i, nodes_ + block * rows_.width());
        return coupled() ? local + rows_.dot_wide(i, global_node()) : local;
    }
    double prior_product() const { return 0.0; }
    // lambda |w|^2 + sum_l |v_l|^2
    double squared_norm() const {
        const std::int64_t width = rows_.width();
        const double local = localsvm::squared_norm(nodes_, blocks_.count * width);
        if (!coupled()) return local;
        return local + localsvm::squared_norm(global_node(), width) / coupling_;
    }

  private:
    bool coupled() const { return coupling_ > 0; }
    double* global_node() const { return nodes_ + blocks_.count * rows_.width(); }

    // w = sum_l v_l / lambda
    void sum_global() {
        const std::int64_t width = rows_.width();
        std::fill(global_node(), global_node() + width, 0.0);
        for (std::int64_t b = 0; b < blocks_.count; ++b)
            for (std::int64_t j = 0; j < width; ++j)
                global_node()[j] += coupling_ * nodes_[b * width + j];
    }

    BiasedRows<Rows> rows_;
    Blocks blocks_;
    double coupling_;
    double* nodes_;
    AlignedVector<T> local_, global_, current_;
};

// Row i meets nodes[i * per_row + s] with coefficients[i * per_row + s].
template <class T>
struct Codes {
    const std::int32_t* nodes;
    const T* coefficients;
    std::int64_t per_row;
    std::int64_t n_nodes;
};

// nodes, n_nodes x n_classes vectors <- those that signed duals, n_classes x n_rows,
// define.
template <class Rows>
void weigh_coded(const BiasedRows<Rows>& rows,
                 const Codes<typename Rows::value_type>& codes,
                 const double* signed_duals, std::int64_t n_classes, double* nodes) {
    const std::int64_t n_rows = rows.rows.n_rows(), width = rows.width();
    std::fill(nodes, nodes + codes.n_nodes * n_classes * width, 0.0);
    for (std::int64_t i = 0; i < n_rows; ++i) {
        for (std::int64_t c = 0; c < n_classes; ++c) {
            const double a = signed_duals[c * n_rows + i];
            for (std::int64_t s = 0; a != 0 && s < codes.per_row; ++s) {
                const std::int64_t at = i * codes.per_row + s;
                const auto weight = static_cast<double>(codes.coefficients[at]);
                if (weight == 0) continue;
                rows.axpy_wide(i, a * weight,
                               nodes + (codes.nodes[at] * n_classes + c) * width);
            }
        }
    }
}

template <class Rows>
class CodedWeights {
  public:
    using T = typename Rows::value_type;

    // `blocks` lists the rows; nodes, prior unless null: n_nodes x n_classes vectors.
    CodedWeights(const BiasedRows<Rows>& rows, const Blocks& blocks,
                 const Codes<T>& codes, double* nodes, const double* prior,
                 std::int64_t n_classes = 1)
        : rows_(rows),
          blocks_(blocks),
          n_nodes_(codes.n_nodes),
          nodes_(nodes),
          prior_(prior),
          n_classes_(n_classes),
          stride_(padded<T>(rows.width())),
          working_(static_cast<std::size_t>(codes.n_nodes * n_classes * stride_)),
          row_(static_cast<std::size_t>(whole_vectors<T>(rows.width()))),
          start_(1, 0),
          met_(static_cast<std::size_t>(codes.per_row)),
          counts_(static_cast<std::size_t>(codes.per_row)) {
        row_[static_cast<std::size_t>(rows.rows.n_cols())] = static_cast<T>(rows.bias);
        // A code often ends with zeros; rows that are visited at random should be small.
        start_.reserve(static_cast<std::size_t>(rows.rows.n_rows() + 1));
        for (std::int64_t i = 0; i < rows.rows.n_rows(); ++i) {
            for (std::int64_t p = i * codes.per_row; p < (i + 1) * codes.per_row; ++p)
                if (codes.coefficients[p] != T(0))
                    shares_.push_back({codes.nodes[p], codes.coefficients[p]});
            start_.push_back(static_cast<std::int64_t>(shares_.size()));
        }
    }

    const Blocks& blocks() const { return blocks_; }
    double code_norm(std::int64_t i) const {
        double sum = 0;
        for (const Share& share : shares(i))
            sum +=
                static_cast<double>(share.weight) * static_cast<double>(share.weight);
        return sum;
    }

    void enter(std::int64_t) {}
    void leave(std::int64_t) {}
    void prefetch(std::int64_t i) const {
        rows_.rows.prefetch(i);
        __builtin_prefetch(shares_.data() + start_[static_cast<std::size_t>(i)]);
    }
    // Makes row i, and the vectors of class 0 in its nodes, those at hand.
    void load_row(std::int64_t i) {
        if constexpr (Rows::is_dense) rows_.rows.copy(i, row_.data());
        n_met_ = 0;
        for (const Share& share : shares(i)) {
            met_[n_met_] = working_.data() + vector_of(share, 0) * stride_;
            counts_[n_met_++] = share.weight;
        }
        class_ = 0;
    }
    void select_class(std::int64_t c) {
        const std::int64_t shift = (c - class_) * stride_;
        for (std::size_t s = 0; s < n_met_; ++s) met_[s] += shift;
        class_ = c;
    }
    double decide(std::int64_t i) {
        load_row(i);
        return decide_met(i);
    }
    // This and update follow a load_row(i).
    double decide_met([[maybe_unused]] std::int64_t i) const {
        const T* c = counts_.data();
        if constexpr (Rows::is_dense) {
            return static_cast<double>(rows_.rows.loops().dot_mix(
                row_.data(), met_.data(), c, n_met_, row_.size()));
        } else {
            double sum = 0;
            for (std::size_t s = 0; s < n_met_; ++s)
                sum += static_cast<double>(c[s]) * rows_.dot(i, met_[s]);
            return sum;
        }
    }
    void update([[maybe_unused]] std::int64_t i, double step) {
        const T* c = counts_.data();
        if constexpr (Rows::is_dense) {
            rows_.rows.loops().axpy_mix(static_cast<T>(step), row_.data(), met_.data(),
                                        c, n_met_, row_.size());
        } else {
            for (std::size_t s = 0; s < n_met_; ++s)
                rows_.axpy(i, static_cast<double>(c[s]) * step, met_[s]);
        }
    }

    // signed_dual(row, class)
    template <class SignedDual>
    void rebuild(const SignedDual& signed_dual) {
        const std::int64_t width = rows_.width();
        std::fill(nodes_, nodes_ + n_vectors() * width, 0.0);
        for (std::int64_t p = blocks_.start[0]; p < blocks_.start[blocks_.count]; ++p)
            for (std::int64_t c = 0; c < n_classes_; ++c)
                if (const double a = signed_dual(blocks_.row_of[p], c); a != 0)
                    add_wide(blocks_.row_of[p], c, a);
        load();
    }
    // The working copies <- nodes and prior.
    void load() {
        const std::int64_t width = rows_.width();
        for (std::int64_t v = 0; v < n_vectors(); ++v)
            for (std::int64_t j = 0; j < width; ++j)
                working_[static_cast<std::size_t>(v * stride_ + j)] =
                    static_cast<T>(nodes_[v * width + j] + prior(v * width + j));
    }
    double decide_wide(std::int64_t i, std::int64_t, std::int64_t c = 0) const {
        double sum = 0;
        for (const Share& share : shares(i)) {
            const auto weight = static_cast<double>(share.weight);
            const std::int64_t start = vector_of(share, c) * rows_.width();
            sum += weight * rows_.dot_wide(i, nodes_ + start);
            if (prior_) sum += weight * rows_.dot_wide(i, prior_ + start);
        }
        return sum;
    }
    double prior_product() const {
        double sum = 0;
        for (std::int64_t j = 0; j < n_vectors() * rows_.width(); ++j)
            sum += prior(j) * nodes_[j];
        return sum;
    }
    double squared_norm() const {
        return localsvm::squared_norm(nodes_, n_vectors() * rows_.width());
    }

  private:
    // What a node counts for a row; never zero.
    struct Share {
        std::int32_t node;
        T weight;
    };

    std::span<const Share> shares(std::int64_t i) const {
        const std::int64_t* start = start_.data() + i;
        return {shares_.data() + start[0],
                static_cast<std::size_t>(start[1] - start[0])};
    }
    double prior(std::int64_t j) const { return prior_ ? prior_[j] : 0.0; }
    std::int64_t n_vectors() const { return n_nodes_ * n_classes_; }
    std::int64_t vector_of(const Share& share, std::int64_t c) const {
        return share.node * n_classes_ + c;
    }
    void add_wide(std::int64_t i, std::int64_t c, double a) {
        for (const Share& share : shares(i))
            rows_.axpy_wide(i, a * static_cast<double>(share.weight),
                            nodes_ + vector_of(share, c) * rows_.width());
    }

    BiasedRows<Rows> rows_;
    Blocks blocks_;
    std::int64_t n_nodes_;
    double* nodes_;
    const double* prior_;
    std::int64_t n_classes_;
    std::int64_t stride_;
    AlignedVector<T> working_;
    AlignedVector<T> row_;             // [x; bias; 0 ...] of the row at hand
    std::vector<Share> shares_;        // of each row from its start on
    std::vector<std::int64_t> start_;  // n_rows + 1
    std::vector<T*> met_;              // the vectors of class_ in its nodes,
    std::vector<T> counts_;            // and what each counts
    std::size_t n_met_ = 0;
    std::int64_t class_ = 0;
};

}  // namespace localsvm
