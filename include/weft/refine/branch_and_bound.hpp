// SPDX-License-Identifier: BSL-1.0
/// Exact search for small problems.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/bound/cheapest_transfer.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/detail/sequencing.hpp"
#include "weft/refine/detail/usable_devices.hpp"
#include "weft/refine/exact/append_search.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>
#include <vector>

namespace weft::refine {

/// Finds a plan of the smallest makespan, by the search that suits the problem:
///  - refine/identical_devices.hpp where devices are alike and nothing takes time to move;
///  - where sending occupies nobody and moving takes less than four times as long as computing, for up to 64 ops, refine/exact/append_search.hpp: it asks for makespans between the
///    bound and the best plan so far, and a "no" raises the bound;
///  - otherwise, depth-first over placements, component by component, and for each complete placement over the orders
///    of ops and sends on the devices. A partial placement is given up when the longest path with the transfers that are
///    decided, or the load of a device, is no better than the best plan so far; of devices that cannot be told apart,
///    only the first unused one is tried.
/// Starts from HEFT's plan; where HEFT finds no room, the last search is taken.
///
/// Run the plan under `schedule::static_order`. When the search ends within the budget, the plan is optimal and the
/// returned bound says so; else the plan is the best that was met, and the bound the best that was proven. Without
/// contention of transfers. Practical up to about 20 ops with communication, about 10 with sends that occupy the sender;
/// see docs/exact.md.
/// Uses a seed for shuffles on identical devices only. Budget: visits of ops.
/// Source: Giffler, Thompson, *Algorithms for Solving Production-Scheduling Problems*, Operations Research 8(4), 1960,
/// for the orders that are tried; docs/exact.md names the rest. Complexity: exponential.
/// Choose it for small problems, to know the optimum.
struct branch_and_bound {
  weft::budget budget = {.moves = 50'000'000}; ///< ops visited; a few seconds at most

  template <class Problem>
  outcome<partition::decided> operator()(const Problem& p, rng& random, workspace& scratch) const {
    if (p.num_ops() > 0 && identical_devices::applies(p)) {
      weft::budget nodes = budget;
      nodes.moves /= p.num_ops();
      return identical_devices{nodes}(p, random, scratch);
    }
    search<Problem> s{p, budget};
    if (auto start = partition::run(partition::heft{}, p, random, scratch)) {
      s.take_start(std::move(start->plan));
    }
    if (p.num_components() > 0) {
      if (s.least < std::numeric_limits<double>::infinity() && p.num_ops() <= exact::append_search<Problem>::max_ops &&
          s.sends_are_free()) {
        s.try_single_devices();
        if (!s.moving_is_dear()) {
          return s.append();
        }
      }
      s.place_next(0);
    }
    if (s.best.placement.empty() && p.num_ops() > 0) {
      return s.exhausted() ? infeasibility{.why = infeasibility::reason::not_found} : s.why_infeasible();
    }
    const double bound = s.exhausted() ? bound::best(p).value : s.least;
    return partition::decided{std::move(s.best), bound};
  }

private:
  template <class Problem>
  class search {
  public:
    plan best;
    double least = std::numeric_limits<double>::infinity();

    search(const Problem& p, const weft::budget& b)
        : p_{p}, usable_{detail::usable_devices(p)}, left_{b.moves}, meter_{b}, sequencing_{p}, where_(p.num_ops(), none), free_(p.num_devices(), 0),
          load_(p.num_devices(), 0.0), used_(p.num_devices(), 0), tail_(p.num_ops(), 0.0), fastest_(p.num_ops(), 0.0),
          twin_(p.num_devices(), none) {
      for (const device_id d : ids(p.num_devices())) {
        free_[d] = static_cast<byte_count>(p.platform().memory_capacity(d));
      }
      for (const op_id v : ids(p.num_ops())) {
        fastest_[v] = std::numeric_limits<double>::infinity();
        for (const device_id d : ids(p.num_devices())) {
          if (p.allows(p.component(v), d)) {
            fastest_[v] = std::min(fastest_[v], p.compute_time(v, d));
          }
        }
      }
      order_components();
      find_twins();
    }

    bool exhausted() const { return out_of_budget_; }

    void take_start(plan start) {
      simulator<Problem, schedule::static_order> sim{p_};
      const auto run = sim.run(start);
      if (run.complete && run.makespan < least) {
        least = run.makespan;
        best = std::move(start);
      }
    }

