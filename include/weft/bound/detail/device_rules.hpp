// SPDX-License-Identifier: BSL-1.0
/// What follows from where ops are and in what order: when they can start, what must follow them, and what cannot be.
#pragma once

#include "weft/bound/detail/conflict_learning.hpp"
#include "weft/bound/detail/whole_times.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::bound::detail {

/// Facts "component c is on device d" and "of two ops that share a device, u is first"; amounts "if v is on d, so much
/// passes before it starts" (head) and "… after it ends" (tail). Rules raise heads and tails, each the other's mirror image:
///  - inputs: from the best place that is left for each of them;
///  - ops on a device that are before v there, one after the other;
/// and they exclude places and orders:
///  - head + time + tail is more than the makespan at hand;
///  - of two ops on a device neither, or only one, can be first;
///  - a set of ops on a device has more to do than time between its least head and its least tail;
///  - all ops together have more to do in a window than all devices can do, weighted so that it is hardest;
///  - memory.
/// Source: Carlier, Pinson, An algorithm for solving the job-shop problem, 1989, for sets on a device; docs/exact.md.
class device_rules {
public:
  using amount = whole_times::amount;
  using literal = conflict_learning::literal;

  device_rules(const whole_times& q, conflict_learning& known)
      : q_{q}, known_{known}, n_{q.num_ops}, k_{q.num_machines()}, fixed_(k_), before_(n_ * n_, never_before),
        members_(q.num_units), changed_(n_, 1), crowd_changed_(k_, 1) {
    wakes_[0].resize(n_);
    wakes_[1].resize(n_);
    stale_[0].assign(n_, 1);
    stale_[1].assign(n_, 1);
    for (const op_id v : ids(n_)) {
      members_[q.unit_of[v]].push_back(v);
    }
    for (std::uint32_t c = 0; c < q.num_units; ++c) {
      for (std::size_t d = 0; d < k_; ++d) {
        place_.push_back(known_.add_fact());
      }
    }
    for (int direction = 0; direction < 2; ++direction) {
      for (std::size_t i = 0; i < n_ * k_; ++i) {
        bound_[direction].push_back(known_.add_amount(0));
      }
    }
    find_ancestors();
  }

  /// Must be called once, before anything is decided; `twin[d]`: a device before d that nothing tells from it, or the
  /// number of devices. False if there is no way.
  bool begin(amount limit, const std::vector<std::size_t>& twin) {
    limit_ = limit;
    for (std::uint32_t c = 0; c < q_.num_units; ++c) {
      std::vector<literal> somewhere;
      for (std::size_t d = 0; d < k_; ++d) {
        somewhere.push_back(place(c, d));
        for (std::size_t e = 0; e < d; ++e) {
          const literal not_both[]{conflict_learning::negation(place(c, d)), conflict_learning::negation(place(c, e))};
          known_.add_clause(not_both);
        }
        const bool allowed = std::all_of(members_[c].begin(), members_[c].end(),
                                         [&](op_id v) { return q_.time[v * k_ + d] != whole_times::nowhere; });
        const literal not_here[]{conflict_learning::negation(place(c, d))};
        if (!allowed && !known_.add_clause(not_here)) {
          return false;
        }
      }
      if (!known_.add_clause(somewhere)) {
        return false;
      }
    }
    for (const auto& [first, other] : q_.together) {
      for (std::size_t d = 0; d < k_; ++d) {
        std::vector<literal> clause{conflict_learning::negation(place(first, d))};
        for_each_of_device(q_.machines[d].device, [&](std::size_t e) { clause.push_back(place(other, e)); });
        if (!known_.add_clause(clause)) {
          return false;
        }
      }
    }
    return break_symmetry(twin) && known_.follow_clauses() && find_joins() && cheap() && add_windows() && follow();
  }

  /// Only smaller ones than before. Without decisions.
  void set_limit(amount limit) {
    limit_ = limit;
    for (auto* all : {&stale_[0], &stale_[1], &changed_, &crowd_changed_}) {
      std::fill(all->begin(), all->end(), std::uint8_t{1});
    }
  }
  /// Takes decisions back. Everything that follows from those that are left was found before the next was made.
  void take_back(std::size_t num_levels) {
    known_.take_back(num_levels);
    start_again();
  }
  /// After a dead end; false if there was no decision behind it.
  bool learn() {
    if (!known_.learn()) {
      return false;
    }
    start_again();
    return true;
  }
  amount limit() const { return limit_; }

  literal place(std::uint32_t c, std::size_t d) const { return place_[c * k_ + d]; }
  literal place_of(op_id v, std::size_t d) const { return place(q_.unit_of[v], d); }
  amount head(op_id v, std::size_t d) const { return known_.at_least(bound_[0][v * k_ + d]); }
  amount tail(op_id v, std::size_t d) const { return known_.at_least(bound_[1][v * k_ + d]); }
  amount time(op_id v, std::size_t d) const { return q_.time[v * k_ + d]; }
  std::span<const op_id> members(std::uint32_t c) const { return members_[c]; }

