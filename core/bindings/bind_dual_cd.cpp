#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "localsvm/crammer_singer.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/linear_update.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {
namespace {

// Arrays that all problems share; `duals` is start and result, `nodes` result. `prior`
// is for solve_codes and solve_codes_jointly.
struct LinearTask {
    Vector<const std::int32_t> labels;
    Vector<const double> bounds;
    std::int32_t first_positive;
    double bias;
    Matrix<double> duals;
    Cube<double> nodes;
    std::optional<Cube<const double>> prior;

    template <class Rows>
    Batch batch(const Rows& rows, std::int64_t n_nodes, int n_threads) const {
        require(nodes.shape(0) == duals.shape(0) &&
                    static_cast<std::int64_t>(nodes.shape(1)) == n_nodes,
                "nodes needs the shape (problems, nodes, columns + 1)");
        return batch(rows, n_threads);
    }
    template <class Rows>
    Batch joint_batch(const Rows& rows) const {
        require(nodes.shape(1) == duals.shape(0),
                "nodes needs the shape (nodes, classes, columns + 1)");
        return batch(rows, 1);
    }

  private:
    template <class Rows>
    Batch batch(const Rows& rows, int n_threads) const {
        const auto n = static_cast<std::size_t>(rows.n_rows());
        require(labels.shape(0) == n && bounds.shape(0) == n && duals.shape(1) == n,
                "labels, bounds and duals need one entry per row");
        require(static_cast<std::int64_t>(nodes.shape(2)) == rows.n_cols() + 1,
                "nodes needs one entry per column and one more");
        for (std::size_t axis = 0; prior && axis < 3; ++axis)
            require(prior->shape(axis) == nodes.shape(axis),
                    "prior needs the shape of nodes");
        return Batch{labels.data(),
                     bounds.data(),
                     first_positive,
                     static_cast<std::int64_t>(duals.shape(0)),
                     bias,
                     duals.data(),
                     nodes.data(),
                     n_threads,
                     prior ? prior->data() : nullptr};
    }
};

struct RunOptions {
    Settings settings;
    double max_time;
    int n_threads;
    nb::object cancelled;  // returns whether to stop, or None
};

template <class Handle>
std::vector<Certificate> solve_blocks(const Handle& matrix, const LinearTask& task,
                                      Vector<const std::int64_t> block_start,
                                      Vector<const std::int64_t> block_rows,
                                      double coupling, const RunOptions& options) {
    const auto rows = matrix.rows();
    const Blocks blocks{block_start.data(), block_rows.data(),
                        static_cast<std::int64_t>(block_start.shape(0)) - 1};
    const std::int64_t n_nodes = blocks.count + (coupling > 0 ? 1 : 0);
    const Batch batch = task.batch(rows, n_nodes, options.n_threads);
    const Settings& settings = options.settings;
    return run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            if constexpr (Handle::Rows::is_dense)
                if (prefers_newton(settings.loss, rows, blocks.count))
                    return coupling > 0
                               ? solve_coupled_by_newton(rows, batch, blocks, coupling,
                                                         settings, watch, stop)
                               : solve_independent_by_newton(rows, batch, blocks,
                                                             settings, watch, stop);
            return coupling > 0
                       ? solve_coupled(rows, batch, blocks, coupling, settings, watch,
                                       stop)
                       : solve_independent(rows, batch, blocks, settings, watch, stop);
        });
}

// All rows as one block.
struct EveryRow {
    std::int64_t start[2];
    std::vector<std::int64_t> row_of;

    explicit EveryRow(std::int64_t n_rows)
        : start{0, n_rows}, row_of(static_cast<std::size_t>(n_rows)) {
        std::iota(row_of.begin(), row_of.end(), 0);
    }
    Blocks block() const { return {start, row_of.data(), 1}; }
};

// The places of `task` are those of `block_rows`, where a row may be named repeatedly.
template <class Handle>
std::vector<Certificate> solve_overlapping(const Handle& matrix,
                                           Vector<const double> squared_norms,
                                           const LinearTask& task,
                                           Vector<const std::int64_t> block_start,
                                           Vector<const std::int64_t> block_rows,
                                           const RunOptions& options) {
    const auto all_rows = matrix.rows();
    require(static_cast<std::int64_t>(squared_norms.shape(0)) == all_rows.n_rows(),
            "squared_norms needs one entry per row");
    const PickedRows rows(all_rows, block_rows.data(),
                          static_cast<std::int64_t>(block_rows.shape(0)),
                          squared_norms.data());
    const EveryRow places(rows.n_rows());
    const Blocks blocks{block_start.data(), places.row_of.data(),
                        static_cast<std::int64_t>(block_start.shape(0)) - 1};
    const Batch batch = task.batch(rows, blocks.count, options.n_threads);
    return run_released(options.max_time, options.cancelled,
                        [&](const Watch& watch, StopFlag& stop) {
                            return solve_independent(rows, batch, blocks,
                                                     options.settings, watch, stop);
                        });
}

