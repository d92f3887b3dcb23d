// SPDX-License-Identifier: BSL-1.0
/// The search for offsets within a capacity: complete, depth first, from the bottom up.
#pragma once

#include "weft/allocate/lifetime.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::allocate::detail {

/// Whether a capacity will do.
enum class answer : std::uint8_t { yes, no, unknown };

/// States of parts of a problem from which nothing was found: a table of fixed size in which new ones replace old ones.
/// Two different states have the same 128 bits about once in 10^38 pairs.
class failed_states {
public:
  struct key {
    std::uint64_t low = 0, high = 0;
    friend constexpr bool operator==(const key&, const key&) = default;
  };

  bool contains(const key& k) const { return states_[k.low & (states_.size() - 1)] == k; }
  void add(const key& k) {
    if (++added_ > states_.size() / 2 && states_.size() < max_states) {
      std::vector<key> old(4 * states_.size());
      std::swap(old, states_);
      for (const key& x : old) {
        states_[x.low & (states_.size() - 1)] = x;
      }
    }
    states_[k.low & (states_.size() - 1)] = k;
  }

private:
  static constexpr std::size_t max_states = std::size_t{1} << 20; // 16 MiB
  std::vector<key> states_ = std::vector<key>(std::size_t{1} << 10);
  std::size_t added_ = 0;
};

