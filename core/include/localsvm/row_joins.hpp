// Models of single rows that are made of others: behind a preparation, added, or one where
// the other is in doubt.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "localsvm/row_models.hpp"
#include "localsvm/row_preparation.hpp"

namespace localsvm {

// A model of rows of another type.
template <class T, class Inner>
class ConvertedRows final : public RowModel<T> {
  public:
    explicit ConvertedRows(SharedModel<Inner> model) : model_(std::move(model)) {}

    std::int64_t n_cols() const override { return model_->n_cols(); }
    std::int64_t n_outputs() const override { return model_->n_outputs(); }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*model_);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const RowModel<Inner>& model)
            : inner_(model.start()), row_(detail::unsigned_of(model.n_cols())) {}
        void decide(const T* row, double* out) override {
            std::transform(row, row + row_.size(), row_.begin(),
                           [](T value) { return static_cast<Inner>(value); });
            inner_->decide(row_.data(), out);
        }

      private:
        std::unique_ptr<RowDecision<Inner>> inner_;
        std::vector<Inner> row_;
    };

    SharedModel<Inner> model_;
};

// A weighted sum of models, each behind one of the preparations or behind none (-1).
template <class T>
class SumRows final : public RowModel<T> {
  public:
    struct Term {
        SharedModel<T> model;
        std::int64_t preparation;
        double weight;
    };
    SumRows(std::int64_t n_cols, std::vector<RowPreparation<T>> preparations,
            std::vector<Term> terms, std::vector<double> bias)
        : n_cols_(n_cols),
          preparations_(std::move(preparations)),
          terms_(std::move(terms)),
          bias_(std::move(bias)) {}

    std::int64_t n_cols() const override { return n_cols_; }
    std::int64_t n_outputs() const override {
        return static_cast<std::int64_t>(bias_.size());
    }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*this);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const SumRows& model)
            : model_(model), own_(model.bias_.size()) {
            for (const Term& term : model.terms_) parts_.push_back(term.model->start());
            std::size_t widest = 0;
            for (const RowPreparation<T>& each : model.preparations_) {
                widest = std::max(widest, detail::unsigned_of(each.n_coded()));
                prepared_.emplace_back(detail::unsigned_of(each.linear.n_out()));
            }
            work_.resize(widest);
        }
        void decide(const T* row, double* out) override {
            for (std::size_t k = 0; k < prepared_.size(); ++k)
                model_.preparations_[k].apply(row, work_.data(), prepared_[k].data());
            std::copy(model_.bias_.begin(), model_.bias_.end(), out);
            for (std::size_t t = 0; t < parts_.size(); ++t) {
                const Term& term = model_.terms_[t];
                parts_[t]->decide(
                    term.preparation < 0
                        ? row
                        : prepared_[detail::unsigned_of(term.preparation)].data(),
                    own_.data());
                for (std::size_t p = 0; p < own_.size(); ++p)
                    out[p] += term.weight * own_[p];
            }
            for (std::size_t p = 0; p < own_.size(); ++p)
                out[p] = static_cast<T>(out[p]);
        }

      private:
        const SumRows& model_;
        std::vector<std::unique_ptr<RowDecision<T>>> parts_;
        std::vector<std::vector<T>> prepared_;
        std::vector<T> work_;
        std::vector<double> own_;
    };

    std::int64_t n_cols_;
    std::vector<RowPreparation<T>> preparations_;
    std::vector<Term> terms_;
    std::vector<double> bias_;
};

// Two models behind one preparation: the second decides where the first is in doubt.
template <class T>
class SwitchRows final : public RowModel<T> {
  public:
    // second: null leaves every row to the first
    SwitchRows(RowPreparation<T> preparation, SharedModel<T> first,
               SharedModel<T> second, double threshold)
        : preparation_(std::move(preparation)),
          first_(std::move(first)),
          second_(std::move(second)),
          threshold_(threshold) {}

    std::int64_t n_cols() const override { return preparation_.n_cols; }
    std::int64_t n_outputs() const override { return first_->n_outputs(); }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*this);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const SwitchRows& model)
            : model_(model),
              first_(model.first_->start()),
              second_(model.second_ ? model.second_->start() : nullptr),
              work_(detail::unsigned_of(model.preparation_.n_coded())),
              prepared_(detail::unsigned_of(model.preparation_.linear.n_out())) {}
        void decide(const T* row, double* out) override {
            model_.preparation_.apply(row, work_.data(), prepared_.data());
            const bool is_hard = second_ && std::isinf(model_.threshold_);
            if (!is_hard) first_->decide(prepared_.data(), out);
            if (!second_) return;
            const std::int64_t n = model_.n_outputs();
            if (!is_hard && !(confidence(out, n) <= model_.threshold_)) return;
            second_->decide(prepared_.data(), out);
            for (std::int64_t p = 0; p < n; ++p) {
                const T own = static_cast<T>(out[p]);
                out[p] = n == 1 ? own : T(2) * own / static_cast<T>(n - 1) - T(1);
            }
        }

      private:
        // Lead of the class that wins.
        static T confidence(const double* decisions, std::int64_t n) {
            if (n == 1) return static_cast<T>(std::abs(decisions[0]));
            double best = -std::numeric_limits<double>::infinity(), next = best;
            for (std::int64_t p = 0; p < n; ++p)
                if (decisions[p] > best) {
                    next = best;
                    best = decisions[p];
                } else if (decisions[p] > next) {
                    next = decisions[p];
                }
            return static_cast<T>(best) - static_cast<T>(next);
        }

        const SwitchRows& model_;
        std::unique_ptr<RowDecision<T>> first_, second_;
        std::vector<T> work_, prepared_;
    };

    RowPreparation<T> preparation_;
    SharedModel<T> first_, second_;
    double threshold_;
};

}  // namespace localsvm