template <class T, class Rows>
Codes<T> codes_of(const Rows& rows, Matrix<const std::int32_t> code_nodes,
                  Matrix<const T> coefficients, std::size_t n_nodes) {
    require(static_cast<std::int64_t>(code_nodes.shape(0)) == rows.n_rows() &&
                code_nodes.shape(0) == coefficients.shape(0) &&
                code_nodes.shape(1) == coefficients.shape(1),
            "code_nodes and coefficients need one row per row");
    return {code_nodes.data(), coefficients.data(),
            static_cast<std::int64_t>(code_nodes.shape(1)),
            static_cast<std::int64_t>(n_nodes)};
}

template <class Handle>
std::vector<Certificate> solve_codes(
    const Handle& matrix, const LinearTask& task, Matrix<const std::int32_t> code_nodes,
    Matrix<const typename Handle::Rows::value_type> coefficients,
    const RunOptions& options) {
    const auto rows = matrix.rows();
    const auto codes = codes_of(rows, code_nodes, coefficients, task.nodes.shape(1));
    const EveryRow every_row(rows.n_rows());
    const Batch batch = task.batch(rows, codes.n_nodes, options.n_threads);
    const Settings& settings = options.settings;
    return run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            if constexpr (Handle::Rows::is_dense)
                // Given weights that the vectors are added to are for descent.
                if (!batch.prior && prefers_newton(settings.loss, rows, codes.n_nodes))
                    return solve_coded_by_newton(rows, batch, every_row.block(), codes,
                                                 settings, watch, stop);
            return solve_coded(rows, batch, every_row.block(), codes, settings, watch,
                               stop);
        });
}

// Which rows an update begins with, and the squared norms of all, which it need not
// compute again.
struct LinearChange {
    Vector<const double> squared_norms;  // of [x; bias]
    Vector<const std::uint8_t> near;

    template <class Rows>
    Change view(const Rows& rows) const {
        const auto n = static_cast<std::size_t>(rows.n_rows());
        require(squared_norms.shape(0) == n && near.shape(0) == n,
                "squared_norms and near need one entry per row");
        return {squared_norms.data(), near.data()};
    }
};

template <class Handle>
Certificate update_blocks(const Handle& matrix, const LinearTask& task,
                          Vector<const std::int64_t> block_start,
                          Vector<const std::int64_t> block_rows, double coupling,
                          const LinearChange& change, const RunOptions& options) {
    const auto rows = matrix.rows();
    const Blocks blocks{block_start.data(), block_rows.data(),
                        static_cast<std::int64_t>(block_start.shape(0)) - 1};
    const Batch batch = task.batch(rows, blocks.count + (coupling > 0 ? 1 : 0), 1);
    const Change changed = change.view(rows);
    return run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            return update_coupled(rows, batch, blocks, coupling, changed,
                                  options.settings, watch, stop);
        });
}

template <class Handle>
Certificate update_codes(const Handle& matrix, const LinearTask& task,
                         Matrix<const std::int32_t> code_nodes,
                         Matrix<const typename Handle::Rows::value_type> coefficients,
                         const LinearChange& change, const RunOptions& options) {
    const auto rows = matrix.rows();
    const auto codes = codes_of(rows, code_nodes, coefficients, task.nodes.shape(1));
    const EveryRow every_row(rows.n_rows());
    const Batch batch = task.batch(rows, codes.n_nodes, 1);
    const Change changed = change.view(rows);
    return run_released(options.max_time, options.cancelled,
                        [&](const Watch& watch, StopFlag& stop) {
                            return update_coded(rows, batch, every_row.block(), codes,
                                                changed, options.settings, watch, stop);
                        });
}

template <class Handle>
Certificate solve_codes_jointly(
    const Handle& matrix, const LinearTask& task, Matrix<const std::int32_t> code_nodes,
    Matrix<const typename Handle::Rows::value_type> coefficients,
    const RunOptions& options) {
    const auto rows = matrix.rows();
    const auto codes = codes_of(rows, code_nodes, coefficients, task.nodes.shape(0));
    const EveryRow every_row(rows.n_rows());
    const Batch batch = task.joint_batch(rows);
    return run_released(options.max_time, options.cancelled,
                        [&](const Watch& watch, StopFlag& stop) {
                            return solve_jointly(rows, batch, every_row.block(), codes,
                                                 options.settings, watch, stop);
                        });
}

template <class Handle>
void weigh_codes(const Handle& matrix, Matrix<const double> signed_duals, double bias,
                 Matrix<const std::int32_t> code_nodes,
                 Matrix<const typename Handle::Rows::value_type> coefficients,
                 Cube<double> nodes) {
    const auto rows = matrix.rows();
    const auto codes = codes_of(rows, code_nodes, coefficients, nodes.shape(0));
    require(static_cast<std::int64_t>(signed_duals.shape(1)) == rows.n_rows() &&
                signed_duals.shape(0) == nodes.shape(1),
            "signed_duals needs the shape (classes, rows)");
    require(static_cast<std::int64_t>(nodes.shape(2)) == rows.n_cols() + 1,
            "nodes needs one entry per column and one more");
    weigh_coded(BiasedRows<typename Handle::Rows>{rows, bias}, codes,
                signed_duals.data(), static_cast<std::int64_t>(nodes.shape(1)),
                nodes.data());
}