/// Looks for offsets with which everything ends by a capacity.
///
/// *Sections* are the maximal sets of buffers that live at one moment, in time. What is placed forms a skyline over
/// them: a buffer that is not placed yet has a least offset, and a section a *floor*, the least of those of its
/// buffers. Every solution can be pushed down until each buffer lies on another one or at 0, and such a solution is
/// built from the bottom: where the skyline has a local minimum, whatever lies there at this height lives only while it
/// is so low. So the search takes a section of such a minimum, and tries each buffer that can lie there, and at last
/// that none does, which raises the floor to where the next one can begin. The section is the one with the fewest
/// choices, or the fewest by its *weight*, the number of failures that were noticed in it (Boussemart et al., ECAI
/// 2004). This order is free, so that a failure is followed by other choices at the same place, not by those of all
/// that lies as low.
///
/// A state is given up if the buffers of a section, each no lower than its least offset, cannot end by the capacity
/// (one machine with release dates), and if it was met before: what matters of the past are the least offsets. Where no
/// buffer that is left connects two times, the parts are solved one by one.
///
/// Runs are restarted with other orders of buffers; what is known of weights and failed states stays.
/// Sections and canonical solutions: Moffitt, *MiniMalloc*, ASPLOS 2023. Skylines: Burke, Kendall, Whitwell, Operations
/// Research 52(4), 2004.
///
/// Complexity of a node: O(sections + Σ over sections that change of their buffers, sorted).
class skyline_search {
public:
  /// Memory: O(buffers · sections).
  explicit skyline_search(std::span<const lifetime> all) {
    for (const auto i : ids(all.size())) {
      if (all[i].needs_place()) {
        id_.push_back(i);
      }
    }
    items_.resize(id_.size());
    std::vector<std::uint32_t> position(all.size());
    for (const auto b : ids(id_.size())) {
      position[id_[b]] = b;
    }
    std::uint32_t closed = 0;
    bool open = false; // whether something began since the last section was closed
    sweep(
      all,
      [&](std::uint32_t i) {
        items_[position[i]].first = closed;
        open = true;
      },
      [&](std::uint32_t i) {
        closed += open ? 1u : 0u;
        open = false;
        items_[position[i]].last = closed;
      });
    choose_unit(all);
    for (const auto b : ids(id_.size())) {
      const lifetime& x = all[id_[b]];
      items_[b].bytes = x.bytes;
      items_[b].size = aligned(x.bytes, unit_) / unit_;
      items_[b].alignment = unit_ % x.alignment == 0 ? 1 : x.alignment / unit_;
      items_[b].hash = random_();
      items_[b].length = length(x);
    }
    sections_.resize(closed);
    weight_.assign(closed, 1);
    marked_.assign(closed, false);
    begin_.assign(closed + 1, 0);
    for (const item& x : items_) {
      for (auto s = x.first; s < x.last; ++s) {
        ++begin_[s + 1];
      }
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    left_.resize(begin_.back());
    place_.resize(begin_.back());
    std::vector<std::uint32_t> filled(begin_.begin(), begin_.end() - 1);
    std::uint32_t next = 0;
    for (const auto b : ids(items_.size())) {
      items_[b].places = next - items_[b].first;
      for (auto s = items_[b].first; s < items_[b].last; ++s) {
        place_[next++] = filled[s];
        left_[filled[s]++] = b;
      }
    }
  }

  /// The least height that a solution can have which needs so many bytes or more.
  byte_count possible_height(byte_count bytes) const {
    byte_count least = std::numeric_limits<byte_count>::max();
    for (const item& x : items_) {
      least = std::min(least, x.bytes >= bytes ? x.bytes : x.bytes + aligned(bytes - x.bytes, unit_));
    }
    return least;
  }

  /// Searches once, in an order that depends on the number of searches so far, for up to so many nodes. `unknown` also
  /// where the meter's budget is used up.
  answer run(byte_count capacity, std::uint64_t nodes, budget_meter& meter) {
    if (!prepare(capacity)) {
      return answer::no;
    }
    open_.push_back({0, static_cast<std::uint32_t>(sections_.size()), none});
    while (!open_.empty()) {
      const part p = open_.back();
      open_.pop_back();
      if (split(p)) {
        continue;
      }
      if (nodes-- == 0 || !meter.spend()) {
        return answer::unknown;
      }
      const auto k = key_of(p);
      if (!(failed_.contains(k) ? fail(p.owner) : (branch(p, k), advance() || fail_last()))) {
        return answer::no;
      }
    }
    return answer::yes;
  }

  /// After `yes`: in bytes, by lifetime.
  void write_offsets(std::span<byte_count> offsets) const {
    for (const auto b : ids(items_.size())) {
      offsets[id_[b]] = items_[b].offset * unit_;
    }
  }

private:
  using units = std::uint64_t;
  static constexpr units never = std::numeric_limits<units>::max();

  struct item {
    byte_count bytes = 0;
    units size = 0;
    units alignment = 1;
    units offset = 0; ///< the least possible one, and where it lies once it is placed
    units limit = 0;  ///< the largest offset within the capacity
    std::uint32_t first = 0, last = 0; ///< its sections
    std::uint32_t places = 0;          ///< its place in section s is `place_[places + s]`
    std::uint64_t hash = 0;
    double length = 0;
    double rank = 0;
  };
  /// What is known of a section; follows from the buffers that are left in it.
  struct section {
    units floor = 0;
    std::uint32_t count = 0;      ///< buffers left: the first in `left_`
    std::uint32_t candidates = 0; ///< of them, those that can lie on the floor
    std::uint32_t reach = 0;      ///< where the last of their sections ends
    bool is_full = false;         ///< no gap can be left on the floor
    failed_states::key hash = {};
  };
  /// Sections `[first, last)` that are to be filled, because of frame `owner`'s choice.
  struct part {
    std::uint32_t first, last, owner;
  };
  /// A choice: the buffers `choices_[next, end)` are still to be tried on the floor of a section, and then none of
  /// them.
  struct frame {
    part of;
    std::uint32_t section;
    std::uint32_t first, next, end;
    std::size_t open;
    std::size_t sections_changed, items_changed;
    failed_states::key state;
    bool gap_is_left;
  };

  /// Sizes and alignments have a common divisor, of which offsets are multiples too: as large as possible, and such
  /// that an alignment divides it or is divided by it. Or all alignments have one, to whose multiples sizes are rounded
  /// up.
  void choose_unit(std::span<const lifetime> all) {
    byte_count sizes = 0, alignments = 0;
    for (const auto i : id_) {
      sizes = std::gcd(sizes, all[i].bytes);
      alignments = std::gcd(alignments, all[i].alignment);
    }
    for (byte_count before = 0; before != sizes;) {
      before = sizes;
      for (const auto i : id_) {
        sizes = sizes % all[i].alignment == 0 ? sizes : std::gcd(sizes, all[i].alignment);
      }
    }
    unit_ = std::max({sizes, alignments, byte_count{1}});
  }

  /// False if the capacity is less than what lives at once.
  bool prepare(byte_count capacity) {
    capacity_ = capacity;
    top_ = 0;
    for (item& x : items_) {
      x.offset = 0;
      x.limit = x.bytes > capacity ? 0 : (capacity - x.bytes) / unit_;
      top_ = std::max(top_, x.limit + x.size);
      const double sections = x.last - x.first;
      const double size = static_cast<double>(x.size);
      switch (runs_ % 4) {
      case 0: x.rank = sections * size; break;
      case 1: x.rank = rounded(sections * 1e6) + size; break;
      case 2: x.rank = rounded(size * 1e6) + sections; break;
      default: x.rank = x.length * size; break;
      }
      if (runs_ >= 8) {
        x.rank *= random_.uniform(0.5, 1.5);
      }
    }
    fit_ = runs_ / 4 % 2 == 0 ? 0 : 10;
    by_weight_ = runs_ / 8 % 2 == 1;
    ++runs_;
    for (const auto s : ids(sections_.size())) {
      sections_[s] = {};
      sections_[s].count = begin_[s + 1] - begin_[s];
    }
    frames_.clear();
    open_.clear();
    choices_.clear();
    old_sections_.clear();
    old_items_.clear();
    for (const auto s : ids(sections_.size())) {
      mark(s);
    }
    const bool possible = settle();
    return possible && std::none_of(items_.begin(), items_.end(), [&](const item& x) { return x.bytes > capacity; });
  }

  std::span<const std::uint32_t> left(std::uint32_t s) const { return {left_.data() + begin_[s], sections_[s].count}; }

  /// To be said of a section before it changes.
  void mark(std::uint32_t s) {
    if (!marked_[s]) {
      marked_[s] = true;
      changed_.push_back(s);
      old_sections_.push_back({s, sections_[s]});
    }
  }

  /// A buffer that is left lies at `least` or above.
  void raise(std::uint32_t b, units least) {
    item& x = items_[b];
    if (x.offset < least) {
      old_items_.push_back({b, x.offset});
      x.offset = x.alignment == 1 ? least : aligned(least, x.alignment);
      for (auto s = x.first; s < x.last; ++s) {
        mark(s);
      }
    }
  }

  /// Puts a buffer where it can lie lowest. False if the rest cannot follow.
  bool place(std::uint32_t b) {
    const item& x = items_[b];
    const units top = x.offset + x.size;
    for (auto s = x.first; s < x.last; ++s) {
      mark(s);
      const auto at = place_[x.places + s];
      const auto end = begin_[s] + --sections_[s].count;
      const auto other = left_[end];
      std::swap(left_[at], left_[end]);
      place_[items_[other].places + s] = at;
      place_[x.places + s] = end;
      for (const auto o : left(s)) {
        raise(o, top);
      }
    }
    return settle();
  }

  /// Decides that nothing lies on the floor of s. Then what is left there is supported by what is beside it.
  bool leave_gap(std::uint32_t s) {
    const units floor = sections_[s].floor;
    units least = never;
    std::uint32_t first = s, last = s + 1;
    for (const auto b : left(s)) {
      const item& x = items_[b];
      if (x.offset > floor) {
        least = std::min(least, x.offset);
      } else {
        first = std::min(first, x.first);
        last = std::max(last, x.last);
      }
    }
    for (auto t = first; t < last; ++t) {
      for (const auto b : left(t)) {
        const item& x = items_[b];
        if (x.last <= s || s < x.first) {
          least = std::min(least, x.offset + x.size);
        }
      }
    }
    if (least == never) {
      return false;
    }
    for (const auto b : left(s)) {
      raise(b, least);
    }
    return settle();
  }

  /// Brings the changed sections up to date; false if the buffers of one cannot end in time.
  bool settle() {
    bool possible = true;
    for (const auto s : changed_) {
      marked_[s] = false;
      possible = possible && look(s);
    }
    changed_.clear();
    return possible;
  }

  bool look(std::uint32_t s) {
    section& now = sections_[s];
    now.floor = never;
    now.hash = {};
    now.candidates = 0;
    now.reach = 0;
    units sum = 0, highest = 0;
    bool in_time = true;
    for (const auto b : left(s)) {
      const item& x = items_[b];
      in_time = in_time && x.offset <= x.limit;
      sum += x.size;
      highest = std::max(highest, x.offset);
      now.reach = std::max(now.reach, x.last);
      now.hash.low += x.hash;
      now.hash.high += mixed(x.hash);
      now.candidates = x.offset < now.floor ? 1 : now.candidates + (x.offset == now.floor ? 1u : 0u);
      now.floor = std::min(now.floor, x.offset);
    }
    if (now.count > 0) {
      if (!in_time || now.floor + sum > top_ || (highest + sum > top_ && last_end(s) > top_)) {
        ++weight_[s];
        return false;
      }
      now.is_full = now.floor + sum == top_;
      now.hash.low = mixed(now.hash.low + mixed(now.floor + mixed(s)));
      now.hash.high = mixed(now.hash.high + mixed(now.floor ^ mixed(~std::uint64_t{s})));
    }
    return true;
  }

  /// When one machine is done with the buffers left in s, as jobs that are released at their least offsets.
  units last_end(std::uint32_t s) {
    jobs_.clear();
    for (const auto b : left(s)) {
      jobs_.push_back({items_[b].offset, items_[b].size});
    }
    weft::sort(jobs_);
    units end = 0;
    for (const auto& [release, size] : jobs_) {
      end = std::max(end, release) + size;
    }
    return end;
  }

  /// Takes a part apart, unless what is left in it hangs together and begins and ends where the part does.
  bool split(const part& p) {
    const auto before = open_.size();
    for (auto s = p.first; s < p.last;) {
      if (sections_[s].count == 0) {
        ++s;
        continue;
      }
      const auto first = s;
      auto reach = sections_[s].reach;
      for (++s; s < reach; ++s) {
        reach = std::max(reach, sections_[s].reach);
      }
      if (first == p.first && s == p.last) {
        return false;
      }
      open_.push_back({first, s, p.owner});
    }
    std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(before), open_.end());
    return true;
  }

