// SPDX-License-Identifier: BSL-1.0
/// A set of ops that are done on one device, and the bytes that are alive after them.
#pragma once

#include "weft/graph/release_counter.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/detail/placed_live_ranges.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::refine::detail {

/// A set of ops of a workload on one device of one slot, whose ops run one after the other, with what each of the other
/// ops would need if it ran next. Resident bytes are not counted. Ops may be added and removed in any order; between
/// two sets that hold all predecessors of their members, so that `alive` counts what is there after a run of these.
/// Complexity: O(degree) for each op that is added, removed or asked about. Memory: O(n + m).
class done_ops {
public:
  /// Of an op that runs next.
  struct demand {
    byte_count during = 0; ///< alive while it runs; 0 if that takes no time, as nothing is alive then
    byte_count after = 0;  ///< alive when it has ended
  };

  explicit done_ops(const placed_live_ranges& x)
      : x_{x}, set_(x.num_ops / 64 + 1, 0), ready_(set_.size(), 0), holders_{x.holders}, last_(x.bytes.size(), 0),
        is_made_(x.bytes.size(), 0) {
    waits_.assign(x.waits);
    for (op_id v = 0; v < x.num_ops; ++v) {
      if (waits_.is_ready(v)) {
        flip(ready_, v);
      }
      for (const auto* rows : {&x.holds, &x.overwrites}) {
        for_each(*rows, v, [&](std::uint32_t s) { last_[s] += v; });
      }
    }
  }

  std::size_t size() const { return size_; }
  byte_count alive() const { return alive_; }
  const std::vector<std::uint64_t>& words() const { return set_; }
  bool contains(op_id v) const { return has(set_, v); }
  bool is_ready(op_id v) const { return has(ready_, v); }

  /// Calls f(v) for the ops that may run next, in ascending order; these do not change meanwhile.
  template <class F>
  void for_each_ready(F f) const {
    for_each_member(ready_, f);
  }

  demand of(op_id v) const {
    byte_count made = 0;
    byte_count kept = 0; // of that, afterwards
    for_each(x_.makes, v, [&](std::uint32_t s) {
      made += x_.bytes[s];
      kept += holders_[s] > 1 ? x_.bytes[s] : 0;
    });
    byte_count replaced = 0;
    byte_count freed = 0;
    for_each(x_.overwrites, v, [&](std::uint32_t s) { replaced += holders_[s] == 1 ? x_.bytes[s] : 0; });
    for_each(x_.holds, v, [&](std::uint32_t s) { freed += is_made_[s] != 0 && holders_[s] == 1 ? x_.bytes[s] : 0; });
    return {x_.seconds[v] > 0 ? alive_ + made - replaced : 0, alive_ + kept - replaced - freed};
  }

  void add(op_id v) {
    if (is_ready(v)) {
      flip(ready_, v);
    }
    flip(set_, v);
    ++size_;
    for_each(x_.makes, v, [&](std::uint32_t s) { change(s, 0, 1); });
    for (const auto* rows : {&x_.holds, &x_.overwrites}) {
      for_each(*rows, v, [&](std::uint32_t s) {
        last_[s] -= v;
        change(s, std::uint32_t(-1), 0);
      });
    }
    for_each(x_.leads_to, v, [&](op_id c) {
      if (waits_.arrive(c) && !contains(c)) {
        flip(ready_, c);
      }
    });
  }
  void remove(op_id v) {
    for_each(x_.leads_to, v, [&](op_id c) {
      if (waits_.take_back(c) && !contains(c)) {
        flip(ready_, c);
      }
    });
    for (const auto* rows : {&x_.holds, &x_.overwrites}) {
      for_each(*rows, v, [&](std::uint32_t s) {
        last_[s] += v;
        change(s, 1, 0);
      });
    }
    for_each(x_.makes, v, [&](std::uint32_t s) { change(s, 0, std::uint8_t(-1)); });
    --size_;
    flip(set_, v);
    if (waits_.is_ready(v)) {
      flip(ready_, v);
    }
  }

  /// Adds and removes what makes it another set; returns the number of these ops.
  std::size_t become(std::span<const std::uint64_t> other) {
    std::size_t changes = 0;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      for (std::uint64_t differ = set_[i] ^ other[i]; differ != 0; differ &= differ - 1, ++changes) {
        const auto v = static_cast<op_id>(64 * i + static_cast<std::size_t>(std::countr_zero(differ)));
        contains(v) ? remove(v) : add(v);
      }
    }
    return changes;
  }

  /// Calls f(c) for ops that may need less since v was added: those that waited for v alone, and those that are now the
  /// last to read what v read.
  template <class F>
  void for_each_relieved(op_id v, F f) const {
    for_each(x_.leads_to, v, [&](op_id c) {
      if (is_ready(c)) {
        f(c);
      }
    });
    for_each(x_.holds, v, [&](std::uint32_t s) {
      if (holders_[s] == 1 && is_ready(last_[s])) {
        f(last_[s]);
      }
    });
  }

private:
  using words_type = std::vector<std::uint64_t>;

  static bool has(const words_type& set, op_id v) { return (set[v / 64] >> (v % 64) & 1) != 0; }
  static void flip(words_type& set, op_id v) { set[v / 64] ^= std::uint64_t{1} << (v % 64); }
  template <class F>
  static void for_each_member(const words_type& set, F f) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::uint64_t left = set[i]; left != 0; left &= left - 1) {
        f(static_cast<op_id>(64 * i + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }
  template <class F>
  static void for_each(const number_rows& rows, op_id v, F f) {
    for (const auto k : rows.positions(v)) {
      f(rows.numbers[k]);
    }
  }

  void change(std::uint32_t s, std::uint32_t holders, std::uint8_t makers) {
    alive_ -= is_made_[s] != 0 && holders_[s] > 0 ? x_.bytes[s] : 0;
    holders_[s] += holders; // wraps where there are fewer
    is_made_[s] = static_cast<std::uint8_t>(is_made_[s] + makers);
    alive_ += is_made_[s] != 0 && holders_[s] > 0 ? x_.bytes[s] : 0;
  }

  const placed_live_ranges& x_;
  words_type set_;
  words_type ready_;
  graph::release_counter<> waits_;
  std::vector<std::uint32_t> holders_; // per stay: ops that are still to end, or to write over it
  std::vector<std::uint32_t> last_;    // per stay: the sum of their ids, so that of one it is its id
  std::vector<std::uint8_t> is_made_;  // per stay
  std::size_t size_ = 0;
  byte_count alive_ = 0;
};

} // namespace weft::refine::detail
