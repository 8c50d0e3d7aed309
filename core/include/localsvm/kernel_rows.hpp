// Sources of kernel matrix rows for SMO: a matrix in memory, or a cache of rows that
// are computed on demand.
//
// A source numbers the rows of its problem by position. `row(p, n)` returns the first n
// entries of the row at position p; they stay valid for one more call. Positions can be
// changed only in a source that `reorders`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "localsvm/aligned.hpp"
#include "localsvm/kernels.hpp"

namespace localsvm {

// A symmetric matrix in memory; rows are padded<T>(n) or more apart, and their
// padding is zero.
template <class T>
class GramRows {
  public:
    using value_type = T;
    static constexpr bool reorders = false;

    GramRows(const T* values, std::int64_t n, std::int64_t stride)
        : values_(values), n_(n), stride_(stride) {}

    std::int64_t size() const { return n_; }
    std::int64_t original(std::int64_t position) const { return position; }
    T diagonal(std::int64_t position) const {
        return values_[position * (stride_ + 1)];
    }
    const T* row(std::int64_t position, std::int64_t) {
        return values_ + position * stride_;
    }

  private:
    const T* values_;
    std::int64_t n_, stride_;
};

// Kernel values of the listed rows of a row matrix.
template <class Rows>
class ComputedKernel {
  public:
    using value_type = typename Rows::value_type;

    ComputedKernel(const Rows& rows, const Kernel& kernel,
                   std::vector<std::int64_t> members)
        : rows_(rows),
          kernel_(kernel),
          members_(std::move(members)),
          comparison_(rows, kernel.comparison()) {
        comparison_.set_targets(members_.data(), size());
    }
    std::int64_t size() const { return static_cast<std::int64_t>(members_.size()); }
    // K(member, order[first .. last))
    void fill(std::int64_t member, std::int64_t first, std::int64_t last,
              value_type* out) {
        comparison_.compare(rows_, members_[static_cast<std::size_t>(member)], first,
                            last, out);
        kernel_.apply(out, last - first);
    }
    value_type diagonal(std::int64_t member) {
        const std::int64_t row = members_[static_cast<std::size_t>(member)];
        value_type value = static_cast<value_type>(
            kernel_.of_distances() ? 0.0 : rows_.squared_norm(row));
        kernel_.apply(&value, 1);
        return value;
    }
    void reorder(const std::vector<std::int64_t>& order) {
        std::vector<std::int64_t> aimed(order.size());
        for (std::size_t p = 0; p < order.size(); ++p)
            aimed[p] = members_[static_cast<std::size_t>(order[p])];
        comparison_.set_targets(aimed.data(), size());
    }

  private:
    Rows rows_;
    Kernel kernel_;
    std::vector<std::int64_t> members_;
    RowComparison<Rows> comparison_;
};

// Kernel values that were computed elsewhere: n x n, in C order.
template <class T>
class GivenKernel {
  public:
    using value_type = T;

    GivenKernel(const T* values, std::int64_t n)
        : values_(values), n_(n), order_(static_cast<std::size_t>(n)) {
        std::iota(order_.begin(), order_.end(), 0);
    }
    std::int64_t size() const { return n_; }
    void fill(std::int64_t member, std::int64_t first, std::int64_t last, T* out) {
        const T* row = values_ + member * n_;
        for (std::int64_t p = first; p < last; ++p)
            out[p - first] = row[order_[static_cast<std::size_t>(p)]];
    }
    T diagonal(std::int64_t member) { return values_[member * (n_ + 1)]; }
    void reorder(const std::vector<std::int64_t>& order) { order_ = order; }

  private:
    const T* values_;
    std::int64_t n_;
    std::vector<std::int64_t> order_;
};

// The most recently used rows, as many as fit into `bytes`, at least two. A row may be
// stored incompletely: its first entries, in the current order of positions.
template <class Provider>
class CachedRows {
  public:
    using value_type = typename Provider::value_type;
    static constexpr bool reorders = true;

    CachedRows(Provider provider, std::int64_t bytes)
        : provider_(std::move(provider)),
          n_(provider_.size()),
          stride_(padded<value_type>(n_)),
          order_(static_cast<std::size_t>(n_)),
          slot_of_(static_cast<std::size_t>(n_), -1) {
        std::iota(order_.begin(), order_.end(), 0);
        const std::int64_t row_bytes =
            stride_ * static_cast<std::int64_t>(sizeof(value_type));
        capacity_ =
            std::clamp<std::int64_t>(bytes / std::max<std::int64_t>(row_bytes, 1), 2,
                                     std::max<std::int64_t>(n_, 2));
    }

