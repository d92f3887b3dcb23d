// SPDX-License-Identifier: BSL-1.0
/// Propagation rules for placements and orders: earliest starts, implied precedences and contradictions.
#pragma once

#include "weft/bound/exact/conflict_learning.hpp"
#include "weft/bound/exact/crowd_rule.hpp"
#include "weft/bound/exact/device_facts.hpp"
#include "weft/bound/exact/join_rule.hpp"
#include "weft/bound/exact/whole_times.hpp"
#include "weft/bound/exact/window_rule.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Rules raise heads and tails, each the other's mirror image:
///  - inputs: from the best place that is left for each of them;
///  - ops on a device that are before v there, one after the other;
///  - joins (bound/exact/join_rule.hpp);
/// and they exclude places and orders:
///  - head + time + tail is more than the makespan at hand;
///  - of two ops on a device neither, or only one, can be first;
///  - sets of ops on a device (bound/exact/crowd_rule.hpp), all ops on all devices (bound/exact/window_rule.hpp),
///  memory;
///  - an op that would have to wait for itself.
/// They look only at what has changed.
///
/// Heads of ops that wait for each other rise by what the circle takes, round by round, until they pass the limit: a
/// million rounds where times differ that much. So when rounds do not end, circles are looked for, and the caller can
/// end the search.
class device_rules {
public:
  using amount = device_facts::amount;
  using literal = device_facts::literal;
  enum class outcome : std::uint8_t { quiet, dead_end, unfinished };
  static constexpr std::uint32_t many_rounds = 256;

  explicit device_rules(device_facts& f)
      : f_{f}, join_{f}, crowd_{f}, window_{f}, changed_(f.n, 1), crowd_changed_(f.k, 1) {
    for (int direction = 0; direction < 2; ++direction) {
      wakes_[direction].resize(f.n);
      stale_[direction].assign(f.n, 1);
      for (const op_id v : ids(f.n)) {
        for (std::uint32_t i = f.q.first_input[direction][v]; i < f.q.first_input[direction][v + 1]; ++i) {
          wakes_[direction][f.q.inputs[direction][i].op].push_back(v);
        }
      }
    }
  }

  /// Must be called once, before anything is decided; for `twin` see device_facts. False if there is no way. What is
  /// not found soon is left to `follow`.
  bool begin(amount limit, const std::vector<std::size_t>& twin) {
    f_.limit = limit;
    if (!f_.begin(twin)) {
      return false;
    }
    join_.begin([this](int direction, op_id u, op_id v) { wakes_[direction][u].push_back(v); });
    if (!cheap()) {
      return false;
    }
    window_.begin();
    return follow([] { return false; }) != outcome::dead_end;
  }

  /// Only smaller ones than before. Without decisions.
  void set_limit(amount limit) {
    f_.limit = limit;
    for (auto* all : {&stale_[0], &stale_[1], &changed_, &crowd_changed_}) {
      std::fill(all->begin(), all->end(), std::uint8_t{1});
    }
  }
  /// Takes decisions back. Everything that follows from those that are left was found before the next was made; if
  /// `follow` was unfinished, it is not, and `set_limit` must follow.
  void take_back(std::size_t num_levels) {
    f_.known.take_back(num_levels);
    start_again();
  }
  /// After a dead end; false if there was no decision behind it.
  bool learn() {
    if (!f_.known.learn()) {
      return false;
    }
    start_again();
    return true;
  }

  /// Everything that the rules find. `go_on()` is asked after each `many_rounds`; if it is false, what is left is found
  /// after the next `set_limit`.
  template <class GoOn>
  outcome follow(GoOn go_on) {
    for (std::uint32_t round = 1;; ++round) {
      if (!f_.known.follow_clauses()) {
        return outcome::dead_end;
      }
      const auto before = f_.known.num_changes();
      if (!cheap()) {
        return outcome::dead_end;
      }
      if (f_.known.num_changes() == before) {
        if (!crowded_devices() || !window_() || !full_memories()) {
          return outcome::dead_end;
        }
        if (f_.known.num_changes() == before) {
          return outcome::quiet;
        }
      }
      const bool many = round % many_rounds == 0;
      if ((many || (round >= first_rounds && std::has_single_bit(round))) && !refuse_circles()) {
        return outcome::dead_end;
      }
      if (many && !go_on()) {
        return outcome::unfinished;
      }
    }
  }

private:
  static constexpr std::uint32_t first_rounds = 16; ///< before circles are looked for

  void start_again() {
    f_.known.take_raised([](auto) {});
    for (auto* all : {&stale_[0], &stale_[1], &changed_, &crowd_changed_}) {
      std::fill(all->begin(), all->end(), std::uint8_t{0});
    }
    // What was learned last may be the only news.
    num_read_ = f_.known.trail().empty() ? 0 : std::min(num_read_, f_.known.trail().size() - 1);
  }

