#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "kernel_options.hpp"
#include "localsvm/kernel_batch.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/neighborhood.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"

namespace localsvm {
namespace {

using Prior = std::optional<Matrix<const double>>;

const double* data_of(const Prior& prior, std::int64_t n_rows, std::int32_t n_classes) {
    if (!prior) return nullptr;
    require(static_cast<std::int64_t>(prior->shape(0)) == n_rows &&
                static_cast<std::int32_t>(prior->shape(1)) ==
                    (n_classes == 2 ? 1 : n_classes),
            "prior needs one entry per row and output");
    return prior->data();
}

// Rows, their classes and the lists of the neighbourhoods.
struct NeighborhoodTask {
    Vector<const std::int32_t> labels;
    Vector<const double> weights;
    std::int32_t n_classes;
    Vector<const std::int64_t> start;
    Vector<const std::int32_t> rows;
    Prior prior;

    LabelledRows data(std::int64_t n_rows) const {
        require(static_cast<std::int64_t>(labels.shape(0)) == n_rows &&
                    static_cast<std::int64_t>(weights.shape(0)) == n_rows,
                "labels and weights need one entry per row");
        return {labels.data(), weights.data(), n_classes,
                data_of(prior, n_rows, n_classes)};
    }
    Neighborhoods neighborhoods() const {
        return {start.data(), rows.data(),
                static_cast<std::int64_t>(start.shape(0)) - 1};
    }
};

// What is fitted in each neighbourhood.
struct LocalKernel {
    Kernel kernel;
    double C;
    bool local_gamma;
    LocalGrid grid;

    KernelSettings settings(const KernelOptions& options) const {
        return {kernel, C, local_gamma, options.smo, options.cache_bytes};
    }
};

ArrayDict to_dict(FlatModels models) {
    ArrayDict result;
    result["support_start"] = to_numpy(std::move(models.support_start));
    result["support"] = to_numpy(std::move(models.support));
    result["pair_start"] = to_numpy(std::move(models.pair_start));
    result["pairs"] = to_numpy(std::move(models.pairs));
    result["intercept"] = to_numpy(std::move(models.intercept));
    result["coef_start"] = to_numpy(std::move(models.coef_start));
    result["coef"] = to_numpy(std::move(models.coef));
    result["only_class"] = to_numpy(std::move(models.only_class));
    result["gamma"] = to_numpy(std::move(models.gamma));
    result["C"] = to_numpy(std::move(models.C));
    result["n_iter"] = to_numpy(std::move(models.n_iter));
    result["violation"] = to_numpy(std::move(models.violation));
    result["relative_gap"] = to_numpy(std::move(models.relative_gap));
    result["status"] = to_numpy(std::move(models.status));
    return result;
}

template <class Handle>
ArrayDict fit(const Handle& matrix, const NeighborhoodTask& task,
              const LocalKernel& local, const KernelOptions& options) {
    const auto rows = matrix.rows();
    const LabelledRows data = task.data(rows.n_rows());
    return to_dict(run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            return FlatModels(fit_neighborhoods(rows, data, task.neighborhoods(),
                                                local.settings(options), local.grid,
                                                options.n_threads, watch, stop));
        }));
}

template <class Handle>
void validate(const Handle& matrix, const NeighborhoodTask& task,
              const LocalKernel& local, Vector<const std::int32_t> assigned,
              Matrix<const std::uint8_t> in_train,
              Vector<const std::int64_t> test_start,
              Vector<const std::int32_t> test_fold,
              Cube<typename Handle::Rows::value_type> scores,
              const KernelOptions& options) {
    const auto rows = matrix.rows();
    const LabelledRows data = task.data(rows.n_rows());
    require(scores.shape(0) == local.grid.C.size() * local.grid.gamma.size() &&
                scores.shape(1) == test_fold.shape(0) &&
                static_cast<std::int64_t>(test_start.shape(0)) == rows.n_rows() + 1 &&
                static_cast<std::int64_t>(in_train.shape(1)) == rows.n_rows(),
            "scores, tests and folds do not fit together");
    const CrossValidation cv{assigned.data(), in_train.data(),
                             static_cast<std::int64_t>(in_train.shape(0)),
                             test_start.data(), test_fold.data()};
    run_released(options.max_time, options.cancelled,
                 [&](const Watch& watch, StopFlag& stop) {
                     cross_validate(rows, data, task.neighborhoods(), cv,
                                    local.settings(options), local.grid,
                                    options.n_threads, watch, stop, scores.data());
                     return true;
                 });
}

