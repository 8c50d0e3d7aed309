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

template <class Handle>
FlatModels fit(const Handle& matrix, const NeighborhoodTask& task,
               const LocalKernel& local, const KernelOptions& options) {
    const auto rows = matrix.rows();
    const LabelledRows data = task.data(rows.n_rows());
    return run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            return FlatModels(fit_neighborhoods(rows, data, task.neighborhoods(),
                                                local.settings(options), local.grid,
                                                {options.n_threads, watch, stop}));
        });
}

// Arrays of CrossValidation, kept alive.
struct HeldOutRows {
    Vector<const std::int32_t> assigned;
    Matrix<const std::uint8_t> in_train;
    Vector<const std::int64_t> test_start;
    Vector<const std::int32_t> test_fold;

    CrossValidation view(std::int64_t n_rows) const {
        require(static_cast<std::int64_t>(assigned.shape(0)) == n_rows &&
                    static_cast<std::int64_t>(test_start.shape(0)) == n_rows + 1 &&
                    static_cast<std::int64_t>(in_train.shape(1)) == n_rows,
                "assigned, in_train and test_start need one entry per row");
        return {assigned.data(), in_train.data(),
                static_cast<std::int64_t>(in_train.shape(0)), test_start.data(),
                test_fold.data()};
    }
};

template <class Handle>
void validate(const Handle& matrix, const NeighborhoodTask& task,
              const LocalKernel& local, const HeldOutRows& held_out,
              Cube<typename Handle::Rows::value_type> scores,
              const KernelOptions& options) {
    const auto rows = matrix.rows();
    const LabelledRows data = task.data(rows.n_rows());
    const CrossValidation cv = held_out.view(rows.n_rows());
    require(scores.shape(0) == local.grid.C.size() * local.grid.gamma.size() &&
                scores.shape(1) == held_out.test_fold.shape(0),
            "scores needs one entry per setting and test");
    run_released(options.max_time, options.cancelled,
                 [&](const Watch& watch, StopFlag& stop) {
                     cross_validate(rows, data, task.neighborhoods(), cv,
                                    local.settings(options), local.grid,
                                    {options.n_threads, watch, stop}, scores.data());
                     return true;
                 });
}

// Arrays of LocalModels, kept alive.
struct SupportArrays {
    Vector<const std::int64_t> start;
    Vector<const std::int32_t> rows;
    Vector<const std::int64_t> coef_start;
    Vector<const double> coef;
};

struct PairArrays {
    Vector<const std::int64_t> start;
    Vector<const std::int32_t> classes;
    Vector<const double> intercept;
};

struct ModelArrays {
    SupportArrays support;
    PairArrays pairs;
    Vector<const std::int32_t> only_class;
    Vector<const double> gamma;
    std::int32_t n_classes;

    LocalModels view() const {
        return {support.start.data(),   support.rows.data(),
                pairs.start.data(),     pairs.classes.data(),
                pairs.intercept.data(), support.coef_start.data(),
                support.coef.data(),    only_class.data(),
                gamma.data(),           n_classes};
    }
    std::int32_t n_outputs() const { return n_classes == 2 ? 1 : n_classes; }
};

// Arrays of Routing, kept alive.
struct RoutingArrays {
    Vector<const std::int64_t> route, order;
    Prior prior;

    Routing view(std::int64_t n_queries, std::int32_t n_classes) const {
        require(static_cast<std::int64_t>(route.shape(0)) == n_queries &&
                    static_cast<std::int64_t>(order.shape(0)) == n_queries,
                "route and order need one entry per query");
        return {route.data(), order.data(), data_of(prior, n_queries, n_classes)};
    }
};

template <class Handle>
void decide(const Handle& support_rows, const ModelArrays& models, const Kernel& kernel,
            const Handle& queries, const RoutingArrays& routing,
            Matrix<typename Handle::Rows::value_type> out, int n_threads) {
    const auto rows = queries.rows();
    require(static_cast<std::int64_t>(out.shape(0)) == rows.n_rows() &&
                static_cast<std::int32_t>(out.shape(1)) == models.n_outputs(),
            "out needs one entry per query and output");
    decide_by_models(support_rows.rows(), models.view(), kernel, rows,
                     routing.view(rows.n_rows(), models.n_classes), n_threads,
                     out.data());
}