    /// Everything on one device is good where moving is dear.
    void try_single_devices() {
      for (const device_id d : ids(p_.num_devices())) {
        byte_count demand = 0;
        bool fits = true;
        for (component_id c = 0; fits && c < p_.num_components(); ++c) {
          fits = p_.allows(c, d) && p_.demand(c) <= free_[d] - demand;
          demand += fits ? p_.demand(c) : 0;
        }
        if (fits) {
          take_start({placement(p_.num_ops(), d), {}});
        }
      }
    }

    bool sends_are_free() const {
      for (const tensor_id t : ids(p_.num_tensors())) {
        for (const device_id from : usable_) {
          for (const device_id to : usable_) {
            if (from != to && p_.send_time(t, from, to) != 0) {
              return false;
            }
          }
        }
      }
      return true;
    }

    /// Whether tensors take several times as long as ops: then where ops are decides nearly everything, and few
    /// placements are good.
    bool moving_is_dear() const {
      const auto cheapest = bound::cheapest_transfers(p_, usable_);
      double moves = 0;
      std::size_t count = 0;
      for (const tensor_id t : ids(p_.num_tensors())) {
        if (usable_.size() > 1 && !std::ranges::empty(p_.workload().consumers(t))) {
          moves += cheapest[t];
          ++count;
        }
      }
      double ops = 0;
      for (const double time : fastest_) {
        ops += time;
      }
      return moves * static_cast<double>(p_.num_ops()) > 4 * ops * static_cast<double>(count);
    }

    /// Asks for makespans between the bound and the best plan, with more and more nodes. Precondition: there is a plan.
    partition::decided append() {
      exact::append_search<Problem> ask{p_, twin_};
      using answer = typename exact::append_search<Problem>::answer;
      double low = std::min(least, bound::best(p_).value);
      const auto closed = [&] { return least - low <= 2e-10 * least; };
      for (std::uint64_t nodes = 1000; !closed() && !out_of_budget_; nodes *= 2) {
        for (const double share : {0.0, 0.5, 1.0}) {
          if (closed() || out_of_budget_) {
            break;
          }
          const double makespan = share < 1 ? low + rounded(share * (least - low)) : least * (1 - 1e-10);
          std::uint64_t left = nodes;
          const auto spend = [&] { return left > 0 && (--left, this->spend(p_.num_ops())); };
          const answer a = ask(makespan, spend);
          if (a == answer::yes) {
            take_start(ask.found());
          } else if (a == answer::no) {
            low = std::min(least, std::max(low, makespan));
          }
        }
      }
      return {std::move(best), closed() ? least : low};
    }

    void place_next(std::size_t depth) {
      if (!spend(p_.num_ops()) || partial_bound() >= least) {
        return;
      }
      if (depth == sequence_.size()) {
        if (const double makespan = sequencing_.minimise(where_, least, [this](std::uint64_t n) { return spend(n); });
            makespan < least) {
          least = makespan;
          best = {where_, sequencing_.best_order()};
        }
        return;
      }
      const component_id c = sequence_[depth];
      for (const device_id d : ids(p_.num_devices())) {
        if (!p_.kinds(c).contains(p_.platform().kind(d)) || free_[d] < p_.demand(c) || shadowed(d)) {
          continue;
        }
        const double load = load_[d]; // restored, since a sum that is undone by subtraction has lost what is small
        put(c, d);
        place_next(depth + 1);
        take_back(c, d);
        load_[d] = load;
        if (out_of_budget_) {
          return;
        }
      }
      if (least == std::numeric_limits<double>::infinity() && !stuck_) {
        stuck_ = p_.why_unplaced(c, free_);
      }
    }

    infeasibility why_infeasible() const {
      if (stuck_) {
        return *stuck_;
      }
      for (component_id c = 0; c < p_.num_components(); ++c) { // one is allowed nowhere, so nothing was tried
        const auto devices = ids(p_.num_devices());
        if (std::none_of(devices.begin(), devices.end(), [&](device_id d) { return p_.allows(c, d); })) {
          return p_.why_unplaced(c, free_);
        }
      }
      return {.why = infeasibility::reason::not_found};
    }

  private:
    bool spend(std::uint64_t visits) {
      if (out_of_budget_ || left_ < visits || !meter_.spend()) {
        out_of_budget_ = true;
        return false;
      }
      left_ -= visits;
      return true;
    }

