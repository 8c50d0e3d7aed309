// The nearest of fixed rows, found exactly without a look at most of them.
//
// Each row has a sketch: its coordinates along a few directions, and how long the rest
// of it is. Distances of sketches are never larger than those of the rows, and cheap:
// they are taken in panels, a query with many rows at once. The rows themselves are
// compared where the sketch leaves a doubt, in double, by sums of squared differences.
// The result does not depend on the sketch, nor on the queries beside.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

// The map of rows to sketches: (x - middle) along the rows of `directions`, which are
// orthonormal, and the length of what is left; without any, x - middle itself.
class RowSketch {
  public:
    RowSketch(std::vector<double> middle, std::vector<double> directions)
        : middle_(std::move(middle)), directions_(std::move(directions)) {}

    std::int64_t n_cols() const { return static_cast<std::int64_t>(middle_.size()); }
    std::int64_t n_directions() const {
        return middle_.empty()
                   ? 0
                   : static_cast<std::int64_t>(directions_.size()) / n_cols();
    }
    std::int64_t width() const {
        return directions_.empty() ? n_cols() : n_directions() + 1;
    }
    // Sketch of a row, and its length.
    template <class T>
    double draw(const T* row, double* moved, double* sketch) const {
        double squares = 0;
        for (std::int64_t j = 0; j < n_cols(); ++j) {
            moved[j] =
                static_cast<double>(row[j]) - middle_[static_cast<std::size_t>(j)];
            squares += moved[j] * moved[j];
        }
        if (directions_.empty()) {
            std::copy_n(moved, n_cols(), sketch);
            return std::sqrt(squares);
        }
        const auto length = static_cast<std::size_t>(n_cols());
        double rest = squares;
        for (std::int64_t s = 0; s < n_directions(); ++s) {
            sketch[s] = vector_loops<double>().dot(
                moved, directions_.data() + s * n_cols(), length);
            rest -= sketch[s] * sketch[s];
        }
        sketch[n_directions()] = std::sqrt(std::max(0.0, rest));
        return std::sqrt(squares);
    }

  private:
    std::vector<double> middle_, directions_;
};

