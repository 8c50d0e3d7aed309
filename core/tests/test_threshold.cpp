// Threshold clustering against a plain loop; continued scans, weights, interrupts.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/threshold.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

using Clock = std::chrono::steady_clock;

// Rows and centres go through the same loop; distances in double.
template <class T>
class PlainClusters {
  public:
    struct Cluster {
        std::vector<double> center, sum;
        double mass;
        std::vector<std::int64_t> rows;
    };

    explicit PlainClusters(const ThresholdOptions& options)
        : threshold(options.threshold), options_(options) {}

    void add_rows(const Table& table, const std::vector<double>& weights) {
        for (std::int64_t i = 0; i < table.n_rows; ++i) {
            const double weight = weights[static_cast<std::size_t>(i)];
            if (weight == 0) continue;
            Cluster alone{row_of(table, i), row_of(table, i), weight, {i}};
            for (double& value : alone.sum) value *= weight;
            while (founds(alone) && full()) grow(alone);
            if (founds(alone))
                clusters.push_back(alone);
            else
                join(clusters[nearest(alone.center)], alone);
        }
    }
    std::vector<std::int32_t> labels(const Table& table) const {
        std::vector<std::int32_t> result(static_cast<std::size_t>(table.n_rows), -1);
        for (std::int64_t i = 0; i < table.n_rows; ++i)
            result[static_cast<std::size_t>(i)] =
                static_cast<std::int32_t>(nearest(row_of(table, i)));
        for (std::size_t k = 0; k < clusters.size(); ++k)
            for (const std::int64_t i : clusters[k].rows)
                result[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(k);
        return result;
    }

    std::vector<Cluster> clusters;
    double threshold;

  private:
    static std::vector<double> row_of(const Table& table, std::int64_t i) {
        return {table.row(i), table.row(i) + table.n_cols};
    }
    static double squared_distance(const std::vector<double>& x,
                                   const std::vector<double>& z) {
        double sum = 0;
        for (std::size_t j = 0; j < x.size(); ++j) sum += (x[j] - z[j]) * (x[j] - z[j]);
        return sum;
    }
    static double distance(const std::vector<double>& x, const std::vector<double>& z) {
        return std::sqrt(squared_distance(x, z));
    }
    std::size_t nearest(const std::vector<double>& x) const {
        std::size_t best = 0;
        for (std::size_t k = 1; k < clusters.size(); ++k)
            if (distance(x, clusters[k].center) < distance(x, clusters[best].center))
                best = k;
        return best;
    }
    bool full() const {
        return static_cast<std::int64_t>(clusters.size()) >= options_.max_clusters;
    }
    bool founds(const Cluster& row) const {
        return clusters.empty() ||
               distance(row.center, clusters[nearest(row.center)].center) > threshold;
    }
    void join(Cluster& own, const Cluster& other) {
        own.mass += other.mass;
        own.rows.insert(own.rows.end(), other.rows.begin(), other.rows.end());
        for (std::size_t j = 0; j < own.sum.size(); ++j) {
            own.sum[j] += other.sum[j];
            if (options_.follows_mean)
                own.center[j] = static_cast<T>(own.sum[j] / own.mass);
        }
    }
    // Square of Ward's distance.
    static double cost(const Cluster& one, const Cluster& other) {
        return 2 * squared_distance(one.center, other.center) /
               (1 / one.mass + 1 / other.mass);
    }
    void grow(const Cluster& row) {
        std::vector<double> gaps;
        for (const Cluster& one : clusters) {
            double gap = std::numeric_limits<double>::infinity();
            for (const Cluster& other : clusters)
                if (&one != &other) gap = std::min(gap, cost(one, other));
            gaps.push_back(gap);
        }
        std::sort(gaps.begin(), gaps.end());
        const double own = distance(row.center, clusters[nearest(row.center)].center);
        if (own * own <= gaps.front()) {
            threshold = own;
            return;
        }
        const double rank = std::floor(0.15 * static_cast<double>(gaps.size() - 1));
        const double gap = gaps[static_cast<std::size_t>(rank)];
        threshold = std::max(threshold, std::sqrt(gap));
        const double limit = std::max(threshold * threshold, gap);
        const std::vector<Cluster> before = std::move(clusters);
        clusters.clear();
        for (const Cluster& cluster : before) {
            Cluster* best = nullptr;
            for (Cluster& kept : clusters)
                if (cost(kept, cluster) <= limit &&
                    (!best || cost(kept, cluster) < cost(*best, cluster)))
                    best = &kept;
            if (best) {
                if (cluster.mass > best->mass) best->center = cluster.center;
                join(*best, cluster);
            } else {
                clusters.push_back(cluster);
            }
        }
    }

    ThresholdOptions options_;
};

template <class T>
ThresholdState<T> state_of(const ThresholdScan<T>& scan) {
    return {scan.centers.data(), scan.sums.data(), scan.masses.data(),
            static_cast<std::int64_t>(scan.masses.size())};
}

template <class Rows, class T = typename Rows::value_type>
ThresholdScan<T> scan(const Rows& rows, const std::vector<double>& weights,
                      const ThresholdOptions& options,
                      const ThresholdScan<T>& before = {}) {
    StopFlag stop;
    return scan_threshold(rows, weights.data(), state_of(before), options, Watch{},
                          stop);
}

template <class T>
bool same_clusters(const ThresholdScan<T>& one, const ThresholdScan<T>& two) {
    return one.centers == two.centers && one.sums == two.sums &&
           one.masses == two.masses && one.threshold == two.threshold;
}

std::vector<double> some_weights(std::int64_t n, Numbers& numbers) {
    std::vector<double> weights(static_cast<std::size_t>(n));
    for (double& weight : weights)
        weight = numbers.chance(20) ? 0.0 : static_cast<double>(1 + numbers.below(3));
    weights.front() = 1;
    return weights;
}

template <class T>
void check_against_plain_loop(const Table& table, const ThresholdOptions& options,
                              Numbers& numbers) {
    const std::vector<double> weights = some_weights(table.n_rows, numbers);
    const DenseStore<T> store(table);
    const CsrStore<T, std::int64_t> csr(table);
    const ThresholdScan<T> got = scan(store.rows, weights, options);
    PlainClusters<T> plain(options);
    plain.add_rows(table, weights);

    const double tolerance = 100 * std::numeric_limits<T>::epsilon();
    CHECK_EQUAL(got.masses.size(), plain.clusters.size());
    CHECK_NEAR(got.threshold, plain.threshold, tolerance);
    CHECK(got.labels == plain.labels(table));
    CHECK(got.moved_to.empty());
    if (got.masses.size() != plain.clusters.size()) return;
    for (std::size_t k = 0; k < plain.clusters.size(); ++k) {
        const auto& cluster = plain.clusters[k];
        CHECK_EQUAL(got.masses[k], cluster.mass);
        for (std::size_t j = 0; j < cluster.sum.size(); ++j) {
            const std::size_t entry = k * cluster.sum.size() + j;
            CHECK_NEAR(got.centers[entry], cluster.center[j], tolerance);
            CHECK_NEAR(got.sums[entry], cluster.sum[j], 1e-9);
        }
    }
    const ThresholdScan<T> sparse = scan(csr.rows, weights, options);
    CHECK(same_clusters(got, sparse));
    CHECK(got.labels == sparse.labels);
}

// Small whole numbers: distances are exact, and many are equal.
Table grid_table(std::int64_t n_rows, std::int64_t n_cols, Numbers& numbers) {
    Table table(n_rows, n_cols);
    for (double& value : table.values) value = static_cast<double>(numbers.below(4));
    return table;
}

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::string words(const Table& table, const ThresholdOptions& options) {
    return std::to_string(table.n_rows) + " x " + std::to_string(table.n_cols) +
           ", threshold " + std::to_string(options.threshold) + ", at most " +
           std::to_string(options.max_clusters) +
           (options.follows_mean ? ", means" : ", leaders");
}

template <class T>
void scans_agree_with_plain_loop() {
    Numbers numbers(111);
    for (const std::int64_t n_rows : {1, 2, 150}) {
        for (const std::int64_t n_cols : {0, 1, 3, 16, 35}) {
            const Table table = random_table(n_rows, n_cols, 60, numbers);
            const Table grid = grid_table(n_rows, n_cols, numbers);
            for (const std::int64_t most :
                 {std::int64_t{1}, std::int64_t{7}, std::int64_t{40}, unlimited}) {
                for (const double threshold : {0.0, 1.0, 2.5}) {
                    const ThresholdOptions leaders{threshold, most, false};
                    const ThresholdOptions means{threshold, most, true};
                    check::context = words(table, leaders);
                    check_against_plain_loop<T>(table, leaders, numbers);
                    check_against_plain_loop<T>(grid, leaders, numbers);
                    check::context = words(table, means);
                    check_against_plain_loop<T>(table, means, numbers);
                }
            }
        }
    }
}

Table part_of(const Table& table, std::int64_t first, std::int64_t last) {
    Table part(last - first, table.n_cols);
    std::copy(table.row(first), table.row(last), part.values.data());
    return part;
}

// Scans rows piece by piece and keeps the labels of earlier pieces up to date.
template <class T>
ThresholdScan<T> scan_in_pieces(const Table& table, const std::vector<double>& weights,
                                ThresholdOptions options,
                                const std::vector<std::int64_t>& ends) {
    ThresholdScan<T> state;
    std::vector<std::int32_t> labels;
    std::int64_t first = 0;
    for (const std::int64_t last : ends) {
        const DenseStore<T> piece(part_of(table, first, last));
        const std::vector<double> piece_weights(weights.begin() + first,
                                                weights.begin() + last);
        const std::size_t n_before = state.masses.size();
        state = scan(piece.rows, piece_weights, options, state);
        options.threshold = state.threshold;
        CHECK_EQUAL(state.moved_to.size(), n_before);
        for (std::int32_t& label : labels)
            label = state.moved_to[static_cast<std::size_t>(label)];
        labels.insert(labels.end(), state.labels.begin(), state.labels.end());
        first = last;
    }
    state.labels = labels;
    return state;
}

template <class T>
void pieces_give_the_bits_of_one_scan() {
    Numbers numbers(112);
    const Table table = random_table(200, 9, 80, numbers);
    const DenseStore<T> store(table);
    std::vector<double> weights(200);
    for (double& weight : weights) weight = 1.5 + numbers.next();
    for (const bool follows_mean : {false, true}) {
        for (const std::int64_t most : {std::int64_t{12}, unlimited}) {
            const ThresholdOptions options{0.5, most, follows_mean};
            check::context = words(table, options);
            const ThresholdScan<T> whole = scan(store.rows, weights, options);
            const ThresholdScan<T> pieces =
                scan_in_pieces<T>(table, weights, options, {1, 40, 40, 113, 200});
            CHECK(same_clusters(whole, pieces));
            CHECK(whole.labels == pieces.labels);
        }
    }
}

template <class T>
void rows_of_weight_zero_are_absent() {
    check::context = "";
    Numbers numbers(113);
    const Table table = random_table(120, 4, 100, numbers);
    std::vector<double> weights(120, 1.0);
    std::fill(weights.begin() + 60, weights.end(), 0.0);
    for (const bool follows_mean : {false, true}) {
        const ThresholdOptions options{0, 10, follows_mean};
        const DenseStore<T> all(table), half(part_of(table, 0, 60));
        CHECK(same_clusters(scan(all.rows, weights, options),
                            scan(half.rows, weights, options)));
    }
}

void rows_without_weight_and_clusters_have_no_label() {
    check::context = "";
    Numbers numbers(114);
    const DenseStore<double> store(random_table(3, 2, 100, numbers));
    const ThresholdScan<double> got = scan(store.rows, {0.0, 0.0, 0.0}, {0, 2, false});
    CHECK(got.labels == std::vector<std::int32_t>(3, -1));
    CHECK(got.masses.empty());
}

void copies_join_at_threshold_zero() {
    check::context = "";
    Numbers numbers(115);
    const Table once = random_table(30, 5, 100, numbers);
    Table table(90, 5);
    std::vector<std::int32_t> expected;
    for (std::int64_t i = 0; i < 90; ++i) {
        std::copy_n(once.row(i % 30), 5, table.row(i));
        expected.push_back(static_cast<std::int32_t>(i % 30));
    }
    const DenseStore<float> store(table);
    const ThresholdScan<float> got =
        scan(store.rows, std::vector<double>(90, 1.0), {0, unlimited, false});
    CHECK(got.labels == expected);
    CHECK(got.masses == std::vector<double>(30, 3.0));
}

void a_lower_limit_merges_what_there_is() {
    check::context = "";
    Numbers numbers(116);
    const DenseStore<double> store(random_table(100, 3, 100, numbers));
    const std::vector<double> weights(100, 1.0);
    const ThresholdScan<double> many = scan(store.rows, weights, {0, unlimited, false});
    CHECK_EQUAL(many.masses.size(), std::size_t{100});
    const DenseStore<double> nothing(Table(0, 3));
    const ThresholdScan<double> few = scan(nothing.rows, {}, {0, 5, false}, many);
    CHECK_AT_MOST(few.masses.size(), std::size_t{5});
    std::vector<double> masses(few.masses.size());
    for (const std::int32_t k : few.moved_to) masses[static_cast<std::size_t>(k)] += 1;
    CHECK(masses == few.masses);
}

template <class Scan>
void check_interrupt_ends(const Scan& long_scan) {
    int polls = 0;
    Clock::time_point signal;
    const Watch watch{[&] {
        if (++polls == 2) signal = Clock::now();
        return polls >= 2;
    }};
    StopFlag stop;
    long_scan(watch, stop);
    CHECK(stop.reason() == StopReason::interrupted);
    CHECK_AT_MOST(2, polls);
    CHECK_AT_MOST(std::chrono::duration<double>(Clock::now() - signal).count(), 0.5);
}

// Every row founds a cluster, or as many clusters are compared with one another.
void an_interrupt_ends_a_scan() {
    Numbers numbers(117);
    constexpr std::int64_t n = 100000;
    const DenseStore<float> store(random_table(n, 20, 100, numbers)),
        nothing(Table(0, 20));
    const std::vector<double> ones(static_cast<std::size_t>(20 * n), 1.0);
    check::context = "rows";
    check_interrupt_ends([&](const Watch& watch, StopFlag& stop) {
        scan_threshold(store.rows, ones.data(), ThresholdState<float>{},
                       {0, unlimited, false}, watch, stop);
    });
    check::context = "growth";
    check_interrupt_ends([&](const Watch& watch, StopFlag& stop) {
        scan_threshold(nothing.rows, ones.data(),
                       {store.values.data(), ones.data(), ones.data(), n},
                       {0, 10, false}, watch, stop);
    });
}

// Without a gap that was measured, growth would go on for ever.
void a_flag_raised_before_ends_growth() {
    Numbers numbers(118);
    constexpr std::int64_t n = 50;
    const DenseStore<float> store(random_table(n, 3, 100, numbers)),
        nothing(Table(0, 3));
    const std::vector<double> ones(static_cast<std::size_t>(3 * n), 1.0);
    StopFlag stop;
    stop.raise(StopReason::interrupted);
    scan_threshold(nothing.rows, ones.data(),
                   {store.values.data(), ones.data(), ones.data(), n}, {0, 10, false},
                   Watch{}, stop);
    CHECK(stop.reason() == StopReason::interrupted);
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    scans_agree_with_plain_loop<float>();
    scans_agree_with_plain_loop<double>();
    pieces_give_the_bits_of_one_scan<float>();
    pieces_give_the_bits_of_one_scan<double>();
    rows_of_weight_zero_are_absent<float>();
    rows_of_weight_zero_are_absent<double>();
    rows_without_weight_and_clusters_have_no_label();
    copies_join_at_threshold_zero();
    a_lower_limit_merges_what_there_is();
    an_interrupt_ends_a_scan();
    a_flag_raised_before_ends_growth();
    return check::summary();
}
