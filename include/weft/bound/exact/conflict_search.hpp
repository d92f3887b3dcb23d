// SPDX-License-Identifier: BSL-1.0
/// A search for a schedule that meets a makespan, over placements and orders, which learns from conflicts.
#pragma once

#include "weft/bound/exact/conflict_learning.hpp"
#include "weft/bound/exact/device_facts.hpp"
#include "weft/bound/exact/device_rules.hpp"
#include "weft/bound/exact/whole_times.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::bound::exact {

/// Asks for smaller and smaller makespans; what is learned of one holds for smaller ones. Restarts after some dead
/// ends, as often as Luby, Sinclair and Zuckerman say.
class conflict_search {
public:
  using amount = whole_times::amount;
  using literal = conflict_learning::literal;
  enum class answer : std::uint8_t { yes, no, unknown };

  /// What it costs to make a search, in calls of `spend`.
  static constexpr std::uint64_t nodes_to_begin = 16;

  /// Whether so many ops, or tensors, and devices take no more than some ten megabytes.
  static constexpr bool is_affordable(std::size_t count, std::size_t num_devices) {
    return count * num_devices * num_devices <= 200'000;
  }

  /// Keeps a reference to q. `twin[d]`: a device before d that is interchangeable with it, or something not less than
  /// d.
  conflict_search(const whole_times& q, amount limit, const std::vector<std::size_t>& twin)
      : q_{q}, facts_{q}, rules_{facts_}, preferred_(q.num_units, q.num_machines()) {
    possible_ = rules_.begin(limit, twin);
  }

  /// Whether some schedule ends by `limit`, no more than before. `spend()` pays for a decision, a dead end or many
  /// rounds of rules, and is false to end the search. `admits()` is asked when all units have places, before their
  /// order is decided; if it is false, it has called `forbid`.
  template <class Spend, class Admits>
  answer operator()(amount limit, Spend spend, Admits admits) {
    rules_.take_back(0);
    rules_.set_limit(limit);
    while (possible_) {
      const auto found = rules_.follow(spend);
      if (found == device_rules::outcome::unfinished) {
        return answer::unknown;
      }
      if (found == device_rules::outcome::dead_end) {
        ++dead_ends_;
        possible_ = rules_.learn();
        if (!spend()) {
          return possible_ ? answer::unknown : answer::no;
        }
        continue;
      }
      if (dead_ends_ >= next_restart_) {
        rules_.take_back(0);
        next_restart_ = dead_ends_ + 64 * luby(++restarts_);
        if (facts_.known.num_learned() > max_learned_) {
          facts_.known.forget();
          max_learned_ += max_learned_ / 20;
        }
        continue;
      }
      if (!spend()) {
        return answer::unknown;
      }
      if (!decide_place() && admits() && !decide_order()) {
        return answer::yes;
      }
    }
    return answer::no;
  }
  template <class Spend>
  answer operator()(amount limit, Spend spend) {
    return (*this)(limit, spend, [] { return true; });
  }

  /// After the answer `yes`: the ops in an order in which they can run, and where.
  std::vector<op_id> sequence() const {
    std::vector<op_id> ops = q_.order;
    weft::stable_sort(ops, [&](op_id u, op_id v) {
      const amount a = start(u);
      const amount b = start(v);
      return a != b ? a < b : a + time(u) < b + time(v);
    });
    return ops;
  }
  std::size_t machine_of(op_id v) const {
    std::size_t d = 0;
    while (!facts_.known.holds(facts_.place_of(v, d))) {
      ++d;
    }
    return d;
  }
  device_id device_of(op_id v) const { return q_.devices[q_.machines[machine_of(v)].device]; }
  /// After the answer `yes`: never again these places.
  void forbid_places() {
    std::vector<literal> clause;
    for (std::uint32_t c = 0; c < q_.num_units; ++c) {
      clause.push_back(not_on(c, machine_of(facts_.members(c).front())));
    }
    forbid(clause);
  }
  /// That a unit is not on a machine, for `forbid`.
  literal not_on(std::uint32_t unit, std::size_t machine) const {
    return conflict_learning::negation(facts_.place(unit, machine));
  }
  /// Adds conditions, once all units have places: from now on at least one of these holds.
  void forbid(std::span<const literal> clause) {
    rules_.take_back(0);
    possible_ = possible_ && facts_.known.add_clause(clause);
  }
  /// Where units are tried first: as ops are placed.
  void prefer(const placement& where) {
    for (op_id v = 0; v < where.size(); ++v) {
      for (std::size_t d = 0; d < q_.num_machines(); ++d) {
        if (q_.devices[q_.machines[d].device] == where[v]) {
          preferred_[q_.unit_of[v]] = d;
        }
      }
    }
  }

private:
  amount start(op_id v) const { return facts_.head(v, machine_of(v)); }
  amount time(op_id v) const { return facts_.time(v, machine_of(v)); }

  static std::uint64_t luby(std::uint64_t i) {
    for (std::uint64_t power = 1;; power *= 2) {
      if (i == 2 * power - 1) {
        return power;
      }
      if (i < 2 * power - 1) {
        return luby(i - (power - 1));
      }
    }
  }

  /// False if none is open.
  bool decide_place() {
    std::uint32_t most = none;
    double activity = -1;
    amount least_room = 0;
    for (std::uint32_t c = 0; c < q_.num_units; ++c) {
      double sum = 0;
      bool open = false;
      for (std::size_t d = 0; d < q_.num_machines(); ++d) {
        if (facts_.known.is_open(facts_.place(c, d))) {
          open = true;
          sum += facts_.known.activity(facts_.place(c, d));
        }
      }
      if (!open || sum < activity) {
        continue;
      }
      const amount room = length(c, best_machine(c));
      if (sum > activity || room > least_room) {
        most = c;
        activity = sum;
        least_room = room;
      }
    }
    if (most == none) {
      return false;
    }
    const std::size_t liked = preferred_[most];
    const bool can = liked < q_.num_machines() && facts_.known.is_open(facts_.place(most, liked));
    facts_.known.decide(facts_.place(most, can ? liked : best_machine(most)));
    return true;
  }

  /// False if none is open.
  bool decide_order() {
    const auto first = facts_.open_order();
    if (first == device_facts::always_before) {
      return false;
    }
    facts_.known.decide(first);
    return true;
  }

  /// The longest of head + time + tail of the members of a unit on a machine.
  amount length(std::uint32_t c, std::size_t d) const {
    amount most = 0;
    for (const op_id v : facts_.members(c)) {
      most = std::max(most, facts_.head(v, d) + facts_.time(v, d) + facts_.tail(v, d));
    }
    return most;
  }
  std::size_t best_machine(std::uint32_t c) const {
    std::size_t best = q_.num_machines();
    amount least = 0;
    for (std::size_t d = 0; d < q_.num_machines(); ++d) {
      if (facts_.known.is_open(facts_.place(c, d))) {
        const amount x = length(c, d);
        if (best == q_.num_machines() || x < least) {
          best = d;
          least = x;
        }
      }
    }
    return best;
  }

  const whole_times& q_;
  device_facts facts_;
  device_rules rules_;
  std::vector<std::size_t> preferred_;
  bool possible_ = true;
  std::uint64_t dead_ends_ = 0;
  std::uint64_t next_restart_ = 64;
  std::uint64_t restarts_ = 1;
  std::size_t max_learned_ = 4000;
};

} // namespace weft::bound::exact
