#include <algorithm>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "copied.hpp"
#include "localsvm/row_preparation.hpp"

namespace localsvm {
namespace {

NumberLists lists_of(Vector<const std::int64_t> start, Vector<const double> values) {
    NumberLists lists{copied(start), copied(values)};
    require(!lists.start.empty() &&
                are_starts(lists.start, lists.start.size() - 1, lists.values.size()),
            "lists do not fit together");
    return lists;
}

ColumnMaps maps_of(Vector<const std::int64_t> columns, const NumberLists& knots,
                   Vector<const double> scores) {
    const auto& start = knots.start;
    require(start.size() == columns.shape(0) + 1 &&
                scores.shape(0) == knots.values.size() &&
                std::adjacent_find(start.begin(), start.end()) == start.end(),
            "each column needs knots, and each knot a score");
    return {copied(columns), knots, copied(scores)};
}

ColumnCodes codes_of(Vector<const std::int64_t> numbers, Vector<const double> medians,
                     Vector<const std::int64_t> flagged,
                     Vector<const std::int64_t> categories, const NumberLists& levels,
                     Vector<const std::uint8_t> has_missing) {
    require(medians.shape(0) == numbers.shape(0) &&
                levels.start.size() == categories.shape(0) + 1 &&
                has_missing.shape(0) == categories.shape(0),
            "codes of columns do not fit together");
    return {copied(numbers), copied(flagged), copied(categories),
            copied(medians), levels,          copied(has_missing)};
}

bool are_below(const std::vector<std::int64_t>& columns, std::int64_t n_cols) {
    return std::all_of(columns.begin(), columns.end(), [n_cols](std::int64_t each) {
        return each >= 0 && each < n_cols;
    });
}

template <class T>
void map_columns(const ColumnMaps& maps, Matrix<const T> rows, Matrix<T> out) {
    const auto n_cols = static_cast<std::int64_t>(rows.shape(1));
    require(rows.shape(0) == out.shape(0) && rows.shape(1) == out.shape(1) &&
                are_below(maps.columns, n_cols),
            "maps name columns that are not there");
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(rows.shape(0)); ++i)
        maps.apply(rows.data() + i * n_cols, out.data() + i * n_cols);
}

void bind_columns(nb::module_& module) {
    nb::class_<NumberLists>(module, "NumberLists", "Lists of numbers end to end.")
        .def(
            "__init__",
            [](NumberLists* self, Vector<const std::int64_t> start,
               Vector<const double> values) {
                new (self) NumberLists(lists_of(start, values));
            },
            nb::arg("start").noconvert(), nb::arg("values").noconvert());
    nb::class_<ColumnMaps>(module, "ColumnMaps", "Columns mapped between knots.")
        .def(
            "__init__",
            [](ColumnMaps* self, Vector<const std::int64_t> columns,
               const NumberLists& knots, Vector<const double> scores) {
                new (self) ColumnMaps(maps_of(columns, knots, scores));
            },
            nb::kw_only(), nb::arg("columns").noconvert(), nb::arg("knots"),
            nb::arg("scores").noconvert())
        .def("apply", &map_columns<float>, nb::arg("rows").noconvert(),
             nb::arg("out").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
             "Map the columns; the others of out are left as they are.")
        .def("apply", &map_columns<double>, nb::arg("rows").noconvert(),
             nb::arg("out").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
             "Map the columns; the others of out are left as they are.");
    nb::class_<ColumnCodes>(module, "ColumnCodes", "Columns as finite numbers.")
        .def(
            "__init__",
            [](ColumnCodes* self, Vector<const std::int64_t> numbers,
               Vector<const double> medians, Vector<const std::int64_t> flagged,
               Vector<const std::int64_t> categories, const NumberLists& levels,
               Vector<const std::uint8_t> has_missing) {
                new (self) ColumnCodes(codes_of(numbers, medians, flagged, categories,
                                                levels, has_missing));
            },
            nb::kw_only(), nb::arg("numbers").noconvert(),
            nb::arg("medians").noconvert(), nb::arg("flagged").noconvert(),
            nb::arg("categories").noconvert(), nb::arg("levels"),
            nb::arg("has_missing").noconvert());
}

// A preparation from its parts; what is null is left out.
template <class T>
RowPreparation<T> preparation_of(std::int64_t n_cols, const ColumnCodes* codes,
                                 const ColumnMaps* maps, bool unit_rows,
                                 Matrix<const T> components, Vector<const T> offset,
                                 bool is_diagonal) {
    RowPreparation<T> made;
    made.n_cols = n_cols;
    made.has_codes = codes != nullptr;
    if (codes != nullptr) {
        made.codes = *codes;
        require(are_below(codes->numbers, n_cols) &&
                    are_below(codes->flagged, n_cols) &&
                    are_below(codes->categories, n_cols),
                "codes name columns that are not there");
    }
    if (maps != nullptr) {
        made.maps = *maps;
        require(are_below(maps->columns, made.n_coded()),
                "maps name columns that are not there");
    }
    made.unit_rows = unit_rows;
    const auto n_out = static_cast<std::int64_t>(offset.shape(0));
    require(static_cast<std::int64_t>(components.shape(1)) == made.n_coded() &&
                static_cast<std::int64_t>(components.shape(0)) ==
                    (is_diagonal ? 1 : n_out) &&
                (!is_diagonal || n_out == made.n_coded()),
            "components and offset do not fit to the columns");
    made.linear =
        LinearMap<T>{made.n_coded(), is_diagonal, copied(components), copied(offset)};
    return made;
}

template <class T>
void bind_way(nb::module_& module, const char* name) {
    nb::class_<RowPreparation<T>>(module, name, "The way to prepared rows.")
        .def(
            "__init__",
            [](RowPreparation<T>* self, std::int64_t n_cols, const ColumnCodes* codes,
               const ColumnMaps* maps, bool unit_rows, Matrix<const T> components,
               Vector<const T> offset, bool is_diagonal) {
                new (self) RowPreparation<T>(preparation_of<T>(
                    n_cols, codes, maps, unit_rows, components, offset, is_diagonal));
            },
            nb::kw_only(), nb::arg("n_cols"), nb::arg("codes").none(),
            nb::arg("maps").none(), nb::arg("unit_rows"),
            nb::arg("components").noconvert(), nb::arg("offset").noconvert(),
            nb::arg("is_diagonal"));
}

}  // namespace

void bind_preparation(nb::module_& module) {
    bind_columns(module);
    bind_way<float>(module, "RowPreparationFloat32");
    bind_way<double>(module, "RowPreparationFloat64");
}

}  // namespace localsvm
