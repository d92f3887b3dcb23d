// SPDX-License-Identifier: BSL-1.0
/// Exact search for small problems.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/bound/component_memory.hpp"
#include "weft/bound/device_memory.hpp"
#include "weft/bound/exact/conflict_search.hpp"
#include "weft/bound/exact/twin_devices.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/rounding.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/heft.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/detail/sequencing.hpp"
#include "weft/refine/detail/usable_devices.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/refine/orders_within_memory.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::refine {

/// Finds a plan of the smallest makespan, by the search that suits the problem:
///   - refine/identical_devices.hpp for identical devices without transfer times;
///   - otherwise, for up to `max_ops` ops, a search with clause learning (bound/exact/conflict_search.hpp). It tries
///    makespans below the best plan so far and, with a growing part of the budget, makespans between the bound and that
///    plan: a "no" raises the bound, a "yes" is a better plan. If sends occupy the sender, or devices have more slots
///    than the search models, it finds candidate placements, and searches the best order of each.
/// It starts from HEFT's plan and from everything on one device.
///
/// With `.memory = memory_rule::over_time` no device exceeds its capacity at any moment of the run: the search finds
/// candidate placements, and searches the best order of each within the memory. Where the ops of a device need too much
/// in whatever order they run (bound/device_memory.hpp), it learns never to put the smallest part of them that does
/// on one device. If it ends without a plan, there is none: `infeasibility::kind::every_placement_fails` if devices
/// need too much in any order, which holds on every network, or `every_plan_fails` if orders had to be searched.
///
/// Run the plan under `schedule::static_order`. If the search finishes within the budget, the plan is optimal and the
/// returned bound says so. Otherwise it returns the best plan and the best proven bound so far. Transfers are without
/// contention. docs/exact.md says how large problems may be.
/// Uses a seed for shuffles on identical devices only. Budget: a move is a visit of a pair of ops, that is, half the
/// squared number of ops per decision, per dead end and per 256 rounds of rules.
/// Source: docs/exact.md names those of its parts. Complexity: exponential.
/// Choose it for small problems, to know the optimum.
struct branch_and_bound {
  static constexpr std::size_t max_ops = 64;
  weft::budget budget = {.moves = 50'000'000}; ///< a few seconds at most
  memory_rule memory = memory_rule::reserved; ///< by reservations, or by use at each moment

  template <class Problem>
  outcome<partition::decided> operator()(const Problem& p, rng& random, workspace& scratch) const {
    if (memory == memory_rule::over_time) { // reservations would refuse what runs in less
      return solve(p.with_resident_demands(), random, scratch);
    }
    return solve(p, random, scratch);
  }

private:
  template <class Problem>
  outcome<partition::decided> solve(const Problem& p, rng& random, workspace& scratch) const {
    if (p.num_ops() > 0 && memory == memory_rule::reserved && identical_devices::applies(p)) {
      weft::budget nodes = budget;
      nodes.moves /= p.num_ops();
      return identical_devices{nodes}(p, random, scratch);
    }
    search<Problem> s{p, budget, memory};
    auto start = partition::run(partition::heft{}, p, random, scratch);
    if (start) {
      s.take_start(std::move(start->plan));
    }
    if (p.num_ops() == 0) {
      return s.result();
    }
    for (component_id c = 0; c < p.num_components(); ++c) {
      if (!s.allowed_somewhere(c)) {
        return partition::assignment{p}.why_unplaced(c);
      }
    }
    s.try_single_devices();
    const bool ended = s.run();
    if (s.found()) {
      return s.result();
    }
    if (memory == memory_rule::over_time) {
      using kind = infeasibility::kind;
      return infeasibility{.cause = !ended             ? kind::not_found
                                    : s.tried_orders() ? kind::every_plan_fails
                                                       : kind::every_placement_fails};
    }
    return ended && !start ? start.error() : infeasibility{.cause = infeasibility::kind::not_found};
  }

  template <class Problem>
  class search {
  public:
    search(const Problem& p, const weft::budget& b, memory_rule rule)
        : p_{p}, usable_{detail::usable_devices(p)}, left_{b.moves}, meter_{b}, sequencing_{p} {
      if (rule == memory_rule::over_time) {
        within_.emplace(p);
        memory_.emplace(p);
      }
    }

    bool found() const { return least_ < infinity; }
    /// True if some placement had to be searched for orders.
    bool tried_orders() const { return tried_orders_; }
    partition::decided result() { return {std::move(best_), closed() ? least_ : low_}; }

