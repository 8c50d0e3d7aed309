// Plain one-vs-one models of neighbourhoods, and neighbourhoods to train them on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel_reference.hpp"
#include "localsvm/kernel_batch.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/neighborhood.hpp"
#include "localsvm/one_vs_one.hpp"
#include "problem.hpp"

namespace localsvm::testing {

inline std::vector<double> plain_scores(std::int32_t n_classes,
                                        const std::vector<ClassPair>& pairs,
                                        const std::vector<double>& decisions) {
    if (n_classes == 2) return decisions;
    std::vector<double> scores;
    for (std::int32_t c = 0; c < n_classes; ++c) {
        double votes = 0, confidence = 0;
        bool present = false;
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            if (pairs[p].negative != c && pairs[p].positive != c) continue;
            const double own = pairs[p].positive == c ? decisions[p] : -decisions[p];
            // A decision of zero is a vote for the negative class.
            votes += own > 0 || (own == 0 && pairs[p].negative == c) ? 1 : 0;
            confidence += own;
            present = true;
        }
        scores.push_back(present ? votes + confidence / (3 * (std::abs(confidence) + 1))
                                 : -1.0);
    }
    return scores;
}

inline std::int32_t plain_winner(const std::vector<double>& scores) {
    if (scores.size() == 1) return scores[0] > 0 ? 1 : 0;
    return static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) -
                                     scores.begin());
}

// Two classes of the members as a problem of their own; bounds are weights of C.
struct PairProblem {
    Members members{};
    std::vector<double> signs{}, bounds{};

    PairProblem(const Problem& problem, const Members& all, double C, ClassPair pair) {
        for (const std::int32_t i : all) {
            const std::int32_t label = problem.labels[i];
            if (label != pair.negative && label != pair.positive) continue;
            members.push_back(i);
            signs.push_back(label == pair.positive ? 1 : -1);
            bounds.push_back(C * problem.bounds[i]);
        }
    }
    BoxedDual dual(const Problem& problem, const Kernel& kernel) const {
        return {kernel_matrix(kernel, problem.table, members), signs, bounds};
    }
};

// The pairs of the classes that the members hold, each trained on its own rows alone.
struct PlainModel {
    const Problem& problem;
    Kernel kernel;
    std::int32_t n_classes;
    std::vector<std::int32_t> classes{};
    std::vector<ClassPair> pairs{};
    std::vector<Members> members{};  // of each pair
    std::vector<std::vector<double>> beta{};
    std::vector<double> intercept{};
    std::vector<double> prior{};  // rows x outputs, or none

    double prior_of(std::int32_t row, const ClassPair& pair) const {
        if (prior.empty()) return 0;
        if (n_classes == 2) return prior[row];
        const double* scores = prior.data() + row * n_classes;
        return scores[pair.positive] / 2 - scores[pair.negative] / 2;
    }
    void train(const Members& all, double C) {
        for (std::int32_t c = 0; c < n_classes; ++c)
            if (std::any_of(all.begin(), all.end(), [&](std::int32_t i) {
                    return problem.labels[i] == c && problem.bounds[i] > 0;
                }))
                classes.push_back(c);
        for (const std::int32_t a : classes)
            for (const std::int32_t b : classes)
                if (a < b) pairs.push_back({a, b});
        for (const ClassPair& pair : pairs) {
            const PairProblem part(problem, all, C, pair);
            BoxedDual dual = part.dual(problem, kernel);
            for (std::size_t i = 0; i < part.members.size(); ++i)
                dual.target[i] -= prior_of(part.members[i], pair);
            members.push_back(part.members);
            beta.push_back(solve_pairwise(dual).alpha);
            intercept.push_back(
                intercept_of(dual, beta.back(), gradient_of(dual, beta.back())));
        }
    }
    std::vector<double> decisions(const double* x) const {
        std::vector<double> result(intercept);
        for (std::size_t p = 0; p < pairs.size(); ++p)
            for (std::size_t i = 0; i < members[p].size(); ++i)
                result[p] +=
                    beta[p][i] * kernel_value(kernel, problem.table.row(members[p][i]),
                                              x, problem.table.n_cols);
        return result;
    }
    // Of a row of the problem, added to its prior.
    std::vector<double> scores(std::int32_t row) const {
        std::vector<double> sums = decisions(problem.table.row(row));
        for (std::size_t p = 0; p < pairs.size(); ++p)
            sums[p] += prior_of(row, pairs[p]);
        return scores(sums);
    }
    std::vector<double> scores(const double* x) const { return scores(decisions(x)); }
    std::vector<double> scores(const std::vector<double>& decisions) const {
        if (!pairs.empty()) return plain_scores(n_classes, pairs, decisions);
        if (n_classes == 2) return {classes[0] == 1 ? 1.0 : -1.0};
        std::vector<double> result(n_classes, -1.0);
        result[classes[0]] = 1;
        return result;
    }
};

