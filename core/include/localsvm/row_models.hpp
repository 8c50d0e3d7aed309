// Fitted models as single rows see them: nothing to look up in Python, nothing to prepare.
//
// A RowModel is never changed after it was made, so that threads can share it; each
// thread starts its own RowDecision, which holds the work space. Decisions are rounded
// to the type of the rows where the estimators round them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "localsvm/bins.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/local_models.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/nearest_rows.hpp"
#include "localsvm/simd.hpp"

namespace localsvm {

template <class T>
class RowDecision {
  public:
    virtual ~RowDecision() = default;
    virtual void decide(const T* row, double* out) = 0;
};

template <class T>
class RowModel {
  public:
    virtual ~RowModel() = default;
    virtual std::int64_t n_cols() const = 0;
    virtual std::int64_t n_outputs() const = 0;
    virtual std::unique_ptr<RowDecision<T>> start() const = 0;
};

template <class T>
using SharedModel = std::shared_ptr<const RowModel<T>>;

namespace detail {

// A model that needs no work space decides by itself.
template <class Model, class T>
class PlainDecision final : public RowDecision<T> {
  public:
    explicit PlainDecision(const Model& model) : model_(model) {}
    void decide(const T* row, double* out) override { model_.decide(row, out); }

  private:
    const Model& model_;
};

inline std::size_t unsigned_of(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace detail

// Weights of the columns.
template <class T>
class LinearRows final : public RowModel<T> {
  public:
    // coef: outputs x columns
    LinearRows(std::vector<double> coef, std::vector<double> intercept)
        : coef_(std::move(coef)), intercept_(std::move(intercept)) {}

    std::int64_t n_cols() const override {
        return static_cast<std::int64_t>(coef_.size() / intercept_.size());
    }
    std::int64_t n_outputs() const override {
        return static_cast<std::int64_t>(intercept_.size());
    }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<detail::PlainDecision<LinearRows, T>>(*this);
    }
    void decide(const T* row, double* out) const {
        const auto n = detail::unsigned_of(n_cols());
        for (std::size_t p = 0; p < intercept_.size(); ++p)
            out[p] = static_cast<T>(
                vector_loops<T>().dot_wide(row, coef_.data() + p * n, n) +
                intercept_[p]);
    }

  private:
    std::vector<double> coef_, intercept_;
};

// The arrays that ColumnCuts views.
struct OwnCuts {
    std::vector<std::uint8_t> is_category;
    std::vector<std::int32_t> n_bins;
    std::vector<std::int64_t> start;
    std::vector<double> cuts;
    std::vector<std::int32_t> cut_bin;

    ColumnCuts view() const {
        return {is_category.data(), n_bins.data(),
                start.data(),       cuts.data(),
                cut_bin.data(),     static_cast<std::int64_t>(n_bins.size())};
    }
};

// A table of effects per column.
template <class T>
class AdditiveRows final : public RowModel<T> {
  public:
    // table: outputs x bins of all columns
    AdditiveRows(OwnCuts cuts, std::vector<double> table, std::vector<double> bias)
        : cuts_(std::move(cuts)), table_(std::move(table)), bias_(std::move(bias)) {}

    std::int64_t n_cols() const override { return cuts_.view().n_cols; }
    std::int64_t n_outputs() const override {
        return static_cast<std::int64_t>(bias_.size());
    }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<detail::PlainDecision<AdditiveRows, T>>(*this);
    }
    void decide(const T* row, double* out) const {
        decide_binned(DenseRows<T>(row, 1, n_cols()), cuts_.view(), table_.data(),
                      bias_.data(), n_outputs(),
                      static_cast<std::int64_t>(table_.size() / bias_.size()), 0, 1,
                      out);
    }

  private:
    OwnCuts cuts_;
    std::vector<double> table_, bias_;
};

// Kernel SVMs that share their support vectors.
template <class T>
class KernelRows final : public RowModel<T> {
  public:
    // support: vectors x columns; duals: outputs x vectors
    KernelRows(std::vector<T> support, std::int64_t n_cols, const Kernel& kernel,
               std::vector<double> duals, std::vector<double> intercept)
        : support_(std::move(support)),
          n_cols_(n_cols),
          kernel_(kernel),
          duals_(std::move(duals)),
          intercept_(std::move(intercept)) {}

