// Values of the Laplace kernel of many rows with many rows, dense ones.
//
// Absolute distances are no matrix product, so the rows are blocked by hand: panels of
// targets stand column by column, such that one instruction compares an entry of a query
// with that of many targets and no sum runs across lanes. A panel stays in the first
// cache while all queries pass by, a few of them at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "localsvm/aligned.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

template <class T>
class LaplaceBlock {
  public:
    LaplaceBlock(const DenseRows<T>& targets, double gamma)
        : targets_(targets),
          kernel_{KernelKind::laplace, gamma, 0, 1},
          panel_(static_cast<std::size_t>(targets.n_cols()) * width),
          found_(static_cast<std::size_t>(panel * queries_at_once)) {}

    // out[i, t] of shape queries x targets, in C order.
    void fill(const DenseRows<T>& queries, T* out) {
        for (std::int64_t first = 0; first < n_targets(); first += panel) {
            pack(first);
            fill_panel(queries, queries.n_rows(), first, out, false);
        }
    }
    // The matrix of the targets with themselves: what is above the diagonal is computed,
    // the rest is its mirror.
    void fill_symmetric(T* out) {
        for (std::int64_t first = 0; first < n_targets(); first += panel) {
            pack(first);
            fill_panel(targets_, std::min(first + panel, n_targets()), first, out,
                       true);
        }
    }

  private:
    static constexpr std::size_t width = panel_width<T>;
    static constexpr std::int64_t panel = static_cast<std::int64_t>(width);
    static constexpr std::int64_t queries_at_once = 64;

    std::int64_t n_targets() const { return targets_.n_rows(); }

    void pack(std::int64_t first) {
        const std::int64_t count = std::min(panel, n_targets() - first);
        for (std::int64_t r = 0; r < count; ++r)
            for (std::int64_t j = 0; j < targets_.n_cols(); ++j)
                panel_[static_cast<std::size_t>(j * panel + r)] =
                    targets_.row(first + r)[j];
    }
    // The first n queries with the panel of the targets from `first` on.
    void fill_panel(const DenseRows<T>& queries, std::int64_t n, std::int64_t first,
                    T* out, bool mirrored) {
        const std::int64_t used = std::min(panel, n_targets() - first);
        for (std::int64_t i = 0; i < n; i += queries_at_once) {
            const std::int64_t count = std::min(queries_at_once, n - i);
            targets_.loops().panel_distances(
                queries.row(i), static_cast<std::size_t>(count), panel_.data(),
                static_cast<std::size_t>(targets_.n_cols()), found_.data());
            kernel_.apply(found_.data(), count * panel);
            for (std::int64_t r = 0; r < count; ++r)
                std::copy_n(found_.data() + r * panel, used,
                            out + (i + r) * n_targets() + first);
            if (!mirrored) continue;
            for (std::int64_t t = 0; t < used; ++t)
                for (std::int64_t r = 0; r < count; ++r)
                    out[(first + t) * n_targets() + i + r] =
                        found_[static_cast<std::size_t>(r * panel + t)];
        }
    }

    DenseRows<T> targets_;
    Kernel kernel_;
    AlignedVector<T> panel_, found_;
};

}  // namespace localsvm
