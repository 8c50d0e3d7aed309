// The kernel SVMs of one neighbourhood: one per pair of the classes in it.
//
// The products of its rows are computed once and shared by every kernel width, penalty
// and fold. One object is used for many neighbourhoods in turn, so that a thread
// allocates once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/kernel_block.hpp"
#include "localsvm/kernel_rows.hpp"
#include "localsvm/kernels.hpp"
#include "localsvm/one_vs_one.hpp"
#include "localsvm/smo.hpp"
#include "localsvm/status.hpp"

namespace localsvm {

// Labels are 0 ... n_classes - 1; the box of row i is C weight[i]. If there is a prior,
// rows x outputs, the SVMs learn what is added to it.
struct LabelledRows {
    const std::int32_t* label;
    const double* weight;
    std::int32_t n_classes;
    const double* prior = nullptr;
};

struct KernelSettings {
    Kernel kernel;
    double C = 1;
    bool local_gamma = false;  // kernel.gamma is a factor of local_gamma()
    SmoSettings smo;
    std::int64_t cache_bytes = 200 << 20;  // of one problem
};

// Number of rows up to which a whole matrix is faster than a cache of rows.
inline constexpr std::int64_t largest_gram = 2000;

struct PairSolution {
    ClassPair classes{};
    std::vector<double> beta;      // per row of the neighbourhood
    std::vector<double> gradient;  // K beta - target; decision() needs it
    SmoCertificate certificate;
};

template <class Rows>
class Neighborhood {
  public:
    using T = typename Rows::value_type;

    Neighborhood(const Rows& rows, const LabelledRows& data,
                 const KernelSettings& settings, const StopFlag& stop)
        : rows_(rows),
          data_(data),
          settings_(settings),
          stop_(stop),
          comparison_(rows, settings.kernel.comparison()),
          panels_(settings.kernel.comparison(), rows.n_cols()),
          votes_(data.n_classes) {}

    // Sets the rows of the neighbourhood, the centre first.
    void load(const std::int32_t* members, std::int64_t count) {
        members_.assign(members, members + count);
        held_out_.assign(members_.size(), 0);
        comparison_.set_targets(members_.data(), count);
        stride_ = padded<T>(count);
        has_products_ = false;
        find_classes();
    }
    std::int64_t size() const { return static_cast<std::int64_t>(members_.size()); }
    const std::vector<std::int32_t>& members() const { return members_; }
    // Classes of the rows that are not held out.
    const std::vector<std::int32_t>& classes() const { return classes_; }

    // gamma for the median of the positive distances to the centre, of the rows that are
    // not held out. Of kernels of distances.
    double local_gamma() {
        std::vector<T> distances(members_.size());
        comparison_.compare(rows_, members_[0], 0, size(), distances.data());
        std::size_t n_used = 0;
        for (std::size_t p = 0; p < distances.size(); ++p)
            if (!held_out_[p] && distances[p] > T(0))
                distances[n_used++] = distances[p];
        if (n_used == 0) return 1;
        const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(n_used / 2);
        std::nth_element(distances.begin(), middle,
                         distances.begin() + static_cast<std::ptrdiff_t>(n_used));
        return settings_.kernel.gamma_of(static_cast<double>(*middle));
    }
    // Sets the kernel of the next solves. keep_products: another gamma will follow.
    void set_gamma(double gamma, bool keep_products) {
        kernel_ = settings_.kernel;
        kernel_.gamma = gamma;
        if (size() > largest_gram) return;
        AlignedVector<T>& products = keep_products ? products_ : gram_;
        if (!has_products_) compute_products(products);
        apply_kernel(has_products_ ? products_ : products);
        has_products_ = has_products_ || keep_products;
    }
    // held(p) is true if the row at position p is held out.
    template <class HoldOut>
    void hold_out(const HoldOut& held) {
        for (std::int64_t p = 0; p < size(); ++p)
            held_out_[static_cast<std::size_t>(p)] = held(p) ? 1 : 0;
        find_classes();
    }