template <class T>
class NearestRows {
  public:
    NearestRows(const DenseRows<T>& rows, RowSketch sketch)
        : rows_(rows), sketch_(std::move(sketch)) {
        const std::int64_t n = rows_.n_rows(), width = sketch_.width();
        std::vector<double> moved(static_cast<std::size_t>(rows_.n_cols()));
        std::vector<double> sketches(static_cast<std::size_t>(n * width));
        for (std::int64_t i = 0; i < n; ++i)
            unit_ = std::max(unit_, sketch_.draw(rows_.row(i), moved.data(),
                                                 sketches.data() + i * width));
        if (!(unit_ > 0)) unit_ = 1;
        // What the last panel has too much is farther than all rows.
        panels_.assign(static_cast<std::size_t>(n_panels() * panel * width),
                       std::numeric_limits<float>::infinity());
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t s = 0; s < width; ++s)
                panels_[static_cast<std::size_t>((i / panel * width + s) * panel +
                                                 i % panel)] =
                    static_cast<float>(
                        sketches[static_cast<std::size_t>(i * width + s)] / unit_);
    }

    std::int64_t n_cols() const { return rows_.n_cols(); }
    std::int64_t n_rows() const { return rows_.n_rows(); }

    // The nearest row of each query in [first, last), the first one at a tie.
    void find(const DenseRows<T>& queries, std::int64_t first, std::int64_t last,
              std::int32_t* nearest) const {
        Search search(*this, std::min(at_once, last - first));
        for (std::int64_t i = first; i < last; i += at_once)
            search.find(queries, i, std::min(last, i + at_once), nearest + i);
    }

    // Queries of one thread, with the work space for so many at once.
    class Search {
      public:
        explicit Search(const NearestRows& index, std::int64_t most = 1)
            : index_(index),
              most_(most),
              moved_(static_cast<std::size_t>(index.n_cols())),
              wide_(static_cast<std::size_t>(index.sketch_.width())),
              sketches_(static_cast<std::size_t>(most * index.sketch_.width())),
              bounds_(static_cast<std::size_t>(most * index.n_panels() * panel)),
              norms_(static_cast<std::size_t>(most)) {
            for (std::int64_t q = 0; q < most; ++q)
                sketch_of_.push_back(sketches_.data() + q * index.sketch_.width());
        }

        std::int64_t find(const T* query) {
            std::int32_t nearest;
            find(DenseRows<T>(query, 1, index_.n_cols()), 0, 1, &nearest);
            return nearest;
        }
        // The queries in [first, last).
        void find(const DenseRows<T>& queries, std::int64_t first, std::int64_t last,
                  std::int32_t* nearest) {
            const std::int64_t count = last - first;
            for (std::int64_t q = 0; q < count; ++q)
                norms_[static_cast<std::size_t>(q)] = draw(queries.row(first + q), q);
            for (std::int64_t p = 0; p < index_.n_panels(); ++p)
                vector_loops<float>().panel_squared_distances(
                    sketch_of_.data(), static_cast<std::size_t>(count),
                    index_.panels_.data() + p * panel * index_.sketch_.width(),
                    static_cast<std::size_t>(index_.sketch_.width()),
                    bounds_.data() + p * most_ * panel);
            for (std::int64_t q = 0; q < count; ++q)
                nearest[q] = static_cast<std::int32_t>(decide(
                    queries.row(first + q), q, norms_[static_cast<std::size_t>(q)]));
        }

      private:
        // Length of the query in units of the longest row.
        double draw(const T* row, std::int64_t q) {
            const double norm =
                index_.sketch_.draw(row, moved_.data(), wide_.data()) / index_.unit_;
            for (std::size_t s = 0; s < wide_.size(); ++s)
                sketches_[static_cast<std::size_t>(q) * wide_.size() + s] =
                    static_cast<float>(wide_[s] / index_.unit_);
            return norm;
        }
        const float* bounds(std::int64_t p, std::int64_t q) const {
            return bounds_.data() + (p * most_ + q) * panel;
        }
        std::int64_t decide(const T* row, std::int64_t q, double norm) {
            // Float does not hold the sketch of a row that is so far from all others.
            const bool is_far = !(norm < 1e6);
            std::int64_t best = is_far ? 0 : nearest_sketch(q);
            double closest =
                index_.distance(row, best, std::numeric_limits<double>::infinity());
            double bound = index_.sketch_bound(closest, norm);
            for (std::int64_t p = 0; p < index_.n_panels(); ++p) {
                const float* own = bounds(p, q);
                if (!is_far && lowest(own) > bound) continue;
                const std::int64_t end = std::min(index_.n_rows() - p * panel, panel);
                for (std::int64_t r = 0; r < end; ++r) {
                    if (!is_far && static_cast<double>(own[r]) > bound) continue;
                    const std::int64_t i = p * panel + r;
                    const double found = index_.distance(row, i, closest);
                    if (found > closest || (found == closest && i >= best)) continue;
                    best = i;
                    closest = found;
                    bound = index_.sketch_bound(closest, norm);
                }
            }
            return best;
        }
        std::int64_t nearest_sketch(std::int64_t q) const {
            std::int64_t place = 0;
            float least = std::numeric_limits<float>::infinity();
            for (std::int64_t p = 0; p < index_.n_panels(); ++p) {
                const float own = lowest(bounds(p, q));
                if (own < least) {
                    least = own;
                    place = p;
                }
            }
            const float* own = bounds(place, q);
            return place * panel + (std::min_element(own, own + panel) - own);
        }
        // Smallest of a panel; several at a time.
        static float lowest(const float* values) {
            std::array<float, 8> low;
            std::copy_n(values, low.size(), low.begin());
            for (std::int64_t r = 8; r < panel; r += 8)
                for (std::size_t l = 0; l < 8; ++l)
                    low[l] = values[r + static_cast<std::int64_t>(l)] < low[l]
                                 ? values[r + static_cast<std::int64_t>(l)]
                                 : low[l];
            return *std::min_element(low.begin(), low.end());
        }

        const NearestRows& index_;
        std::int64_t most_;
        std::vector<double> moved_, wide_;
        std::vector<float> sketches_;
        std::vector<const float*> sketch_of_;
        AlignedVector<float> bounds_;
        std::vector<double> norms_;
    };

  private:
    static constexpr std::int64_t panel = static_cast<std::int64_t>(panel_width<float>);
    static constexpr std::int64_t at_once = 16;

    std::int64_t n_panels() const { return (n_rows() + panel - 1) / panel; }

    // Largest squared distance of sketches, as computed, of rows at that distance: what
    // float rounds of sketches and of sums is allowed for.
    double sketch_bound(double squared, double norm) const {
        const double slack = 1e-6 * (1 + norm);
        const double far = (std::sqrt(squared) / unit_ + slack) * (1 + 1e-4);
        return far * far;
    }
    // Squared distance of a query to row i, or more than `enough` if it is more.
    double distance(const T* query, std::int64_t i, double enough) const {
        constexpr std::int64_t lanes = 8, block = 64;
        const T* row = rows_.row(i);
        std::array<double, lanes> sums{};
        double total = 0;
        std::int64_t j = 0;
        for (; j + lanes <= n_cols(); j += lanes) {
            for (std::int64_t l = 0; l < lanes; ++l) {
                const double step =
                    static_cast<double>(query[j + l]) - static_cast<double>(row[j + l]);
                sums[static_cast<std::size_t>(l)] += step * step;
            }
            if ((j + lanes) % block == 0 && sum_of(sums) > enough) return sum_of(sums);
        }
        for (; j < n_cols(); ++j) {
            const double step =
                static_cast<double>(query[j]) - static_cast<double>(row[j]);
            total += step * step;
        }
        return sum_of(sums) + total;
    }
    template <std::size_t N>
    static double sum_of(const std::array<double, N>& sums) {
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
               ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    }

    DenseRows<T> rows_;
    RowSketch sketch_;
    double unit_ = 0;
    AlignedVector<float> panels_;
};

}  // namespace localsvm
