// Threshold order-dependent clustering (TOD): one pass over the rows, in their order.
//
// Row      x of weight w > 0; j = argmin_k |x - c_k|, the lowest k of several. If
//          |x - c_j| > threshold, x founds a cluster with the centre x, otherwise it
//          joins j.
// Centre   the row that founded the cluster, or the mean of its rows so far.
// Growth   Where a row would found one cluster too many. With masses m,
//          D(a, b) = |c_a - c_b| sqrt(2 m_a m_b / (m_a + m_b))         [Ward 1963]
//          is what merging a and b costs, and the distance of two single rows. The
//          smallest D of each of the K clusters is taken, the threshold is raised to
//          that of rank floor(0.15 (K - 1)), and each cluster, in their order, merges
//          with the one before it of smallest D, if that is within the threshold. The
//          heavier of the two leaders stays. Then the row is looked at again. If it is
//          nearer to a centre than the smallest D of all, the threshold is raised to
//          its distance instead, and it joins.
//          Let a < b be a pair of smallest D. If no cluster before b has merged, b
//          finds a as it was and within the threshold: at least one merges. By plain
//          distances, dense regions would merge first and few clusters get most rows.
// Weight 0 founds and moves nothing; such a row is labelled at the end.
//
// A row costs O(K d), a growth O(K^2 d); memory is O(K d) besides one label per row.
// The result of a scan holds all that the next one needs, so that two calls give the
// same bits as one. Distances are compared as square roots in double, because the
// threshold is a distance.
//
// [Friedman 1999] Introduction to pattern recognition, Imperial College Press.
// [Li 2007]       Support cluster machine, ICML (section 2.2.1).
// [Ward 1963]     Hierarchical grouping to optimize an objective function, JASA 58.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/simd.hpp"
#include "localsvm/status.hpp"

namespace localsvm {

struct ThresholdOptions {
    double threshold = 0;
    std::int64_t max_clusters = std::numeric_limits<std::int64_t>::max();
    bool follows_mean = false;  // or stays with the founding row
};

// Clusters in the order of their founding: their centres and the weighted sums of their
// rows, row after row, and their weights.
template <class T>
struct ThresholdState {
    const T* centers;
    const double* sums;
    const double* masses;
    std::int64_t count;
};

// labels: cluster of each row, -1 if there is none; moved_to: cluster that each of
// those before the scan is or is part of now.
template <class T>
struct ThresholdScan {
    std::int64_t n_cols;
    std::vector<T> centers;            // clusters x columns
    std::vector<double> sums, masses;  // sums: clusters x columns
    double threshold;
    std::vector<std::int32_t> labels, moved_to;
};

namespace detail {

// Tickets count the clusters founded; one that merges points to an earlier one.
class FoundingOrder {
  public:
    std::int32_t issue() {
        into_.push_back(static_cast<std::int32_t>(into_.size()));
        return into_.back();
    }
    void merge(std::int32_t later, std::int32_t earlier) {
        into_[static_cast<std::size_t>(later)] = earlier;
    }
    // Where the cluster of each ticket is among those that are left.
    std::vector<std::int32_t> places() const {
        std::vector<std::int32_t> place(into_.size());
        std::int32_t n_left = 0;
        for (std::size_t t = 0; t < into_.size(); ++t) {
            const auto earlier = static_cast<std::size_t>(into_[t]);
            place[t] = earlier == t ? n_left++ : place[earlier];
        }
        return place;
    }

  private:
    std::vector<std::int32_t> into_;
};

template <class T>
class ThresholdClusters {
  public:
    ThresholdClusters(const ThresholdState<T>& state, std::int64_t n_cols,
                      const ThresholdOptions& options, const StopFlag& stop)
        : options_(options),
          stop_(stop),
          n_cols_(n_cols),
          stride_(padded<T>(n_cols)),
          centers_(static_cast<std::size_t>(state.count * stride_)),
          sums_(state.sums, state.sums + state.count * n_cols),
          masses_(state.masses, state.masses + state.count) {
        for (std::int64_t k = 0; k < state.count; ++k) {
            std::copy_n(state.centers + k * n_cols, n_cols, center(k));
            tickets_.push_back(order_.issue());
        }
        set_targets();
        while (size() > options_.max_clusters &&
               grow(std::numeric_limits<double>::infinity())) {
        }
    }

    std::int64_t size() const { return static_cast<std::int64_t>(masses_.size()); }

    // Length of the rows that `add` and `nearest` read: zero from n_cols on.
    std::int64_t stride() const { return stride_; }