    std::int64_t n_cols() const override { return n_cols_; }
    std::int64_t n_outputs() const override {
        return static_cast<std::int64_t>(intercept_.size());
    }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*this);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const KernelRows& model)
            : model_(model),
              comparison_(model.support(), model.kernel_.comparison()),
              values_(detail::unsigned_of(model.n_support())) {
            std::vector<std::int64_t> all(values_.size());
            for (std::size_t i = 0; i < all.size(); ++i)
                all[i] = static_cast<std::int64_t>(i);
            comparison_.set_targets(all.data(), model.n_support());
        }
        void decide(const T* row, double* out) override {
            const std::int64_t n = model_.n_support();
            comparison_.compare(DenseRows<T>(row, 1, model_.n_cols_), 0, 0, n,
                                values_.data());
            model_.kernel_.apply(values_.data(), n);
            for (std::size_t p = 0; p < model_.intercept_.size(); ++p)
                out[p] = static_cast<T>(vector_loops<T>().dot_wide(
                                            values_.data(),
                                            model_.duals_.data() + p * values_.size(),
                                            values_.size()) +
                                        model_.intercept_[p]);
        }

      private:
        const KernelRows& model_;
        RowComparison<DenseRows<T>> comparison_;
        std::vector<T> values_;
    };

    std::int64_t n_support() const {
        return static_cast<std::int64_t>(support_.size()) / n_cols_;
    }
    DenseRows<T> support() const {
        return DenseRows<T>(support_.data(), n_support(), n_cols_);
    }

    std::vector<T> support_;
    std::int64_t n_cols_;
    Kernel kernel_;
    std::vector<double> duals_, intercept_;
};

// Kernel SVMs of cells: the one of the nearest centre decides.
template <class T>
class CellRows final : public RowModel<T> {
  public:
    // points: the centres, or all rows; cell_of: the cell of each
    CellRows(FlatModels models, std::int32_t n_classes, std::vector<T> support,
             std::int64_t n_cols, const Kernel& kernel, std::vector<T> points,
             std::vector<std::int32_t> cell_of, RowSketch sketch)
        : models_(std::move(models)),
          n_classes_(n_classes),
          support_(std::move(support)),
          n_cols_(n_cols),
          kernel_(kernel),
          points_(std::move(points)),
          cell_of_(std::move(cell_of)),
          index_(rows_of(points_), std::move(sketch)) {}

    CellRows(const CellRows&) = delete;
    CellRows& operator=(const CellRows&) = delete;

    std::int64_t n_cols() const override { return n_cols_; }
    std::int64_t n_outputs() const override { return n_classes_ == 2 ? 1 : n_classes_; }
    std::unique_ptr<RowDecision<T>> start() const override {
        return std::make_unique<Decision>(*this);
    }

  private:
    class Decision final : public RowDecision<T> {
      public:
        explicit Decision(const CellRows& model)
            : model_(model),
              search_(model.index_),
              decision_(model.rows_of(model.support_),
                        model.models_.view(model.n_classes_), model.kernel_),
              scores_(detail::unsigned_of(model.n_outputs())) {}
        void decide(const T* row, double* out) override {
            const std::int64_t cell =
                model_.cell_of_[detail::unsigned_of(search_.find(row))];
            if (cell != chosen_) decision_.choose(chosen_ = cell);
            decision_.decide(DenseRows<T>(row, 1, model_.n_cols_), 0, nullptr,
                             scores_.data());
            std::copy(scores_.begin(), scores_.end(), out);
        }

      private:
        const CellRows& model_;
        typename NearestRows<T>::Search search_;
        LocalDecision<DenseRows<T>> decision_;
        std::vector<T> scores_;
        std::int64_t chosen_ = -1;
    };

    DenseRows<T> rows_of(const std::vector<T>& values) const {
        return DenseRows<T>(
            values.data(), static_cast<std::int64_t>(values.size()) / n_cols_, n_cols_);
    }

    FlatModels models_;
    std::int32_t n_classes_;
    std::vector<T> support_;
    std::int64_t n_cols_;
    Kernel kernel_;
    std::vector<T> points_;
    std::vector<std::int32_t> cell_of_;
    NearestRows<T> index_;
};

// Decides the rows until one holds a value that is not taken: infinity, or NaN unless it
// stands for a missing value. Returns the place of that value, -1 if there is none.
template <class T, class Take>
std::int64_t decide_each(const RowModel<T>& model, const DenseRows<T>& rows,
                         bool takes_missing, const Take& take) {
    const auto decision = model.start();
    std::vector<double> scores(detail::unsigned_of(model.n_outputs()));
    for (std::int64_t i = 0; i < rows.n_rows(); ++i) {
        const T* row = rows.row(i);
        for (std::int64_t j = 0; j < rows.n_cols(); ++j)
            if (!std::isfinite(row[j]) && !(takes_missing && std::isnan(row[j])))
                return i * rows.n_cols() + j;
        decision->decide(row, scores.data());
        take(i, scores.data());
    }
    return -1;
}

// Class that decisions stand for, the first at a tie.
inline std::int64_t winning_class(const double* scores, std::int64_t n_outputs) {
    if (n_outputs == 1) return scores[0] > 0 ? 1 : 0;
    return std::max_element(scores, scores + n_outputs) - scores;
}

}  // namespace localsvm