// Labelled rows and their neighbourhoods. The bounds of the problem are weights.
struct World {
    Problem problem;
    std::int32_t n_classes;
    std::vector<std::int64_t> start{0};
    Members rows{};

    LabelledRows data() const {
        return {problem.labels.data(), problem.bounds.data(), n_classes};
    }
    Neighborhoods neighborhoods() const { return {start.data(), rows.data(), count()}; }
    std::int64_t count() const { return static_cast<std::int64_t>(start.size()) - 1; }
    std::size_t n_outputs() const { return n_classes == 2 ? 1 : n_classes; }
    Members members(std::int64_t m) const {
        return {rows.begin() + start[m], rows.begin() + start[m + 1]};
    }
    void add(const Members& members) {
        rows.insert(rows.end(), members.begin(), members.end());
        start.push_back(static_cast<std::int64_t>(rows.size()));
    }
    void add_random(std::int64_t size, Numbers& numbers) {
        Members all = counted(problem.n_rows());
        for (std::int64_t p = 0; p < size; ++p)
            std::swap(all[p], all[p + numbers.below(problem.n_rows() - p)]);
        add({all.begin(), all.begin() + size});
    }
};

// Unequal sizes; rows of weight zero, equal rows, a row twice, classes that are alone
// or only there with weight zero.
inline World random_world(std::int32_t n_classes, std::uint64_t seed) {
    World world{random_problem({60, 3, n_classes}, seed), n_classes};
    Problem& problem = world.problem;
    for (std::int64_t i = 0; i < 5; ++i)
        std::copy_n(problem.table.row(i), 3, problem.table.row(50 + i));
    for (std::size_t i = 0; i < 60; i += 7) problem.bounds[i] = 0;
    const auto of_class = [&](std::int32_t c, bool used) {
        Members members;
        for (std::int32_t i = 0; i < 60; ++i)
            if (problem.labels[i] == c && (problem.bounds[i] > 0) == used)
                members.push_back(i);
        return members;
    };
    Numbers numbers(seed + 1);
    world.add_random(25, numbers);
    world.add(of_class(0, true));
    world.add_random(40, numbers);
    Members mixed = of_class(n_classes - 1, true);
    const Members without_weight = of_class(0, false);
    mixed.insert(mixed.end(), without_weight.begin(), without_weight.end());
    world.add(mixed);
    world.add_random(12, numbers);
    world.rows.back() = world.rows[world.rows.size() - 3];
    world.add({1});
    world.add_random(60, numbers);
    return world;
}

// Squared for the RBF kernel, absolute for the Laplace kernel.
inline double plain_distance(const World& world, KernelKind kind, std::int32_t a,
                             std::int32_t b) {
    double sum = 0;
    for (std::int64_t j = 0; j < 3; ++j) {
        const double step =
            std::abs(world.problem.table.row(a)[j] - world.problem.table.row(b)[j]);
        sum += kind == KernelKind::rbf ? step * step : step;
    }
    return sum;
}

inline double plain_local_gamma(const World& world, KernelKind kind,
                                const Members& members) {
    std::vector<double> distances;
    for (const std::int32_t i : members)
        if (plain_distance(world, kind, members[0], i) > 0)
            distances.push_back(plain_distance(world, kind, members[0], i));
    if (distances.empty()) return 1;
    std::sort(distances.begin(), distances.end());
    const double median = distances[distances.size() / 2];
    return kind == KernelKind::rbf ? 1 / median : 1 / (10 * median);
}

