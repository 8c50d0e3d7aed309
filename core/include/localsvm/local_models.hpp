// The fitted SVMs of many neighbourhoods, and their decisions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/kernels.hpp"
#include "localsvm/neighborhood.hpp"
#include "localsvm/one_vs_one.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"

namespace localsvm {

// How the problems of one neighbourhood ended: the sum of steps, and the worst
// violation, gap and status.
struct LocalCertificate {
    std::int64_t n_iter = 0;
    double violation = 0;
    double relative_gap = 0;
    Status status = Status::converged;

    void add(const SmoCertificate& pair) {
        n_iter += pair.n_iter;
        violation = std::max(violation, pair.violation);
        relative_gap = std::max(relative_gap, pair.relative_gap());
        status = std::max(status, pair.status);
    }
};

// One model: the rows with a non-zero dual in any pair, and coefficients per pair.
struct LocalModel {
    std::vector<std::int32_t> support;
    std::vector<ClassPair> pairs;
    std::vector<double> coef;  // pairs x support
    std::vector<double> intercept;
    std::int32_t only_class = -1;  // predicted if there is no pair
    double gamma = 0, C = 0;
    LocalCertificate certificate;

    template <class Rows>
    static LocalModel from(const Neighborhood<Rows>& fitted) {
        LocalModel model;
        if (fitted.n_pairs() == 0) {
            // No row has positive weight: predict the class of the centre.
            model.only_class =
                fitted.classes().empty() ? fitted.label(0) : fitted.classes()[0];
            return model;
        }
        std::vector<std::int64_t> positions;
        for (std::int64_t i = 0; i < fitted.size(); ++i)
            for (std::int64_t p = 0; p < fitted.n_pairs(); ++p)
                if (fitted.pair(p).beta[static_cast<std::size_t>(i)] != 0) {
                    positions.push_back(i);
                    model.support.push_back(
                        fitted.members()[static_cast<std::size_t>(i)]);
                    break;
                }
        for (std::int64_t p = 0; p < fitted.n_pairs(); ++p) {
            const PairSolution& solution = fitted.pair(p);
            model.pairs.push_back(solution.classes);
            model.intercept.push_back(solution.certificate.intercept);
            model.certificate.add(solution.certificate);
            for (const std::int64_t i : positions)
                model.coef.push_back(solution.beta[static_cast<std::size_t>(i)]);
        }
        return model;
    }
};

// Many models end to end: the arrays of model m begin at *_start[m].
struct LocalModels {
    const std::int64_t* support_start;
    const std::int32_t* support;
    const std::int64_t* pair_start;
    const std::int32_t* pairs;  // negative and positive class, of each pair
    const double* intercept;
    const std::int64_t* coef_start;
    const double* coef;
    const std::int32_t* only_class;
    const double* gamma;
    std::int32_t n_classes;
};

// Owns the arrays that LocalModels views, and the certificates.
struct FlatModels {
    std::vector<std::int64_t> support_start{0}, pair_start{0}, coef_start{0};
    std::vector<std::int32_t> support, pairs, only_class;
    std::vector<double> intercept, coef, gamma, C;
    std::vector<std::int64_t> n_iter;
    std::vector<double> violation, relative_gap;
    std::vector<std::int32_t> status;

    explicit FlatModels(const std::vector<LocalModel>& models) {
        for (const LocalModel& model : models) add(model);
    }
    bool operator==(const FlatModels&) const = default;
    LocalModels view(std::int32_t n_classes) const {
        return {support_start.data(), support.data(),
                pair_start.data(),    pairs.data(),
                intercept.data(),     coef_start.data(),
                coef.data(),          only_class.data(),
                gamma.data(),         n_classes};
    }

  private:
    void add(const LocalModel& model) {
        support.insert(support.end(), model.support.begin(), model.support.end());
        coef.insert(coef.end(), model.coef.begin(), model.coef.end());
        for (const ClassPair& pair : model.pairs)
            pairs.insert(pairs.end(), {pair.negative, pair.positive});
        intercept.insert(intercept.end(), model.intercept.begin(),
                         model.intercept.end());
        support_start.push_back(static_cast<std::int64_t>(support.size()));
        pair_start.push_back(static_cast<std::int64_t>(intercept.size()));
        coef_start.push_back(static_cast<std::int64_t>(coef.size()));
        only_class.push_back(model.only_class);
        gamma.push_back(model.gamma);
        C.push_back(model.C);
        n_iter.push_back(model.certificate.n_iter);
        violation.push_back(model.certificate.violation);
        relative_gap.push_back(model.certificate.relative_gap);
        status.push_back(static_cast<std::int32_t>(model.certificate.status));
    }
};

// Evaluates one model at a time; each thread needs its own object.
template <class Rows>
class LocalDecision {
  public:
    using T = typename Rows::value_type;

    LocalDecision(const Rows& support_rows, const LocalModels& models,
                  const Kernel& kernel)
        : comparison_(support_rows, kernel.comparison()),
          models_(models),
          kernel_(kernel),
          votes_(models.n_classes) {}

    std::int64_t n_outputs() const { return votes_.n_outputs(); }

    void choose(std::int64_t model) {
        model_ = model;
        const std::int64_t first = models_.support_start[model];
        n_support_ = models_.support_start[model + 1] - first;
        comparison_.set_targets(models_.support + first, n_support_);
        kernel_.gamma = models_.gamma[model];
        values_.resize(static_cast<std::size_t>(n_support_));
        pairs_.clear();
        for (std::int64_t p = models_.pair_start[model];
             p < models_.pair_start[model + 1]; ++p)
            pairs_.push_back({models_.pairs[2 * p], models_.pairs[2 * p + 1]});
    }
    // Scores of row i of `queries` by the chosen model, added to its prior unless null.
    void decide(const Rows& queries, std::int64_t i, const double* prior, T* out) {
        if (pairs_.empty()) return votes_.constant(models_.only_class[model_], out);
        comparison_.compare(queries, i, 0, n_support_, values_.data());
        kernel_.apply(values_.data(), n_support_);
        votes_.combine(
            pairs_.data(), static_cast<std::int64_t>(pairs_.size()),
            [&](std::int64_t p) {
                const double* coef =
                    models_.coef + models_.coef_start[model_] + p * n_support_;
                return vector_loops<T>().dot_wide(
                           values_.data(), coef, static_cast<std::size_t>(n_support_)) +
                       models_.intercept[models_.pair_start[model_] + p] +
                       (prior
                            ? votes_.between(prior, pairs_[static_cast<std::size_t>(p)])
                            : 0.0);
            },
            out);
    }

  private:
    RowComparison<Rows> comparison_;
    LocalModels models_;
    Kernel kernel_;
    OneVsOne votes_;
    std::int64_t model_ = -1, n_support_ = 0;
    std::vector<T> values_;
    std::vector<ClassPair> pairs_;
};

}  // namespace localsvm
