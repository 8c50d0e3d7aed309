#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "copied.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/mixture_rows.hpp"
#include "localsvm/nearest_rows.hpp"
#include "localsvm/region_rows.hpp"
#include "localsvm/row_joins.hpp"
#include "localsvm/row_models.hpp"
#include "localsvm/row_preparation.hpp"

namespace localsvm {
namespace {

template <class T>
void bind_model(nb::module_& module, const char* name) {
    using Model = RowModel<T>;
    nb::class_<Model>(module, name, "A fitted model as single rows see it.")
        .def_prop_ro("n_cols", &Model::n_cols)
        .def_prop_ro("n_outputs", &Model::n_outputs)
        .def(
            "decide",
            [](const Model& model, Matrix<const T> rows, Matrix<double> out,
               bool takes_missing) {
                require(
                    static_cast<std::int64_t>(rows.shape(1)) == model.n_cols() &&
                        rows.shape(0) == out.shape(0) &&
                        static_cast<std::int64_t>(out.shape(1)) == model.n_outputs(),
                    "rows and out do not fit to the model");
                const auto n_outputs = static_cast<std::int64_t>(out.shape(1));
                return decide_each(
                    model,
                    DenseRows<T>(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                                 model.n_cols()),
                    takes_missing, [&](std::int64_t i, const double* scores) {
                        std::copy_n(scores, n_outputs, out.data() + i * n_outputs);
                    });
            },
            nb::arg("rows").noconvert(), nb::arg("out").noconvert(),
            nb::arg("takes_missing"), nb::call_guard<nb::gil_scoped_release>(),
            "Decisions; place of the first value that is not taken, or -1.")
        .def(
            "classify",
            [](const Model& model, Matrix<const T> rows, Vector<std::int64_t> out,
               bool takes_missing) {
                require(static_cast<std::int64_t>(rows.shape(1)) == model.n_cols() &&
                            rows.shape(0) == out.shape(0),
                        "rows and out do not fit to the model");
                return decide_each(
                    model,
                    DenseRows<T>(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                                 model.n_cols()),
                    takes_missing, [&](std::int64_t i, const double* scores) {
                        out.data()[i] = winning_class(scores, model.n_outputs());
                    });
            },
            nb::arg("rows").noconvert(), nb::arg("out").noconvert(),
            nb::arg("takes_missing"), nb::call_guard<nb::gil_scoped_release>(),
            "Classes; place of the first value that is not taken, or -1.");
}

template <class T>
SharedModel<T> linear_rows(Matrix<const double> coef, Vector<const double> intercept) {
    require(coef.shape(0) == intercept.shape(0) && intercept.shape(0) > 0,
            "coef and intercept do not fit together");
    return std::make_shared<LinearRows<T>>(copied(coef), copied(intercept));
}

template <class T>
SharedModel<T> additive_rows(Vector<const std::uint8_t> is_category,
                             Vector<const std::int32_t> n_bins,
                             Vector<const std::int64_t> start,
                             Vector<const double> cuts,
                             Vector<const std::int32_t> cut_bin,
                             Matrix<const double> table, Vector<const double> bias) {
    OwnCuts own{copied(is_category), copied(n_bins), copied(start), copied(cuts),
                copied(cut_bin)};
    std::size_t total = 0;
    for (const std::int32_t bins : own.n_bins) total += static_cast<std::size_t>(bins);
    require(own.is_category.size() == own.n_bins.size() &&
                are_starts(own.start, own.n_bins.size(), own.cuts.size()) &&
                own.cut_bin.size() == own.cuts.size() && table.shape(1) == total &&
                table.shape(0) == bias.shape(0) && bias.shape(0) > 0,
            "cuts, table and bias do not fit together");
    return std::make_shared<AdditiveRows<T>>(std::move(own), copied(table),
                                             copied(bias));
}

template <class T>
SharedModel<T> region_rows(RegionCoding coding, std::int64_t n_nearest,
                           std::vector<double> constants, Matrix<const double> centers,
                           Cube<const T> coef, Matrix<const T> intercept) {
    require(constants.size() == 4 && n_nearest >= 1 &&
                static_cast<std::size_t>(n_nearest) <= centers.shape(0) &&
                coef.shape(0) == centers.shape(0) + 1 &&
                coef.shape(2) == centers.shape(1) &&
                intercept.shape(0) == coef.shape(0) &&
                intercept.shape(1) == coef.shape(1),
            "centers, coef and intercept do not fit together");
    return std::make_shared<RegionRows<T>>(
        RegionCode{coding, n_nearest, constants[0], constants[1], constants[2],
                   constants[3], static_cast<std::int64_t>(centers.shape(1)),
                   copied(centers)},
        copied(coef), copied(intercept));
}

template <class T>
SharedModel<T> kernel_rows(Matrix<const T> support, const Kernel& kernel,
                           Matrix<const double> duals, Vector<const double> intercept) {
    require(duals.shape(0) == intercept.shape(0) && duals.shape(1) == support.shape(0),
            "support, duals and intercept do not fit together");
    return std::make_shared<KernelRows<T>>(copied(support),
                                           static_cast<std::int64_t>(support.shape(1)),
                                           kernel, copied(duals), copied(intercept));
}

// The models of cells, copied.
struct CellModels {
    FlatModels models{{}};
    std::int32_t n_classes = 0;
};

CellModels cell_models(std::vector<Vector<const std::int64_t>> starts,
                       Vector<const std::int32_t> support,
                       Vector<const std::int32_t> pairs, Vector<const double> intercept,
                       Vector<const double> coef, Vector<const std::int32_t> only_class,
                       Vector<const double> gamma, std::int32_t n_classes) {
    require(starts.size() == 3, "starts are those of support, pairs and coef");
    CellModels made;
    made.n_classes = n_classes;
    FlatModels& models = made.models;
    models.support_start = copied(starts[0]);
    models.pair_start = copied(starts[1]);
    models.coef_start = copied(starts[2]);
    models.support = copied(support);
    models.pairs = copied(pairs);
    models.intercept = copied(intercept);
    models.coef = copied(coef);
    models.only_class = copied(only_class);
    models.gamma = copied(gamma);
    const std::size_t count = models.gamma.size();
    require(models.only_class.size() == count &&
                are_starts(models.support_start, count, models.support.size()) &&
                are_starts(models.pair_start, count, models.intercept.size()) &&
                are_starts(models.coef_start, count, models.coef.size()) &&
                models.pairs.size() == 2 * models.intercept.size(),
            "arrays of cells do not fit together");
    return made;
}

template <class T>
SharedModel<T> cell_rows(const CellModels& cells, const Kernel& kernel,
                         Matrix<const T> support, Matrix<const T> points,
                         Vector<const std::int32_t> cell_of,
                         Vector<const double> middle, Matrix<const double> directions) {
    const auto n_cols = points.shape(1);
    const auto is_below = [](const auto& values, std::size_t end) {
        return std::all_of(values.begin(), values.end(), [end](std::int32_t value) {
            return value >= 0 && static_cast<std::size_t>(value) < end;
        });
    };
    std::vector<std::int32_t> owners = copied(cell_of);
    require(support.shape(1) == n_cols && middle.shape(0) == n_cols &&
                directions.shape(1) == n_cols && owners.size() == points.shape(0) &&
                !owners.empty() && is_below(owners, cells.models.gamma.size()) &&
                is_below(cells.models.support, support.shape(0)),
            "cells and points do not fit together");
    return std::make_shared<CellRows<T>>(cells.models, cells.n_classes, copied(support),
                                         static_cast<std::int64_t>(n_cols), kernel,
                                         copied(points), std::move(owners),
                                         RowSketch(copied(middle), copied(directions)));
}

template <class T>
SharedModel<T> mixture_rows(std::vector<std::int64_t> sizes, Vector<const T> log_prior,
                            std::int64_t n_tasks, Matrix<const T> slope,
                            Vector<const T> offset) {
    require(slope.shape(0) == offset.shape(0) && !sizes.empty() && n_tasks >= 1,
            "slope and offset do not fit together");
    std::int64_t n_logits = 0;
    for (const std::int64_t size : sizes) n_logits += size;
    const std::int64_t n_components =
        sizes.size() == 1 ? n_logits : n_logits - sizes[0];
    require(static_cast<std::int64_t>(log_prior.shape(0)) == n_logits &&
                static_cast<std::int64_t>(offset.shape(0)) ==
                    n_logits + n_components * n_tasks &&
                (sizes.size() == 1 ||
                 static_cast<std::int64_t>(sizes.size()) == sizes[0] + 1),
            "gates do not fit to the components");
    return std::make_shared<MixtureRows<T>>(
        MixtureGates<T>{std::move(sizes), copied(log_prior)}, n_tasks, copied(slope),
        copied(offset));
}

template <class T>
SharedModel<T> sum_rows(std::int64_t n_cols,
                        std::vector<RowPreparation<T>> preparations,
                        std::vector<SharedModel<T>> models,
                        std::vector<std::int64_t> seen, std::vector<double> weights,
                        std::vector<double> bias) {
    require(seen.size() == models.size() && weights.size() == models.size() &&
                !bias.empty(),
            "models, seen and weights do not fit together");
    for (const RowPreparation<T>& each : preparations)
        require(each.n_cols == n_cols, "preparations see other columns");
    std::vector<typename SumRows<T>::Term> terms;
    for (std::size_t t = 0; t < models.size(); ++t) {
        require(seen[t] < static_cast<std::int64_t>(preparations.size()),
                "seen names a preparation that is not there");
        const std::int64_t width =
            seen[t] < 0
                ? n_cols
                : preparations[static_cast<std::size_t>(seen[t])].linear.n_out();
        require(models[t]->n_cols() == width &&
                    models[t]->n_outputs() == static_cast<std::int64_t>(bias.size()),
                "a term does not fit to its rows or to the sum");
        terms.push_back({models[t], seen[t], weights[t]});
    }
    return std::make_shared<SumRows<T>>(n_cols, std::move(preparations),
                                        std::move(terms), std::move(bias));
}

template <class T>
SharedModel<T> switch_rows(const RowPreparation<T>& preparation, SharedModel<T> first,
                           SharedModel<T> second, double threshold) {
    const std::int64_t width = preparation.linear.n_out();
    require(first && first->n_cols() == width &&
                (!second || (second->n_cols() == width &&
                             second->n_outputs() == first->n_outputs())),
            "stages do not fit to the preparation");
    return std::make_shared<SwitchRows<T>>(preparation, std::move(first),
                                           std::move(second), threshold);
}

template <class T, class Inner>
SharedModel<T> converted_rows(SharedModel<Inner> model) {
    return std::make_shared<ConvertedRows<T, Inner>>(std::move(model));
}

template <class T>
void bind_makers(nb::module_& module, const std::string& type) {
    const auto named = [&](const char* maker) { return maker + type; };
    module.def(named("linear_rows").c_str(), &linear_rows<T>,
               nb::arg("coef").noconvert(), nb::arg("intercept").noconvert(),
               "Weights of columns.");
    module.def(named("additive_rows").c_str(), &additive_rows<T>, nb::kw_only(),
               nb::arg("is_category").noconvert(), nb::arg("n_bins").noconvert(),
               nb::arg("start").noconvert(), nb::arg("cuts").noconvert(),
               nb::arg("cut_bin").noconvert(), nb::arg("table").noconvert(),
               nb::arg("bias").noconvert(), "A table of effects per column.");
}

template <class T, class Other>
void bind_typed_makers(nb::module_& module, const std::string& type) {
    const auto named = [&](const char* maker) { return maker + type; };
    module.def(named("region_rows").c_str(), &region_rows<T>, nb::kw_only(),
               nb::arg("coding"), nb::arg("n_nearest"), nb::arg("constants"),
               nb::arg("centers").noconvert(), nb::arg("coef").noconvert(),
               nb::arg("intercept").noconvert(),
               "Linear SVMs in regions; constants are tau, cut, ridge and closeness.");
    module.def(named("kernel_rows").c_str(), &kernel_rows<T>, nb::kw_only(),
               nb::arg("support").noconvert(), nb::arg("kernel"),
               nb::arg("duals").noconvert(), nb::arg("intercept").noconvert(),
               "Kernel SVMs with one set of support vectors.");
    module.def(named("cell_rows").c_str(), &cell_rows<T>, nb::kw_only(),
               nb::arg("cells"), nb::arg("kernel"), nb::arg("support").noconvert(),
               nb::arg("points").noconvert(), nb::arg("cell_of").noconvert(),
               nb::arg("middle").noconvert(), nb::arg("directions").noconvert(),
               "Kernel SVMs of cells, by the nearest point.");
    module.def(named("mixture_rows").c_str(), &mixture_rows<T>, nb::kw_only(),
               nb::arg("sizes"), nb::arg("log_prior").noconvert(), nb::arg("n_tasks"),
               nb::arg("slope").noconvert(), nb::arg("offset").noconvert(),
               "A mixture of linear SVMs: the logarithms of the classes' sums.");
    module.def(named("sum_rows").c_str(), &sum_rows<T>, nb::kw_only(),
               nb::arg("n_cols"), nb::arg("preparations"), nb::arg("models"),
               nb::arg("seen"), nb::arg("weights"), nb::arg("bias"),
               "A weighted sum; seen is the preparation of each model, or -1.");
    module.def(named("switch_rows").c_str(), &switch_rows<T>, nb::kw_only(),
               nb::arg("preparation"), nb::arg("first"), nb::arg("second").none(),
               nb::arg("threshold"), "A second model where the first is in doubt.");
    module.def(named("converted_rows").c_str(), &converted_rows<T, Other>,
               nb::arg("model"), "A model of rows of the other type.");
}

}  // namespace

void bind_rows(nb::module_& module) {
    bind_model<float>(module, "RowModelFloat32");
    bind_model<double>(module, "RowModelFloat64");
    nb::enum_<RegionCoding>(module, "RegionCoding", "What regions count for a row.")
        .value("hard", RegionCoding::hard)
        .value("softmax", RegionCoding::softmax)
        .value("inverse_distance", RegionCoding::inverse_distance)
        .value("local_coordinates", RegionCoding::local_coordinates);
    nb::class_<CellModels>(module, "CellModels", "SVMs of cells, copied.")
        .def(
            "__init__",
            [](CellModels* self, std::vector<Vector<const std::int64_t>> starts,
               Vector<const std::int32_t> support, Vector<const std::int32_t> pairs,
               Vector<const double> intercept, Vector<const double> coef,
               Vector<const std::int32_t> only_class, Vector<const double> gamma,
               std::int32_t n_classes) {
                new (self)
                    CellModels(cell_models(std::move(starts), support, pairs, intercept,
                                           coef, only_class, gamma, n_classes));
            },
            nb::kw_only(), nb::arg("starts"), nb::arg("support").noconvert(),
            nb::arg("pairs").noconvert(), nb::arg("intercept").noconvert(),
            nb::arg("coef").noconvert(), nb::arg("only_class").noconvert(),
            nb::arg("gamma").noconvert(), nb::arg("n_classes"));
    bind_makers<float>(module, "_float32");
    bind_makers<double>(module, "_float64");
    bind_typed_makers<float, double>(module, "_float32");
    bind_typed_makers<double, float>(module, "_float64");
}

}  // namespace localsvm