  /// Everything that the rules find; false at a dead end.
  bool follow() {
    for (;;) {
      if (!known_.follow_clauses()) {
        return false;
      }
      const auto before = known_.num_changes();
      if (!cheap()) {
        return false;
      }
      if (known_.num_changes() != before) {
        continue;
      }
      if (!crowded_devices() || !crowded_windows() || !full_memories()) {
        return false;
      }
      if (known_.num_changes() == before) {
        return true;
      }
    }
  }

  /// Two ops that are on one device and whose order is open: the fact "u is first" for the one with the smaller head, or
  /// `always_before` if there are none. Those that had most to do with dead ends, else the first in time.
  literal open_order() const {
    literal best = always_before;
    amount earliest = 0;
    for (std::size_t d = 0; d < k_; ++d) {
      const auto& ops = fixed_[d];
      for (std::size_t i = 0; q_.machines[d].in_order && i < ops.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const bool later = head(ops[i], d) > head(ops[j], d);
          const op_id u = later ? ops[j] : ops[i];
          const literal first = before(u, later ? ops[i] : ops[j]);
          if (first >= never_before || !known_.is_open(first)) {
            continue;
          }
          const double more = best == always_before ? 1 : known_.activity(first) - known_.activity(best);
          if (more > 0 || (more == 0 && head(u, d) < earliest)) {
            best = first;
            earliest = head(u, d);
          }
        }
      }
    }
    return best;
  }
  static constexpr literal always_before = ~literal{0};

