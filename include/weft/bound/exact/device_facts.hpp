// SPDX-License-Identifier: BSL-1.0
/// The facts of a search for a makespan: where ops are, which of two comes first, distances to each op's ends.
#pragma once

#include "weft/bound/exact/conflict_learning.hpp"
#include "weft/bound/exact/whole_times.hpp"
#include "weft/core/buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Facts "unit c is on machine d" and "of two ops that share a machine, u is first"; amounts "if v is on d, so much
/// passes before it starts" (head) and "… after it ends" (tail). Direction 0 means heads, and 1, in which everything
/// is mirrored, tails. An order that the edges decide is no fact.
class device_facts {
public:
  using amount = whole_times::amount;
  using literal = conflict_learning::literal;
  static constexpr literal always_before = ~literal{0};
  static constexpr literal never_before = ~literal{0} - 1;

  const whole_times& q;
  conflict_learning known;
  const std::size_t n;                   ///< ops
  const std::size_t k;                   ///< machines
  amount limit = 0;                      ///< the makespan at hand
  std::vector<std::vector<op_id>> fixed; ///< per machine: the ops that are there, as of the last `collect`

  explicit device_facts(const whole_times& times)
      : q{times}, n{times.num_ops}, k{times.num_machines()}, fixed(k), before_(n * n, never_before),
        members_(times.num_units) {
    for (const op_id v : ids(n)) {
      members_[q.unit_of[v]].push_back(v);
    }
    for (std::size_t i = 0; i < q.num_units * k; ++i) {
      place_.push_back(known.add_fact());
    }
    for (auto& bounds : bound_) {
      for (std::size_t i = 0; i < n * k; ++i) {
        bounds.push_back(known.add_amount(0));
      }
    }
    find_ancestors();
  }
  device_facts(const device_facts&) = delete;
  device_facts& operator=(const device_facts&) = delete;

  /// Deduces the facts that hold before any decision. False if there is no way. `twin[d]`: a device before d that is
  /// interchangeable with it, or something not less than d.
  bool begin(const std::vector<std::size_t>& twin) {
    for (std::uint32_t c = 0; c < q.num_units; ++c) {
      std::vector<literal> somewhere;
      for (std::size_t d = 0; d < k; ++d) {
        somewhere.push_back(place(c, d));
        for (std::size_t e = 0; e < d; ++e) {
          const literal not_both[]{conflict_learning::negation(place(c, d)), conflict_learning::negation(place(c, e))};
          known.add_clause(not_both);
        }
        const bool allowed = std::all_of(members_[c].begin(), members_[c].end(),
                                         [&](op_id v) { return q.time[v * k + d] != whole_times::nowhere; });
        const literal not_here[]{conflict_learning::negation(place(c, d))};
        if (!allowed && !known.add_clause(not_here)) {
          return false;
        }
      }
      if (!known.add_clause(somewhere)) {
        return false;
      }
    }
    for (const auto& [first, other] : q.together) {
      for (std::size_t d = 0; d < k; ++d) {
        std::vector<literal> clause{conflict_learning::negation(place(first, d))};
        for_each_of_device(q.machines[d].device, [&](std::size_t e) { clause.push_back(place(other, e)); });
        if (!known.add_clause(clause)) {
          return false;
        }
      }
    }
    return break_symmetry(twin) && known.follow_clauses();
  }

  literal place(std::uint32_t c, std::size_t d) const { return place_[c * k + d]; }
  literal place_of(op_id v, std::size_t d) const { return place(q.unit_of[v], d); }
  bool may_be(op_id v, std::size_t d) const { return !known.fails(place_of(v, d)); }
  bool is_on(op_id v, std::size_t d) const { return known.holds(place_of(v, d)); }
  literal before(op_id u, op_id v) const { return before_[u * n + v]; }
  bool is_before(op_id u, op_id v) const {
    const literal l = before(u, v);
    return l == always_before || (l != never_before && known.holds(l));
  }
  conflict_learning::bound_id id(int direction, op_id v, std::size_t d) const { return bound_[direction][v * k + d]; }
  amount bound(int direction, op_id v, std::size_t d) const { return known.at_least(id(direction, v, d)); }
  amount head(op_id v, std::size_t d) const { return bound(0, v, d); }
  amount tail(op_id v, std::size_t d) const { return bound(1, v, d); }
  amount time(op_id v, std::size_t d) const { return q.time[v * k + d]; }
  /// Between v's machine and that of an op before it, or, reversed, behind it.
  amount delay(int direction, std::uint32_t tensor, std::size_t other, std::size_t here) const {
    return direction == 0 ? q.delay(tensor, other, here) : q.delay(tensor, here, other);
  }
  std::span<const op_id> members(std::uint32_t c) const { return members_[c]; }
  /// The ops that a fact about an order is about; for facts beyond those about places.
  std::pair<op_id, op_id> pair_of(std::uint32_t fact) const { return pair_of_[fact - q.num_units * k]; }

  template <class F>
  void for_each_of_device(std::size_t device, F f) const {
    for (std::size_t d = 0; d < k; ++d) {
      if (q.machines[d].device == device) {
        f(d);
      }
    }
  }