    bool allowed_somewhere(component_id c) const {
      return std::any_of(usable_.begin(), usable_.end(), [&](device_id d) { return p_.allows(c, d); });
    }

    /// Whether it is a better plan.
    bool take_start(plan start) {
      simulator<Problem, schedule::static_order> sim{p_};
      trace record;
      const auto run = within_ ? sim.run(start, simulate::recorder{record}) : sim.run(start);
      if (!run.complete || run.makespan >= least_ || (within_ && !within_->admits(start.placement, record))) {
        return false;
      }
      least_ = run.makespan;
      best_ = std::move(start);
      return true;
    }

    /// Everything on one device is good where moving is expensive.
    void try_single_devices() {
      for (const device_id d : ids(p_.num_devices())) {
        auto left = p_.capacity(d);
        bool fits = true;
        for (component_id c = 0; fits && c < p_.num_components(); ++c) {
          fits = p_.allows(c, d) && p_.demand(c) <= left;
          left -= fits ? p_.demand(c) : 0;
        }
        if (fits) {
          take_start({placement(p_.num_ops(), d), {}});
        }
      }
    }

    /// Whether it came to its end.
    bool run() {
      low_ = std::min(least_, bound::best(p_).value);
      if (p_.num_ops() > max_ops ||
          !conflict_search::is_affordable(std::max(p_.num_ops(), p_.num_tensors()), usable_.size())) {
        return closed();
      }
      const auto twin = bound::exact::twin_devices(p_, usable_);
      while (!closed() && !out_of_budget_) {
        // Times are in units of the best plan so far; a much better one asks for finer ones.
        const double scale = found() ? least_ : horizon();
        const whole_times q{p_, usable_, scale, !within_};
        if (!improve(q, twin, scale)) {
          break;
        }
      }
      return !out_of_budget_;
    }

  private:
    using whole_times = bound::exact::whole_times;
    using conflict_search = bound::exact::conflict_search;
    using answer = conflict_search::answer;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double below = 1 - 1e-10; ///< a makespan that is not better

    bool closed() const { return found() && least_ - low_ <= 2e-10 * least_; }

    bool spend(std::uint64_t nodes = 1) {
      const std::uint64_t visits = nodes * (p_.num_ops() * p_.num_ops() / 2 + 1);
      if (out_of_budget_ || left_ < visits || !meter_.spend()) {
        out_of_budget_ = true;
        return false;
      }
      left_ -= visits;
      return true;
    }

    /// A makespan that some plan keeps to if there is any.
    double horizon() const {
      double sum = 0;
      const auto add_largest = [&](auto time) {
        double most = 0;
        for (const device_id from : usable_) {
          for (const device_id to : usable_) {
            if (const double x = time(from, to); x < infinity) {
              most = std::max(most, x);
            }
          }
        }
        sum += most;
      };
      for (const op_id v : ids(p_.num_ops())) {
        add_largest([&](device_id d, device_id) { return p_.compute_time(v, d); });
      }
      for (const tensor_id t : ids(p_.num_tensors())) {
        add_largest([&](device_id from, device_id to) {
          const double sends = rounded(static_cast<double>(usable_.size()) * p_.send_time(t, from, to));
          return from == to ? 0.0 : sends + p_.transfer_time(t, from, to);
        });
      }
      return std::max(sum, std::numeric_limits<double>::min());
    }

    /// Asks until the answer is known; true if it is to be asked again: a plan was found that is much better than
    /// `scale`, or more orders have to be searched.
    bool improve(const whole_times& q, const std::vector<std::size_t>& twin, double scale) {
      const auto limit = [&] { return q.limit(found() ? least_ * below : scale); };
      if (!spend(conflict_search::nodes_to_begin)) {
        return false;
      }
      conflict_search descent{q, limit(), twin};
      bool skipped = false;
      for (std::uint64_t nodes = 200; !out_of_budget_; nodes *= 2) {
        if (found() && least_ > 0 && spend(conflict_search::nodes_to_begin)) {
          const double middle = low_ + rounded(0.5 * (least_ - low_));
          conflict_search ask{q, q.limit(middle), twin};
          bool some_skipped = false;
          if (const answer a =
                this->ask(ask, q, [&] { return q.limit(std::min(middle, least_ * below)); }, nodes / 2, some_skipped);
              a == answer::no && !some_skipped) {
            low_ = std::max(low_, middle);
          }
        }
        if (closed() || least_ < scale / 4) {
          return true;
        }
        if (const answer a = ask(descent, q, limit, nodes, skipped); a == answer::no) {
          if (skipped) {
            max_choices_ *= 8;
            return true;
          }
          low_ = std::max(low_, least_);
          return false;
        }
        if (closed() || least_ < scale / 4) {
          return true;
        }
      }
      return false;
    }

