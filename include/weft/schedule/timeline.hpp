// SPDX-License-Identifier: BSL-1.0
/// The busy times of one device while a schedule is being built.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/config.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::schedule {

/// A half-open stretch of time, in seconds.
struct interval {
  double start = 0;
  double finish = 0;
};

/// The busy times of one execution slot, kept as the gaps between them, in blocks that know how long their longest gap
/// is, so that a search passes over what is too short.
///
/// Time is only ever taken, so a gap that is too short stays too short: for the durations that were asked for lately it
/// is remembered up to when no gap is long enough, and a search that could begin anywhere begins there.
/// Memory: 16 to 32 bytes per gap.
class timeline {
public:
  /// The earliest start, not before `ready`, of a gap of `duration` seconds. An op without duration also fits where a
  /// gap ends, and at time 0.
  /// Complexity: O(1) from the last gap on; else O(log blocks + blocks passed), for k gaps at most k / 16 blocks.
  constexpr double earliest_gap(double ready, double duration) {
    if (ready >= end_ || ready + duration > last_gap_) {
      return duration == 0 && ready == 0 ? 0 : std::max(ready, end_);
    }
    if (duration == 0 && ready == 0) {
      return 0;
    }
    const std::uint32_t length_class = class_of(duration);
    memory& known = known_[length_class % known_.size()];
    if (known.length_class != length_class) {
      known = {length_class, 0};
    }
    const double least = class_minimum(length_class);
    bool all_short = ready <= known.nothing_before; // no gap of the class was seen from there on
    std::size_t i = block_at(std::max(ready, known.nothing_before));
    if (duration == 0) { // may stand at the end of the gap before
      while (i > 0 && blocks_[--i].count == 0) {
      }
    }
    for (; i < blocks_.size(); ++i) {
      const block& b = blocks_[i];
      if (b.longest >= duration) {
        const interval* const gaps = gaps_of(b);
        for (std::size_t g = 0; g < b.count; ++g) {
          const double start = std::max(ready, gaps[g].start);
          if (start + duration <= gaps[g].finish) {
            return start;
          }
        }
      }
      all_short = all_short && b.longest < least;
      if (all_short) {
        known.nothing_before = i + 1 < blocks_.size() ? blocks_[i + 1].first : last_gap_;
      }
    }
    return std::max(ready, end_);
  }

  /// The end of the last busy stretch; 0 if there is none.
  constexpr double end() const { return end_; }
  /// The end of the last gap before it; below 0 if there is none.
  constexpr double last_gap() const { return last_gap_; }

  /// Precondition: the stretch is free. O(1) at the end, else O(log k), with O(k / 16) for one in 16 of those that part
  /// a gap in two.
  constexpr void reserve(double start, double finish) {
    if (start >= end_) {
      if (start > end_) {
        append({end_, start});
      }
      end_ = finish;
    } else if (start <= last_gap_) {
      take(start, finish);
    }
  }

private:
  static constexpr std::size_t capacity = 32; ///< gaps per block

  struct block {
    double first = 0;   ///< no gap of it begins before
    double longest = 0; ///< no gap of it takes more, not even by rounding
    std::uint32_t place = 0; ///< in `pool_`, in blocks
    std::uint32_t count = 0;
  };
  struct memory {
    std::uint32_t length_class = 0xffff'ffffu;
    double nothing_before = 0; ///< no gap that begins earlier takes anything of the class
  };

