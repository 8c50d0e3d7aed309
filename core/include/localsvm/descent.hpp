// Dual coordinate descent over rows: the order of visits, shrinking and stopping.
//
// A model owns the duals and the weights. Visiting a row solves the dual in the row's
// own variables and returns the row's share of the duality gap.
//
// Shrink   A row that its bounds have held for three visits in a row is set aside. The
//          rows come back when the gap of the others has fallen to a tenth of what the
//          last full epoch saw; only a full epoch can lead to the end. A pass, the unit
//          of max_iter, is as many visits as there are rows.
// Stop     (primal - dual) / primal <= tol, both recomputed from the duals in double.
//          The gap splits over the rows into terms >= 0. Their sum over the visited
//          rows is an estimate that an epoch gives for free; the exact gap is computed
//          only when the estimate is small.
// Drift    Steps round the working weights. In float32 they are rebuilt from the duals
//          every 32 passes, with an exact gap: without that the rows would soon be
//          optimal for weights that are not those of the duals. At a limit the solve
//          ends with the best duals that an exact gap was computed for.
// Update   A solution whose rows changed a little is repaired where they changed first:
//          all other rows would only follow the disturbance of the vectors that they
//          share, and have to come back. Then the free rows join, which are those that
//          yield first, and only the exact gap looks at all others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "localsvm/random.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"

namespace localsvm {

enum class Loss : std::int32_t { hinge = 0, squared_hinge = 1 };

struct Settings {
    Loss loss = Loss::hinge;
    double tol = 1e-3;
    std::int64_t max_iter = 1000;  // passes
    std::uint64_t seed = 0;
};

// What the visits of an epoch add up to.
struct Estimate {
    double gap = 0;
    double dual = 0;
};

// Model: blocks(), takes_part(i), finite(i); clip_duals(), which makes them feasible;
// enter(block), leave(block), prefetch(i); visit(i, estimate), whether the row could
// move; restore() and complete(), for a model that sets aside parts of a row;
// rebuild(), weights and dual objective from the duals in double, and by these weights
// loss(i, block) and squared_norm(); drifts, whether steps round to less than double;
// duals() and set_duals(duals), a copy of all of them. For an update: load(), which does
// as rebuild() for weights that are those of the duals; is_free(i).
template <class Model>
class Descent {
  public:
    // `stream` makes the permutations of this problem its own.
    Descent(Model& model, const Settings& settings, std::uint64_t stream,
            const StopFlag& stop)
        : model_(model),
          settings_(settings),
          random_(settings.seed, stream),
          stop_(stop) {}

    Certificate solve() {
        collect_rows();
        model_.clip_duals();
        rebuild();
        if (!finite_rows()) return finish(Status::not_finite);
        certificate_.primal = std::numeric_limits<double>::infinity();
        return iterate(settings_.tol);
    }

    // Starts from duals, and the weights of these, that solved the problem before the
    // rows with near[i] != 0, and others with them, had changed.
    Certificate update(const std::uint8_t* near) {
        collect_rows();
        model_.clip_duals();
        estimate_.dual = model_.load();
        if (!finite_rows()) return finish(Status::not_finite);
        const auto is_near = [&](std::int64_t i) { return near[i] != 0; };
        activate(is_near);
        sweep_until(local_share * settings_.tol, local_epochs);
        activate([&](std::int64_t i) { return is_near(i) || model_.is_free(i); });
        sweep_until(update_share * settings_.tol, free_epochs);
        restore_rows();
        count_passes();
        certify();
        // One more visit tells who is held.
        for (Place& place : order_) place.held = patience - 1;
        return iterate(update_share * settings_.tol);
    }

  private:
    static constexpr std::uint8_t patience = 3;
    // Entering and leaving a block costs about as much as visiting two rows.
    static constexpr std::int64_t block_overhead = 2;
    static constexpr std::int64_t lookahead = 4;
    static constexpr std::int64_t passes_of_drift = 32;
    // Parts of tol that the gap of the near rows, and that of all, falls to in an
    // update; what is left is there for the next one.
    static constexpr double local_share = 0.02, update_share = 0.7;
    static constexpr std::int64_t local_epochs = 30, free_epochs = 30;

    struct Place {
        std::int64_t row;
        std::uint8_t held;  // visits in a row at which its bounds held it
    };

    // Epochs over all rows, and between them over those that are not set aside.
    Certificate iterate(double goal) {
        while (!solved()) {
            if (must_stop()) return finish(Status::max_time);
            if (certificate_.n_iter == settings_.max_iter)
                return finish(Status::max_iter);
            const bool full = n_active() == n_rows() && model_.complete();
            run_epoch();
            count_passes();
            if (!std::isfinite(estimate_.gap)) return finish(Status::not_finite);
            const double target = goal * (estimate_.dual + estimate_.gap);
            if (full) {
                full_gap_ = estimate_.gap;
                if (estimate_.gap <= target) {
                    certify();
                    goal *= 0.5;
                }
            } else if (estimate_.gap <= std::max(target, 0.1 * full_gap_)) {
                restore_rows();
            }
            if (has_drifted()) {
                certify();
                restore_rows();
            }
        }
        certificate_.status = Status::converged;
        return certificate_;
    }

