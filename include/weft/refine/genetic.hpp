// SPDX-License-Identifier: BSL-1.0
/// A genetic algorithm over orders and devices.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/sort.hpp"
#include "weft/refine/concepts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace weft::refine {

/// A genetic algorithm on plans: a chromosome is a topological order of the ops and a device for each component. Each
/// parent is the best of `tournament` random plans. A child takes the first part of one parent's order and the rest in
/// the order of the other, and each component's device from one of the two, as far as memory allows. A mutation moves a
/// few components to other devices, and a few ops to other positions between their predecessors and successors. The
/// child replaces the worst plan if it is better and no plan is equally good. The initial population is mutations of
/// the given plan.
///
/// Returns the best plan found, with its order; see `simulated_annealing` for policies. Each child takes one
/// simulation, O((n + m) log(n + m)), which is a move of the budget. Deterministic for a seed when the budget is in
/// moves.
/// Source: Wang, Siegel, Roychowdhury, Maciejewski, *Task Matching and Scheduling in Heterogeneous Computing
/// Environments Using a Genetic-Algorithm-Based Approach*, J. Parallel and Distributed Computing 47(1), 1997.
/// Complexity: O((n + m) log(n + m)) per child.
/// Choose it to compare with the literature; annealing gets further in the same time.
struct genetic {
  weft::budget budget = {.moves = 5'000}; ///< children
  std::uint32_t population = 40;          ///< plans in the population
  std::uint32_t tournament = 3;           ///< random plans of which the best becomes a parent
  double crossover = 0.7;                 ///< share of children with two parents

  template <class Judge>
    requires Judge::one_op_per_slot
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    if (!start.run.complete || judge.problem().num_ops() == 0) {
      return start;
    }
    evolution<Judge> e{*this, judge, random};
    e.add(chromosome_of(start.plan.placement, judge.record_of(start)));
    budget_meter meter{budget};
    bool done = meter.improved(e.best().score.usable());
    while (!done && meter.spend()) {
      const score best = e.best().score;
      e.breed();
      done = judge.is_better(e.best().score, best) && meter.improved(e.best().score.usable());
    }
    if (meter.used() == 0 || !judge.is_better(e.best().score, start.score)) {
      return start;
    }
    return {{e.best().where, e.best().order()}, e.best().score, e.best().run, {}};
  }

private:
  struct chromosome {
    placement where = {};
    std::vector<op_id> sequence = {}; ///< a topological order
    weft::score score = {};
    simulation run = {};

    weft::order order() const {
      weft::order steps;
      steps.reserve(sequence.size());
      for (const op_id v : sequence) {
        steps.push_back(step::run(v));
      }
      return steps;
    }
  };

  /// The ops in the order in which they ran, ties as they finished, then as they came.
  static chromosome chromosome_of(const placement& where, const trace& run) {
    chromosome c{.where = where, .sequence = std::vector<op_id>(run.ops.size())};
    std::iota(c.sequence.begin(), c.sequence.end(), op_id{0});
    weft::sort(c.sequence, [&](op_id a, op_id b) {
      const auto& x = run.ops[a];
      const auto& y = run.ops[b];
      return x.start != y.start ? x.start < y.start : x.finish != y.finish ? x.finish < y.finish : a < b;
    });
    return c;
  }

  template <class Judge>
  class evolution {
  public:
    evolution(const genetic& options, Judge& judge, rng& random)
        : options_{options}, judge_{judge}, random_{random}, position_(p_.num_ops(), 0), taken_(p_.num_ops(), 0),
          free_(p_.num_devices(), 0) {}

    /// Best first.
    const chromosome& best() const { return members_.front(); }

    void add(chromosome c) {
      repair(c.sequence);
      // Sends are placed by the simulator right after their producers; the ops' order is what evolves.
      c.score = judge_.judge({c.where, c.order()});
      c.run = judge_.last();
      const auto at = std::lower_bound(members_.begin(), members_.end(), c.score,
                                       [](const chromosome& x, const score& s) { return x.score < s; });
      if (at != members_.end() && at->score == c.score) {
        return;
      }
      members_.insert(at, std::move(c));
      if (members_.size() > std::max(2u, options_.population)) {
        members_.pop_back();
      }
    }

    void breed() {
      const bool young = members_.size() < options_.population;
      chromosome child;
      if (!young && random_.uniform() < options_.crossover) {
        const auto& a = parent();
        const auto& b = parent();
        child = cross(a, b);
      } else {
        child = young ? best() : parent();
      }
      const auto mutations = 1 + random_.below(young ? 8 : 3);
      for (std::uint32_t k = 0; k < mutations; ++k) {
        mutate(child);
      }
      add(std::move(child));
    }

