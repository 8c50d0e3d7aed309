#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "kernel_options.hpp"
#include "localsvm/kernel_rows.hpp"
#include "localsvm/kernel_solve.hpp"
#include "localsvm/kernels.hpp"
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
void bind_solve_gram(nb::module_& module) {
    module.def("solve_gram", &solve_gram<T>, nb::arg("gram").noconvert(),
               nb::arg("task"), nb::arg("options"),
               "Solve one kernel SVM on a given kernel matrix.");
}

void bind_types(nb::module_& module) {
    nb::enum_<KernelKind>(module, "KernelKind", "Form of a kernel.")
        .value("linear", KernelKind::linear)
        .value("polynomial", KernelKind::polynomial)
        .value("rbf", KernelKind::rbf);
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
    });
    bind_solve_gram<float>(module);
    bind_solve_gram<double>(module);
}

}  // namespace localsvm