// Arrays of LocalModels, kept alive.
struct ModelArrays {
    Vector<const std::int64_t> support_start;
    Vector<const std::int32_t> support;
    Vector<const std::int64_t> pair_start;
    Vector<const std::int32_t> pairs;
    Vector<const double> intercept;
    Vector<const std::int64_t> coef_start;
    Vector<const double> coef;
    Vector<const std::int32_t> only_class;
    Vector<const double> gamma;

    LocalModels models() const {
        return {support_start.data(), support.data(),    pair_start.data(),
                pairs.data(),         intercept.data(),  coef_start.data(),
                coef.data(),          only_class.data(), gamma.data()};
    }
};

template <class Handle>
void decide(const Handle& support_rows, const ModelArrays& arrays, const Kernel& kernel,
            std::int32_t n_classes, const Handle& queries,
            Vector<const std::int64_t> route, Vector<const std::int64_t> order,
            const Prior& prior, Matrix<typename Handle::Rows::value_type> out,
            int n_threads) {
    const auto rows = queries.rows();
    require(
        static_cast<std::int64_t>(route.shape(0)) == rows.n_rows() &&
            route.shape(0) == order.shape(0) && out.shape(0) == route.shape(0) &&
            static_cast<std::int32_t>(out.shape(1)) == (n_classes == 2 ? 1 : n_classes),
        "route, order and out need one entry per query");
    decide_by_models(support_rows.rows(), arrays.models(), kernel, n_classes, rows,
                     route.data(), order.data(),
                     data_of(prior, rows.n_rows(), n_classes), n_threads, out.data());
}

void bind_types(nb::module_& module) {
    nb::class_<NeighborhoodTask>(module, "NeighborhoodTask",
                                 "Classes and weights of rows, and lists of rows.")
        .def(nb::init<Vector<const std::int32_t>, Vector<const double>, std::int32_t,
                      Vector<const std::int64_t>, Vector<const std::int32_t>, Prior>(),
             nb::kw_only(), nb::arg("labels").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("n_classes"),
             nb::arg("start").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("prior").noconvert().none());
    nb::class_<LocalKernel>(module, "LocalKernel",
                            "Kernel and penalty of each neighbourhood, or a choice.")
        .def(
            "__init__",
            [](LocalKernel* self, const Kernel& kernel, double C, bool local_gamma,
               std::vector<double> C_factors, std::vector<double> gamma_factors,
               std::int64_t n_folds) {
                require(!local_gamma || kernel.of_distances(),
                        "local_gamma needs a kernel of distances");
                new (self) LocalKernel{
                    kernel, C, local_gamma,
                    LocalGrid{std::move(C_factors), std::move(gamma_factors), n_folds}};
            },
            nb::kw_only(), nb::arg("kernel"), nb::arg("C"), nb::arg("local_gamma"),
            nb::arg("C_factors"), nb::arg("gamma_factors"), nb::arg("n_folds"));
    nb::class_<ModelArrays>(module, "ModelArrays", "Models end to end, not copied.")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>,
                      Vector<const std::int64_t>, Vector<const std::int32_t>,
                      Vector<const double>, Vector<const std::int64_t>,
                      Vector<const double>, Vector<const std::int32_t>,
                      Vector<const double>>(),
             nb::kw_only(), nb::arg("support_start").noconvert(),
             nb::arg("support").noconvert(), nb::arg("pair_start").noconvert(),
             nb::arg("pairs").noconvert(), nb::arg("intercept").noconvert(),
             nb::arg("coef_start").noconvert(), nb::arg("coef").noconvert(),
             nb::arg("only_class").noconvert(), nb::arg("gamma").noconvert());
}

}  // namespace

void bind_neighborhoods(nb::module_& module) {
    bind_types(module);
    for_each_storage([&]<class Handle>() {
        module.def("fit_neighborhoods", &fit<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("local"), nb::arg("options"),
                   "Kernel SVMs of many neighbourhoods, as flat arrays.");
        module.def("cross_validate_neighborhoods", &validate<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("local"), nb::arg("assigned").noconvert(),
                   nb::arg("in_train").noconvert(), nb::arg("test_start").noconvert(),
                   nb::arg("test_fold").noconvert(), nb::arg("scores").noconvert(),
                   nb::arg("options"),
                   "Scores of held-out rows for each width and penalty.");
        module.def("decide_by_models", &decide<Handle>, nb::arg("support_rows"),
                   nb::arg("models"), nb::arg("kernel"), nb::arg("n_classes"),
                   nb::arg("queries"), nb::arg("route").noconvert(),
                   nb::arg("order").noconvert(), nb::arg("prior").noconvert().none(),
                   nb::arg("out").noconvert(), nb::arg("n_threads"),
                   nb::call_guard<nb::gil_scoped_release>(),
                   "Scores of each query by the model that it is routed to.");
    });
}

}  // namespace localsvm
