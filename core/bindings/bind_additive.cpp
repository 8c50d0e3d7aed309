#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "localsvm/additive.hpp"
#include "localsvm/bins.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/step_code.hpp"

namespace localsvm {
namespace {

constexpr std::int64_t kChunk = 4096;

struct CutsHandle {
    CutsHandle(Vector<const std::uint8_t> is_category,
               Vector<const std::int32_t> n_bins, Vector<const std::int64_t> start,
               Vector<const double> cuts, Vector<const std::int32_t> cut_bin)
        : is_category(is_category),
          n_bins(n_bins),
          start(start),
          cuts(cuts),
          cut_bin(cut_bin) {
        const std::int64_t* first = start.data();
        require(start.shape(0) == n_bins.shape(0) + 1 &&
                    is_category.shape(0) == n_bins.shape(0) &&
                    cuts.shape(0) == cut_bin.shape(0) && *first == 0 &&
                    std::is_sorted(first, first + start.shape(0)) &&
                    static_cast<std::size_t>(first[n_bins.shape(0)]) == cuts.shape(0),
                "cuts of columns do not fit together");
    }
    ColumnCuts view() const {
        return {is_category.data(), n_bins.data(),  start.data(),
                cuts.data(),        cut_bin.data(), n_cols()};
    }
    std::int64_t n_cols() const { return static_cast<std::int64_t>(n_bins.shape(0)); }
    std::int64_t total_bins() const {
        std::int64_t total = 0;
        for (std::int64_t k = 0; k < n_cols(); ++k) total += n_bins.data()[k];
        return total;
    }

    Vector<const std::uint8_t> is_category;
    Vector<const std::int32_t> n_bins;
    Vector<const std::int64_t> start;
    Vector<const double> cuts;
    Vector<const std::int32_t> cut_bin;
};

// Calls task(first, last) for chunks of the rows, on threads if there are several.
template <class Task>
void for_chunks(std::int64_t n_rows, int n_threads, const Task& task) {
    detail::for_each_part(
        (n_rows + kChunk - 1) / kChunk, n_threads,
        [&](std::int64_t c) { task(c * kChunk, std::min(n_rows, (c + 1) * kChunk)); });
}

template <class T, class Code>
void encode(const DenseHandle<T>& matrix, const CutsHandle& cuts, Matrix<Code> codes,
            int n_threads) {
    const auto rows = matrix.rows();
    require(rows.n_cols() == cuts.n_cols() &&
                static_cast<std::int64_t>(codes.shape(0)) == cuts.n_cols() &&
                static_cast<std::int64_t>(codes.shape(1)) == rows.n_rows(),
            "codes need one row per column of cuts and one column per row");
    for_chunks(rows.n_rows(), n_threads, [&](std::int64_t first, std::int64_t last) {
        encode_rows(rows, cuts.view(), first, last, codes.data());
    });
}

template <class T>
void decide(const DenseHandle<T>& matrix, const CutsHandle& cuts,
            Matrix<const double> table, Vector<const double> bias, Matrix<double> out,
            int n_threads) {
    const auto rows = matrix.rows();
    const std::int64_t n_bins = cuts.total_bins();
    require(rows.n_cols() == cuts.n_cols() &&
                static_cast<std::int64_t>(out.shape(0)) == rows.n_rows() &&
                static_cast<std::int64_t>(table.shape(1)) == n_bins &&
                table.shape(0) == bias.shape(0) && out.shape(1) == bias.shape(0),
            "table, bias and out do not fit to the cuts");
    for_chunks(rows.n_rows(), n_threads, [&](std::int64_t first, std::int64_t last) {
        decide_binned(rows, cuts.view(), table.data(), bias.data(),
                      static_cast<std::int64_t>(bias.shape(0)), n_bins, first, last,
                      out.data());
    });
}

// out: outputs x rows.
template <class Code>
void look_up(Matrix<const Code> codes, Vector<const std::int64_t> bin_start,
             Matrix<const double> table, Vector<const double> bias, Matrix<double> out,
             int n_threads) {
    const auto n_cols = static_cast<std::int64_t>(codes.shape(0));
    const auto n_rows = static_cast<std::int64_t>(codes.shape(1));
    const auto n_bins = static_cast<std::int64_t>(table.shape(1));
    require(bin_start.shape(0) == codes.shape(0) + 1 &&
                bin_start.data()[n_cols] == n_bins && table.shape(0) == bias.shape(0) &&
                out.shape(0) == bias.shape(0) && out.shape(1) == codes.shape(1),
            "codes, table, bias and out do not fit together");
    const BinCodes<Code> rows{codes.data(), n_rows, n_cols};
    for_chunks(n_rows, n_threads, [&](std::int64_t first, std::int64_t last) {
        for (std::size_t p = 0; p < bias.shape(0); ++p) {
            const auto output = static_cast<std::int64_t>(p);
            double* own = out.data() + output * n_rows;
            std::fill(own + first, own + last, bias.data()[p]);
            add_looked_up(
                rows, table.data() + output * n_bins,
                [&](std::int64_t k) { return bin_start.data()[k]; }, first, last, own);
        }
    });
}

struct AdditiveRunOptions {
    AdditiveLoss loss;
    AdditiveOptions limits;
    double max_time;
    int n_threads;
    nb::object cancelled;  // returns whether to stop, or None
};

// Labels and weights of the rows; `coef` is start and result, `table` result.
struct AdditiveTask {
    Vector<const std::int32_t> labels;
    Vector<const double> weight;
    std::int32_t first_positive;
    Matrix<double> coef;
    Matrix<double> table;
};

template <class Code>
std::vector<Certificate> solve(Matrix<const Code> codes,
                               Vector<const std::int32_t> n_bins,
                               Vector<const std::int32_t> n_ordered,
                               const AdditiveTask& task,
                               const AdditiveRunOptions& options) {
    const BinCodes<Code> rows{codes.data(), static_cast<std::int64_t>(codes.shape(1)),
                              static_cast<std::int64_t>(codes.shape(0))};
    require(n_bins.shape(0) == codes.shape(0) && n_ordered.shape(0) == codes.shape(0),
            "n_bins and n_ordered need one entry per column");
    require(task.labels.shape(0) == codes.shape(1) &&
                task.weight.shape(0) == codes.shape(1),
            "labels and weight need one entry per row");
    const detail::StepCode code =
        detail::step_code(rows, n_bins.data(), n_ordered.data(), task.weight.data());
    const auto n_tasks = static_cast<std::int64_t>(task.coef.shape(0));
    const std::int64_t width = code.n_weights() + 1;
    require(static_cast<std::int64_t>(task.coef.shape(1)) == width,
            "coef needs one entry per weight of the code and one more");
    require(task.table.shape(0) == task.coef.shape(0) &&
                static_cast<std::int64_t>(task.table.shape(1)) == code.n_bins(),
            "table needs one row per row of coef and one entry per bin");
    const AdditiveProblem<Code> problem{rows, task.labels.data(), task.weight.data(),
                                        options.loss};
    const auto found = run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            return solve_additive(problem, code, task.first_positive, n_tasks,
                                  options.limits, task.coef.data(), options.n_threads,
                                  watch, stop);
        });
    for (std::int64_t t = 0; t < n_tasks; ++t)
        code.tables(task.coef.data() + t * width,
                    task.table.data() + t * code.n_bins());
    return found;
}