    // Solves every pair of classes, starting from the last solution times `warm`.
    // `decisions` keeps what decision() needs, also for the held-out rows.
    void solve(double C, double warm, bool decisions) {
        for_each_pair(
            [&](PairSolution& solution) { solve_pair(solution, C, warm, decisions); });
    }
    // The model if there is no time to solve: the prior, or the heavier class.
    void vote(double C) {
        for_each_pair([&](PairSolution& solution) {
            solution.beta.assign(members_.size(), 0.0);
            const double lead =
                mass(solution.classes.positive) - mass(solution.classes.negative);
            const double side = lead > 0 ? 1 : lead < 0 ? -1 : 0;
            solution.certificate = {};
            solution.certificate.status = Status::max_time;
            if (!data_.prior) solution.certificate.intercept = side;
            certify_vote(solution, C);
        });
    }
    std::int64_t n_pairs() const { return static_cast<std::int64_t>(n_pairs_); }
    const PairSolution& pair(std::int64_t p) const {
        return pairs_[static_cast<std::size_t>(p)];
    }
    // Decision of a pair for the row at a position, after solve(.., decisions = true).
    double decision(std::int64_t pair, std::int64_t position) const {
        const PairSolution& solution = pairs_[static_cast<std::size_t>(pair)];
        const auto p = static_cast<std::size_t>(position);
        // gradient = K beta - (sign - prior), so adding the sign gives K beta + prior.
        return solution.gradient[p] + sign(solution.classes, position) +
               solution.certificate.intercept;
    }
    // One score per class, or a single one for two classes.
    template <class S>
    void scores(std::int64_t position, S* out) {
        if (classes_.size() == 1) return votes_.constant(classes_[0], out);
        pair_classes_.clear();
        for (std::size_t p = 0; p < n_pairs_; ++p)
            pair_classes_.push_back(pairs_[p].classes);
        votes_.combine(
            pair_classes_.data(), n_pairs(),
            [&](std::int64_t p) { return decision(p, position); }, out);
    }
    std::int32_t label(std::int64_t position) const {
        return data_.label[members_[static_cast<std::size_t>(position)]];
    }
    double weight(std::int64_t position) const {
        return data_.weight[members_[static_cast<std::size_t>(position)]];
    }
    OneVsOne& votes() { return votes_; }

  private:
    template <class Visit>
    void for_each_pair(const Visit& visit) {
        const std::size_t n_classes = classes_.size();
        n_pairs_ = n_classes * (n_classes - 1) / 2;
        if (pairs_.size() < n_pairs_) pairs_.resize(n_pairs_);
        std::size_t p = 0;
        for (std::size_t a = 0; a < n_classes; ++a)
            for (std::size_t b = a + 1; b < n_classes; ++b, ++p) {
                pairs_[p].classes = {classes_[a], classes_[b]};
                visit(pairs_[p]);
            }
    }
    // Primal and violation at duals of zero; the dual objective is zero there.
    void certify_vote(PairSolution& solution, double C) {
        SmoCertificate& certificate = solution.certificate;
        double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
        for (std::int64_t p = 0; p < size(); ++p) {
            const double side = sign(solution.classes, p);
            if (side == 0 || !(weight(p) > 0)) continue;
            const double target = side - prior(solution.classes, p);
            const double loss = side * (target - certificate.intercept);
            certificate.primal += C * weight(p) * std::max(0.0, loss);
            // Only rows of the positive side may rise, only others may fall.
            if (side > 0) lowest = std::min(lowest, -target);
            if (side < 0) highest = std::max(highest, -target);
        }
        certificate.violation = std::max(0.0, highest - lowest);
    }
    void find_classes() {
        n_pairs_ = 0;
        classes_.clear();
        for (std::int64_t p = 0; p < size(); ++p) {
            if (held_out_[static_cast<std::size_t>(p)] || !(weight(p) > 0)) continue;
            if (std::find(classes_.begin(), classes_.end(), label(p)) == classes_.end())
                classes_.push_back(label(p));
        }
        std::sort(classes_.begin(), classes_.end());
    }
    // Only the upper triangle is meant to be read.
    void compute_products(AlignedVector<T>& out) {
        out.resize(static_cast<std::size_t>(size() * stride_));
        if constexpr (Rows::is_dense) {
            dense_members_.clear();
            for (const std::int32_t row : members_)
                dense_members_.push_back(rows_.row(row));
            panels_.compare_upper(dense_members_, [&](const Tile<T>& tile) {
                tile.write(out.data(), stride_);
            });
        } else {
            for (std::int64_t i = 0; i < size(); ++i)
                comparison_.compare(rows_, members_[static_cast<std::size_t>(i)], i,
                                    size(), out.data() + i * stride_ + i);
        }
    }
    // products may be gram_ itself.
    void apply_kernel(const AlignedVector<T>& products) {
        gram_.resize(products.size());
        tile_.resize(Tile<T>::size);
        for_each_upper_tile(size(), tile_.data(), [&](const Tile<T>& tile) {
            tile.read(products.data(), stride_);
            tile.apply(kernel_);
            tile.write_both(gram_.data(), stride_);
        });
        for (std::int64_t i = 0; i < size(); ++i)
            std::fill_n(gram_.data() + i * stride_ + size(), stride_ - size(), T(0));
    }
    // Weight of a class among the rows in use.
    double mass(std::int32_t own) const {
        double sum = 0;
        for (std::int64_t p = 0; p < size(); ++p)
            if (label(p) == own && !held_out_[static_cast<std::size_t>(p)])
                sum += weight(p);
        return sum;
    }
    double sign(const ClassPair& classes, std::int64_t position) const {
        if (held_out_[static_cast<std::size_t>(position)]) return 0;
        const std::int32_t own = label(position);
        return own == classes.positive ? 1.0 : own == classes.negative ? -1.0 : 0.0;
    }
    double prior(const ClassPair& classes, std::int64_t position) const {
        if (!data_.prior) return 0;
        const std::int64_t row = members_[static_cast<std::size_t>(position)];
        return votes_.between(data_.prior + row * votes_.n_outputs(), classes);
    }

