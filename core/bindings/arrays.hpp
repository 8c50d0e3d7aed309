// Array types of the bindings, and the matrix handles that keep NumPy memory alive.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "localsvm/matrix.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"

namespace nb = nanobind;

namespace localsvm {

template <class T>
using Vector = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Cube = nb::ndarray<T, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// An array of a bound record, which the array keeps alive.
template <class T>
using VectorView = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using MatrixView = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Binds a vector of a record as a read-only attribute.
template <class Record, class T>
void bind_array(nb::class_<Record>& record, const char* name,
                std::vector<T> Record::* member) {
    record.def_prop_ro(
        name,
        [member](Record& self) {
            return VectorView<T>((self.*member).data(), {(self.*member).size()});
        },
        nb::rv_policy::reference_internal);
}

template <class T>
struct DenseHandle {
    using Rows = DenseRows<T>;

    explicit DenseHandle(Matrix<const T> values) : values(values) {}
    Rows rows() const {
        return Rows(values.data(), static_cast<std::int64_t>(values.shape(0)),
                    static_cast<std::int64_t>(values.shape(1)));
    }

    Matrix<const T> values;
};

template <class T, class Index>
struct CsrHandle {
    using Rows = CsrRows<T, Index>;

    CsrHandle(Vector<const T> data, Vector<const Index> indices,
              Vector<const Index> indptr, std::int64_t n_cols)
        : data(data), indices(indices), indptr(indptr), n_cols(n_cols) {
        const Index* start = indptr.data();
        const Index* end = start + indptr.shape(0);
        if (start == end || indices.shape(0) != data.shape(0) || *start < 0 ||
            !std::is_sorted(start, end) ||
            static_cast<std::size_t>(end[-1]) > data.shape(0))
            throw std::invalid_argument("CSR arrays do not fit together");
    }
    Rows rows() const {
        return Rows(data.data(), indices.data(), indptr.data(),
                    static_cast<std::int64_t>(indptr.shape(0)) - 1, n_cols);
    }

    Vector<const T> data;
    Vector<const Index> indices, indptr;
    std::int64_t n_cols;
};

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Lets the calling thread notice Ctrl-C, or `cancelled` returning true, while workers
// run.
inline Watch python_watch(double max_seconds, const nb::object& cancelled) {
    return Watch{[&cancelled] {
                     const nb::gil_scoped_acquire gil;
                     if (PyErr_CheckSignals() != 0) return true;
                     return !cancelled.is_none() && nb::cast<bool>(cancelled());
                 },
                 max_seconds};
}

// Calls solve(watch, stop) without the GIL. A signal seen meanwhile is raised as its
// Python exception.
template <class Solve>
auto run_released(double max_seconds, const nb::object& cancelled, const Solve& solve) {
    StopFlag stop;
    auto result = [&] {
        const nb::gil_scoped_release release;
        return solve(python_watch(max_seconds, cancelled), stop);
    }();
    if (stop.reason() == StopReason::interrupted) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_InterruptedError, "cancelled");
        throw nb::python_error();
    }
    return result;
}

// Calls f<Handle>() for each storage that the core is compiled for.
template <class F>
void for_each_storage(F&& f) {
    f.template operator()<DenseHandle<float>>();
    f.template operator()<DenseHandle<double>>();
    f.template operator()<CsrHandle<float, std::int32_t>>();
    f.template operator()<CsrHandle<double, std::int32_t>>();
    f.template operator()<CsrHandle<float, std::int64_t>>();
    f.template operator()<CsrHandle<double, std::int64_t>>();
}

void bind_matrix(nb::module_& module);
void bind_dual_cd(nb::module_& module);
void bind_decision(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_neighborhoods(nb::module_& module);
void bind_threshold(nb::module_& module);
void bind_additive(nb::module_& module);
void bind_nearest(nb::module_& module);
void bind_preparation(nb::module_& module);
void bind_rows(nb::module_& module);

}  // namespace localsvm
