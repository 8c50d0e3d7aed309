#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/threshold.hpp"

namespace localsvm {
namespace {

template <class T>
ThresholdState<T> state_of(const Matrix<const T>& centers,
                           const Matrix<const double>& sums,
                           const Vector<const double>& masses, std::int64_t n_cols) {
    const std::size_t count = masses.shape(0);
    require(centers.shape(0) == count && sums.shape(0) == count &&
                static_cast<std::int64_t>(centers.shape(1)) == n_cols &&
                static_cast<std::int64_t>(sums.shape(1)) == n_cols,
            "centers and sums need one row per mass, as wide as the matrix");
    return {centers.data(), sums.data(), masses.data(),
            static_cast<std::int64_t>(count)};
}

template <class T>
void bind_scan(nb::module_& module, const char* name) {
    using Scan = ThresholdScan<T>;
    const auto matrix = []<class V>(std::vector<V>& values, const Scan& scan) {
        return MatrixView<V>(
            values.data(), {scan.masses.size(), static_cast<std::size_t>(scan.n_cols)});
    };
    nb::class_<Scan> record(
        module, name,
        "Clusters after a pass. The arrays are views that keep the record alive.");
    record.def_prop_ro(
        "centers", [matrix](Scan& scan) { return matrix(scan.centers, scan); },
        nb::rv_policy::reference_internal);
    record.def_prop_ro(
        "sums", [matrix](Scan& scan) { return matrix(scan.sums, scan); },
        nb::rv_policy::reference_internal);
    bind_array(record, "masses", &Scan::masses);
    record.def_ro("threshold", &Scan::threshold);
    bind_array(record, "labels", &Scan::labels);
    bind_array(record, "moved_to", &Scan::moved_to);
}

template <class Handle, class T = typename Handle::Rows::value_type>
ThresholdScan<T> scan(const Handle& matrix, Vector<const double> weights,
                      Matrix<const T> centers, Matrix<const double> sums,
                      Vector<const double> masses, const ThresholdOptions& options) {
    const auto rows = matrix.rows();
    require(static_cast<std::int64_t>(weights.shape(0)) == rows.n_rows(),
            "weights need one entry per row");
    const ThresholdState<T> state = state_of(centers, sums, masses, rows.n_cols());
    return run_released(std::numeric_limits<double>::infinity(), nb::none(),
                        [&](const Watch& watch, StopFlag& stop) {
                            return scan_threshold(rows, weights.data(), state, options,
                                                  watch, stop);
                        });
}

}  // namespace

void bind_threshold(nb::module_& module) {
    nb::class_<ThresholdOptions>(module, "ThresholdOptions",
                                 "When a row founds a cluster, and what its centre is.")
        .def(nb::init<double, std::int64_t, bool>(), nb::kw_only(),
             nb::arg("threshold"), nb::arg("max_clusters"), nb::arg("follows_mean"));
    bind_scan<float>(module, "ThresholdScanFloat32");
    bind_scan<double>(module, "ThresholdScanFloat64");
    for_each_storage([&]<class Handle>() {
        module.def("scan_threshold", &scan<Handle>, nb::arg("matrix"),
                   nb::arg("weights").noconvert(), nb::arg("centers").noconvert(),
                   nb::arg("sums").noconvert(), nb::arg("masses").noconvert(),
                   nb::arg("options"),
                   "Cluster rows in one pass, going on from given clusters.");
    });
}

}  // namespace localsvm