    // Counts a row; gives the ticket of its cluster.
    std::int32_t add(const T* x, double weight) {
        std::int64_t j = nearest(x, size());
        while (!within(j) && size() >= options_.max_clusters &&
               grow(root(squared_[static_cast<std::size_t>(j)])))
            j = nearest(x, size());
        if (!within(j)) return found(x, weight);
        mass(j) += weight;
        loops_.axpy_wide(weight, x, sum(j), width());
        follow(j);
        return ticket(j);
    }
    std::int32_t nearest_ticket(const T* x) {
        const std::int64_t j = nearest(x, size());
        return j < 0 ? -1 : ticket(j);
    }
    std::vector<std::int32_t> places() const { return order_.places(); }

    void store(ThresholdScan<T>& scan) {
        scan.n_cols = n_cols_;
        scan.threshold = options_.threshold;
        for (std::int64_t k = 0; k < size(); ++k)
            scan.centers.insert(scan.centers.end(), center(k), center(k) + n_cols_);
        scan.sums = std::move(sums_);
        scan.masses = std::move(masses_);
    }

  private:
    std::size_t width() const { return static_cast<std::size_t>(n_cols_); }
    T* center(std::int64_t k) { return centers_.data() + k * stride_; }
    double* sum(std::int64_t k) { return sums_.data() + k * n_cols_; }
    double& mass(std::int64_t k) { return masses_[static_cast<std::size_t>(k)]; }
    std::int32_t& ticket(std::int64_t k) {
        return tickets_[static_cast<std::size_t>(k)];
    }

    void resize(std::int64_t count) {
        centers_.resize(static_cast<std::size_t>(count * stride_));
        sums_.resize(static_cast<std::size_t>(count * n_cols_));
        masses_.resize(static_cast<std::size_t>(count));
        tickets_.resize(static_cast<std::size_t>(count));
        set_targets();
    }
    void set_targets() {
        targets_.resize(masses_.size());
        squared_.resize(masses_.size());
        for (std::int64_t k = 0; k < size(); ++k)
            targets_[static_cast<std::size_t>(k)] = center(k);
    }

    // Fills squared_ for the first `count` centres.
    void measure(const T* x, std::int64_t count) {
        loops_.squared_distances(x, targets_.data(), static_cast<std::size_t>(count),
                                 static_cast<std::size_t>(whole_vectors<T>(n_cols_)),
                                 squared_.data());
    }
    // Of the first `count` centres; -1 if there is none.
    std::int64_t nearest(const T* x, std::int64_t count) {
        if (count == 0) return -1;
        measure(x, count);
        return std::min_element(squared_.begin(), squared_.begin() + count) -
               squared_.begin();
    }
    bool within(std::int64_t j) const {
        return j >= 0 &&
               root(squared_[static_cast<std::size_t>(j)]) <= options_.threshold;
    }
    static double root(T squared) { return std::sqrt(static_cast<double>(squared)); }

    std::int32_t found(const T* x, double weight) {
        const std::int64_t k = size();
        const std::int32_t founded = order_.issue();
        resize(k + 1);
        std::copy_n(x, stride_, center(k));
        loops_.axpy_wide(weight, x, sum(k), width());
        mass(k) = weight;
        ticket(k) = founded;
        return founded;
    }
    void follow(std::int64_t j) {
        if (!options_.follows_mean) return;
        for (std::int64_t c = 0; c < n_cols_; ++c)
            center(j)[c] = static_cast<T>(sum(j)[c] / mass(j));
    }