  /// What new facts and raises have an influence on.
  void read_news() {
    const auto trail = f_.known.trail();
    for (; num_read_ < trail.size(); ++num_read_) {
      const std::uint32_t fact = trail[num_read_] / 2;
      if (fact < f_.q.num_units * f_.k) {
        for (const op_id v : f_.members(fact / static_cast<std::uint32_t>(f_.k))) {
          wake(0, v);
          wake(1, v);
          changed_[v] = 1;
          crowd_changed_[fact % f_.k] = 1;
        }
      } else {
        const auto [u, v] = f_.pair_of(fact);
        for (const op_id x : {u, v}) {
          stale_[0][x] = stale_[1][x] = 1;
        }
      }
    }
    f_.known.take_raised([&](std::uint32_t b) {
      const int direction = b >= f_.n * f_.k;
      const auto v = static_cast<op_id>((b - (direction == 0 ? 0 : f_.n * f_.k)) / f_.k);
      wake(direction, v);
      changed_[v] = 1;
      crowd_changed_[b % f_.k] = 1;
    });
  }

  /// What waits for v, or may run after it on the same machine.
  void wake(int direction, op_id v) {
    for (const op_id u : wakes_[direction][v]) {
      stale_[direction][u] = 1;
    }
    for (op_id u = 0; u < f_.n; ++u) {
      if (direction == 0 ? f_.is_before(v, u) : f_.is_before(u, v)) {
        stale_[direction][u] = 1;
      }
    }
  }

