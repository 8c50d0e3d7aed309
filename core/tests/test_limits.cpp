// Every solve ends: where rounding allows no progress, and when the time is over.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "local_reference.hpp"
#include "localsvm/kernel_batch.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/neighborhood.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"
#include "smo_checks.hpp"

namespace localsvm::testing {
namespace {

// However late it is, the most violating pairs are seen to: 100 steps, up to the next
// look at the flag.
void a_late_start_takes_a_few_steps() {
    check::context = "late";
    const Setup setup = large_setup();
    StopFlag stop;
    stop.raise(StopReason::out_of_time);
    SmoSpace<double> space;
    const Outcome outcome = run_gram<double>(setup.dual, {}, space, stop);
    const std::int64_t look = 100000 / (setup.dual.size() + 1);
    CHECK_AT_MOST(100, outcome.certificate.n_iter);
    CHECK_AT_MOST(outcome.certificate.n_iter, 100 + look);
    CHECK(outcome.certificate.dual > 0);
}

// Steps that change nothing but roundings end, and well before the limit of the steps.
template <class T>
void rounding_ends_the_steps() {
    for (const std::int64_t n : {6, 61}) {
        for (const Kernel& kernel : kernels) {
            check::context = std::to_string(n) + " rows, no tolerance";
            const Setup setup = random_setup(n, kernel, 270);
            How how;
            how.tol = 0;
            how.max_iter = 10'000'000;
            for (const Outcome& outcome :
                 {run_gram<T>(setup.dual, how), run_given<T>(setup.dual, how)}) {
                const SmoCertificate& certificate = outcome.certificate;
                check_honest<T>(setup.dual, outcome);
                CHECK(certificate.status == Status::converged ||
                      certificate.status == Status::stalled);
                CHECK_AT_MOST(certificate.n_iter, how.max_iter / 10);
                CHECK_AT_MOST(certificate.violation,
                              gradient_error<double>(setup.dual, outcome));
            }
        }
    }
}

// A box much larger than the duals does not round them to zero.
void duals_much_smaller_than_their_boxes_are_kept() {
    check::context = "wide boxes";
    const Setup setup = random_setup(40, kernels[2], 271);
    std::vector<double> signs(40, 1.0);
    std::fill(signs.begin() + 20, signs.end(), -1.0);
    const Outcome narrow = run_gram<double>(
        BoxedDual(setup.dual.k, signs, std::vector<double>(40, 1e6)), {});
    const Outcome wide = run_gram<double>(
        BoxedDual(setup.dual.k, signs, std::vector<double>(40, 1e18)), {});
    CHECK(narrow.certificate.status == Status::converged);
    CHECK(wide.certificate.status == Status::converged);
    CHECK_NEAR(wide.certificate.dual, narrow.certificate.dual,
               1e-3 * narrow.certificate.dual);
}

// Without time for its kernel matrix a neighbourhood takes the side of most weight, and
// its certificate is that of the constant.
void late_neighborhoods_vote() {
    check::context = "late";
    const World world = random_world(2, 316);
    const DenseStore<double> store(world.problem.table);
    StopFlag stop;
    stop.raise(StopReason::out_of_time);
    KernelSettings settings;
    settings.kernel = kernels[2];
    const LabelledRows data = world.data();
    const Neighborhoods neighborhoods = world.neighborhoods();
    const std::vector<LocalModel> models = fit_neighborhoods(
        store.rows, data, neighborhoods, settings, {}, {2, Watch{}, stop});
    CHECK(neighborhoods.count > 1);
    for (std::int64_t m = 0; m < neighborhoods.count; ++m) {
        const LocalModel& model = models[static_cast<std::size_t>(m)];
        if (model.pairs.empty()) continue;
        double mass[2] = {0, 0};
        for (std::int64_t p = neighborhoods.start[m]; p < neighborhoods.start[m + 1];
             ++p)
            mass[data.label[neighborhoods.rows[p]]] +=
                data.weight[neighborhoods.rows[p]];
        const double side = mass[1] > mass[0] ? 1 : mass[1] < mass[0] ? -1 : 0;
        CHECK_EQUAL(model.intercept[0], side);
        CHECK_EQUAL(model.certificate.violation, 2.0);
        CHECK_EQUAL(model.certificate.relative_gap, 1.0);
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    a_late_start_takes_a_few_steps();
    rounding_ends_the_steps<float>();
    rounding_ends_the_steps<double>();
    duals_much_smaller_than_their_boxes_are_kept();
    late_neighborhoods_vote();
    return check::summary();
}
