// Many neighbourhoods at once: fits, local choices, cross-validation and decisions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
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
#include "reference.hpp"

namespace localsvm::testing {
namespace {

KernelSettings settings_of(const Kernel& kernel, double tol = 1e-9) {
    KernelSettings settings;
    settings.kernel = kernel;
    settings.C = 2;
    settings.smo = {tol, 1000000};
    return settings;
}

template <class Store>
std::vector<LocalModel> fit(const Store& store, const World& world,
                            const KernelSettings& settings, const LocalGrid& grid = {},
                            int n_threads = 1) {
    StopFlag stop;
    return fit_neighborhoods(store.rows, world.data(), world.neighborhoods(), settings,
                             grid, {n_threads, Watch{}, stop});
}

// The model says of every row what the plain one says.
void check_model(const LocalModel& model, const World& world, std::int64_t m,
                 const KernelSettings& settings, double error) {
    PlainModel plain{world.problem, settings.kernel, world.n_classes};
    plain.kernel.gamma = model.gamma;
    plain.train(world.members(m), model.C);
    CHECK_EQUAL(model.pairs.size(), plain.pairs.size());
    CHECK_EQUAL(model.only_class, plain.pairs.empty() ? plain.classes[0] : -1);
    CHECK(model.certificate.status == Status::converged);
    CHECK_AT_MOST(model.certificate.violation, settings.smo.tol);
    Worst worst;
    for (std::int64_t i = 0; i < world.problem.n_rows(); ++i) {
        const double* x = world.problem.table.row(i);
        const std::vector<double> got = scores_of(model, world, settings.kernel, x);
        const std::vector<double> exact = plain.scores(x);
        for (std::size_t c = 0; c < exact.size(); ++c)
            worst.see(got[c], exact[c], error);
    }
    CHECK_AT_MOST(worst.excess, 0.0);
}

template <class Store>
void check_fit(const World& world, const KernelSettings& settings, double error) {
    const Store store(world.problem.table);
    const std::vector<LocalModel> models = fit(store, world, settings);
    CHECK_EQUAL(static_cast<std::int64_t>(models.size()), world.count());
    const std::string context = check::context;
    for (std::int64_t m = 0; m < world.count(); ++m) {
        const LocalModel& model = models[static_cast<std::size_t>(m)];
        check::context = context + ", neighbourhood " + std::to_string(m);
        if (!model.pairs.empty()) {
            CHECK_EQUAL(model.C, settings.C);
            CHECK_EQUAL(model.gamma, settings.kernel.gamma);
        }
        check_model(model, world, m, settings, error);
    }
    check::context = context;
}

void fits_equal_each_neighbourhood_alone() {
    for (const std::int32_t n_classes : {2, 4}) {
        const World world = random_world(n_classes, 300);
        for (const Kernel& kernel : kernels) {
            check::context =
                name_of(kernel) + ", " + std::to_string(n_classes) + " classes";
            check_fit<DenseStore<double>>(world, settings_of(kernel), 1e-6);
            check_fit<CsrStore<double, std::int64_t>>(world, settings_of(kernel), 1e-6);
            check_fit<DenseStore<float>>(world, settings_of(kernel, 1e-4), 2e-2);
        }
    }
}

void without_weight_the_centre_decides() {
    check::context = "no weight";
    World world = random_world(4, 305);
    for (const std::int32_t centre : {14, 7, 0}) world.add({centre, 21, 28, 35});
    for (const LocalGrid& grid : {LocalGrid{}, LocalGrid{{1, 2}, {1, 2}, 3}}) {
        const auto models = fit(DenseStore<double>(world.problem.table), world,
                                settings_of(kernels[2]), grid);
        for (std::int64_t m = world.count() - 3; m < world.count(); ++m) {
            CHECK(models[m].pairs.empty());
            CHECK_EQUAL(models[m].only_class,
                        world.problem.labels[world.members(m)[0]]);
        }
    }
}

template <class T>
void threads_do_not_matter() {
    const LocalGrid grid{{0.1, 1, 10}, {0.5, 2}, 3};
    for (const std::int32_t n_classes : {2, 4}) {
        World world = random_world(n_classes, 310);
        Numbers numbers(311);
        for (int more = 0; more < 30; ++more)
            world.add_random(5 + numbers.below(30), numbers);
        const DenseStore<T> store(world.problem.table);
        KernelSettings settings = settings_of(kernels[2], 1e-3);
        settings.local_gamma = true;
        const FlatModels expected(fit(store, world, settings, grid));
        for (const int n_threads : {1, 2, 5}) {
            check::context = std::to_string(n_threads) + " threads";
            CHECK(FlatModels(fit(store, world, settings, grid, n_threads)) == expected);
        }
    }
}

void a_raised_flag_ends_the_fits() {
    const World world = random_world(4, 315);
    const DenseStore<double> store(world.problem.table);
    for (const StopReason reason : {StopReason::out_of_time, StopReason::interrupted}) {
        StopFlag stop;
        stop.raise(reason);
        const LocalModel model =
            fit_neighborhoods(store.rows, world.data(), world.neighborhoods(),
                              settings_of(kernels[2]), {}, {2, Watch{}, stop})[0];
        CHECK(model.support.empty());
        CHECK_EQUAL(model.pairs.empty(), reason == StopReason::interrupted);
        if (reason == StopReason::out_of_time)
            CHECK(model.certificate.status == Status::max_time);
    }
}

void certificates_tell_the_worst() {
    check::context = "certificate";
    LocalCertificate sum;
    SmoCertificate pair;
    for (const auto& [n_iter, violation, dual, status] :
         {std::tuple(3, 0.1, 1.0, Status::converged),
          {5, 0.3, 3.0, Status::max_iter},
          {2, 0.2, 2.0, Status::converged}}) {
        pair.primal = 4;
        pair.dual = dual;
        pair.n_iter = n_iter;
        pair.violation = violation;
        pair.status = status;
        sum.add(pair);
    }
    CHECK_EQUAL(sum.n_iter, 10);
    CHECK_EQUAL(sum.violation, 0.3);
    CHECK_EQUAL(sum.relative_gap, 0.75);
    CHECK(sum.status == Status::max_iter);
    const World world = random_world(4, 318);
    KernelSettings settings = settings_of(kernels[2]);
    settings.smo.max_iter = 2;
    const auto model = fit(DenseStore<double>(world.problem.table), world, settings)[0];
    CHECK(model.certificate.status == Status::max_iter);
    CHECK_AT_MOST(model.certificate.n_iter, 2 * 6);
}

void check_local_widths(const World& world, const Kernel& kernel) {
    KernelSettings settings = settings_of(kernel);
    settings.local_gamma = true;
    const auto dense = fit(DenseStore<double>(world.problem.table), world, settings);
    const auto csr =
        fit(CsrStore<double, std::int32_t>(world.problem.table), world, settings);
    for (std::int64_t m = 0; m < world.count(); ++m) {
        check::context = "width of " + std::to_string(m);
        if (dense[m].pairs.empty()) continue;
        const double gamma =
            kernel.gamma * plain_local_gamma(world, kernel.kind, world.members(m));
        CHECK_NEAR(dense[m].gamma, gamma, 1e-12 * gamma);
        CHECK_NEAR(csr[m].gamma, gamma, 1e-12 * gamma);
        check_model(dense[m], world, m, settings, 1e-6);
    }
}

void local_widths_are_medians() {
    World world = random_world(2, 320);
    world.problem.labels[1] = 0;
    world.problem.labels[51] = 1;
    world.add({1, 51});        // equal rows: no distance above zero
    world.add({1, 51, 2, 3});  // an odd and an even number of distances
    world.add({1, 51, 2, 3, 4, 5});
    world.add({51, 1, 8, 9, 10});
    for (const Kernel& kernel : {kernels[2], kernels[3]})
        check_local_widths(world, kernel);
}

void local_choices_follow_the_rule() {
    const LocalGrid grid{{0.05, 0.5, 5}, {0.3, 1, 4}, 3};
    int with_equal_errors = 0, against_hinge = 0;
    for (const std::int32_t n_classes : {2, 4}) {
        World world = random_world(n_classes, 330);
        Numbers numbers(331);
        for (const std::int64_t size : {2, 9, 15, 20, 24})
            world.add_random(size, numbers);
        // Equal weights make equal numbers of errors.
        for (double& weight : world.problem.bounds) weight = weight > 0 ? 1 : 0;
        const KernelSettings settings = settings_of(kernels[2]);
        const auto models =
            fit(DenseStore<double>(world.problem.table), world, settings, grid);
        for (std::int64_t m = 0; m < world.count(); ++m) {
            check::context = "choice " + std::to_string(m);
            if (models[m].pairs.empty()) continue;
            const auto losses = plain_losses(world, world.members(m), settings, grid);
            const auto least = std::min_element(losses.begin(), losses.end());
            const std::int64_t chosen = least - losses.begin();
            CHECK_EQUAL(models[m].C, settings.C * grid.C[chosen % 3]);
            CHECK_EQUAL(models[m].gamma,
                        settings.kernel.gamma * grid.gamma[chosen / 3]);
            check_model(models[m], world, m, settings, 1e-6);
            for (const auto& [errors, hinge] : losses) {
                with_equal_errors += errors == least->first && hinge > least->second;
                against_hinge += hinge < least->second;
            }
        }
    }
    check::context = "both parts of the rule have been in use";
    CHECK(with_equal_errors > 0 && against_hinge > 0);
}

void check_cross_validation(const World& world, const KernelSettings& settings,
                            const LocalGrid& grid) {
    constexpr double untouched = 1e6;
    const Folds folds(world);
    const std::size_t n_tests = folds.test_fold.size(), width = world.n_outputs();
    const std::vector<double> blank(grid.gamma.size() * grid.C.size() * n_tests * width,
                                    untouched);
    const DenseStore<double> store(world.problem.table);
    const auto run = [&](const World& order, const Folds& tests, int n_threads) {
        std::vector<double> scores(blank);
        StopFlag stop;
        cross_validate(store.rows, order.data(), order.neighborhoods(), tests.view(),
                       settings, grid, {n_threads, Watch{}, stop}, scores.data());
        return scores;
    };
    const std::vector<double> scores = run(world, folds, 1);
    for (const int n_threads : {2, 5}) CHECK(run(world, folds, n_threads) == scores);
    // What was solved before must leave no trace.
    World reversed{world.problem, world.n_classes};
    Folds moved(folds);
    for (std::int64_t m = world.count(); m > 0; --m) reversed.add(world.members(m - 1));
    for (std::int32_t& m : moved.assigned)
        m = static_cast<std::int32_t>(world.count()) - 1 - m;
    CHECK(run(reversed, moved, 1) == scores);
    std::vector<double> expected(blank);
    train_folds(
        world, folds, settings, grid, [&](auto s, auto m, auto fold, auto& model) {
            for (const std::int32_t i : world.members(m))
                for (auto t = folds.test_start[i]; t < folds.test_start[i + 1]; ++t) {
                    if (folds.assigned[i] != m || folds.test_fold[t] != fold) continue;
                    const auto values = model.scores(world.problem.table.row(i));
                    std::copy_n(values.data(), width,
                                expected.data() + (s * n_tests + t) * width);
                }
        });
    Worst worst;
    for (std::size_t p = 0; p < scores.size(); ++p)
        worst.see(scores[p], expected[p], 1e-6);
    CHECK_AT_MOST(worst.excess, 0.0);
    CHECK(std::count(scores.begin(), scores.end(), untouched) > 0);
}

void cross_validation_equals_training_without_the_rows() {
    for (const std::int32_t n_classes : {2, 4}) {
        check::context = "cross-validation, " + std::to_string(n_classes) + " classes";
        const World world = random_world(n_classes, 340);
        for (const Kernel& kernel : {kernels[2], kernels[3]}) {
            KernelSettings settings = settings_of(kernel);
            settings.local_gamma = true;
            check_cross_validation(world, settings, {{0.25, 2}, {0.5, 1.5}, 3});
        }
    }
}

template <class Store>
void check_decisions(const World& world, const Kernel& kernel, double error) {
    using T = typename decltype(Store::rows)::value_type;
    const Store store(world.problem.table);
    KernelSettings settings = settings_of(kernel, 1e-3);
    settings.local_gamma = kernel.of_distances();
    const auto models = fit(store, world, settings);
    Numbers numbers(351);
    const Table table = random_table(600, 3, 70, numbers);
    const Store queries(table);
    std::vector<std::int64_t> route(600), order(600);
    for (std::int64_t& model : route) model = numbers.below(world.count());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return route[a] < route[b]; });
    const std::size_t n_outputs = world.n_outputs();
    const FlatModels flat(models);
    std::vector<T> first(600 * n_outputs);
    for (const int n_threads : {1, 2, 5}) {
        std::vector<T> out(600 * n_outputs);
        decide_by_models(store.rows, flat.view(world.n_classes), kernel, queries.rows,
                         {route.data(), order.data()}, n_threads, out.data());
        if (n_threads == 1) first = out;
        CHECK(out == first);
    }
    Worst worst;
    for (std::int64_t i = 0; i < 600; ++i) {
        const auto exact = scores_of(models[route[i]], world, kernel, table.row(i));
        for (std::size_t c = 0; c < n_outputs; ++c)
            worst.see(first[i * n_outputs + c], exact[c], error);
    }
    CHECK_AT_MOST(worst.excess, 0.0);
}