  private:
    const chromosome& parent() {
      std::size_t best = random_.below(members_.size());
      for (std::uint32_t k = 1; k < options_.tournament; ++k) {
        best = std::min<std::size_t>(best, random_.below(members_.size()));
      }
      return members_[best];
    }

    chromosome cross(const chromosome& a, const chromosome& b) {
      chromosome child = a;
      const auto cut = random_.below(p_.num_ops() + 1);
      std::fill(taken_.begin(), taken_.end(), 0);
      for (std::size_t i = 0; i < cut; ++i) {
        taken_[a.sequence[i]] = 1;
      }
      std::size_t at = cut;
      for (const op_id v : b.sequence) {
        if (!taken_[v]) {
          child.sequence[at++] = v;
        }
      }
      reserve(child.where);
      for (std::size_t i = cut; i < child.sequence.size(); ++i) { // what comes late goes where the other has it
        const component_id c = p_.component(child.sequence[i]);
        take_to(child.where, c, b.where[child.sequence[i]]);
      }
      return child;
    }

    void mutate(chromosome& c) {
      const op_id v = random_.below(p_.num_ops());
      reserve(c.where);
      const op_id u = some_producer(v);
      take_to(c.where, p_.component(v), random_.below(2) == 0 ? c.where[u] : random_.below(p_.num_devices()));
      move_in(c.sequence, random_.below(p_.num_ops()));
    }

    /// Some op that is a producer for v, or v.
    op_id some_producer(op_id v) {
      const auto inputs = p_.workload().inputs(v);
      const auto size = static_cast<std::size_t>(std::ranges::size(inputs));
      if (size == 0) {
        return v;
      }
      const auto pick = static_cast<std::ptrdiff_t>(random_.below(size));
      return p_.workload().producer(*std::ranges::next(std::ranges::begin(inputs), pick));
    }

    /// Puts v anywhere between the last op that it waits for and the first one that waits for it.
    void move_in(std::vector<op_id>& sequence, op_id v) {
      const auto& w = p_.workload();
      for (std::uint32_t i = 0; i < sequence.size(); ++i) {
        position_[sequence[i]] = i;
      }
      auto high = static_cast<std::uint32_t>(sequence.size());
      const auto low = graph::max_over_predecessors(w, v, 0u, [this](op_id u) { return position_[u] + 1; });
      graph::for_each_successor(w, v, [&](op_id c) { high = std::min(high, position_[c]); });
      const auto from = position_[v];
      const auto to = low + random_.below(high - low); // v itself stands in between
      const auto at = sequence.begin();
      if (to < from) {
        std::rotate(at + to, at + from, at + from + 1);
      } else {
        std::rotate(at + from, at + from + 1, at + to + 1);
      }
    }

    /// Makes an order topological where ops that take no time were recorded in another one.
    void repair(std::vector<op_id>& sequence) {
      const auto& w = p_.workload();
      for (std::uint32_t i = 0; i < sequence.size(); ++i) {
        position_[sequence[i]] = i;
      }
      for (const op_id v : p_.topological_order()) {
        position_[v] = graph::max_over_predecessors(w, v, position_[v], [this](op_id u) { return position_[u]; });
      }
      rank_.resize(sequence.size());
      for (std::uint32_t i = 0; i < sequence.size(); ++i) {
        rank_[p_.topological_order()[i]] = i;
      }
      weft::sort(sequence, [&](op_id a, op_id b) {
        return position_[a] != position_[b] ? position_[a] < position_[b] : rank_[a] < rank_[b];
      });
    }

    void reserve(const placement& where) {
      for (const device_id d : ids(p_.num_devices())) {
        free_[d] = p_.capacity(d);
      }
      for (component_id c = 0; c < p_.num_components(); ++c) {
        reserve(where[p_.members(c).front()], c);
      }
    }

    void reserve(device_id d, component_id c) {
      p_.memories().take(free_, d, p_.demand(c));
    }

    void take_to(placement& where, component_id c, device_id d) {
      const device_id from = where[p_.members(c).front()];
      if (d == from || !p_.kinds(c).contains(p_.platform().kind(d)) ||
          (free_[d] < p_.demand(c) && p_.memory_of(d) != p_.memory_of(from))) {
        return;
      }
      p_.memories().give(free_, from, p_.demand(c));
      reserve(d, c);
      for (const op_id v : p_.members(c)) {
        where[v] = d;
      }
    }

    const genetic& options_;
    Judge& judge_;
    const typename Judge::problem_type& p_ = judge_.problem();
    rng& random_;
    std::vector<chromosome> members_; // by score
    std::vector<std::uint32_t> position_, rank_;
    std::vector<std::uint8_t> taken_;
    std::vector<byte_count> free_;
  };
};

} // namespace weft::refine