  failed_states::key key_of(const part& p) const {
    failed_states::key k{mixed(capacity_), mixed(~capacity_)};
    for (auto s = p.first; s < p.last; ++s) {
      k.low += sections_[s].hash.low;
      k.high += sections_[s].hash.high;
    }
    return k;
  }

  /// Opens a frame for the choice that is to be made in a part.
  void branch(const part& p, const failed_states::key& state) {
    std::uint32_t chosen = p.first;
    double fewest = std::numeric_limits<double>::infinity();
    for (auto s = p.first; s < p.last;) {
      const units floor = sections_[s].floor;
      auto end = s + 1;
      while (end < p.last && sections_[end].floor == floor) {
        ++end;
      }
      const bool is_low =
        (s == p.first || sections_[s - 1].floor > floor) && (end == p.last || sections_[end].floor > floor);
      for (; s < end; ++s) {
        if (is_low) {
          const double choices = sections_[s].candidates + (sections_[s].is_full ? 0u : 1u);
          const double w = static_cast<double>(weight_[s]);
          const double v = by_weight_ ? choices / w : choices + 1e-6 / w;
          if (v < fewest) {
            fewest = v;
            chosen = s;
          }
        }
      }
    }
    const auto first = static_cast<std::uint32_t>(choices_.size());
    for (const auto b : left(chosen)) {
      if (items_[b].offset == sections_[chosen].floor) {
        choices_.push_back(b);
      }
    }
    const auto end = static_cast<std::uint32_t>(choices_.size());
    put_in_order(p, chosen, {choices_.data() + first, end - first});
    frames_.push_back({p, chosen, first, first, end, open_.size(), old_sections_.size(), old_items_.size(), state,
                       !sections_[chosen].is_full});
  }

