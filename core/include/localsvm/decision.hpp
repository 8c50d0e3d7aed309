// Decision values of a piecewise linear model, and the search that chooses its pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "localsvm/weights.hpp"

namespace localsvm {

// coef: n_nodes x n_outputs x n_cols, intercept: n_nodes x n_outputs.
template <class T>
struct PiecewiseLinear {
    const T* coef;
    const T* intercept;
    std::int64_t n_outputs;
};

// out[i, p] = sum_s c_s(x_i) (coef[node_s(x_i), p] . x_i + intercept[node_s(x_i), p])
template <class Rows, class T = typename Rows::value_type>
void decide_rows(const Rows& rows, const Codes<T>& codes,
                 const PiecewiseLinear<T>& model, std::int64_t first, std::int64_t last,
                 T* out) {
    for (std::int64_t i = first; i < last; ++i) {
        for (std::int64_t p = 0; p < model.n_outputs; ++p) {
            double sum = 0;
            for (std::int64_t s = 0; s < codes.per_row; ++s) {
                const T c = codes.coefficients[i * codes.per_row + s];
                if (c == 0) continue;
                const std::int64_t piece =
                    codes.nodes[i * codes.per_row + s] * model.n_outputs + p;
                sum += static_cast<double>(c) *
                       (static_cast<double>(
                            rows.dot(i, model.coef + piece * rows.n_cols())) +
                        static_cast<double>(model.intercept[piece]));
            }
            out[i * model.n_outputs + p] = static_cast<T>(sum);
        }
    }
}

// The columns of the `count` smallest scores of each row, smallest first, and those
// scores. Ties go to the lower column.
template <class T>
void smallest_scores(const T* score, std::int64_t n_rows, std::int64_t n_cols,
                     std::int64_t count, std::int32_t* columns, T* smallest) {
    if (count == 0) return;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const T* row = score + i * n_cols;
        std::int32_t* kept = columns + i * count;
        const auto before = [row](std::int32_t a, std::int32_t b) {
            return row[a] < row[b] || (row[a] == row[b] && a < b);
        };
        // A heap of the smallest so far, the largest of them on top.
        std::iota(kept, kept + count, 0);
        std::make_heap(kept, kept + count, before);
        for (std::int64_t j = count; j < n_cols; ++j) {
            if (!(row[j] < row[kept[0]])) continue;
            std::pop_heap(kept, kept + count, before);
            kept[count - 1] = static_cast<std::int32_t>(j);
            std::push_heap(kept, kept + count, before);
        }
        std::sort_heap(kept, kept + count, before);
        for (std::int64_t s = 0; s < count; ++s) smallest[i * count + s] = row[kept[s]];
    }
}

}  // namespace localsvm
