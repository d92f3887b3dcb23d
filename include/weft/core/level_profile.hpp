// SPDX-License-Identifier: BSL-1.0
/// The maximum of a level that changes at given moments, while changes are added and removed.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/config.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft {

/// A multiset of changes of a level, which is 0 before the first. Of those at one moment the falling ones come first:
/// what ends then makes room for what begins.
///
/// Complexity: O(log n + chunk) to add and to remove; the peak is of the n / chunk chunks, and of what is in those that
/// have changed. A chunk has up to 64 changes.
class level_profile {
public:
  void clear() { chunks_.clear(); }
  void add(double time, std::int64_t by) {
    const change x{time, by};
    if (chunks_.empty()) {
      chunks_.push_back({});
    }
    chunk* const c = chunks_.size() == 1 ? chunks_.begin() : std::min(chunk_of(x), chunks_.end() - 1);
    c->changes.insert(std::lower_bound(c->changes.begin(), c->changes.end(), x), x);
    c->is_known = false;
    if (c->changes.size() == max_in_chunk) {
      const change* half = c->changes.begin() + max_in_chunk / 2;
      chunk second;
      second.changes.reserve(max_in_chunk);
      second.changes.append(half, c->changes.end());
      c->changes.erase(half, c->changes.end());
      chunks_.insert(c + 1, std::move(second));
    }
  }
  /// Precondition: it is there.
  void remove(double time, std::int64_t by) {
    const change x{time, by};
    chunk* const c = chunk_of(x);
    WEFT_ASSERT(c != chunks_.end());
    const change* const at = std::lower_bound(c->changes.begin(), c->changes.end(), x);
    WEFT_ASSERT(at->time == time && at->by == by);
    c->changes.erase(at);
    c->is_known = false;
    if (c->changes.empty()) {
      chunks_.erase(c);
    }
  }
  /// The highest level ever, at least 0.
  std::int64_t peak() {
    std::int64_t level = 0;
    std::int64_t highest = 0;
    for (chunk& c : chunks_) {
      if (!c.is_known) {
        c.look();
      }
      highest = std::max(highest, level + c.top);
      level += c.sum;
    }
    return highest;
  }

private:
  static constexpr std::size_t max_in_chunk = 64;

  struct change {
    double time;
    std::int64_t by;
    friend constexpr bool operator<(const change& a, const change& b) {
      return a.time != b.time ? a.time < b.time : a.by < b.by;
    }
  };
  struct chunk {
    buffer<change> changes = {}; // by time, then what falls most
    std::int64_t sum = 0;
    std::int64_t top = 0; // highest sum of the first ones
    bool is_known = false;

    void look() {
      sum = 0;
      top = 0;
      for (const change& x : changes) {
        sum += x.by;
        top = std::max(top, sum);
      }
      is_known = true;
    }
  };

  /// The first that ends with x or later.
  chunk* chunk_of(const change& x) {
    return std::partition_point(chunks_.begin(), chunks_.end(), [&](const chunk& c) { return c.changes.back() < x; });
  }

  buffer<chunk> chunks_;
};

} // namespace weft