  /// Gives two amounts as reasons, of which so much is not needed.
  void because_of_both(conflict_learning::bound_id a, amount at_least_a, conflict_learning::bound_id b,
                       amount at_least_b, amount spare) {
    const amount less = std::clamp<amount>(at_least_a - known.at_least_always(a), 0, spare);
    known.because(a, at_least_a - less);
    known.because(b, at_least_b - (spare - less));
  }

  /// Gives as reasons that all results of u, when it is not on `here`, are late: from the machine e on not before
  /// `moment(e)`. A machine that u cannot be on is one if that is not known always.
  template <class Moment>
  void because_of_places(int direction, op_id u, std::size_t here, Moment moment) {
    for (std::size_t e = 0; e < k; ++e) {
      if (e == here || time(u, e) == whole_times::nowhere) {
        continue;
      }
      const amount needed = moment(e) - time(u, e);
      if (known.at_least_always(id(direction, u, e)) >= needed) {
        continue;
      }
      if (may_be(u, e)) {
        known.because(id(direction, u, e), needed);
      } else {
        known.because(conflict_learning::negation(place_of(u, e)));
      }
    }
  }

  /// Brings `fixed` up to date.
  void collect() {
    for (auto& ops : fixed) {
      ops.clear();
    }
    for (const op_id v : q.order) {
      for (std::size_t d = 0; d < k; ++d) {
        if (is_on(v, d)) {
          fixed[d].push_back(v);
        }
      }
    }
  }

  /// Two ops that are on one device and whose order is open: the fact "u is first" for the one with the smaller head,
  /// or `always_before` if there are none. Those that had most to do with dead ends, else the first in time.
  literal open_order() const {
    literal best = always_before;
    amount earliest = 0;
    for (std::size_t d = 0; d < k; ++d) {
      const auto& ops = fixed[d];
      for (std::size_t i = 0; q.machines[d].in_order && i < ops.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const bool later = head(ops[i], d) > head(ops[j], d);
          const op_id u = later ? ops[j] : ops[i];
          const literal first = before(u, later ? ops[i] : ops[j]);
          if (first >= never_before || !known.is_open(first)) {
            continue;
          }
          const double more = best == always_before ? 1 : known.activity(first) - known.activity(best);
          if (more > 0 || (more == 0 && head(u, d) < earliest)) {
            best = first;
            earliest = head(u, d);
          }
        }
      }
    }
    return best;
  }

private:
  void find_ancestors() {
    for (const op_id v : q.order) {
      for (std::uint32_t i = q.first_input[0][v]; i < q.first_input[0][v + 1]; ++i) {
        const op_id u = q.inputs[0][i].op;
        before_[u * n + v] = always_before;
        for (op_id w = 0; w < n; ++w) {
          if (before_[w * n + u] == always_before) {
            before_[w * n + v] = always_before;
          }
        }
      }
    }
    for (op_id u = 0; u < n; ++u) {
      for (op_id v = u + 1; v < n; ++v) {
        if (before_[u * n + v] == never_before && before_[v * n + u] == never_before) {
          before_[u * n + v] = known.add_fact();
          pair_of_.emplace_back(u, v);
          before_[v * n + u] = conflict_learning::negation(before_[u * n + v]);
        }
      }
    }
  }

  /// What comes first, in topological order, of what is on a device with a twin, or on a slot that is not the first,
  /// comes after something on the twin, or on the slot before.
  bool break_symmetry(const std::vector<std::size_t>& twin) {
    std::vector<std::uint32_t> sequence;
    std::vector<std::uint8_t> met(q.num_units, 0);
    for (const op_id v : q.order) {
      if (!met[q.unit_of[v]]) {
        met[q.unit_of[v]] = 1;
        sequence.push_back(q.unit_of[v]);
      }
    }
    for (std::size_t d = 0; d < k; ++d) {
      const std::size_t device = q.machines[d].device;
      const auto comes_after = [&](auto add_places) {
        std::vector<literal> clause;
        for (const std::uint32_t c : sequence) {
          clause.push_back(conflict_learning::negation(place(c, d)));
          if (!known.add_clause(clause)) {
            return false;
          }
          clause.pop_back();
          add_places(c, clause);
        }
        return true;
      };
      if (d > 0 && q.machines[d - 1].device == device &&
          !comes_after([&](std::uint32_t c, auto& clause) { clause.push_back(place(c, d - 1)); })) {
        return false;
      }
      if (twin[device] < device && !comes_after([&](std::uint32_t c, auto& clause) {
            for_each_of_device(twin[device], [&](std::size_t e) { clause.push_back(place(c, e)); });
          })) {
        return false;
      }
    }
    return true;
  }

  std::vector<literal> place_;                        // units x machines
  std::vector<conflict_learning::bound_id> bound_[2]; // ops x machines
  std::vector<literal> before_;                       // ops x ops
  buffer<std::pair<op_id, op_id>> pair_of_;           // per fact about an order
  std::vector<std::vector<op_id>> members_;           // per unit
};

} // namespace weft::bound::exact
