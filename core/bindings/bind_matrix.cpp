#include <cstdint>

#include "arrays.hpp"

namespace localsvm {
namespace {

template <class T>
void bind_dense(nb::module_& module, const char* name) {
    nb::class_<DenseHandle<T>>(module, name,
                               "Rows of a C-contiguous array, not copied.")
        .def(nb::init<Matrix<const T>>(), nb::arg("values").noconvert());
}

template <class T, class Index>
void bind_csr(nb::module_& module, const char* name) {
    nb::class_<CsrHandle<T, Index>>(module, name,
                                    "Rows of a canonical CSR array, not copied.")
        .def(nb::init<Vector<const T>, Vector<const Index>, Vector<const Index>,
                      std::int64_t>(),
             nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("indptr").noconvert(), nb::arg("n_cols"));
}

template <class Handle>
void hash_rows(const Handle& matrix, std::uint64_t seed, Vector<std::uint64_t> out) {
    const auto rows = matrix.rows();
    require(static_cast<std::int64_t>(out.shape(0)) == rows.n_rows(),
            "out needs one entry per row");
    for (std::int64_t i = 0; i < rows.n_rows(); ++i) out.data()[i] = rows.hash(i, seed);
}

}  // namespace

void bind_matrix(nb::module_& module) {
    bind_dense<float>(module, "DenseFloat32");
    bind_dense<double>(module, "DenseFloat64");
    bind_csr<float, std::int32_t>(module, "CsrFloat32Int32");
    bind_csr<double, std::int32_t>(module, "CsrFloat64Int32");
    bind_csr<float, std::int64_t>(module, "CsrFloat32Int64");
    bind_csr<double, std::int64_t>(module, "CsrFloat64Int64");

    for_each_storage([&]<class Handle>() {
        module.def("hash_rows", &hash_rows<Handle>, nb::arg("matrix"), nb::arg("seed"),
                   nb::arg("out").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
                   "Hash each row by its non-zero entries: equal rows, equal hashes.");
    });
}

}  // namespace localsvm