    void solve_pair(PairSolution& solution, double C, double warm, bool decisions) {
        positions_.clear();
        lower_.clear();
        upper_.clear();
        target_.clear();
        beta_.clear();
        solution.beta.resize(members_.size());
        for (std::int64_t p = 0; p < size(); ++p) {
            const double side = sign(solution.classes, p);
            double& beta = solution.beta[static_cast<std::size_t>(p)];
            beta = side == 0 ? 0 : beta * warm;
            if (side == 0 && !decisions) continue;
            const double bound = side * C * weight(p);
            positions_.push_back(p);
            lower_.push_back(std::min(bound, 0.0));
            upper_.push_back(std::max(bound, 0.0));
            target_.push_back(side - prior(solution.classes, p));
            beta_.push_back(warm == 0 ? 0 : beta);
        }
        solution.gradient.resize(decisions ? members_.size() : 0);
        const BoxProblem problem{lower_.data(), upper_.data(), target_.data()};
        double* gradient = decisions ? solution.gradient.data() : nullptr;
        solution.certificate = size() <= largest_gram ? solve_gram(problem, gradient)
                                                      : solve_cached(problem, gradient);
        for (std::size_t p = 0; p < positions_.size(); ++p)
            solution.beta[static_cast<std::size_t>(positions_[p])] = beta_[p];
    }
    SmoCertificate solve_gram(const BoxProblem& problem, double* gradient) {
        const auto n = static_cast<std::int64_t>(positions_.size());
        const T* values = gram_.data();
        std::int64_t stride = stride_;
        if (n < size()) {
            stride = padded<T>(n);
            pair_gram_.assign(static_cast<std::size_t>(n * stride), T(0));
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j)
                    pair_gram_[static_cast<std::size_t>(i * stride + j)] =
                        values[positions_[static_cast<std::size_t>(i)] * stride_ +
                               positions_[static_cast<std::size_t>(j)]];
            values = pair_gram_.data();
        }
        GramRows<T> source(values, n, stride);
        return Smo(source, settings_.smo, space_, stop_)
            .solve(problem, beta_.data(), gradient);
    }
    SmoCertificate solve_cached(const BoxProblem& problem, double* gradient) {
        std::vector<std::int64_t> rows;
        for (const std::int64_t p : positions_)
            rows.push_back(members_[static_cast<std::size_t>(p)]);
        CachedRows source(ComputedKernel<Rows>(rows_, kernel_, std::move(rows)),
                          settings_.cache_bytes);
        return Smo(source, settings_.smo, space_, stop_)
            .solve(problem, beta_.data(), gradient);
    }

    Rows rows_;
    LabelledRows data_;
    KernelSettings settings_;
    const StopFlag& stop_;
    RowComparison<Rows> comparison_;
    PanelComparison<T> panels_;
    OneVsOne votes_;
    Kernel kernel_;
    std::vector<std::int32_t> members_, classes_;
    std::vector<char> held_out_;
    std::vector<PairSolution> pairs_;
    std::vector<ClassPair> pair_classes_;
    std::size_t n_pairs_ = 0;
    std::int64_t stride_ = 0;
    bool has_products_ = false;
    std::vector<const T*> dense_members_;
    AlignedVector<T> products_, gram_, pair_gram_, tile_;
    std::vector<std::int64_t> positions_;
    std::vector<double> lower_, upper_, target_, beta_;
    SmoSpace<T> space_;
};

}  // namespace localsvm