void bind_fitted(nb::module_& module) {
    nb::class_<FlatModels> record(
        module, "FittedModels",
        "Models end to end. The arrays are views that keep the record alive.");
    bind_array(record, "support_start", &FlatModels::support_start);
    bind_array(record, "support", &FlatModels::support);
    bind_array(record, "pair_start", &FlatModels::pair_start);
    bind_array(record, "pairs", &FlatModels::pairs);
    bind_array(record, "intercept", &FlatModels::intercept);
    bind_array(record, "coef_start", &FlatModels::coef_start);
    bind_array(record, "coef", &FlatModels::coef);
    bind_array(record, "only_class", &FlatModels::only_class);
    bind_array(record, "gamma", &FlatModels::gamma);
    bind_array(record, "C", &FlatModels::C);
    bind_array(record, "n_iter", &FlatModels::n_iter);
    bind_array(record, "violation", &FlatModels::violation);
    bind_array(record, "relative_gap", &FlatModels::relative_gap);
    bind_array(record, "status", &FlatModels::status);
}

void bind_models(nb::module_& module) {
    nb::class_<SupportArrays>(module, "SupportArrays",
                              "Support vectors and duals of models, not copied.")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>,
                      Vector<const std::int64_t>, Vector<const double>>(),
             nb::kw_only(), nb::arg("start").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("coef_start").noconvert(), nb::arg("coef").noconvert());
    nb::class_<PairArrays>(module, "PairArrays",
                           "Pairs of classes of models, not copied.")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int32_t>,
                      Vector<const double>>(),
             nb::kw_only(), nb::arg("start").noconvert(),
             nb::arg("classes").noconvert(), nb::arg("intercept").noconvert());
    nb::class_<ModelArrays>(module, "ModelArrays", "Models end to end, not copied.")
        .def(nb::init<SupportArrays, PairArrays, Vector<const std::int32_t>,
                      Vector<const double>, std::int32_t>(),
             nb::kw_only(), nb::arg("support"), nb::arg("pairs"),
             nb::arg("only_class").noconvert(), nb::arg("gamma").noconvert(),
             nb::arg("n_classes"));
    nb::class_<RoutingArrays>(
        module, "Routing", "Model of each query, and queries in the order of models.")
        .def(nb::init<Vector<const std::int64_t>, Vector<const std::int64_t>, Prior>(),
             nb::kw_only(), nb::arg("route").noconvert(), nb::arg("order").noconvert(),
             nb::arg("prior").noconvert().none());
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
    nb::class_<HeldOutRows>(module, "HeldOutRows",
                            "Rows that folds train on, and tests of each row.")
        .def(nb::init<Vector<const std::int32_t>, Matrix<const std::uint8_t>,
                      Vector<const std::int64_t>, Vector<const std::int32_t>>(),
             nb::kw_only(), nb::arg("assigned").noconvert(),
             nb::arg("in_train").noconvert(), nb::arg("test_start").noconvert(),
             nb::arg("test_fold").noconvert());
}

}  // namespace

void bind_neighborhoods(nb::module_& module) {
    bind_types(module);
    bind_fitted(module);
    bind_models(module);
    for_each_storage([&]<class Handle>() {
        module.def("fit_neighborhoods", &fit<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("local"), nb::arg("options"),
                   "Kernel SVMs of many neighbourhoods.");
        module.def("cross_validate_neighborhoods", &validate<Handle>, nb::arg("matrix"),
                   nb::arg("task"), nb::arg("local"), nb::arg("held_out"),
                   nb::arg("scores").noconvert(), nb::arg("options"),
                   "Scores of held-out rows for each width and penalty.");
        module.def("decide_by_models", &decide<Handle>, nb::arg("support_rows"),
                   nb::arg("models"), nb::arg("kernel"), nb::arg("queries"),
                   nb::arg("routing"), nb::arg("out").noconvert(), nb::arg("n_threads"),
                   nb::call_guard<nb::gil_scoped_release>(),
                   "Scores of each query by the model that it is routed to.");
    });
}

}  // namespace localsvm