    /// Better and better plans, while there are some and nodes are left. `skipped`: not all orders were searched for
    /// some placement, so that the answer "no" proves nothing.
    template <class Limit>
    answer ask(conflict_search& which, const whole_times& q, Limit limit, std::uint64_t nodes, bool& skipped) {
      const auto spend_node = [&] { return nodes > 0 && (--nodes, spend()); };
      for (;;) {
        if (found()) {
          which.prefer(best_.placement);
        }
        const auto admits = [&] { return !memory_ || !forbid_overfull(which, q); };
        if (const answer a = which(limit(), spend_node, admits); a != answer::yes) {
          return a;
        }
        plan made{placement(p_.num_ops(), none), {}};
        for (const op_id v : ids(p_.num_ops())) {
          made.placement[v] = which.device_of(v);
        }
        if (q.is_exact && !within_) {
          for (const op_id v : which.sequence()) {
            made.order.push_back(step::run(v));
          }
          if (!take_start(std::move(made)) || least_ <= 0) {
            out_of_budget_ = true; // what is left is less than rounding, or nothing
            return answer::unknown;
          }
        } else {
          const auto pay = [this](std::uint64_t visits) {
            if (left_ <= visits) {
              left_ = 0;
              out_of_budget_ = true;
              return false;
            }
            left_ -= visits;
            return spend(within_ ? 0 : 1);
          };
          tried_orders_ = true;
          const double known = found() ? least_ : infinity;
          const double makespan = within_ ? within_->minimise(made.placement, known, max_choices_, pay)
                                          : sequencing_.minimise(made.placement, known, pay);
          if (makespan < known) {
            least_ = makespan;
            best_ = {std::move(made.placement), within_ ? within_->best_order() : sequencing_.best_order()};
          }
          if (out_of_budget_) {
            return answer::unknown;
          }
          skipped = skipped || (within_ && !within_->ended());
          which.forbid_places();
        }
      }
    }

    /// True if the places of all units fill some device beyond what it holds, in any order; such ops are kept from
    /// being together on it, and on others that hold no more. Places that do not are asked about once.
    bool forbid_overfull(conflict_search& which, const whole_times& q) {
      std::vector<std::size_t> machine;
      for (const op_id v : ids(p_.num_ops())) {
        machine.push_back(which.machine_of(v));
      }
      if (machine == holding_) {
        return false;
      }
      std::vector<conflict_search::literal> clause;
      for (std::size_t m = 0; m < q.num_machines(); ++m) {
        std::vector<std::uint64_t> parts(q.num_units, 0); // ops, of each unit there
        std::uint64_t here = 0;
        for (const op_id v : ids(p_.num_ops())) {
          if (machine[v] == m) {
            parts[q.unit_of[v]] |= std::uint64_t{1} << v;
            here |= std::uint64_t{1} << v;
          }
        }
        const auto holds = [&](std::size_t on, std::uint64_t ops) {
          return memory_->fits(q.devices[q.machines[on].device], ops);
        };
        if (holds(m, here)) {
          continue;
        }
        for (std::uint32_t c = 0; c < q.num_units; ++c) {
          if (parts[c] != 0 && !holds(m, here & ~parts[c])) {
            here &= ~parts[c];
          }
        }
        for (std::size_t on = 0; on < q.num_machines(); ++on) {
          if (on == m || !holds(on, here)) {
            clause.clear();
            for (std::uint32_t c = 0; c < q.num_units; ++c) {
              if ((parts[c] & here) != 0) {
                clause.push_back(which.not_on(c, on));
              }
            }
            which.forbid(clause);
          }
        }
        return true;
      }
      holding_ = std::move(machine);
      return false;
    }

    const Problem& p_;
    std::vector<device_id> usable_; // nothing depends on the others
    std::uint64_t left_;
    budget_meter meter_;
    bool out_of_budget_ = false;
    bool tried_orders_ = false;
    detail::sequencing<Problem> sequencing_;
    std::optional<orders_within_memory<Problem>> within_; // memory over time only
    std::optional<bound::device_memory<Problem>> memory_; // with it
    std::vector<std::size_t> holding_;                    // the last places that it had no objection to
    std::uint64_t max_choices_ = 10'000; // in the orders of a placement
    plan best_;
    double least_ = infinity;
    double low_ = 0; // no plan has a smaller makespan
  };
};

} // namespace weft::refine