    /// Components in the topological order of their first op, so that transfers are decided early.
    void order_components() {
      std::vector<std::uint8_t> seen(p_.num_components(), 0);
      for (const op_id v : p_.topological_order()) {
        if (!seen[p_.component(v)]) {
          seen[p_.component(v)] = 1;
          sequence_.push_back(p_.component(v));
        }
      }
    }

    /// twin_[d]: the nearest earlier device with the same kind, capacity, slots, times and links, if there is one; so
    /// that twin_[twin_[d]] and so on are all of them.
    void find_twins() {
      for (std::size_t i = 1; i < usable_.size(); ++i) {
        for (std::size_t j = i; j-- > 0 && twin_[usable_[i]] == none;) {
          if (interchangeable(usable_[j], usable_[i])) {
            twin_[usable_[i]] = usable_[j];
          }
        }
      }
    }

    bool interchangeable(device_id a, device_id b) const {
      const auto& q = p_.platform();
      if (q.kind(a) != q.kind(b) || q.memory_capacity(a) != q.memory_capacity(b) || q.slots(a) != q.slots(b)) {
        return false;
      }
      for (const op_id v : ids(p_.num_ops())) {
        if (p_.compute_time(v, a) != p_.compute_time(v, b)) {
          return false;
        }
      }
      const auto same_move = [&](tensor_id t, device_id from, device_id to, device_id from2, device_id to2) {
        return p_.transfer_time(t, from, to) == p_.transfer_time(t, from2, to2) &&
               p_.send_time(t, from, to) == p_.send_time(t, from2, to2);
      };
      for (const tensor_id t : ids(p_.num_tensors())) {
        if (!same_move(t, a, b, b, a)) {
          return false;
        }
        for (const device_id d : usable_) {
          if (d != a && d != b && (!same_move(t, a, d, b, d) || !same_move(t, d, a, d, b))) {
            return false;
          }
        }
      }
      return true;
    }

    /// d is unused and so is a twin before it: whatever could be done with d can be done with the twin.
    bool shadowed(device_id d) const {
      if (used_[d] != 0) {
        return false;
      }
      for (device_id e = twin_[d]; e != none; e = twin_[e]) {
        if (used_[e] == 0) {
          return true;
        }
      }
      return false;
    }

    void put(component_id c, device_id d) {
      free_[d] -= p_.demand(c);
      load_[d] += p_.component_time(c, d);
      ++used_[d];
      for (const op_id v : p_.members(c)) {
        where_[v] = d;
      }
    }

    void take_back(component_id c, device_id d) {
      free_[d] += p_.demand(c);
      --used_[d];
      for (const op_id v : p_.members(c)) {
        where_[v] = none;
      }
    }

    /// No completion of the partial placement has a smaller makespan (up to rounding of the loads).
    double partial_bound() {
      const auto& w = p_.workload();
      double bound = 0;
      for (const op_id v : reversed(p_.topological_order())) {
        const double rest = graph::max_over_successors(w, v, 0.0, [&](op_id c, const flow_edge& e) {
          const device_id from = where_[v];
          const device_id to = where_[c];
          const bool moves = from != none && to != none && from != to;
          return (moves ? p_.send_time(e.tensor, from, to) + p_.transfer_time(e.tensor, from, to) : 0) + tail_[c];
        });
        tail_[v] = rest + (where_[v] == none ? fastest_[v] : p_.compute_time(v, where_[v]));
        bound = std::max(bound, tail_[v]);
      }
      for (const device_id d : ids(p_.num_devices())) {
        bound = std::max(bound, load_[d] / p_.platform().slots(d) * (1 - 1e-12));
      }
      return bound;
    }

    const Problem& p_;
    std::vector<device_id> usable_; // nothing depends on the others
    std::uint64_t left_;
    budget_meter meter_;
    bool out_of_budget_ = false;
    detail::sequencing<Problem> sequencing_;
    placement where_;
    std::vector<byte_count> free_;
    std::vector<double> load_;
    std::vector<std::uint32_t> used_; // components per device
    std::vector<double> tail_;
    std::vector<double> fastest_;
    std::vector<device_id> twin_;
    std::vector<component_id> sequence_;
    std::optional<infeasibility> stuck_;
  };
};

} // namespace weft::refine
