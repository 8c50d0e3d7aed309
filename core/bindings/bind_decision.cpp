#include <algorithm>
#include <cstdint>

#include "arrays.hpp"
#include "localsvm/decision.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {
namespace {

template <class Handle, class T = typename Handle::Rows::value_type>
void decide(const Handle& matrix, Matrix<const std::int32_t> code_nodes,
            Matrix<const T> coefficients, Cube<const T> coef, Matrix<const T> intercept,
            Matrix<T> out, int n_threads) {
    const auto rows = matrix.rows();
    require(static_cast<std::int64_t>(code_nodes.shape(0)) == rows.n_rows() &&
                coefficients.shape(0) == code_nodes.shape(0) &&
                coefficients.shape(1) == code_nodes.shape(1) &&
                out.shape(0) == code_nodes.shape(0) && out.shape(1) == coef.shape(1),
            "codes and out need one row per row");
    require(static_cast<std::int64_t>(coef.shape(2)) == rows.n_cols() &&
                intercept.shape(0) == coef.shape(0) &&
                intercept.shape(1) == coef.shape(1),
            "coef and intercept do not fit together");
    const Codes<T> codes{code_nodes.data(), coefficients.data(),
                         static_cast<std::int64_t>(code_nodes.shape(1)),
                         static_cast<std::int64_t>(coef.shape(0))};
    const PiecewiseLinear<T> model{coef.data(), intercept.data(),
                                   static_cast<std::int64_t>(coef.shape(1))};
    constexpr std::int64_t chunk = 1024;
    const std::int64_t n_chunks = (rows.n_rows() + chunk - 1) / chunk;
    const auto task = [&](std::int64_t c, std::int64_t) {
        decide_rows(rows, codes, model, c * chunk,
                    std::min(rows.n_rows(), (c + 1) * chunk), out.data());
    };
    if (n_threads <= 1 || n_chunks <= 1) {
        for (std::int64_t c = 0; c < n_chunks; ++c) task(c, 0);
        return;
    }
    StopFlag stop;
    run_tasks(n_chunks, n_threads, Watch{}, stop, task);
}

template <class T>
void bind_smallest_scores(nb::module_& module) {
    module.def(
        "smallest_scores",
        [](Matrix<const T> score, Matrix<std::int32_t> columns, Matrix<T> smallest) {
            require(columns.shape(0) == score.shape(0) &&
                        smallest.shape(0) == score.shape(0) &&
                        columns.shape(1) == smallest.shape(1) &&
                        columns.shape(1) <= score.shape(1),
                    "columns and smallest need one row per row of score");
            smallest_scores(score.data(), static_cast<std::int64_t>(score.shape(0)),
                            static_cast<std::int64_t>(score.shape(1)),
                            static_cast<std::int64_t>(columns.shape(1)), columns.data(),
                            smallest.data());
        },
        nb::arg("score").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("smallest").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
        "Columns of the smallest scores of each row, smallest first, and the scores.");
}

}  // namespace

void bind_decision(nb::module_& module) {
    for_each_storage([&]<class Handle>() {
        module.def("decide", &decide<Handle>, nb::arg("matrix"),
                   nb::arg("code_nodes").noconvert(),
                   nb::arg("coefficients").noconvert(), nb::arg("coef").noconvert(),
                   nb::arg("intercept").noconvert(), nb::arg("out").noconvert(),
                   nb::arg("n_threads"), nb::call_guard<nb::gil_scoped_release>(),
                   "Decision values of a piecewise linear model.");
    });
    bind_smallest_scores<float>(module);
    bind_smallest_scores<double>(module);
}

}  // namespace localsvm