private:
  static constexpr literal never_before = ~literal{0} - 1;

  struct window {
    amount head;
    amount tail;
    std::vector<amount> weight; // per device
    amount total = 0;           // of weights times slots
  };

  conflict_learning::bound_id id(int direction, op_id v, std::size_t d) const { return bound_[direction][v * k_ + d]; }
  amount bound(int direction, op_id v, std::size_t d) const { return known_.at_least(id(direction, v, d)); }
  literal before(op_id u, op_id v) const { return before_[u * n_ + v]; }
  bool may_be(op_id v, std::size_t d) const { return !known_.fails(place_of(v, d)); }
  bool is_on(op_id v, std::size_t d) const { return known_.holds(place_of(v, d)); }
  bool is_before(op_id u, op_id v) const {
    const literal l = before(u, v);
    return l == always_before || (l != never_before && known_.holds(l));
  }

  void find_ancestors() {
    for (const op_id v : q_.order) {
      for (std::uint32_t i = q_.first_input[0][v]; i < q_.first_input[0][v + 1]; ++i) {
        const op_id u = q_.inputs[0][i].op;
        before_[u * n_ + v] = always_before;
        for (op_id w = 0; w < n_; ++w) {
          if (before_[w * n_ + u] == always_before) {
            before_[w * n_ + v] = always_before;
          }
        }
      }
    }
    for (op_id u = 0; u < n_; ++u) {
      for (op_id v = u + 1; v < n_; ++v) {
        if (before_[u * n_ + v] == never_before && before_[v * n_ + u] == never_before) {
          before_[u * n_ + v] = known_.add_fact();
          pair_of_.emplace_back(u, v);
          before_[v * n_ + u] = conflict_learning::negation(before_[u * n_ + v]);
        }
      }
    }
  }

  template <class F>
  void for_each_of_device(std::size_t device, F f) const {
    for (std::size_t d = 0; d < k_; ++d) {
      if (q_.machines[d].device == device) {
        f(d);
      }
    }
  }

  /// What comes first, in topological order, of what is on a device with a twin, or on a slot that is not the first,
  /// comes after something on the twin, or on the slot before.
  bool break_symmetry(const std::vector<std::size_t>& twin) {
    std::vector<std::uint32_t> sequence;
    std::vector<std::uint8_t> met(q_.num_units, 0);
    for (const op_id v : q_.order) {
      if (!met[q_.unit_of[v]]) {
        met[q_.unit_of[v]] = 1;
        sequence.push_back(q_.unit_of[v]);
      }
    }
    for (std::size_t d = 0; d < k_; ++d) {
      const std::size_t device = q_.machines[d].device;
      const auto comes_after = [&](auto add_places) {
        std::vector<literal> clause;
        for (const std::uint32_t c : sequence) {
          clause.push_back(conflict_learning::negation(place(c, d)));
          if (!known_.add_clause(clause)) {
            return false;
          }
          clause.pop_back();
          add_places(c, clause);
        }
        return true;
      };
      if (d > 0 && q_.machines[d - 1].device == device &&
          !comes_after([&](std::uint32_t c, auto& clause) { clause.push_back(place(c, d - 1)); })) {
        return false;
      }
      if (twin[device] != q_.devices.size() && !comes_after([&](std::uint32_t c, auto& clause) {
            for_each_of_device(twin[device], [&](std::size_t e) { clause.push_back(place(c, e)); });
          })) {
        return false;
      }
    }
    return true;
  }

  void start_again() {
    known_.take_raised([](auto) {});
    for (auto* all : {&stale_[0], &stale_[1], &changed_, &crowd_changed_}) {
      std::fill(all->begin(), all->end(), std::uint8_t{0});
    }
    // What was learned last may be the only news.
    num_read_ = known_.trail().empty() ? 0 : std::min(num_read_, known_.trail().size() - 1);
  }

  /// What new facts and raises have an influence on.
  void read_news() {
    const auto trail = known_.trail();
    for (; num_read_ < trail.size(); ++num_read_) {
      const std::uint32_t fact = trail[num_read_] / 2;
      if (fact < q_.num_units * k_) {
        for (const op_id v : members_[fact / k_]) {
          wake(0, v);
          wake(1, v);
          changed_[v] = 1;
          crowd_changed_[fact % k_] = 1;
        }
      } else {
        const auto [u, v] = pair_of_[fact - q_.num_units * k_];
        for (const op_id x : {u, v}) {
          stale_[0][x] = stale_[1][x] = 1;
        }
      }
    }
    known_.take_raised([&](std::uint32_t b) {
      const int direction = b >= n_ * k_;
      const auto v = static_cast<op_id>((b - (direction == 0 ? 0 : n_ * k_)) / k_);
      wake(direction, v);
      changed_[v] = 1;
      crowd_changed_[b % k_] = 1;
    });
  }

  /// What waits for v, or may run after it on the same machine.
  void wake(int direction, op_id v) {
    for (const op_id u : wakes_[direction][v]) {
      stale_[direction][u] = 1;
    }
    for (op_id u = 0; u < n_; ++u) {
      if (direction == 0 ? is_before(v, u) : is_before(u, v)) {
        stale_[direction][u] = 1;
      }
    }
  }

  /// Heads, tails, places and orders by rules about pairs.
  bool cheap() {
    read_news();
    for (auto& ops : fixed_) {
      ops.clear();
    }
    for (const op_id v : q_.order) {
      for (std::size_t d = 0; d < k_; ++d) {
        if (is_on(v, d)) {
          fixed_[d].push_back(v);
        }
      }
    }
    for (int direction = 0; direction < 2; ++direction) {
      for (std::size_t i = 0; i < n_; ++i) {
        const op_id v = q_.order[direction == 0 ? i : n_ - 1 - i];
        if (!stale_[direction][v]) {
          continue;
        }
        stale_[direction][v] = 0;
        const auto before = known_.num_changes();
        for (std::size_t d = 0; d < k_; ++d) {
          if (may_be(v, d)) {
            wait_for_inputs(direction, v, d);
            wait_for_locals(direction, v, d);
            wait_for_joined(direction, v, d);
          }
        }
        if (known_.num_changes() != before) {
          read_news();
        }
      }
    }
    read_news();
    for (op_id v = 0; v < n_; ++v) {
      if (changed_[v]) {
        changed_[v] = 0;
        for (std::size_t d = 0; d < k_; ++d) {
          if (may_be(v, d) && (!check_place(v, d) || (q_.machines[d].in_order && !order_pairs(v, d)))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  void wait_for_inputs(int direction, op_id v, std::size_t d) {
    const auto id_v = id(direction, v, d);
    for (std::uint32_t i = q_.first_input[direction][v]; i < q_.first_input[direction][v + 1]; ++i) {
      const auto [u, tensor] = q_.inputs[direction][i];
      amount there = whole_times::never;
      for (std::size_t e = 0; e < k_; ++e) {
        if (may_be(u, e)) {
          there = std::min(there, bound(direction, u, e) + time(u, e) + delay(direction, tensor, e, d));
        }
      }
      if (there <= known_.at_least(id_v)) {
        continue;
      }
      for (std::size_t e = 0; e < k_; ++e) {
        if (time(u, e) == whole_times::nowhere) {
          continue;
        }
        const amount needed = there - time(u, e) - delay(direction, tensor, e, d);
        if (known_.at_least_always(id(direction, u, e)) >= needed) {
          continue;
        }
        if (may_be(u, e)) {
          known_.because(id(direction, u, e), needed);
        } else {
          known_.because(conflict_learning::negation(place_of(u, e)));
        }
      }
      known_.raise(id_v, there);
    }
  }
  amount delay(int direction, std::uint32_t tensor, std::size_t other, std::size_t here) const {
    return direction == 0 ? q_.delay(tensor, other, here) : q_.delay(tensor, here, other);
  }

  /// Ops on d that are before v there run one after the other.
  void wait_for_locals(int direction, op_id v, std::size_t d) {
    if (!q_.machines[d].in_order) {
      return;
    }
    locals_.clear();
    for (const op_id u : fixed_[d]) {
      if (u != v && (direction == 0 ? is_before(u, v) : is_before(v, u))) {
        locals_.push_back({bound(direction, u, d), u});
      }
    }
    if (locals_.empty()) {
      return;
    }
    weft::sort(locals_, [](const local& a, const local& b) { return a.bound != b.bound ? a.bound > b.bound : a.op < b.op; });
    amount sum = 0;
    amount latest = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < locals_.size(); ++i) {
      sum += time(locals_[i].op, d);
      if (locals_[i].bound + sum > latest) {
        latest = locals_[i].bound + sum;
        count = i + 1;
      }
    }
    if (latest <= bound(direction, v, d)) {
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const op_id u = locals_[i].op;
      known_.because(place_of(u, d));
      if (const literal l = direction == 0 ? before(u, v) : before(v, u); l != always_before) {
        known_.because(l);
      }
      known_.because(id(direction, u, d), locals_[count - 1].bound);
    }
    known_.raise(id(direction, v, d), latest);
  }

  /// Of each op, the nearest ones before it, and for how long what they make is under way at least.
  bool find_joins() {
    for (int direction = 0; direction < 2; ++direction) {
      auto& j = joins_[direction];
      std::vector<std::size_t> position(n_);
      for (std::size_t i = 0; i < n_; ++i) {
        position[q_.order[i]] = direction == 0 ? i : n_ - 1 - i;
      }
      std::vector<std::uint8_t> met(n_, 0);
      std::vector<amount> after(n_ * k_, 0); // per op and place, to the start of v
      for (op_id v = 0; v < n_; ++v) {
        j.first.push_back(static_cast<std::uint32_t>(j.ops.size()));
        std::vector<op_id> chosen;
        std::vector<op_id> open;
        const auto meet = [&](op_id u) {
          for (std::uint32_t i = q_.first_input[direction][u]; i < q_.first_input[direction][u + 1]; ++i) {
            if (const op_id w = q_.inputs[direction][i].op; !met[w]) {
              met[w] = 1;
              open.push_back(w);
            }
          }
        };
        meet(v);
        while (chosen.size() < most_joined && !open.empty()) {
          const auto last =
            std::max_element(open.begin(), open.end(), [&](op_id a, op_id b) { return position[a] < position[b]; });
          chosen.push_back(*last);
          open.erase(last);
          meet(chosen.back());
        }
        for (const op_id u : open) {
          met[u] = 0;
        }
        for (std::size_t d = 0; d < k_; ++d) {
          std::fill(after.begin(), after.end(), 0);
          const auto pass = [&](op_id s, auto there) { // to the ops before s
            for (std::uint32_t i = q_.first_input[direction][s]; i < q_.first_input[direction][s + 1]; ++i) {
              const auto [u, tensor] = q_.inputs[direction][i];
              for (std::size_t e = 0; e < k_; ++e) {
                after[u * k_ + e] = std::max(after[u * k_ + e], there(tensor, e));
              }
            }
          };
          pass(v, [&](std::uint32_t tensor, std::size_t e) { return delay(direction, tensor, e, d); });
          for (const op_id u : chosen) {
            pass(u, [&](std::uint32_t tensor, std::size_t e) {
              amount least = whole_times::never;
              for (std::size_t f = 0; f < k_; ++f) {
                if (may_be(u, f)) {
                  least = std::min(least, delay(direction, tensor, e, f) + time(u, f) + after[u * k_ + f]);
                }
              }
              return least;
            });
          }
          for (const op_id u : chosen) {
            j.after.insert(j.after.end(), after.begin() + static_cast<std::ptrdiff_t>(u * k_),
                           after.begin() + static_cast<std::ptrdiff_t>((u + 1) * k_));
          }
        }
        for (const op_id u : chosen) {
          met[u] = 0;
          wakes_[direction][u].push_back(v);
        }
        for (std::uint32_t i = q_.first_input[direction][v]; i < q_.first_input[direction][v + 1]; ++i) {
          wakes_[direction][q_.inputs[direction][i].op].push_back(v);
        }
        j.ops.insert(j.ops.end(), chosen.begin(), chosen.end());
      }
      j.first.push_back(static_cast<std::uint32_t>(j.ops.size()));
    }
    return true;
  }

  /// Of a set of ops before v, all are on its machine, one after the other, or one is elsewhere and its result has to
  /// travel. Both take until some moment.
  void wait_for_joined(int direction, op_id v, std::size_t d) {
    if (!q_.machines[d].in_order) {
      return;
    }
    const auto& j = joins_[direction];
    const std::uint32_t first = j.first[v];
    const std::uint32_t count = j.first[v + 1] - first;
    const amount known = bound(direction, v, d);
    const amount* const after = j.after.data() + (first * k_ + d * count) * k_;
    joined_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      const op_id u = j.ops[first + i];
      amount away = whole_times::never;
      for (std::size_t e = 0; e < k_; ++e) {
        if (e != d && may_be(u, e)) {
          away = std::min(away, bound(direction, u, e) + time(u, e) + after[i * k_ + e]);
        }
      }
      if (away > known) {
        const bool here = may_be(u, d);
        joined_.push_back({i, u, away, here ? bound(direction, u, d) : whole_times::never, here ? time(u, d) : 0,
                           here ? after[i * k_ + d] : 0});
      }
    }
    if (joined_.empty()) {
      return;
    }
    weft::sort(joined_, [](const joined& a, const joined& b) { return a.head != b.head ? a.head > b.head : a.op < b.op; });
    amount best = known;
    amount best_head = 0;
    amount best_after = 0;
    amount best_away = 0;
    amount best_local = 0;
    for (const joined& x : joined_) { // the least path behind
      for (const joined& z : joined_) { // the least time by which one that is elsewhere is there
        if (std::min(z.away, x.away) <= best) {
          continue;
        }
        amount sum = 0;
        for (const joined& y : joined_) {
          if (y.after < x.after || y.away < z.away) {
            continue;
          }
          sum += y.time;
          const amount local = y.head + sum + x.after;
          if (std::min(local, z.away) > best) {
            best = std::min(local, z.away);
            best_local = local;
            best_head = y.head;
            best_after = x.after;
            best_away = z.away;
          }
        }
      }
    }
    if (best <= known) {
      return;
    }
    for (const joined& y : joined_) {
      if (y.after < best_after || y.away < best_away || y.head < best_head) {
        continue;
      }
      if (may_be(y.op, d)) {
        known_.because(id(direction, y.op, d), best_head - (best_local - best));
      } else {
        known_.because(conflict_learning::negation(place_of(y.op, d)));
      }
      for (std::size_t e = 0; e < k_; ++e) {
        if (e == d || time(y.op, e) == whole_times::nowhere) {
          continue;
        }
        const amount needed = best - time(y.op, e) - after[y.index * k_ + e];
        if (known_.at_least_always(id(direction, y.op, e)) >= needed) {
          continue;
        }
        if (may_be(y.op, e)) {
          known_.because(id(direction, y.op, e), needed);
        } else {
          known_.because(conflict_learning::negation(place_of(y.op, e)));
        }
      }
    }
    known_.raise(id(direction, v, d), best);
  }

  /// Gives two amounts as reasons, of which so much is not needed.
  void because_of_both(conflict_learning::bound_id a, amount at_least_a, conflict_learning::bound_id b, amount at_least_b,
                       amount spare) {
    const amount less = std::clamp<amount>(at_least_a - known_.at_least_always(a), 0, spare);
    known_.because(a, at_least_a - less);
    known_.because(b, at_least_b - (spare - less));
  }

  bool check_place(op_id v, std::size_t d) {
    const amount over = head(v, d) + time(v, d) + tail(v, d) - limit_;
    if (over <= 0) {
      return true;
    }
    because_of_both(id(0, v, d), head(v, d), id(1, v, d), tail(v, d), over - 1);
    return known_.imply(conflict_learning::negation(place_of(v, d)));
  }

  /// The orders of v and others on d, or places, that are not possible any more.
  bool order_pairs(op_id v, std::size_t d) {
    if (!may_be(v, d)) {
      return true;
    }
    if (is_on(v, d)) {
      for (op_id u = 0; u < n_; ++u) {
        if (u != v && may_be(u, d) && !order_pair(v, u, d)) {
          return false;
        }
      }
      return true;
    }
    for (const op_id u : fixed_[d]) {
      if (may_be(v, d) && u != v && !order_pair(u, v, d)) {
        return false;
      }
    }
    return true;
  }

  /// u is on d, and v may be.
  bool order_pair(op_id u, op_id v, std::size_t d) {
    const literal first = before(u, v);
    if (first >= never_before || !known_.is_open(first)) {
      return true;
    }
    const amount both = time(u, d) + time(v, d) - limit_;
    const amount over_u = head(u, d) + both + tail(v, d);
    const amount over_v = head(v, d) + both + tail(u, d);
    const auto because_u_is_late = [&] { because_of_both(id(0, u, d), head(u, d), id(1, v, d), tail(v, d), over_u - 1); };
    const auto because_v_is_late = [&] { because_of_both(id(0, v, d), head(v, d), id(1, u, d), tail(u, d), over_v - 1); };
    if (is_on(v, d)) {
      if (over_u <= 0 && over_v <= 0) {
        return true;
      }
      known_.because(place_of(u, d));
      known_.because(place_of(v, d));
      if (over_u > 0) {
        because_u_is_late();
        return known_.imply(conflict_learning::negation(first));
      }
      because_v_is_late();
      return known_.imply(first);
    }
    if (over_u <= 0 || over_v <= 0) {
      return true;
    }
    known_.because(place_of(u, d));
    because_u_is_late();
    because_v_is_late();
    return known_.imply(conflict_learning::negation(place_of(v, d)));
  }

  /// Sets of ops on a device against the time between their least head and their least tail.
  bool crowded_devices() {
    for (std::size_t d = 0; d < k_; ++d) {
      if (q_.machines[d].in_order && crowd_changed_[d]) {
        crowd_changed_[d] = 0;
        if (!crowded(d)) {
          return false;
        }
      }
    }
    return true;
  }

  bool crowded(std::size_t d) {
    const auto& ops = fixed_[d];
    if (ops.empty()) {
      return true;
    }
    by_tail_.assign(ops.begin(), ops.end());
    weft::sort(by_tail_, [&](op_id a, op_id b) { return tail(a, d) != tail(b, d) ? tail(a, d) > tail(b, d) : a < b; });
    longest_ = 0;
    for (op_id v = 0; v < n_; ++v) {
      if (may_be(v, d)) {
        longest_ = std::max(longest_, time(v, d));
      }
    }
    for (const op_id earliest : ops) {
      const amount from = head(earliest, d);
      amount sum = 0;
      for (std::size_t i = 0; i < by_tail_.size(); ++i) {
        const op_id last = by_tail_[i];
        if (head(last, d) < from) {
          continue;
        }
        sum += time(last, d);
        const amount to = tail(last, d);
        const amount room = limit_ - from - to - sum;
        if (room < 0) {
          crowd_reason(d, from, to, i, -room - 1);
          return known_.contradict();
        }
        if (room < longest_ && !exclude_others(d, from, to, i, room)) {
          return false;
        }
      }
    }
    return true;
  }

  /// The first i + 1 ops by tail whose heads are at least `from` are on d, have at least such heads and tails, less what
  /// can be spared.
  void crowd_reason(std::size_t d, amount from, amount to, std::size_t i, amount spare) {
    const amount less = std::min(from, spare);
    for (std::size_t j = 0; j <= i; ++j) {
      const op_id v = by_tail_[j];
      if (head(v, d) >= from) {
        known_.because(place_of(v, d));
        known_.because(id(0, v, d), from - less);
        known_.because(id(1, v, d), to - (spare - less));
      }
    }
  }

  /// What else may be on the device, and does not fit between a set of ops; or must be before or after all of them.
  bool exclude_others(std::size_t d, amount from, amount to, std::size_t i, amount room) {
    for (op_id u = 0; u < n_; ++u) {
      if (!may_be(u, d) || time(u, d) <= room) {
        continue;
      }
      const amount early = std::min(from, head(u, d));
      const amount late = std::min(to, tail(u, d));
      const bool on = is_on(u, d);
      if (on && head(u, d) >= from && tail(u, d) >= to) {
        continue; // one of them, or about to be
      }
      const amount over = time(u, d) - room;
      const amount over_all = over - (from - early) - (to - late);
      if (!on && over_all > 0) {
        crowd_reason(d, early, late, i, from, over_all - 1, u);
        if (!known_.imply(conflict_learning::negation(place_of(u, d)))) {
          return false;
        }
      } else if (on) {
        const amount over_last = over - (from - early); // unless u is last
        const amount over_first = over - (to - late);
        if (over_last > 0 && !order_set(d, early, to, i, from, over_last - 1, u, true)) {
          return false;
        }
        if (over_first > 0 && !order_set(d, from, late, i, from, over_first - 1, u, false)) {
          return false;
        }
      }
    }
    return true;
  }

  /// The same reason for the set of ops with heads of at least `from_set`, for `head` and `tail` that hold for u, too.
  void crowd_reason(std::size_t d, amount from, amount to, std::size_t i, amount from_set, amount spare, op_id u) {
    const amount less = std::min(from, spare);
    for (std::size_t j = 0; j <= i; ++j) {
      const op_id v = by_tail_[j];
      if (v != u && head(v, d) >= from_set) {
        known_.because(place_of(v, d));
        known_.because(id(0, v, d), from - less);
        known_.because(id(1, v, d), to - (spare - less));
      }
    }
    known_.because(id(0, u, d), from - less);
    known_.because(id(1, u, d), to - (spare - less));
  }

  bool order_set(std::size_t d, amount from, amount to, std::size_t i, amount from_set, amount spare, op_id u, bool last) {
    for (std::size_t j = 0; j <= i; ++j) {
      const op_id w = by_tail_[j];
      if (w == u || head(w, d) < from_set) {
        continue;
      }
      const literal l = last ? before(w, u) : before(u, w);
      if (l == always_before || (l != never_before && known_.holds(l))) {
        continue;
      }
      const amount less = std::min(from, spare);
      for (std::size_t m = 0; m <= i; ++m) {
        const op_id v = by_tail_[m];
        if (v != u && head(v, d) >= from_set) {
          known_.because(place_of(v, d));
          known_.because(id(0, v, d), from - less);
          known_.because(id(1, v, d), to - (spare - less));
        }
      }
      known_.because(place_of(u, d));
      known_.because(id(last ? 0 : 1, u, d), last ? from - less : to - (spare - less));
      if (l == never_before) {
        return known_.contradict();
      }
      if (!known_.imply(l)) {
        return false;
      }
    }
    return true;
  }

  /// Windows between heads and tails that occur, each with the weights of devices that make it hardest.
  bool add_windows() {
    const auto edges_of = [&](int direction) {
      std::vector<amount> least;
      for (op_id v = 0; v < n_; ++v) {
        amount x = whole_times::never;
        for (std::size_t d = 0; d < k_; ++d) {
          x = may_be(v, d) ? std::min(x, bound(direction, v, d)) : x;
        }
        least.push_back(x);
      }
      weft::sort(least);
      std::vector<amount> some{0};
      for (std::size_t i = 1; i < num_edges; ++i) {
        const amount x = least[i * (n_ - 1) / num_edges];
        if (x > some.back()) {
          some.push_back(x);
        }
      }
      return some;
    };
    for (const amount from : edges_of(0)) {
      for (const amount to : edges_of(1)) {
        if (from + to < limit_) {
          add_window(from, to);
        }
      }
    }
    return true;
  }

  /// Weights by subgradients: a device whose ops would take longer than the others' counts more.
  void add_window(amount from, amount to) {
    std::vector<double> weight(k_, 1.0);
    std::vector<double> best(k_, 1.0);
    double most = -1;
    std::vector<double> load(k_, 0.0);
    for (int step = 0; step < num_steps; ++step) {
      std::fill(load.begin(), load.end(), 0.0);
      double value = 0;
      for (op_id v = 0; v < n_; ++v) {
        std::size_t where = k_;
        double least = 0;
        for (std::size_t d = 0; d < k_; ++d) {
          if (may_be(v, d)) {
            const double x = rounded(weight[d] * static_cast<double>(energy(v, d, from, to)));
            if (where == k_ || x < least) {
              where = d;
              least = x;
            }
          }
        }
        if (where < k_) {
          value += least;
          load[where] += static_cast<double>(energy(v, where, from, to));
        }
      }
      double capacity = 0;
      double total = 0;
      for (std::size_t d = 0; d < k_; ++d) {
        capacity += rounded(weight[d] * q_.machines[d].slots);
        total += load[d];
      }
      if (value / capacity > most) {
        most = value / capacity;
        best = weight;
      }
      if (total <= 0) {
        break;
      }
      double sum = 0;
      for (std::size_t d = 0; d < k_; ++d) {
        const double share = rounded(load[d] * static_cast<double>(k_)) / rounded(total * q_.machines[d].slots);
        weight[d] = rounded(weight[d] * (1 + rounded((share - 1) / (3 + 0.2 * step))));
        weight[d] = std::max(weight[d], 1e-3);
        sum += weight[d];
      }
      for (double& x : weight) {
        x = rounded(x * static_cast<double>(k_)) / sum;
      }
    }
    if (most < 0.6 * static_cast<double>(limit_ - from - to)) {
      return; // far from full
    }
    window w{from, to, {}, 0};
    for (std::size_t d = 0; d < k_; ++d) {
      w.weight.push_back(static_cast<amount>(best[d] * 64));
      w.total += w.weight.back() * static_cast<amount>(q_.machines[d].slots);
    }
    windows_.push_back(std::move(w));
  }

  /// How long v must run within a window, if it is on d.
  amount energy(op_id v, std::size_t d, amount from, amount to) const {
    const amount t = time(v, d);
    const amount outside = std::max<amount>({0, from - head(v, d), to - tail(v, d)});
    return std::clamp<amount>(t - outside, 0, std::max<amount>(0, limit_ - from - to));
  }

  bool crowded_windows() {
    for (const window& w : windows_) {
      if (!crowded(w)) {
        return false;
      }
    }
    return true;
  }

  bool crowded(const window& w) {
    if (w.head + w.tail >= limit_) {
      return true;
    }
    const amount room = w.total * (limit_ - w.head - w.tail);
    amount load = 0;
    amount largest = 0;
    share_.assign(n_ * k_, 0);
    least_.assign(n_, 0);
    for (op_id v = 0; v < n_; ++v) {
      amount least = std::numeric_limits<amount>::max();
      amount most = 0;
      for (std::size_t d = 0; d < k_; ++d) {
        if (may_be(v, d)) {
          const amount x = w.weight[d] * energy(v, d, w.head, w.tail);
          share_[v * k_ + d] = x;
          least = std::min(least, x);
          most = std::max(most, x);
        }
      }
      least_[v] = least;
      load += least;
      largest = std::max(largest, most - least);
    }
    if (load > room) {
      window_reason(w, load - room - 1, none);
      return known_.contradict();
    }
    if (load + largest <= room) {
      return true;
    }
    for (op_id v = 0; v < n_; ++v) {
      for (std::size_t d = 0; d < k_; ++d) {
        if (may_be(v, d) && load - least_[v] + share_[v * k_ + d] > room) {
          const amount spare = load - least_[v] + share_[v * k_ + d] - room - 1;
          const amount kept = std::min(spare, share_[v * k_ + d] - 1); // of what v adds, this is not needed
          need_energy(w, v, d, share_[v * k_ + d] - kept);
          window_reason(w, spare - kept, v);
          if (!known_.imply(conflict_learning::negation(place_of(v, d)))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// Why v takes at least so much of a window on d.
  void need_energy(const window& w, op_id v, std::size_t d, amount needed) {
    const amount seconds = (needed + w.weight[d] - 1) / w.weight[d];
    known_.because(id(0, v, d), w.head - time(v, d) + seconds);
    known_.because(id(1, v, d), w.tail - time(v, d) + seconds);
  }

  /// Why all ops but one take so much of a window.
  void window_reason(const window& w, amount spare, op_id except) {
    for (op_id v = 0; v < n_; ++v) {
      if (v == except || least_[v] == 0) {
        continue;
      }
      if (least_[v] <= spare) {
        spare -= least_[v];
        continue;
      }
      for (std::size_t d = 0; d < k_; ++d) {
        if (time(v, d) == whole_times::nowhere) {
          continue;
        }
        if (may_be(v, d)) {
          need_energy(w, v, d, least_[v]);
        } else if (w.weight[d] * always_energy(w, v, d) < least_[v]) {
          known_.because(conflict_learning::negation(place_of(v, d)));
        }
      }
    }
  }
  amount always_energy(const window& w, op_id v, std::size_t d) const {
    const amount outside = std::max<amount>({0, w.head - known_.at_least_always(id(0, v, d)),
                                             w.tail - known_.at_least_always(id(1, v, d))});
    return std::clamp<amount>(time(v, d) - outside, 0, limit_ - w.head - w.tail);
  }

  bool full_memories() {
    for (std::size_t device = 0; q_.memory_matters && device < q_.devices.size(); ++device) {
      here_.clear();
      byte_count left = q_.capacity[device];
      bool full = false;
      for (std::size_t c = 0; c < q_.demand.size(); ++c) {
        for_each_of_device(device, [&](std::size_t d) {
          if (const literal l = place(q_.first_unit[c], d); known_.holds(l)) {
            here_.push_back(l);
            full = full || q_.demand[c] > left;
            left -= std::min(left, q_.demand[c]);
          }
        });
      }
      const auto because_of_those_here = [&] {
        for (const literal l : here_) {
          known_.because(l);
        }
      };
      if (full) {
        because_of_those_here();
        return known_.contradict();
      }
      bool possible = true;
      for (std::size_t c = 0; c < q_.demand.size(); ++c) {
        for_each_of_device(device, [&](std::size_t d) {
          if (const literal l = place(q_.first_unit[c], d); possible && q_.demand[c] > left && known_.is_open(l)) {
            because_of_those_here();
            possible = known_.imply(conflict_learning::negation(l));
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
  /// An op before v that would have to be on its machine, too, for v to start as early as is known.
  struct joined {
    std::uint32_t index;
    op_id op;
    amount away;
    amount head;
    amount time;
    amount after;
  };
  struct joins {
    std::vector<std::uint32_t> first; // per op
    std::vector<op_id> ops;
    std::vector<amount> after;        // per op, machine of the op, op before it and machine of that
  };
  static constexpr std::size_t most_joined = 8;
  static constexpr std::size_t num_edges = 5;
  static constexpr int num_steps = 60;

  const whole_times& q_;
  conflict_learning& known_;
  std::size_t n_;
  std::size_t k_;
  amount limit_ = 0;
  std::vector<literal> place_;                           // units x machines
  std::vector<conflict_learning::bound_id> bound_[2];    // ops x devices: heads, tails
  std::vector<std::vector<op_id>> fixed_;                // per device: ops that are there
  std::vector<literal> before_;                          // ops x ops
  std::vector<std::vector<op_id>> members_;              // per unit
  std::vector<std::pair<op_id, op_id>> pair_of_;         // per fact about an order
  std::vector<std::vector<op_id>> wakes_[2];             // per op: whose heads, or tails, depend on it
  std::vector<std::uint8_t> stale_[2];                   // per op: its head, or tail, has to be looked at
  std::vector<std::uint8_t> changed_;                    // per op, since its places and orders were looked at
  std::vector<std::uint8_t> crowd_changed_;              // per machine, since its sets were looked at
  std::size_t num_read_ = 0;                             // facts whose influence is known
  buffer<window> windows_;
  buffer<local> locals_;
  joins joins_[2];
  buffer<joined> joined_;
  std::vector<op_id> by_tail_;
  amount longest_ = 0;
  std::vector<literal> here_;
  std::vector<amount> share_;
  std::vector<amount> least_;
};

} // namespace weft::bound::detail