void decisions_agree_with_plain_loop() {
    for (const std::int32_t n_classes : {2, 4}) {
        const World world = random_world(n_classes, 350);
        for (const Kernel& kernel : kernels) {
            check::context = "decisions, " + name_of(kernel);
            check_decisions<DenseStore<double>>(world, kernel, 1e-10);
            check_decisions<DenseStore<float>>(world, kernel, 1e-3);
            check_decisions<CsrStore<double, std::int32_t>>(world, kernel, 1e-10);
        }
    }
}

// Of its own rows, in use or held out, a neighbourhood says what its model says.
void neighbourhoods_know_their_scores() {
    const World world = random_world(4, 360);
    const DenseStore<double> store(world.problem.table);
    const KernelSettings settings = settings_of(kernels[2]);
    StopFlag stop;
    Neighborhood local(store.rows, world.data(), settings, stop);
    Worst worst;
    for (const std::int64_t m : {6, 4, 1, 2}) {
        local.load(world.rows.data() + world.start[m],
                   world.start[m + 1] - world.start[m]);
        local.hold_out([](std::int64_t p) { return p % 4 == 1; });
        local.set_gamma(0.75, false);
        local.solve(settings.C, 0, true);
        LocalModel model = LocalModel::from(local);
        model.gamma = 0.75;
        for (std::int64_t p = 0; p < local.size(); ++p) {
            std::vector<double> scores(4);
            local.scores(p, scores.data());
            const double* x = world.problem.table.row(local.members()[p]);
            const auto exact = scores_of(model, world, settings.kernel, x);
            for (std::size_t c = 0; c < 4; ++c) worst.see(scores[c], exact[c], 1e-10);
        }
    }
    CHECK_AT_MOST(worst.excess, 0.0);
}

