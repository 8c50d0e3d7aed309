// A mixture of linear SVMs, one row at a time: the logarithm of each class's sum over the
// components of share times exp(-loss).
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
#include "localsvm/simd.hpp"

namespace localsvm {

// Gates by how many logits each has: one of all components; or first that of the groups,
// then one for the components of each group. log_prior is added to the log shares.
template <class T>
struct MixtureGates {
    std::vector<std::int64_t> sizes;
    std::vector<T> log_prior;  // one per logit
};

template <class T>
class MixtureRows final : public RowModel<T> {
  public:
    // slope: values x columns, the logits and then the SVMs, task by task of a component
    MixtureRows(MixtureGates<T> gates, std::int64_t n_tasks, std::vector<T> slope,
                std::vector<T> offset)
        : gates_(std::move(gates)),
          n_tasks_(n_tasks),
          slope_(std::move(slope)),
          offset_(std::move(offset)) {
        const std::int64_t n = n_cols();
        for (std::size_t v = 0; v < offset_.size(); ++v)
            rows_.push_back(slope_.data() + v * detail::unsigned_of(n));
    }
    MixtureRows(const MixtureRows&) = delete;
    MixtureRows& operator=(const MixtureRows&) = delete;

    std::int64_t n_cols() const override {
        return static_cast<std::int64_t>(slope_.size() / offset_.size());
    }
    std::int64_t n_outputs() const override {
        return std::max<std::int64_t>(2, n_tasks_);
    }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*this);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const MixtureRows& model)
            : model_(model),
              values_(model.offset_.size()),
              joint_(detail::unsigned_of(model.n_components() * model.n_outputs())) {}
        void decide(const T* row, double* out) override {
            vector_loops<T>().dots(row, model_.rows_.data(), values_.size(),
                                   detail::unsigned_of(model_.n_cols()),
                                   values_.data());
            for (std::size_t v = 0; v < values_.size(); ++v)
                values_[v] += model_.offset_[v];
            const T* share = take_shares();
            const std::int64_t n_classes = model_.n_outputs();
            const T* decision = values_.data() + model_.n_logits();
            for (std::int64_t j = 0; j < model_.n_components(); ++j) {
                add_losses(decision + j * model_.n_tasks_,
                           joint_.data() + j * n_classes);
                for (std::int64_t c = 0; c < n_classes; ++c)
                    joint_[at(j * n_classes + c)] =
                        share[j] - joint_[at(j * n_classes + c)];
            }
            for (std::int64_t c = 0; c < n_classes; ++c) out[c] = sum_up(c, n_classes);
        }

      private:
        static std::size_t at(std::int64_t i) { return detail::unsigned_of(i); }

        // Turns logits into the logarithms of shares of the components.
        const T* take_shares() {
            std::int64_t first = 0;
            for (const std::int64_t size : model_.gates_.sizes) {
                T* own = values_.data() + first;
                const T top = *std::max_element(own, own + size);
                T sum = 0;
                for (std::int64_t j = 0; j < size; ++j) sum += std::exp(own[j] - top);
                const T level = std::log(sum);
                for (std::int64_t j = 0; j < size; ++j)
                    own[j] =
                        (own[j] - top) - level + model_.gates_.log_prior[at(first + j)];
                first += size;
            }
            if (model_.gates_.sizes.size() == 1) return values_.data();
            const std::int64_t n_groups = model_.gates_.sizes[0];
            T* own = values_.data() + n_groups;
            for (std::int64_t g = 0; g < n_groups; ++g)
                for (std::int64_t j = 0; j < model_.gates_.sizes[at(g + 1)]; ++j)
                    *own++ += values_[at(g)];
            return values_.data() + n_groups;
        }
        // Loss of each class by the decisions of one component.
        void add_losses(const T* decision, T* losses) const {
            const std::int64_t n = model_.n_tasks_;
            if (n == 1) {
                losses[0] = std::max(T(0), T(1) + decision[0]);
                losses[1] = std::max(T(0), T(1) - decision[0]);
                return;
            }
            T all = 0;
            for (std::int64_t t = 0; t < n; ++t)
                all += std::max(T(0), T(1) + decision[t]);
            for (std::int64_t t = 0; t < n; ++t)
                losses[t] = std::max(T(0), T(1) - decision[t]) -
                            std::max(T(0), T(1) + decision[t]) + all;
        }
        T sum_up(std::int64_t c, std::int64_t n_classes) const {
            T top = -std::numeric_limits<T>::infinity(), sum = 0;
            for (std::size_t p = at(c); p < joint_.size(); p += at(n_classes))
                top = std::max(top, joint_[p]);
            for (std::size_t p = at(c); p < joint_.size(); p += at(n_classes))
                sum += std::exp(joint_[p] - top);
            return std::log(sum) + top;
        }

        const MixtureRows& model_;
        std::vector<T> values_, joint_;
    };

    std::int64_t n_logits() const {
        std::int64_t total = 0;
        for (const std::int64_t size : gates_.sizes) total += size;
        return total;
    }
    std::int64_t n_components() const {
        return gates_.sizes.size() == 1 ? n_logits() : n_logits() - gates_.sizes[0];
    }

    MixtureGates<T> gates_;
    std::int64_t n_tasks_;
    std::vector<T> slope_, offset_;
    std::vector<const T*> rows_;
};

}  // namespace localsvm