    void count_passes() {
        const std::int64_t passes = work_ / std::max<std::int64_t>(1, n_rows());
        certificate_.n_iter = std::clamp<std::int64_t>(passes, 1, settings_.max_iter);
    }
    bool has_drifted() const {
        return Model::drifts && work_ - rebuilt_at_ >= passes_of_drift * n_rows();
    }
    bool finite() const {
        return std::isfinite(certificate_.primal) && std::isfinite(certificate_.dual);
    }
    bool solved() const {
        return finite() && certificate_.relative_gap() <= settings_.tol;
    }
    bool finite_rows() const {
        return std::all_of(order_.begin(), order_.end(), [this](const Place& place) {
            return model_.finite(place.row);
        });
    }
    // The caller throws the result away, so nothing needs to be completed.
    bool abandoned() const { return stop_.reason() == StopReason::interrupted; }

    // However little time there is, every row is visited once.
    bool must_stop() const {
        return stop_.raised() && (certificate_.n_iter > 0 || abandoned());
    }

    std::int64_t n_rows() const { return static_cast<std::int64_t>(order_.size()); }
    std::int64_t n_active() const {
        std::int64_t count = 0;
        for (std::size_t b = 0; b + 1 < start_.size(); ++b)
            count += end_[b] - start_[b];
        return count;
    }

    void collect_rows() {
        const Blocks& blocks = model_.blocks();
        start_.assign(1, 0);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            for (std::int64_t p = blocks.start[b]; p < blocks.start[b + 1]; ++p)
                if (model_.takes_part(blocks.row_of[p]))
                    order_.push_back(Place{blocks.row_of[p], 0});
            start_.push_back(n_rows());
        }
        block_order_.resize(static_cast<std::size_t>(blocks.count));
        std::iota(block_order_.begin(), block_order_.end(), 0);
        restore_rows();
    }

    void restore_rows() {
        end_.assign(start_.begin() + 1, start_.end());
        model_.restore();
    }

    // Sets aside the rows that are not wanted.
    template <class Wanted>
    void activate(const Wanted& wanted) {
        for (std::size_t b = 0; b + 1 < start_.size(); ++b) {
            const auto middle = std::partition(
                order_.begin() + start_[b], order_.begin() + start_[b + 1],
                [&](const Place& place) { return wanted(place.row); });
            end_[b] = middle - order_.begin();
        }
    }

    // Until the active rows have a gap of that share of the dual.
    void sweep_until(double share, std::int64_t most) {
        for (std::int64_t t = 0; t < most && n_active() > 0; ++t) {
            if (stop_.raised()) return;
            run_epoch();
            const double goal = share * (estimate_.dual + estimate_.gap);
            if (!(estimate_.gap > goal)) return;
        }
    }

    void run_epoch() {
        estimate_.gap = 0;
        random_.shuffle(block_order_.data(),
                        static_cast<std::int64_t>(block_order_.size()));
        for (const std::int64_t block : block_order_) {
            if (start_[block] == end_[block]) continue;
            work_ += end_[block] - start_[block] + block_overhead;
            model_.enter(block);
            sweep_block(block);
            model_.leave(block);
            if (must_stop()) return;
        }
    }

    void sweep_block(std::int64_t block) {
        constexpr std::int64_t stop_check_mask = 255;
        random_.shuffle(order_.data() + start_[block], end_[block] - start_[block]);
        for (std::int64_t p = start_[block]; p < end_[block]; ++p) {
            if ((p & stop_check_mask) == 0 && must_stop()) return;
            // Rows come in random order, which no hardware prefetcher foresees.
            if (p + lookahead < end_[block]) model_.prefetch(order_[p + lookahead].row);
            Place& place = order_[p];
            place.held = model_.visit(place.row, estimate_) ? 0 : place.held + 1;
            if (place.held < patience) continue;
            place.held = patience - 1;
            end_[block] -= 1;
            std::swap(place, order_[end_[block]]);
            p -= 1;
        }
    }

    void rebuild() {
        certificate_.dual = model_.rebuild();
        estimate_.dual = certificate_.dual;
        rebuilt_at_ = work_;
    }

    // The same, and the primal. Keeps the duals if no better ones were seen.
    void certify() {
        rebuild();
        double loss = 0;
        for (std::size_t b = 0; b + 1 < start_.size(); ++b) {
            for (std::int64_t p = start_[b]; p < start_[b + 1]; ++p) {
                if (abandoned()) return;
                loss += model_.loss(order_[p].row, static_cast<std::int64_t>(b));
            }
        }
        certificate_.primal = 0.5 * model_.squared_norm() + loss;
        if (finite() && certificate_.relative_gap() < least_gap_) {
            least_gap_ = certificate_.relative_gap();
            best_duals_ = model_.duals();
        }
    }

    Certificate finish(Status status) {
        certify();
        if (certificate_.relative_gap() > least_gap_ && !abandoned()) {
            model_.set_duals(best_duals_);
            certify();
        }
        const bool rescued = solved() && status != Status::not_finite;
        certificate_.status = rescued ? Status::converged : status;
        return certificate_;
    }

    Model& model_;
    Settings settings_;
    Random random_;
    const StopFlag& stop_;

    std::vector<Place> order_;               // rows that take part, by block
    std::vector<std::int64_t> start_, end_;  // of the active rows of a block
    std::vector<std::int64_t> block_order_;
    std::int64_t work_ = 0;  // row visits, and what counts as such
    std::int64_t rebuilt_at_ = 0;
    Estimate estimate_;
    double full_gap_ = std::numeric_limits<double>::infinity();
    Certificate certificate_;
    double least_gap_ = std::numeric_limits<double>::infinity();
    std::vector<double> best_duals_;
};

}  // namespace localsvm
