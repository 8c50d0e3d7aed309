// Codes for the tests: which nodes a row mixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/weights.hpp"
#include "problem.hpp"

namespace localsvm::testing {

// Codes that own their memory: per_row nodes and coefficients for each row.
template <class T>
struct CodeStore {
    std::vector<std::int32_t> nodes;
    std::vector<T> coefficients;
    std::int64_t per_row, n_nodes;

    Codes<T> view() const {
        return {nodes.data(), coefficients.data(), per_row, n_nodes};
    }
    void add(std::int64_t node, double coefficient) {
        nodes.push_back(static_cast<std::int32_t>(node));
        coefficients.push_back(static_cast<T>(coefficient));
    }
    // Codes of the rows first ... last - 1.
    CodeStore part(std::int64_t first, std::int64_t last) const {
        return {{nodes.begin() + first * per_row, nodes.begin() + last * per_row},
                {coefficients.begin() + first * per_row,
                 coefficients.begin() + last * per_row},
                per_row,
                n_nodes};
    }
    Table table() const {
        const auto n_rows = static_cast<std::int64_t>(nodes.size()) / per_row;
        Table result(n_rows, n_nodes);
        for (std::size_t p = 0; p < nodes.size(); ++p)
            result.row(static_cast<std::int64_t>(p) / per_row)[nodes[p]] +=
                static_cast<double>(coefficients[p]);
        return result;
    }
};

// Three different nodes per row; the third may have no weight.
template <class T>
CodeStore<T> random_codes(std::int64_t n_rows, std::int64_t n_nodes, Numbers& numbers) {
    CodeStore<T> codes{{}, {}, 3, n_nodes};
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const std::int64_t first = numbers.below(n_nodes);
        codes.add(first, numbers.next());
        codes.add((first + 1) % n_nodes, numbers.next());
        codes.add((first + 2) % n_nodes, numbers.chance(50) ? 0.0 : numbers.next());
    }
    return codes;
}

}  // namespace localsvm::testing