// Rows at their bounds stay there when C grows: most of the work has been done.
void larger_penalties_start_at_smaller_ones() {
    check::context = "path of penalties";
    World world{random_problem({400, 2}, 365), 2};
    const DenseStore<double> store(world.problem.table);
    StopFlag stop;
    Neighborhood local(store.rows, world.data(), settings_of(kernels[2], 1e-3), stop);
    local.load(counted(400).data(), 400);
    local.set_gamma(0.75, true);
    std::int64_t steps[2] = {0, 0};
    for (const double warm : {0.0, 3.0})
        for (const double C : {0.03, 0.09, 0.27, 0.81}) {
            local.solve(C, C == 0.03 ? 0 : warm, true);
            if (C > 0.03) steps[warm > 0] += local.pair(0).certificate.n_iter;
        }
    CHECK_AT_MOST(steps[1], steps[0] * 2 / 3);
}

// Too many rows for a whole matrix; a third class makes the rows of a pair a part.
void large_neighbourhoods_are_solved_from_a_cache() {
    check::context = "large";
    constexpr std::int32_t n = largest_gram + 31;
    World world{random_problem({n + 9, 2}, 380), 3};
    for (std::int32_t i = 0; i < n; i += 100) world.problem.labels[i] = 2;
    Members members(n);
    for (std::int32_t p = 0; p < n; ++p) members[p] = n + 8 - p;
    world.add(members);
    KernelSettings settings = settings_of({KernelKind::rbf, 1.5, 0, 1}, 1e-2);
    settings.cache_bytes = 300 * n * sizeof(double);
    const LocalModel model =
        fit(DenseStore<double>(world.problem.table), world, settings)[0];
    CHECK(model.certificate.status == Status::converged);
    CHECK_AT_MOST(model.certificate.violation, 1e-2);
    CHECK_EQUAL(model.pairs.size(), 3u);
    const PairProblem part(world.problem, members, settings.C, {0, 1});
    const BoxedDual dual = part.dual(world.problem, settings.kernel);
    std::vector<double> beta;
    for (const std::int32_t i : part.members) {
        const auto found = std::find(model.support.begin(), model.support.end(), i);
        beta.push_back(found == model.support.end()
                           ? 0
                           : model.coef[found - model.support.begin()]);
    }
    const SmoCertificate whole = run_gram<double>(dual, {1e-4}).certificate;
    const Objectives got = objectives_of(dual, beta, model.intercept[0]);
    CHECK(whole.status == Status::converged);
    CHECK_AT_MOST(got.gap(), 1e-2 * dual.total_width());
    CHECK_AT_MOST(whole.dual, got.primal);
    CHECK_AT_MOST(got.dual, whole.primal);
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    fits_equal_each_neighbourhood_alone();
    without_weight_the_centre_decides();
    threads_do_not_matter<double>();
    threads_do_not_matter<float>();
    a_raised_flag_ends_the_fits();
    certificates_tell_the_worst();
    local_widths_are_medians();
    local_choices_follow_the_rule();
    cross_validation_equals_training_without_the_rows();
    decisions_agree_with_plain_loop();
    neighbourhoods_know_their_scores();
    larger_penalties_start_at_smaller_ones();
    large_neighbourhoods_are_solved_from_a_cache();
    return check::summary();
}