  /// Those of high rank first; in every other group of runs, those first that lie close against a wall of the minimum,
  /// or reach its top.
  void put_in_order(const part& p, std::uint32_t s, std::span<std::uint32_t> choices) {
    const units floor = sections_[s].floor;
    std::uint32_t first = s, last = s + 1;
    while (first > p.first && sections_[first - 1].floor == floor) {
      --first;
    }
    while (last < p.last && sections_[last].floor == floor) {
      ++last;
    }
    const units before = first > p.first ? sections_[first - 1].floor : never;
    const units after = last < p.last ? sections_[last].floor : never;
    ranked_.clear();
    for (const auto b : choices) {
      const item& x = items_[b];
      const units top = x.offset + x.size;
      const int fits = (x.first == first ? (top == before ? 2 : 1) : 0) + (x.last == last ? (top == after ? 2 : 1) : 0);
      ranked_.push_back({-x.rank * (1 + fit_ * fits), b});
    }
    weft::sort(ranked_);
    for (std::size_t k = 0; k < choices.size(); ++k) {
      choices[k] = ranked_[k].second;
    }
  }

  /// Makes the next choice of the last frame that does not fail at once; false if there is none.
  bool advance() {
    const auto owner = static_cast<std::uint32_t>(frames_.size() - 1);
    frame& f = frames_.back();
    while (f.next < f.end || f.gap_is_left) {
      bool possible = false;
      if (f.next < f.end) {
        const auto b = choices_[f.next++];
        if (was_tried(f, b)) {
          continue;
        }
        possible = place(b);
      } else {
        f.gap_is_left = false;
        possible = leave_gap(f.section);
      }
      if (possible) {
        open_.push_back({f.of.first, f.of.last, owner});
        return true;
      }
      undo(f);
    }
    return false;
  }