  /// Heads, tails, places and orders by rules about pairs.
  bool cheap() {
    read_news();
    f_.collect();
    for (int direction = 0; direction < 2; ++direction) {
      for (std::size_t i = 0; i < f_.n; ++i) {
        const op_id v = f_.q.order[direction == 0 ? i : f_.n - 1 - i];
        if (!stale_[direction][v]) {
          continue;
        }
        stale_[direction][v] = 0;
        const auto before = f_.known.num_changes();
        for (std::size_t d = 0; d < f_.k; ++d) {
          if (f_.may_be(v, d)) {
            wait_for_inputs(direction, v, d);
            wait_for_locals(direction, v, d);
            join_(direction, v, d);
          }
        }
        if (f_.known.num_changes() != before) {
          read_news();
        }
      }
    }
    read_news();
    for (op_id v = 0; v < f_.n; ++v) {
      if (changed_[v]) {
        changed_[v] = 0;
        for (std::size_t d = 0; d < f_.k; ++d) {
          if (f_.may_be(v, d) && (!check_place(v, d) || (f_.q.machines[d].in_order && !order_pairs(v, d)))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  void wait_for_inputs(int direction, op_id v, std::size_t d) {
    const auto id_v = f_.id(direction, v, d);
    for (std::uint32_t i = f_.q.first_input[direction][v]; i < f_.q.first_input[direction][v + 1]; ++i) {
      const auto [u, tensor] = f_.q.inputs[direction][i];
      amount there = whole_times::never;
      for (std::size_t e = 0; e < f_.k; ++e) {
        if (f_.may_be(u, e)) {
          there = std::min(there, f_.bound(direction, u, e) + f_.time(u, e) + f_.delay(direction, tensor, e, d));
        }
      }
      if (there <= f_.known.at_least(id_v)) {
        continue;
      }
      f_.because_of_places(direction, u, f_.k,
                           [&, tensor = tensor](std::size_t e) { return there - f_.delay(direction, tensor, e, d); });
      f_.known.raise(id_v, there);
    }
  }

  /// Ops on d that are before v there run one after the other.
  void wait_for_locals(int direction, op_id v, std::size_t d) {
    if (!f_.q.machines[d].in_order) {
      return;
    }
    locals_.clear();
    for (const op_id u : f_.fixed[d]) {
      if (u != v && (direction == 0 ? f_.is_before(u, v) : f_.is_before(v, u))) {
        locals_.push_back({f_.bound(direction, u, d), u});
      }
    }
    if (locals_.empty()) {
      return;
    }
    weft::sort(locals_,
               [](const local& a, const local& b) { return a.bound != b.bound ? a.bound > b.bound : a.op < b.op; });
    amount sum = 0;
    amount latest = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < locals_.size(); ++i) {
      sum += f_.time(locals_[i].op, d);
      if (locals_[i].bound + sum > latest) {
        latest = locals_[i].bound + sum;
        count = i + 1;
      }
    }
    if (latest <= f_.bound(direction, v, d)) {
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const op_id u = locals_[i].op;
      f_.known.because(f_.place_of(u, d));
      if (const literal l = direction == 0 ? f_.before(u, v) : f_.before(v, u); l != device_facts::always_before) {
        f_.known.because(l);
      }
      f_.known.because(f_.id(direction, u, d), locals_[count - 1].bound);
    }
    f_.known.raise(f_.id(direction, v, d), latest);
  }

  bool check_place(op_id v, std::size_t d) {
    const amount over = f_.head(v, d) + f_.time(v, d) + f_.tail(v, d) - f_.limit;
    if (over <= 0) {
      return true;
    }
    f_.because_of_both(f_.id(0, v, d), f_.head(v, d), f_.id(1, v, d), f_.tail(v, d), over - 1);
    return f_.known.imply(conflict_learning::negation(f_.place_of(v, d)));
  }

  /// The orders of v and others on d, or places, that are not possible any more.
  bool order_pairs(op_id v, std::size_t d) {
    if (!f_.may_be(v, d)) {
      return true;
    }
    if (f_.is_on(v, d)) {
      for (op_id u = 0; u < f_.n; ++u) {
        if (u != v && f_.may_be(u, d) && !order_pair(v, u, d)) {
          return false;
        }
      }
      return true;
    }
    for (const op_id u : f_.fixed[d]) {
      if (f_.may_be(v, d) && u != v && !order_pair(u, v, d)) {
        return false;
      }
    }
    return true;
  }

  /// u is on d, and v may be.
  bool order_pair(op_id u, op_id v, std::size_t d) {
    const literal first = f_.before(u, v);
    if (first >= device_facts::never_before || !f_.known.is_open(first)) {
      return true;
    }
    const amount both = f_.time(u, d) + f_.time(v, d) - f_.limit;
    const amount over_u = f_.head(u, d) + both + f_.tail(v, d);
    const amount over_v = f_.head(v, d) + both + f_.tail(u, d);
    const auto because_u_is_late = [&] {
      f_.because_of_both(f_.id(0, u, d), f_.head(u, d), f_.id(1, v, d), f_.tail(v, d), over_u - 1);
    };
    const auto because_v_is_late = [&] {
      f_.because_of_both(f_.id(0, v, d), f_.head(v, d), f_.id(1, u, d), f_.tail(u, d), over_v - 1);
    };
    if (f_.is_on(v, d)) {
      if (over_u <= 0 && over_v <= 0) {
        return true;
      }
      f_.known.because(f_.place_of(u, d));
      f_.known.because(f_.place_of(v, d));
      if (over_u > 0) {
        because_u_is_late();
        return f_.known.imply(conflict_learning::negation(first));
      }
      because_v_is_late();
      return f_.known.imply(first);
    }
    if (over_u <= 0 || over_v <= 0) {
      return true;
    }
    f_.known.because(f_.place_of(u, d));
    because_u_is_late();
    because_v_is_late();
    return f_.known.imply(conflict_learning::negation(f_.place_of(v, d)));
  }

  /// Ops that would have to wait for themselves: on a machine where something that waits for them is before them.
  /// False at a dead end. Complexity: O(n² + inputs), as often as there are ops on or behind circles.
  bool refuse_circles() {
    f_.collect();
    find_circles();
    for (op_id v = 0; v < f_.n; ++v) {
      if (num_waits_[v] == 0) {
        continue;
      }
      find_waiting(v);
      for (std::size_t d = 0; d < f_.k; ++d) {
        if (!f_.q.machines[d].in_order) {
          continue;
        }
        for (std::size_t i = 0; f_.may_be(v, d) && i < f_.fixed[d].size(); ++i) {
          const op_id u = f_.fixed[d][i];
          const literal first = f_.before(u, v);
          if (waits_through_[u] == none || !is_decided(first)) {
            continue;
          }
          for (op_id x = u; x != v; x = waits_through_[x]) {
            because_of_order(waits_through_[x], x);
          }
          f_.known.because(f_.place_of(u, d));
          f_.known.because(first);
          if (!f_.known.imply(conflict_learning::negation(f_.place_of(v, d)))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// An order that is a fact and holds.
  bool is_decided(literal first) const { return first < device_facts::never_before && f_.known.holds(first); }

  /// Calls f(v, surely) for what waits for u: by an edge, or on a machine of u where v is surely, or only may be.
  template <class F>
  void for_each_waiting(op_id u, F f) const {
    for (std::uint32_t i = f_.q.first_input[1][u]; i < f_.q.first_input[1][u + 1]; ++i) {
      f(f_.q.inputs[1][i].op, true);
    }
    for (std::size_t d = 0; d < f_.k; ++d) {
      if (f_.q.machines[d].in_order && f_.is_on(u, d)) {
        for (op_id v = 0; v < f_.n; ++v) {
          if (f_.may_be(v, d) && is_decided(f_.before(u, v))) {
            f(v, f_.is_on(v, d));
          }
        }
      }
    }
  }

  /// Leaves in `num_waits_` something above 0 for the ops on circles and those that wait for them, 0 for others; an op
  /// waits for those before it wherever it may be.
  void find_circles() {
    num_waits_.assign(f_.n, 0);
    here_.clear();
    for (op_id u = 0; u < f_.n; ++u) {
      for_each_waiting(u, [&](op_id v, bool) { ++num_waits_[v]; });
    }
    for (op_id v = 0; v < f_.n; ++v) {
      if (num_waits_[v] == 0) {
        here_.push_back(v);
      }
    }
    while (!here_.empty()) {
      const op_id u = here_.back();
      here_.pop_back();
      for_each_waiting(u, [&](op_id v, bool) {
        if (--num_waits_[v] == 0) {
          here_.push_back(v);
        }
      });
    }
  }

  /// Fills `waits_through_`: of each op that surely waits for v the one before it on a way from v, and v of itself.
  void find_waiting(op_id v) {
    waits_through_.assign(f_.n, none);
    waits_through_[v] = v;
    here_.assign(1, v);
    while (!here_.empty()) {
      const op_id u = here_.back();
      here_.pop_back();
      for_each_waiting(u, [&](op_id x, bool surely) {
        if (surely && waits_through_[x] == none) {
          waits_through_[x] = u;
          here_.push_back(x);
        }
      });
    }
  }

  /// x waits for u: by an edge, or as they are on one machine.
  void because_of_order(op_id u, op_id x) {
    const literal first = f_.before(u, x);
    if (first == device_facts::always_before) {
      return;
    }
    std::size_t d = 0;
    while (!f_.is_on(u, d)) {
      ++d;
    }
    f_.known.because(f_.place_of(u, d));
    f_.known.because(f_.place_of(x, d));
    f_.known.because(first);
  }

  /// Sets of ops on a device against the time between their least head and their least tail.
  bool crowded_devices() {
    for (std::size_t d = 0; d < f_.k; ++d) {
      if (f_.q.machines[d].in_order && crowd_changed_[d]) {
        crowd_changed_[d] = 0;
        if (!crowd_(d)) {
          return false;
        }
      }
    }
    return true;
  }

  template <class F>
  void for_each_in_memory(std::size_t memory, F f) const {
    for (std::size_t device = memory; device < f_.q.devices.size(); ++device) {
      if (f_.q.memory[device] == memory) {
        f_.for_each_of_device(device, f);
      }
    }
  }

  bool full_memories() {
    for (std::size_t device = 0; f_.q.memory_matters && device < f_.q.devices.size(); ++device) {
      if (f_.q.memory[device] != device) {
        continue; // full with the first that works in it
      }
      here_.clear();
      byte_count left = f_.q.capacity[device];
      bool full = false;
      for (std::size_t c = 0; c < f_.q.demand.size(); ++c) {
        for_each_in_memory(device, [&](std::size_t d) {
          if (const literal l = f_.place(f_.q.first_unit[c], d); f_.known.holds(l)) {
            here_.push_back(l);
            full = full || f_.q.demand[c] > left;
            left -= std::min(left, f_.q.demand[c]);
          }
        });
      }
      const auto because_of_those_here = [&] {
        for (const literal l : here_) {
          f_.known.because(l);
        }
      };
      if (full) {
        because_of_those_here();
        return f_.known.contradict();
      }
      bool possible = true;
      for (std::size_t c = 0; c < f_.q.demand.size(); ++c) {
        for_each_in_memory(device, [&](std::size_t d) {
          if (const literal l = f_.place(f_.q.first_unit[c], d);
              possible && f_.q.demand[c] > left && f_.known.is_open(l)) {
            because_of_those_here();
            possible = f_.known.imply(conflict_learning::negation(l));
          }
        });
      }
      if (!possible) {
        return false;
      }
    }
    return true;
  }

  struct local {
    amount bound;
    op_id op;
  };

  device_facts& f_;
  join_rule join_;
  crowd_rule crowd_;
  window_rule window_;
  std::vector<std::vector<op_id>> wakes_[2]; // per op: whose heads, or tails, depend on it
  std::vector<std::uint8_t> stale_[2];       // per op: its head, or tail, has to be looked at
  std::vector<std::uint8_t> changed_;        // per op, since its places and orders were looked at
  std::vector<std::uint8_t> crowd_changed_;  // per machine, since its sets were looked at
  std::size_t num_read_ = 0;                 // facts whose influence is known
  buffer<local> locals_;
  std::vector<literal> here_;
  std::vector<std::uint32_t> num_waits_; // per op
  std::vector<op_id> waits_through_;     // per op
};

} // namespace weft::bound::exact