void bind_types(nb::module_& module) {
    nb::class_<LinearChange>(module, "LinearChange",
                             "Where an update of a linear SVM begins.")
        .def(nb::init<Vector<const double>, Vector<const std::uint8_t>>(),
             nb::kw_only(), nb::arg("squared_norms").noconvert(),
             nb::arg("near").noconvert());
    nb::enum_<Loss>(module, "Loss", "Loss of a margin error.")
        .value("hinge", Loss::hinge)
        .value("squared_hinge", Loss::squared_hinge);
    nb::enum_<Status>(module, "Status", "How a solve ended.")
        .value("converged", Status::converged)
        .value("stalled", Status::stalled)
        .value("max_iter", Status::max_iter)
        .value("max_time", Status::max_time)
        .value("not_finite", Status::not_finite);
    nb::class_<Certificate>(module, "Certificate",
                            "Primal and dual objective of a solution, in float64.")
        .def_ro("primal", &Certificate::primal)
        .def_ro("dual", &Certificate::dual)
        .def_ro("n_iter", &Certificate::n_iter)
        .def_ro("status", &Certificate::status)
        .def_prop_ro("relative_gap", &Certificate::relative_gap);
    nb::class_<RunOptions>(module, "RunOptions", "How far and how long to iterate.")
        .def(
            "__init__",
            [](RunOptions* self, Loss loss, double tol, std::int64_t max_iter,
               std::uint64_t seed, double max_time, int n_threads,
               nb::object cancelled) {
                new (self) RunOptions{Settings{loss, tol, max_iter, seed}, max_time,
                                      n_threads, std::move(cancelled)};
            },
            nb::kw_only(), nb::arg("loss"), nb::arg("tol"), nb::arg("max_iter"),
            nb::arg("seed"), nb::arg("max_time"), nb::arg("n_threads"),
            nb::arg("cancelled").none());
    nb::class_<LinearTask>(module, "LinearTask",
                           "What the problems of a batch share: rows' labels and C.")
        .def(nb::init<Vector<const std::int32_t>, Vector<const double>, std::int32_t,
                      double, Matrix<double>, Cube<double>,
                      std::optional<Cube<const double>>>(),
             nb::kw_only(), nb::arg("labels").noconvert(),
             nb::arg("bounds").noconvert(), nb::arg("first_positive"), nb::arg("bias"),
             nb::arg("duals").noconvert(), nb::arg("nodes").noconvert(),
             nb::arg("prior").noconvert().none() = nb::none());
}

}  // namespace

void bind_dual_cd(nb::module_& module) {
    bind_types(module);
    for_each_storage([&]<class Handle>() {
        module.def(
            "solve_blocks", &solve_blocks<Handle>, nb::arg("matrix"), nb::arg("task"),
            nb::arg("block_start").noconvert(), nb::arg("block_rows").noconvert(),
            nb::arg("coupling"), nb::arg("options"),
            "Linear SVMs of disjoint row blocks, tied together if coupling > 0.");
        module.def("solve_overlapping", &solve_overlapping<Handle>, nb::arg("matrix"),
                   nb::arg("squared_norms").noconvert(), nb::arg("task"),
                   nb::arg("block_start").noconvert(),
                   nb::arg("block_rows").noconvert(), nb::arg("options"),
                   "Linear SVMs of row blocks that may share rows.");
        module.def("solve_codes", &solve_codes<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("code_nodes").noconvert(),
                   nb::arg("coefficients").noconvert(), nb::arg("options"),
                   "Linear SVMs whose rows mix several weight vectors.");
        module.def("update_blocks", &update_blocks<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("block_start").noconvert(),
                   nb::arg("block_rows").noconvert(), nb::arg("coupling"),
                   nb::arg("change"), nb::arg("options"),
                   "Repair one task of solve_blocks after some rows have changed.");
        module.def("update_codes", &update_codes<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("code_nodes").noconvert(),
                   nb::arg("coefficients").noconvert(), nb::arg("change"),
                   nb::arg("options"),
                   "Repair the task of solve_codes after some rows have changed.");
        module.def("solve_codes_jointly", &solve_codes_jointly<Handle>,
                   nb::arg("matrix"), nb::arg("task"),
                   nb::arg("code_nodes").noconvert(),
                   nb::arg("coefficients").noconvert(), nb::arg("options"),
                   "The multi-class SVM of Crammer and Singer on such rows.");
        module.def("weigh_codes", &weigh_codes<Handle>, nb::arg("matrix"),
                   nb::arg("signed_duals").noconvert(), nb::arg("bias"),
                   nb::arg("code_nodes").noconvert(),
                   nb::arg("coefficients").noconvert(), nb::arg("nodes").noconvert(),
                   nb::call_guard<nb::gil_scoped_release>(),
                   "Weight vectors that signed duals of such rows define.");
    });
}

}  // namespace localsvm