  /// Whether a buffer just like it was.
  bool was_tried(const frame& f, std::uint32_t b) const {
    const item& x = items_[b];
    for (auto k = f.first; k + 1 < f.next; ++k) {
      const item& y = items_[choices_[k]];
      if (x.first == y.first && x.last == y.last && x.size == y.size && x.alignment == y.alignment &&
          x.limit == y.limit) {
        return true;
      }
    }
    return false;
  }

  bool fail_last() {
    const frame f = frames_.back();
    failed_.add(f.state);
    return fail(f.of.owner);
  }
  /// Takes back what followed from a frame's choice, and makes its next one, or that of the one before. False if there
  /// is none.
  bool fail(std::uint32_t owner) {
    while (owner != none) {
      frames_.resize(owner + 1);
      frame& f = frames_.back();
      undo(f);
      open_.resize(f.open);
      choices_.resize(f.end);
      if (advance()) {
        return true;
      }
      failed_.add(f.state);
      owner = f.of.owner;
    }
    return false;
  }

  void undo(const frame& f) {
    for (; old_sections_.size() > f.sections_changed; old_sections_.pop_back()) {
      sections_[old_sections_.back().first] = old_sections_.back().second;
    }
    for (; old_items_.size() > f.items_changed; old_items_.pop_back()) {
      items_[old_items_.back().first].offset = old_items_.back().second;
    }
  }

  static constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  byte_count unit_ = 1; ///< of offsets; of sizes too, but that they are rounded up
  byte_count capacity_ = 0;
  units top_ = 0; ///< no buffer may end above it
  std::vector<std::uint32_t> id_; // of the lifetime, by buffer
  std::vector<item> items_;
  std::vector<section> sections_;
  std::vector<std::uint64_t> weight_;
  std::vector<std::uint32_t> begin_, left_; // per section: its buffers, those that are left first
  std::vector<std::uint32_t> place_;        // per buffer and section: where it is there
  rng random_{1};
  std::uint64_t runs_ = 0;
  double fit_ = 0;         ///< how much more a buffer counts that fits
  bool by_weight_ = false; ///< whether weights decide between sections, and not only ties
  failed_states failed_;
  std::vector<frame> frames_;
  std::vector<part> open_;
  std::vector<std::uint32_t> choices_;
  std::vector<std::pair<std::uint32_t, section>> old_sections_;
  std::vector<std::pair<std::uint32_t, units>> old_items_;
  std::vector<bool> marked_;
  std::vector<std::uint32_t> changed_;
  std::vector<std::pair<units, units>> jobs_;
  std::vector<std::pair<double, std::uint32_t>> ranked_;
};

} // namespace weft::allocate::detail