    std::int64_t size() const { return n_; }
    std::int64_t original(std::int64_t position) const {
        return order_[static_cast<std::size_t>(position)];
    }
    value_type diagonal(std::int64_t position) {
        return provider_.diagonal(original(position));
    }
    const value_type* row(std::int64_t position, std::int64_t length) {
        const std::int64_t member = original(position);
        const std::int64_t s = claim(member);
        Slot& slot = slots_[static_cast<std::size_t>(s)];
        if (slot.length < length) {
            provider_.fill(member, slot.length, length,
                           slot.values.data() + slot.length);
            slot.length = length;
        }
        return slot.values.data();
    }
    // The entries first <= p < last of a row, computed for this call if they are not
    // stored: a pass over many rows does not change the cache.
    const value_type* peek(std::int64_t position, std::int64_t first,
                           std::int64_t last) {
        const std::int64_t member = original(position);
        const std::int64_t s = slot_of_[static_cast<std::size_t>(member)];
        if (s >= 0 && slots_[static_cast<std::size_t>(s)].length >= last)
            return slots_[static_cast<std::size_t>(s)].values.data() + first;
        scratch_.resize(static_cast<std::size_t>(last - first));
        provider_.fill(member, first, last, scratch_.data());
        return scratch_.data();
    }
    // New position p holds what was at old position from[p]. Incomplete rows stay valid
    // because `from` permutes only the first `active` positions.
    void reorder(const std::vector<std::int64_t>& from, std::int64_t active) {
        std::vector<std::int64_t> moved(order_);
        for (std::int64_t p = 0; p < active; ++p)
            moved[static_cast<std::size_t>(p)] =
                order_[static_cast<std::size_t>(from[static_cast<std::size_t>(p)])];
        order_ = std::move(moved);
        provider_.reorder(order_);
        scratch_.resize(static_cast<std::size_t>(active));
        for (Slot& slot : slots_) {
            if (slot.length < active) {
                slot.length = 0;
                continue;
            }
            for (std::int64_t p = 0; p < active; ++p)
                scratch_[static_cast<std::size_t>(p)] =
                    slot.values[static_cast<std::size_t>(
                        from[static_cast<std::size_t>(p)])];
            std::copy(scratch_.begin(), scratch_.end(), slot.values.begin());
        }
    }

  private:
    struct Slot {
        AlignedVector<value_type> values;
        std::int64_t member = -1;
        std::int64_t length = 0;
        std::int64_t newer = -1, older = -1;
    };

    Slot& slot(std::int64_t s) { return slots_[static_cast<std::size_t>(s)]; }

    // The slot of a member: its own, a new one, or that of the least recently used row.
    std::int64_t claim(std::int64_t member) {
        std::int64_t s = slot_of_[static_cast<std::size_t>(member)];
        if (s >= 0) {
            unlink(s);
        } else if (static_cast<std::int64_t>(slots_.size()) < capacity_) {
            s = static_cast<std::int64_t>(slots_.size());
            slots_.emplace_back().values.resize(static_cast<std::size_t>(stride_));
        } else {
            s = oldest_;
            unlink(s);
            slot_of_[static_cast<std::size_t>(slot(s).member)] = -1;
            slot(s).length = 0;
        }
        slot(s).member = member;
        slot_of_[static_cast<std::size_t>(member)] = s;
        link_newest(s);
        return s;
    }
    void unlink(std::int64_t s) {
        const std::int64_t newer = slot(s).newer, older = slot(s).older;
        (newer >= 0 ? slot(newer).older : newest_) = older;
        (older >= 0 ? slot(older).newer : oldest_) = newer;
    }
    void link_newest(std::int64_t s) {
        slot(s).newer = -1;
        slot(s).older = newest_;
        if (newest_ >= 0) slot(newest_).newer = s;
        newest_ = s;
        if (oldest_ < 0) oldest_ = s;
    }

    Provider provider_;
    std::int64_t n_, stride_, capacity_;
    std::vector<std::int64_t> order_;
    std::vector<std::int64_t> slot_of_;
    std::vector<Slot> slots_;
    std::vector<value_type> scratch_;
    std::int64_t newest_ = -1, oldest_ = -1;
};

}  // namespace localsvm
