// SVMs of neighbourhoods that learn what is to be added to known decisions.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernel_reference.hpp"
#include "local_reference.hpp"
#include "localsvm/kernel_batch.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/neighborhood.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

KernelSettings tight_settings() {
    KernelSettings settings;
    settings.kernel = kernels[2];
    settings.C = 2;
    settings.smo = {1e-9, 1000000};
    return settings;
}

// Each row of the problem as a query of model m.
std::vector<double> query_all(const DenseStore<double>& store, const World& world,
                              const std::vector<LocalModel>& models, std::int64_t m,
                              const std::vector<double>& prior) {
    const std::vector<std::int64_t> route(60, m);
    std::vector<std::int64_t> order(60);
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> out(60 * world.n_outputs());
    const FlatModels flat(models);
    decide_by_models(store.rows, flat.view(world.n_classes), kernels[2], store.rows,
                     {route.data(), order.data(), prior.data()}, 1, out.data());
    return out;
}

// Training rows, queries and held-out rows alike.
void decisions_are_added_to_the_prior() {
    for (const std::int32_t n_classes : {2, 4}) {
        check::context = "prior, " + std::to_string(n_classes) + " classes";
        const World world = random_world(n_classes, 385);
        const std::size_t width = world.n_outputs();
        Numbers numbers(386);
        const auto prior = random_vector<double>(60 * width, numbers);
        LabelledRows data = world.data();
        data.prior = prior.data();
        const DenseStore<double> store(world.problem.table);
        const KernelSettings settings = tight_settings();
        StopFlag stop;
        const auto models = fit_neighborhoods(store.rows, data, world.neighborhoods(),
                                              settings, {}, {2, Watch{}, stop});
        Neighborhood local(store.rows, data, settings, stop);
        Worst worst;
        const auto compare = [&](const double* got, const std::vector<double>& exact) {
            for (std::size_t c = 0; c < width; ++c) worst.see(got[c], exact[c], 1e-6);
        };
        for (std::int64_t m = 0; m < world.count(); ++m) {
            const Members members = world.members(m);
            PlainModel whole{world.problem, kernels[2], n_classes}, part(whole);
            whole.prior = part.prior = prior;
            whole.train(members, settings.C);
            const auto scores = query_all(store, world, models, m, prior);
            for (std::int32_t i = 0; i < 60; ++i)
                compare(scores.data() + i * width, whole.scores(i));
            local.load(members.data(), static_cast<std::int64_t>(members.size()));
            local.hold_out([](std::int64_t p) { return p % 3 == 1; });
            local.set_gamma(kernels[2].gamma, false);
            local.solve(settings.C, 0, true);
            Members kept;
            for (std::size_t p = 0; p < members.size(); ++p)
                if (p % 3 != 1) kept.push_back(members[p]);
            part.train(kept, settings.C);
            for (std::size_t p = 0; p < members.size(); ++p) {
                double got[4];
                local.scores(static_cast<std::int64_t>(p), got);
                compare(got, part.scores(members[p]));
            }
        }
        CHECK_AT_MOST(worst.excess, 0.0);
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    localsvm::testing::decisions_are_added_to_the_prior();
    return check::summary();
}