// (errors, hinge) on held-out rows for each gamma and C, each part trained on its own.
inline std::vector<std::pair<double, double>> plain_losses(
    const World& world, const Members& members, const KernelSettings& settings,
    const LocalGrid& grid) {
    std::vector<std::pair<double, double>> losses;
    const auto size = static_cast<std::int64_t>(members.size());
    for (std::size_t s = 0; s < grid.gamma.size() * grid.C.size(); ++s) {
        auto& [errors, hinge] = losses.emplace_back();
        Kernel kernel = settings.kernel;
        kernel.gamma *= grid.gamma[s / grid.C.size()];
        const double C = settings.C * grid.C[s % grid.C.size()];
        for (std::int64_t fold = 0; fold < grid.n_folds; ++fold) {
            Members train;
            for (std::int64_t p = 0; p < size; ++p)
                if (p % grid.n_folds != fold) train.push_back(members[p]);
            PlainModel model{world.problem, kernel, world.n_classes};
            model.train(train, C);
            if (model.classes.empty()) continue;
            for (std::int64_t p = fold; p < size; p += grid.n_folds) {
                const double* x = world.problem.table.row(members[p]);
                const std::int32_t label = world.problem.labels[members[p]];
                const double weight = world.problem.bounds[members[p]];
                if (plain_winner(model.scores(x)) != label) errors += weight;
                const std::vector<double> decisions = model.decisions(x);
                for (std::size_t q = 0; q < decisions.size(); ++q) {
                    const auto [negative, positive] = model.pairs[q];
                    const double sign = label == positive ? 1 : -1;
                    if (label == positive || label == negative)
                        hinge += weight * std::max(0.0, 1 - sign * decisions[q]);
                }
            }
        }
    }
    return losses;
}

// Fold 3 trains on one class, fold 4 on nothing; a row has any number of tests.
struct Folds {
    std::vector<std::int32_t> assigned, test_fold;
    std::vector<std::uint8_t> in_train;
    std::vector<std::int64_t> test_start{0};

    explicit Folds(const World& world) : in_train(5 * 60) {
        Numbers numbers(341);
        for (std::int32_t i = 0; i < 60; ++i) {
            assigned.push_back(static_cast<std::int32_t>(numbers.below(world.count())));
            for (std::int32_t fold = 0; fold < 5; ++fold) {
                const bool alone = fold == 3 && world.problem.labels[i] == 0;
                in_train[fold * 60 + i] = fold < 3 ? numbers.chance(70) : alone;
                if (!in_train[fold * 60 + i] && numbers.chance(60))
                    test_fold.push_back(fold);
            }
            test_start.push_back(static_cast<std::int64_t>(test_fold.size()));
        }
    }
    CrossValidation view() const {
        return {assigned.data(), in_train.data(), 5, test_start.data(),
                test_fold.data()};
    }
    // The centre and the rows that some fold trains on: those of the local width.
    Members trained(const Members& members) const {
        Members kept{members[0]};
        for (const std::int32_t i : members)
            for (std::int32_t fold = 0; fold < 5; ++fold)
                if (in_train[fold * 60 + i]) {
                    kept.push_back(i);
                    break;
                }
        return kept;
    }
};

// Calls visit(s, m, fold, model) with each model trained from scratch.
template <class Visit>
void train_folds(const World& world, const Folds& folds, const KernelSettings& settings,
                 const LocalGrid& grid, const Visit& visit) {
    for (std::size_t s = 0; s < grid.gamma.size() * grid.C.size(); ++s)
        for (std::int64_t m = 0; m < world.count(); ++m)
            for (std::int32_t fold = 0; fold < 5; ++fold) {
                Members train = world.members(m);
                PlainModel model{world.problem, settings.kernel, world.n_classes};
                model.kernel.gamma *= plain_local_gamma(world, settings.kernel.kind,
                                                        folds.trained(train)) *
                                      grid.gamma[s / grid.C.size()];
                std::erase_if(train, [&](std::int32_t i) {
                    return !folds.in_train[fold * 60 + i];
                });
                model.train(train, settings.C * grid.C[s % grid.C.size()]);
                if (!model.classes.empty()) visit(s, m, fold, model);
            }
}

inline std::vector<double> scores_of(const LocalModel& model, const World& world,
                                     Kernel kernel, const double* x) {
    kernel.gamma = model.gamma;
    PlainModel plain{world.problem, kernel, world.n_classes, {model.only_class}};
    plain.pairs = model.pairs;
    plain.intercept = model.intercept;
    plain.members.assign(model.pairs.size(), model.support);
    const auto n = static_cast<std::int64_t>(model.support.size());
    for (auto coef = model.coef.begin(); coef != model.coef.end(); coef += n)
        plain.beta.emplace_back(coef, coef + n);
    return plain.scores(x);
}

}  // namespace localsvm::testing
