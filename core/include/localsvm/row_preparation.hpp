// The user's columns to the rows that regions and cells are cut in, one row at a time:
// missing values filled, categories as columns of zeros and ones, columns mapped between
// knots or rows divided by their norm, then one linear map.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/simd.hpp"

namespace localsvm {

// Lists of numbers end to end: list k is values[start[k]] ... values[start[k + 1] - 1].
struct NumberLists {
    std::vector<std::int64_t> start{0};
    std::vector<double> values;

    std::int64_t count() const { return static_cast<std::int64_t>(start.size()) - 1; }
    const double* begin(std::int64_t k) const {
        return values.data() + start[static_cast<std::size_t>(k)];
    }
    const double* end(std::int64_t k) const { return begin(k + 1); }
};

// A function that is linear between knots and constant outside, as numpy.interp has it.
inline double interpolate(const double* knots, const double* scores, std::int64_t n,
                          double value) {
    if (!(value > knots[0])) return scores[0];
    if (!(value < knots[n - 1])) return scores[n - 1];
    const std::int64_t above = std::upper_bound(knots, knots + n, value) - knots;
    const std::int64_t below = above - 1;
    if (knots[below] == value) return scores[below];
    const double slope =
        (scores[above] - scores[below]) / (knots[above] - knots[below]);
    return slope * (value - knots[below]) + scores[below];
}

// Maps of some columns; the others stay as they are.
struct ColumnMaps {
    std::vector<std::int64_t> columns;
    NumberLists knots;
    std::vector<double> scores;  // as the knots

    template <class T>
    void apply(const T* row, T* out) const {
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const auto list = static_cast<std::int64_t>(k);
            const double* first = knots.begin(list);
            out[columns[k]] = static_cast<T>(interpolate(
                first, scores.data() + (first - knots.values.data()),
                knots.end(list) - first, static_cast<double>(row[columns[k]])));
        }
    }
};

// Numbers with missing values filled; a column of their own for missing values of some;
// for each category a column per level, one for a missing value if it has one, and one
// for all other levels.
struct ColumnCodes {
    std::vector<std::int64_t> numbers, flagged, categories;
    std::vector<double> medians;
    NumberLists levels;
    std::vector<std::uint8_t> has_missing;

    std::int64_t width() const {
        auto total = static_cast<std::int64_t>(numbers.size() + flagged.size());
        for (std::size_t k = 0; k < categories.size(); ++k)
            total += n_levels(k) + has_missing[k] + 1;
        return total;
    }
    template <class T>
    void apply(const T* row, T* out) const {
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const T value = row[numbers[k]];
            *out++ = std::isnan(value) ? static_cast<T>(medians[k]) : value;
        }
        for (const std::int64_t column : flagged)
            *out++ = std::isnan(row[column]) ? T(1) : T(0);
        for (std::size_t k = 0; k < categories.size(); ++k) {
            const T value = row[categories[k]];
            bool known = false;
            const double* first = levels.begin(static_cast<std::int64_t>(k));
            for (std::int64_t l = 0; l < n_levels(k); ++l) {
                const bool equal = value == static_cast<T>(first[l]);
                known = known || equal;
                *out++ = equal ? T(1) : T(0);
            }
            if (has_missing[k]) {
                const bool missing = std::isnan(value);
                known = known || missing;
                *out++ = missing ? T(1) : T(0);
            }
            *out++ = known ? T(0) : T(1);
        }
    }

  private:
    std::int64_t n_levels(std::size_t k) const {
        const auto list = static_cast<std::int64_t>(k);
        return levels.end(list) - levels.begin(list);
    }
};

// x -> components x + offset; without a matrix, the columns are multiplied one by one.
template <class T>
struct LinearMap {
    std::int64_t n_in = 0;
    bool is_diagonal = true;
    std::vector<T> components;  // n_in, or outputs x n_in
    std::vector<T> offset;

    std::int64_t n_out() const { return static_cast<std::int64_t>(offset.size()); }
    void apply(const T* row, T* out) const {
        for (std::size_t s = 0; s < offset.size(); ++s) {
            const T value =
                is_diagonal
                    ? row[s] * components[s]
                    : vector_loops<T>().dot(
                          row, components.data() + s * static_cast<std::size_t>(n_in),
                          static_cast<std::size_t>(n_in));
            out[s] = value + offset[s];
        }
    }
};

// All of it; what is not used is empty.
template <class T>
struct RowPreparation {
    std::int64_t n_cols = 0;
    bool has_codes = false;
    ColumnCodes codes;
    ColumnMaps maps;
    bool unit_rows = false;
    LinearMap<T> linear;

    std::int64_t n_coded() const { return has_codes ? codes.width() : n_cols; }

    // `work` holds n_coded() entries.
    void apply(const T* row, T* work, T* out) const {
        if (has_codes)
            codes.apply(row, work);
        else
            std::copy_n(row, n_cols, work);
        maps.apply(work, work);
        if (unit_rows) divide_by_norm(work);
        linear.apply(work, out);
    }

  private:
    void divide_by_norm(T* row) const {
        T squares = 0;
        for (std::int64_t j = 0; j < n_coded(); ++j) squares += row[j] * row[j];
        if (!(squares > 0)) return;
        const T norm = std::sqrt(squares);
        for (std::int64_t j = 0; j < n_coded(); ++j) row[j] /= norm;
    }
};

}  // namespace localsvm
