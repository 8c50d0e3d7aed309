// Bins of columns: which bin a value is in, and sums over bins.
//
// Number     cuts are ascending edges; bin j holds the values above j of the edges. The
//            bin after the last one is that of missing values.
// Category   cuts are the levels, ascending, each with its bin. The last bin is that of
//            missing values, the one before it that of levels which are no cuts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace localsvm {

struct ColumnCuts {
    const std::uint8_t* is_category;  // by column
    const std::int32_t* n_bins;       // by column, missing values and so on among them
    const std::int64_t* start;        // by column and one more, into the following
    const double* cuts;
    const std::int32_t* cut_bin;  // bin of a level
    std::int64_t n_cols;

    std::int32_t bin(std::int64_t k, double value) const {
        if (std::isnan(value)) return n_bins[k] - 1;
        const double* first = cuts + start[k];
        const double* last = cuts + start[k + 1];
        const double* place = std::lower_bound(first, last, value);
        if (!is_category[k]) return static_cast<std::int32_t>(place - first);
        if (place == last || *place != value) return n_bins[k] - 2;
        return cut_bin[place - cuts];
    }
};

// Bins of rows, column after column.
template <class Code>
struct BinCodes {
    const Code* codes;
    std::int64_t n_rows, n_cols;

    const Code* column(std::int64_t k) const { return codes + k * n_rows; }
};

// codes[k, i] for the rows in [first, last).
template <class Rows, class Code>
void encode_rows(const Rows& rows, const ColumnCuts& cuts, std::int64_t first,
                 std::int64_t last, Code* codes) {
    for (std::int64_t k = 0; k < cuts.n_cols; ++k)
        for (std::int64_t i = first; i < last; ++i)
            codes[k * rows.n_rows() + i] =
                static_cast<Code>(cuts.bin(k, static_cast<double>(rows.row(i)[k])));
}

// table: outputs x bins of all columns; bias: outputs; out: rows x outputs. The sum
// goes from the bias over the columns in their order, here as below.
template <class Rows>
void decide_binned(const Rows& rows, const ColumnCuts& cuts, const double* table,
                   const double* bias, std::int64_t n_outputs, std::int64_t n_bins,
                   std::int64_t first, std::int64_t last, double* out) {
    for (std::int64_t i = first; i < last; ++i) {
        double* own = out + i * n_outputs;
        std::copy_n(bias, n_outputs, own);
        std::int64_t start = 0;
        for (std::int64_t k = 0; k < cuts.n_cols; ++k) {
            const std::int64_t bin =
                start + cuts.bin(k, static_cast<double>(rows.row(i)[k]));
            for (std::int64_t p = 0; p < n_outputs; ++p)
                own[p] += table[p * n_bins + bin];
            start += cuts.n_bins[k];
        }
    }
}

// out[i] += sum over the columns k of table[start(k) + codes[k, i]], for i in
// [first, last).
template <class Code, class Start>
void add_looked_up(const BinCodes<Code>& rows, const double* table, const Start& start,
                   std::int64_t first, std::int64_t last, double* out) {
    std::int64_t k = 0;
    // Four columns at a time: less to load and store, and the same order of the sum.
    for (; k + 4 <= rows.n_cols; k += 4) {
        const Code* code[4];
        const double* own[4];
        for (std::int64_t s = 0; s < 4; ++s) {
            code[s] = rows.column(k + s);
            own[s] = table + start(k + s);
        }
        for (std::int64_t i = first; i < last; ++i)
            out[i] = (((out[i] + own[0][code[0][i]]) + own[1][code[1][i]]) +
                      own[2][code[2][i]]) +
                     own[3][code[3][i]];
    }
    for (; k < rows.n_cols; ++k) {
        const Code* code = rows.column(k);
        const double* own = table + start(k);
        for (std::int64_t i = first; i < last; ++i) out[i] += own[code[i]];
    }
}

// Sum of v over the rows of each bin.
template <class Code>
std::vector<double> weigh_bins(const Code* codes, const double* v, std::int64_t n_rows,
                               std::int64_t n_bins) {
    // Four at a time: neighbouring rows are often in one bin, and adding to it twice
    // waits for the first sum.
    std::vector<double> sums(static_cast<std::size_t>(4 * n_bins));
    double* part[4];
    for (std::int64_t s = 0; s < 4; ++s) part[s] = sums.data() + s * n_bins;
    std::int64_t i = 0;
    for (; i + 4 <= n_rows; i += 4)
        for (std::int64_t s = 0; s < 4; ++s) part[s][codes[i + s]] += v[i + s];
    for (; i < n_rows; ++i) part[0][codes[i]] += v[i];
    for (std::int64_t j = 0; j < n_bins; ++j)
        part[0][j] = (part[0][j] + part[1][j]) + (part[2][j] + part[3][j]);
    sums.resize(static_cast<std::size_t>(n_bins));
    return sums;
}

}  // namespace localsvm
