#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "localsvm/nearest_rows.hpp"

namespace localsvm {
namespace {

// An index of rows, which it keeps alive.
template <class T>
struct NearestHandle {
    NearestHandle(const DenseHandle<T>& rows, Vector<const double> middle,
                  Matrix<const double> directions)
        : rows(rows), index(make(rows, middle, directions)) {}

    static NearestRows<T> make(const DenseHandle<T>& rows, Vector<const double> middle,
                               Matrix<const double> directions) {
        const auto n_cols = static_cast<std::size_t>(rows.rows().n_cols());
        require(middle.shape(0) == n_cols && directions.shape(1) == n_cols,
                "middle and directions need one entry per column");
        require(rows.rows().n_rows() > 0, "rows need at least one row");
        return NearestRows<T>(
            rows.rows(),
            RowSketch({middle.data(), middle.data() + middle.size()},
                      {directions.data(), directions.data() + directions.size()}));
    }
    void find(const DenseHandle<T>& queries, Vector<std::int32_t> nearest) const {
        require(
            queries.rows().n_cols() == index.n_cols() &&
                static_cast<std::int64_t>(nearest.shape(0)) == queries.rows().n_rows(),
            "queries and nearest do not fit to the rows");
        index.find(queries.rows(), 0, queries.rows().n_rows(), nearest.data());
    }

    DenseHandle<T> rows;
    NearestRows<T> index;
};

template <class T>
void bind_index(nb::module_& module, const char* name) {
    nb::class_<NearestHandle<T>>(module, name, "The nearest of rows, not copied.")
        .def(nb::init<const DenseHandle<T>&, Vector<const double>,
                      Matrix<const double>>(),
             nb::arg("rows"), nb::arg("middle").noconvert(),
             nb::arg("directions").noconvert())
        .def("find", &NearestHandle<T>::find, nb::arg("queries"),
             nb::arg("nearest").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
             "The nearest row of each query, the first one at a tie.");
}

}  // namespace

void bind_nearest(nb::module_& module) {
    bind_index<float>(module, "NearestRowsFloat32");
    bind_index<double>(module, "NearestRowsFloat64");
}

}  // namespace localsvm
