#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "kernel_options.hpp"
#include "localsvm/kernel_block.hpp"
#include "localsvm/kernel_rows.hpp"
#include "localsvm/kernel_solve.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"

namespace localsvm {
namespace {

// Boxes, targets, start and result of one problem.
struct BoxTask {
    Vector<const double> lower, upper, target;
    Vector<double> beta, gradient;

    BoxProblem problem(std::int64_t n) const {
        const auto size = static_cast<std::size_t>(n);
        require(lower.shape(0) == size && upper.shape(0) == size &&
                    target.shape(0) == size && beta.shape(0) == size &&
                    gradient.shape(0) == size,
                "lower, upper, target, beta and gradient need one entry per row");
        return {lower.data(), upper.data(), target.data()};
    }
};

template <class Provider>
SmoCertificate solve(Provider provider, const BoxTask& task,
                     const KernelOptions& options) {
    const BoxProblem problem = task.problem(provider.size());
    return run_released(
        options.max_time, options.cancelled, [&](const Watch& watch, StopFlag& stop) {
            return solve_cached(std::move(provider), problem, options.smo,
                                options.cache_bytes, watch, stop, task.beta.data(),
                                task.gradient.data());
        });
}

template <class Handle>
SmoCertificate solve_kernel(const Handle& matrix, const Kernel& kernel,
                            const BoxTask& task, const KernelOptions& options) {
    const auto rows = matrix.rows();
    std::vector<std::int64_t> members(static_cast<std::size_t>(rows.n_rows()));
    std::iota(members.begin(), members.end(), 0);
    return solve(ComputedKernel(rows, kernel, std::move(members)), task, options);
}

template <class T>
SmoCertificate solve_gram(Matrix<const T> gram, const BoxTask& task,
                          const KernelOptions& options) {
    require(gram.shape(0) == gram.shape(1), "gram needs to be square");
    return solve(GivenKernel<T>(gram.data(), static_cast<std::int64_t>(gram.shape(0))),
                 task, options);
}

template <class T>
std::vector<const T*> row_list(const DenseRows<T>& rows) {
    std::vector<const T*> list;
    for (std::int64_t i = 0; i < rows.n_rows(); ++i) list.push_back(rows.row(i));
    return list;
}

// out[i, t] of all queries and targets; of a matrix with itself at half the cost.
template <class T>
void fill_values(const DenseRows<T>& queries, const DenseRows<T>& targets,
                 const Kernel& kernel, T* out) {
    const auto target_list = row_list(targets);
    if (queries.row(0) == targets.row(0) && queries.n_rows() == targets.n_rows())
        fill_kernel_symmetric(kernel, targets.n_cols(), target_list, out);
    else
        fill_kernel(kernel, targets.n_cols(), row_list(queries), target_list, out);
}

template <class T, class Index>
void fill_values(const CsrRows<T, Index>& queries, const CsrRows<T, Index>& targets,
                 const Kernel& kernel, T* out) {
    const std::int64_t n = targets.n_rows();
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    RowComparison<CsrRows<T, Index>> comparison(targets, kernel.comparison());
    comparison.set_targets(all.data(), n);
    for (std::int64_t i = 0; i < queries.n_rows(); ++i) {
        comparison.compare(queries, i, 0, n, out + i * n);
        kernel.apply(out + i * n, n);
    }
}

template <class Handle>
void kernel_values(const Handle& queries, const Handle& targets, const Kernel& kernel,
                   Matrix<typename Handle::Rows::value_type> out) {
    const auto query_rows = queries.rows(), target_rows = targets.rows();
    require(query_rows.n_cols() == target_rows.n_cols(),
            "queries and targets need the same columns");
    require(out.shape(0) == static_cast<std::size_t>(query_rows.n_rows()) &&
                out.shape(1) == static_cast<std::size_t>(target_rows.n_rows()),
            "out needs a row per query and a column per target");
    const nb::gil_scoped_release release;
    fill_values(query_rows, target_rows, kernel, out.data());
}

template <class T>
void bind_solve_gram(nb::module_& module) {
    module.def("solve_gram", &solve_gram<T>, nb::arg("gram").noconvert(),
               nb::arg("task"), nb::arg("options"),
               "Solve one kernel SVM on a given kernel matrix.");
}

void bind_types(nb::module_& module) {
    nb::enum_<KernelKind>(module, "KernelKind", "Form of a kernel.")
        .value("linear", KernelKind::linear)
        .value("polynomial", KernelKind::polynomial)
        .value("rbf", KernelKind::rbf)
        .value("laplace", KernelKind::laplace);
    nb::class_<Kernel>(module, "Kernel", "A kernel with its parameters.")
        .def(nb::init<KernelKind, double, double, int>(), nb::kw_only(),
             nb::arg("kind"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"));
    nb::class_<KernelOptions>(module, "KernelOptions",
                              "How far and how long SMO iterates.")
        .def(
            "__init__",
            [](KernelOptions* self, double tol, std::int64_t max_iter,
               std::int64_t cache_bytes, double max_time, int n_threads,
               nb::object cancelled) {
                new (self) KernelOptions{SmoSettings{tol, max_iter}, cache_bytes,
                                         max_time, n_threads, std::move(cancelled)};
            },
            nb::kw_only(), nb::arg("tol"), nb::arg("max_iter"), nb::arg("cache_bytes"),
            nb::arg("max_time"), nb::arg("n_threads"), nb::arg("cancelled").none());
    nb::class_<BoxTask>(module, "BoxTask",
                        "Boxes and targets of one problem; beta is start and result.")
        .def(nb::init<Vector<const double>, Vector<const double>, Vector<const double>,
                      Vector<double>, Vector<double>>(),
             nb::kw_only(), nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
             nb::arg("target").noconvert(), nb::arg("beta").noconvert(),
             nb::arg("gradient").noconvert());
    nb::class_<SmoCertificate, Certificate>(module, "SmoCertificate",
                                            "Certificate of a kernel SVM.")
        .def_ro("violation", &SmoCertificate::violation)
        .def_ro("intercept", &SmoCertificate::intercept);
}

}  // namespace

void bind_kernel(nb::module_& module) {
    bind_types(module);
    for_each_storage([&]<class Handle>() {
        module.def("solve_kernel", &solve_kernel<Handle>, nb::arg("matrix"),
                   nb::arg("kernel"), nb::arg("task"), nb::arg("options"),
                   "Solve one kernel SVM; kernel rows are computed and cached.");
        module.def("kernel_values", &kernel_values<Handle>, nb::arg("queries"),
                   nb::arg("targets"), nb::arg("kernel"), nb::arg("out").noconvert(),
                   "Kernel values of all queries with all targets.");
    });
    bind_solve_gram<float>(module);
    bind_solve_gram<double>(module);
}

}  // namespace localsvm