  /// A quarter of an octave: exponent and two bits of the mantissa.
  static constexpr std::uint32_t class_of(double duration) {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(duration) >> 50);
  }
  static constexpr double class_minimum(std::uint32_t length_class) {
    return std::bit_cast<double>(std::uint64_t{length_class} << 50);
  }

  /// An upper bound of the durations that fit into a gap, rounded sums included, fused or not.
  static constexpr double most(const interval& gap) { return gap.finish - gap.start + gap.finish * 0x1p-50; }

  constexpr interval* gaps_of(const block& b) { return pool_.data() + b.place * capacity; }

  /// The last block that begins at or before `time`, or the first.
  constexpr std::size_t block_at(double time) const {
    std::size_t i = blocks_.size() - 1;
    for (int steps = 0; i > 0 && blocks_[i].first > time; --i) { // mostly it is one of the last
      if (++steps == 4) {
        const auto after = std::partition_point(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(i),
                                                [&](const block& b) { return b.first <= time; });
        return after == blocks_.begin() ? 0 : static_cast<std::size_t>(after - blocks_.begin()) - 1;
      }
    }
    return i;
  }

  constexpr std::uint32_t new_place() {
    if (!free_places_.empty()) {
      const std::uint32_t place = free_places_.back();
      free_places_.pop_back();
      return place;
    }
    const auto place = static_cast<std::uint32_t>(pool_.size() / capacity);
    pool_.resize(pool_.size() + capacity);
    return place;
  }

  constexpr void append(const interval& gap) {
    if (blocks_.empty() || blocks_.back().count == capacity) {
      blocks_.push_back({gap.start, 0, new_place(), 0});
    }
    block& b = blocks_.back();
    gaps_of(b)[b.count++] = gap;
    b.longest = std::max(b.longest, most(gap));
    last_gap_ = gap.finish;
  }

  /// Takes a stretch out of the gap that holds it. An op without duration may stand where no gap is: at time 0.
  constexpr void take(double start, double finish) {
    std::size_t i = block_at(start);
    while (blocks_[i].count == 0 || gaps_of(blocks_[i])[0].start > start) {
      if (i == 0) {
        WEFT_ASSERT(start == finish);
        return;
      }
      --i;
    }
    std::size_t g = 0;
    interval* gaps = gaps_of(blocks_[i]);
    while (g + 1 < blocks_[i].count && gaps[g + 1].start <= start) {
      ++g;
    }
    const interval old = gaps[g];
    if (finish > old.finish) { // an op without duration after the last gap that begins before it
      WEFT_ASSERT(start == finish);
      return;
    }
    const bool before = old.start < start;
    const bool after = finish < old.finish;
    if (before && after) {
      if (blocks_[i].count == capacity) {
        split(i);
        if (g >= capacity / 2) {
          g -= capacity / 2;
          ++i;
        }
        gaps = gaps_of(blocks_[i]);
      }
      std::copy_backward(gaps + g, gaps + blocks_[i].count, gaps + blocks_[i].count + 1);
      ++blocks_[i].count;
      gaps[g] = {old.start, start};
      gaps[g + 1] = {finish, old.finish};
    } else if (before) {
      gaps[g] = {old.start, start};
    } else if (after) {
      gaps[g] = {finish, old.finish};
    } else {
      std::copy(gaps + g + 1, gaps + blocks_[i].count, gaps + g);
      --blocks_[i].count;
    }
    update(i);
  }

  constexpr void split(std::size_t i) {
    constexpr std::size_t half = capacity / 2;
    const std::uint32_t place = new_place();
    interval* const from = gaps_of(blocks_[i]);
    block right{from[half].start, 0, place, half};
    std::copy(from + half, from + capacity, gaps_of(right));
    blocks_[i].count = half;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1, right);
    update(i + 1);
    update(i);
  }

  constexpr void update(std::size_t i) {
    block& b = blocks_[i];
    b.longest = -1;
    for (std::size_t g = 0; g < b.count; ++g) {
      b.longest = std::max(b.longest, most(gaps_of(b)[g]));
    }
    while (!blocks_.empty() && blocks_.back().count == 0) {
      free_places_.push_back(blocks_.back().place);
      blocks_.pop_back();
    }
    last_gap_ = blocks_.empty() ? -1 : gaps_of(blocks_.back())[blocks_.back().count - 1].finish;
  }

  double end_ = 0;
  double last_gap_ = -1;
  buffer<block> blocks_; // ascending; the last is not empty
  buffer<interval> pool_;
  std::vector<std::uint32_t> free_places_;
  std::array<memory, 16> known_{};
};

} // namespace weft::schedule
