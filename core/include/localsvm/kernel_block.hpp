// Comparisons of many dense rows with many, and the kernel values made of them.
//
// Distances that do not suffer far from the origin are no matrix product, so the rows are
// blocked by hand: panels of targets stand column by column, such that one instruction
// compares an entry of a query with that of many targets and no sum runs across lanes. A
// panel stays in the cache while all queries pass by, a few of them at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

// Numbers of the pairs (query + r, target + t), r < n_queries, t < n_targets, at
// number[r * width + t].
template <class T>
struct Tile {
    static constexpr std::int64_t width = panel_width<T>;
    static constexpr std::int64_t height = 64;
    static constexpr std::size_t size = static_cast<std::size_t>(width * height);

    std::int64_t query, n_queries, target, n_targets;
    T* number;

    void apply(const Kernel& kernel) const { kernel.apply(number, n_queries * width); }
    // From and to a matrix whose rows are `stride` apart.
    void read(const T* matrix, std::int64_t stride) const {
        for (std::int64_t r = 0; r < n_queries; ++r)
            std::copy_n(matrix + (query + r) * stride + target, n_targets,
                        number + r * width);
    }
    void write(T* matrix, std::int64_t stride) const {
        for (std::int64_t r = 0; r < n_queries; ++r)
            std::copy_n(number + r * width, n_targets,
                        matrix + (query + r) * stride + target);
    }
    // Only pairs with query <= target, and their mirror.
    void write_both(T* matrix, std::int64_t stride) const {
        for (std::int64_t r = 0; r < n_queries; ++r) {
            const std::int64_t below =
                std::clamp<std::int64_t>(query + r - target, 0, n_targets);
            std::copy(number + r * width + below, number + r * width + n_targets,
                      matrix + (query + r) * stride + target + below);
        }
        for (std::int64_t t = 0; t < n_targets; ++t) {
            const std::int64_t above = std::min(n_queries, target + t - query);
            T* row = matrix + (target + t) * stride + query;
            for (std::int64_t r = 0; r < above; ++r) row[r] = number[r * width + t];
        }
    }
};

// Calls visit(tile) for tiles that hold every pair of n rows with query <= target; they
// are as wide as a panel, but for the shortest.
template <class T, class Visit>
void for_each_upper_tile(std::int64_t n, T* number, const Visit& visit) {
    constexpr std::int64_t width = Tile<T>::width, height = Tile<T>::height;
    std::int64_t target = 0;
    for (std::int64_t end = (n - 1) % width + 1; target < n; target = end, end += width)
        for (std::int64_t query = 0; query < end; query += height)
            visit(Tile<T>{query, std::min(height, end - query), target, end - target,
                          number});
}

template <class T>
class PanelComparison {
  public:
    PanelComparison(Comparison comparison, std::int64_t n_cols)
        : compare_(loop_of(comparison)), n_cols_(n_cols), number_(Tile<T>::size) {}

    // Visits tiles that hold all pairs.
    template <class Visit>
    void compare(const std::vector<const T*>& queries,
                 const std::vector<const T*>& targets, const Visit& visit) {
        const auto n = static_cast<std::int64_t>(queries.size());
        const auto n_targets = static_cast<std::int64_t>(targets.size());
        for (std::int64_t target = 0; target < n_targets; target += width) {
            const std::int64_t used = std::min(width, n_targets - target);
            pack(targets, target, used);
            for (std::int64_t query = 0; query < n; query += Tile<T>::height)
                fill(queries,
                     {query, std::min(Tile<T>::height, n - query), target, used,
                      number_.data()},
                     visit);
        }
    }
    // Visits the upper tiles of the rows with themselves.
    template <class Visit>
    void compare_upper(const std::vector<const T*>& rows, const Visit& visit) {
        for_each_upper_tile(static_cast<std::int64_t>(rows.size()), number_.data(),
                            [&](const Tile<T>& tile) {
                                if (tile.query == 0)
                                    pack(rows, tile.target, tile.n_targets);
                                fill(rows, tile, visit);
                            });
    }

  private:
    using Loop = void (*)(const T* const*, std::size_t, const T*, std::size_t, T*);
    static constexpr std::int64_t width = Tile<T>::width;

    static Loop loop_of(Comparison comparison) {
        const VectorLoops<T>& loops = vector_loops<T>();
        return comparison == Comparison::product ? loops.panel_dots
               : comparison == Comparison::squared_distance
                   ? loops.panel_squared_distances
                   : loops.panel_absolute_distances;
    }
    void pack(const std::vector<const T*>& targets, std::int64_t first,
              std::int64_t count) {
        panel_.resize(static_cast<std::size_t>(n_cols_ * width));
        for (std::int64_t t = 0; t < count; ++t) {
            const T* row = targets[static_cast<std::size_t>(first + t)];
            T* out = panel_.data() + t;
            for (std::int64_t j = 0; j < n_cols_; ++j) out[j * width] = row[j];
        }
    }
    template <class Visit>
    void fill(const std::vector<const T*>& queries, const Tile<T>& tile,
              const Visit& visit) {
        compare_(queries.data() + tile.query, static_cast<std::size_t>(tile.n_queries),
                 panel_.data(), static_cast<std::size_t>(n_cols_), tile.number);
        visit(tile);
    }

    Loop compare_;
    std::int64_t n_cols_;
    AlignedVector<T> panel_, number_;
};

// Kernel values of all queries with all targets; out is C-ordered.
template <class T>
void fill_kernel(const Kernel& kernel, std::int64_t n_cols,
                 const std::vector<const T*>& queries,
                 const std::vector<const T*>& targets, T* out) {
    const auto stride = static_cast<std::int64_t>(targets.size());
    PanelComparison<T>(kernel.comparison(), n_cols)
        .compare(queries, targets, [&](const Tile<T>& tile) {
            tile.apply(kernel);
            tile.write(out, stride);
        });
}

// The kernel matrix of the rows with themselves, symmetric to the last bit.
template <class T>
void fill_kernel_symmetric(const Kernel& kernel, std::int64_t n_cols,
                           const std::vector<const T*>& rows, T* out) {
    const auto stride = static_cast<std::int64_t>(rows.size());
    PanelComparison<T>(kernel.comparison(), n_cols)
        .compare_upper(rows, [&](const Tile<T>& tile) {
            tile.apply(kernel);
            tile.write_both(out, stride);
        });
}

}  // namespace localsvm