void bind_types(nb::module_& module) {
    nb::class_<CutsHandle>(module, "ColumnCuts", "Cuts of columns, not copied.")
        .def(nb::init<Vector<const std::uint8_t>, Vector<const std::int32_t>,
                      Vector<const std::int64_t>, Vector<const double>,
                      Vector<const std::int32_t>>(),
             nb::kw_only(), nb::arg("is_category").noconvert(),
             nb::arg("n_bins").noconvert(), nb::arg("start").noconvert(),
             nb::arg("cuts").noconvert(), nb::arg("cut_bin").noconvert());
    nb::enum_<AdditiveLoss>(module, "AdditiveLoss", "Loss of the additive SVM.")
        .value("squared_hinge", AdditiveLoss::squared_hinge)
        .value("logistic", AdditiveLoss::logistic);
    nb::class_<AdditiveRunOptions>(module, "AdditiveOptions",
                                   "Loss, and how far and how long to iterate.")
        .def(
            "__init__",
            [](AdditiveRunOptions* self, AdditiveLoss loss, double tol,
               std::int64_t max_iter, double max_time, int n_threads,
               nb::object cancelled) {
                new (self)
                    AdditiveRunOptions{loss, AdditiveOptions{tol, max_iter}, max_time,
                                       n_threads, std::move(cancelled)};
            },
            nb::kw_only(), nb::arg("loss"), nb::arg("tol"), nb::arg("max_iter"),
            nb::arg("max_time"), nb::arg("n_threads"), nb::arg("cancelled").none());
    nb::class_<AdditiveTask>(module, "AdditiveTask",
                             "Labels and weights of the rows, start and result.")
        .def(nb::init<Vector<const std::int32_t>, Vector<const double>, std::int32_t,
                      Matrix<double>, Matrix<double>>(),
             nb::kw_only(), nb::arg("labels").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("first_positive"),
             nb::arg("coef").noconvert(), nb::arg("table").noconvert());
}

template <class T, class Code>
void bind_encode(nb::module_& module) {
    module.def("encode_columns", &encode<T, Code>, nb::arg("matrix"), nb::arg("cuts"),
               nb::arg("codes").noconvert(), nb::arg("n_threads"),
               nb::call_guard<nb::gil_scoped_release>(),
               "Bins of rows, column after column.");
}

template <class T>
void bind_decide(nb::module_& module) {
    module.def("decide_binned", &decide<T>, nb::arg("matrix"), nb::arg("cuts"),
               nb::arg("table").noconvert(), nb::arg("bias").noconvert(),
               nb::arg("out").noconvert(), nb::arg("n_threads"),
               nb::call_guard<nb::gil_scoped_release>(),
               "Bias plus the table entries of each row.");
}

template <class Code>
void bind_codes(nb::module_& module) {
    module.def("look_up_bins", &look_up<Code>, nb::arg("codes").noconvert(),
               nb::arg("bin_start").noconvert(), nb::arg("table").noconvert(),
               nb::arg("bias").noconvert(), nb::arg("out").noconvert(),
               nb::arg("n_threads"), nb::call_guard<nb::gil_scoped_release>(),
               "Bias plus the table entries of each row, from its bins.");
    module.def("solve_additive", &solve<Code>, nb::arg("codes").noconvert(),
               nb::arg("n_bins").noconvert(), nb::arg("n_ordered").noconvert(),
               nb::arg("task"), nb::arg("options"),
               "Additive SVMs, one class against the rest, by Newton-CG.");
}

}  // namespace

void bind_additive(nb::module_& module) {
    bind_types(module);
    bind_encode<float, std::uint8_t>(module);
    bind_encode<float, std::uint16_t>(module);
    bind_encode<double, std::uint8_t>(module);
    bind_encode<double, std::uint16_t>(module);
    bind_decide<float>(module);
    bind_decide<double>(module);
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
}

}  // namespace localsvm