    // `distance` is that of the row which needs room. The clusters kept stay in front,
    // in their order. False if nothing changed: on a stop, or where weights overflow.
    bool grow(double distance) {
        std::vector<double> gaps = smallest_costs();
        // Gaps that a stop left out are infinite, as a distance may be.
        if (stop_.raised()) return false;
        if (distance * distance <= *std::min_element(gaps.begin(), gaps.end())) {
            options_.threshold = distance;
            return true;
        }
        const auto rank = gaps.begin() + static_cast<std::int64_t>(
                                             0.15 * static_cast<double>(size() - 1));
        std::nth_element(gaps.begin(), rank, gaps.end());
        options_.threshold = std::max(options_.threshold, std::sqrt(*rank));
        const double limit = std::max(options_.threshold * options_.threshold, *rank);
        std::int64_t kept = 0;
        for (std::int64_t k = 0; k < size() && !stop_.raised(); ++k) {
            const std::int64_t j = cheapest(k, kept, limit);
            if (j >= 0)
                merge(k, j);
            else
                move(k, kept++);
        }
        const bool merged = kept < size() && !stop_.raised();
        resize(kept);
        return merged;
    }
    // D(a, b)^2, after b was measured.
    double cost(std::int64_t a, std::int64_t b) {
        return 2 * static_cast<double>(squared_[static_cast<std::size_t>(a)]) /
               (1 / mass(a) + 1 / mass(b));
    }
    // Of the first `count` clusters that with which k merges; -1 if there is none.
    std::int64_t cheapest(std::int64_t k, std::int64_t count, double limit) {
        measure(center(k), count);
        std::int64_t best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (std::int64_t a = 0; a < count; ++a) {
            const double own = cost(a, k);
            if (own <= limit && own < least) {
                least = own;
                best = a;
            }
        }
        return best;
    }
    // Squared, of merging each cluster with another.
    std::vector<double> smallest_costs() {
        std::vector<double> gaps(masses_.size(),
                                 std::numeric_limits<double>::infinity());
        for (std::int64_t b = 1; b < size() && !stop_.raised(); ++b) {
            measure(center(b), b);
            double& gap = gaps[static_cast<std::size_t>(b)];
            for (std::int64_t a = 0; a < b; ++a) {
                const double own = cost(a, b);
                gap = std::min(gap, own);
                gaps[static_cast<std::size_t>(a)] =
                    std::min(gaps[static_cast<std::size_t>(a)], own);
            }
        }
        return gaps;
    }
    void merge(std::int64_t later, std::int64_t earlier) {
        order_.merge(ticket(later), ticket(earlier));
        if (mass(later) > mass(earlier))
            std::copy_n(center(later), stride_, center(earlier));
        mass(earlier) += mass(later);
        for (std::int64_t c = 0; c < n_cols_; ++c) sum(earlier)[c] += sum(later)[c];
        follow(earlier);
    }
    void move(std::int64_t from, std::int64_t to) {
        if (from == to) return;
        std::copy_n(center(from), stride_, center(to));
        std::copy_n(sum(from), n_cols_, sum(to));
        mass(to) = mass(from);
        ticket(to) = ticket(from);
    }

    ThresholdOptions options_;
    const StopFlag& stop_;
    const VectorLoops<T>& loops_ = vector_loops<T>();
    std::int64_t n_cols_, stride_;
    AlignedVector<T> centers_;
    std::vector<double> sums_, masses_;
    std::vector<std::int32_t> tickets_;
    FoundingOrder order_;
    std::vector<const T*> targets_;
    std::vector<T> squared_;
};

// One row at a time as dense numbers, filled up with zeros.
template <class Rows>
class DenseRow {
  public:
    using T = typename Rows::value_type;

    DenseRow(const Rows& rows, std::int64_t length)
        : rows_(rows), values_(static_cast<std::size_t>(length)) {}
    const T* load(std::int64_t i) {
        std::fill(values_.begin(), values_.end(), T(0));
        rows_.axpy(i, T(1), values_.data());
        return values_.data();
    }

  private:
    const Rows& rows_;
    AlignedVector<T> values_;
};

// The ticket of each row; those of weight zero come last.
template <class Rows, class T = typename Rows::value_type>
std::vector<std::int32_t> add_rows(const Rows& rows, const double* weights,
                                   const StopFlag& stop,
                                   ThresholdClusters<T>& clusters) {
    DenseRow<Rows> row(rows, clusters.stride());
    std::vector<std::int32_t> tickets(static_cast<std::size_t>(rows.n_rows()), -1);
    for (std::int64_t i = 0; i < rows.n_rows() && !stop.raised(); ++i)
        if (weights[i] > 0)
            tickets[static_cast<std::size_t>(i)] =
                clusters.add(row.load(i), weights[i]);
    for (std::int64_t i = 0; i < rows.n_rows() && !stop.raised(); ++i)
        if (!(weights[i] > 0))
            tickets[static_cast<std::size_t>(i)] = clusters.nearest_ticket(row.load(i));
    return tickets;
}

}  // namespace detail

// Clusters the rows, going on from a state; what it points to stays as it is. A raised
// flag ends the scan, and its result is then of no use.
template <class Rows, class T = typename Rows::value_type>
ThresholdScan<T> scan_threshold(const Rows& rows, const double* weights,
                                const ThresholdState<T>& state,
                                const ThresholdOptions& options, const Watch& watch,
                                StopFlag& stop) {
    ThresholdScan<T> scan;
    run_tasks(1, 1, watch, stop, [&](std::int64_t, std::int64_t) {
        detail::ThresholdClusters<T> clusters(state, rows.n_cols(), options, stop);
        scan.labels = detail::add_rows(rows, weights, stop, clusters);
        const std::vector<std::int32_t> places = clusters.places();
        for (std::int32_t& label : scan.labels)
            if (label >= 0) label = places[static_cast<std::size_t>(label)];
        scan.moved_to.assign(places.begin(), places.begin() + state.count);
        clusters.store(scan);
    });
    return scan;
}

}  // namespace localsvm
