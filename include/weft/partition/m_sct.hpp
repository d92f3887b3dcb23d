// SPDX-License-Identifier: BSL-1.0
/// Memory-constrained small-communication-time scheduling: ETF with favourite children.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/sct/favourite_children.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::partition {

/// m-SCT: earliest task first, with devices reserved for favourite children. A linear program chooses the favourite
/// child of each op, the consumer that should follow it on the same device. Of all ready ops and fitting devices, the
/// pair that starts earliest is next (ties: the favourite of the device's last op, then the larger bottom level, then
/// the smaller op, then the smaller device). But if the favourite of a device's last op is ready and starts no sooner
/// elsewhere, the device is reserved for it. Another op starts there only once it is urgent, which means that its
/// inputs could be on any device that it may use.
///
/// Beyond the paper: on devices of unequal speed, the extra time that the op takes over its fastest fitting device is
/// added to its start; on equal devices the rule is the paper's. A colocation group goes where its first member goes.
/// An op whose component fits nowhere ends the search. A device's memory is reserved, not freed. Returns the planned
/// order for `schedule::static_order`; sends delay inputs, but do not occupy the sender in the plan.
///
/// `Solver` solves the program: `sct::averaged_matchings`, a library behind interop/clp.hpp, or your own function.
/// Source: Jeon, Cai, Srivastava, Jiang, Ke, Meng, Xie, Gupta, *Baechi: Fast Device Placement of Machine Learning
/// Graphs*, SoCC 2020, §3; the program and the rule of urgent ops are those of Hanen, Munier, *An Approximation
/// Algorithm for Scheduling Dependent Tasks on m Processors with Small Communication Delays*, ETFA 1995.
/// Complexity: that of the solver and O(n · devices · (ready ops + devices) + m · devices). Uses no randomness.
/// Choose it to compare with Baechi, or where transfers take about as long as ops.
template <sct::program_solver Solver = sct::averaged_matchings>
struct m_sct {
  [[no_unique_address]] Solver solver = {}; ///< solves the linear program
  double threshold = 0.5; ///< the least share with which a consumer may be a favourite

  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace&) const {
    const cluster::mean_costs<Problem> costs{p};
    const auto lp = sct::program_of(costs);
    run<Problem> r{costs, sct::favourites(lp, solver(lp), threshold)};
    return r.schedule();
  }

private:
  template <class Problem>
  class run {
  public:
    constexpr run(const cluster::mean_costs<Problem>& costs, std::vector<op_id> favourite)
        : costs_{costs}, p_{costs.problem()}, num_devices_{p_.num_devices()}, assignment_{p_},
          favourite_{std::move(favourite)}, waiting_{p_.workload()}, finish_(p_.num_ops(), 0.0),
          row_(p_.num_ops(), none), last_(num_devices_, none), slots_(num_devices_) {}

    constexpr outcome<plan> schedule() {
      waiting_.for_each_ready([this](op_id v) { make_ready(v); });
      while (!ready_.empty()) {
        const choice next = choose();
        if (next.device == none) {
          return assignment_.why_unplaced(p_.component(next.op));
        }
        commit(next.op, next.device);
      }
      return std::move(*this).take();
    }

  private:
    struct choice {
      op_id op = none;
      device_id device = none;
      double start = 0;
      bool favourite = false;
    };
    struct timed_step {
      double start;
      double finish;
      std::uint32_t number; // in the order of scheduling
      op_id op;
    };

    constexpr double& arrival(op_id v, device_id d) { return arrival_[std::size_t{row_[v]} * num_devices_ + d]; }
    constexpr double& slowdown(op_id v, device_id d) { return slowdown_[std::size_t{row_[v]} * num_devices_ + d]; }

    constexpr bool may_use(op_id v, device_id d) const {
      const device_id there = assignment_.device(v);
      return there == none ? assignment_.fits(p_.component(v), d) : there == d;
    }

    /// Gives v a row of what it needs to know per device; rows of scheduled ops are used again.
    constexpr void make_ready(op_id v) {
      if (free_rows_.empty()) {
        row_[v] = static_cast<std::uint32_t>(arrival_.size() / num_devices_);
        arrival_.resize(arrival_.size() + num_devices_);
        slowdown_.resize(arrival_.size());
      } else {
        row_[v] = free_rows_.back();
        free_rows_.pop_back();
      }
      double fastest = 0;
      for (const device_id d : ids(num_devices_)) {
        arrival(v, d) = graph::max_over_predecessors(p_.workload(), v, 0.0, [&](op_id u, const flow_edge& e) {
          const device_id from = assignment_.device(u);
          return finish_[u] +
                 (from == d ? 0 : p_.send_time(e.tensor, from, d) + p_.transfer_time(e.tensor, from, d));
        });
        slowdown(v, d) = p_.compute_time(v, d);
        fastest = d == 0 ? slowdown(v, d) : std::min(fastest, slowdown(v, d));
      }
      for (const device_id d : ids(num_devices_)) {
        slowdown(v, d) -= fastest < std::numeric_limits<double>::infinity() ? fastest : 0;
      }
      ready_.push_back(v);
    }

    constexpr double free_from(device_id d) const {
      return slots_[d].size() < p_.platform().slots(d) ? 0 : *std::min_element(slots_[d].begin(), slots_[d].end());
    }

    /// When v would start on d, later by what it loses there.
    constexpr double effective_start(op_id v, device_id d) {
      return std::max(free_from(d), arrival(v, d)) + slowdown(v, d);
    }

    /// The ready op that d is kept for, or `none`.
    constexpr op_id awaited(device_id d) {
      const op_id f = last_[d] == none ? none : favourite_[last_[d]];
      if (f == none || row_[f] == none || !may_use(f, d)) { // has no row: not ready, or scheduled
        return none;
      }
      const double here = effective_start(f, d);
      for (const device_id e : ids(num_devices_)) {
        if (e != d && may_use(f, e) && effective_start(f, e) < here) {
          return none;
        }
      }
      return f;
    }

    constexpr double urgent_from(op_id v) {
      double time = 0;
      for (const device_id d : ids(num_devices_)) {
        time = may_use(v, d) ? std::max(time, arrival(v, d)) : time;
      }
      return time;
    }

    constexpr bool before(const choice& a, const choice& b) const {
      if (a.start != b.start) {
        return a.start < b.start;
      }
      if (a.favourite != b.favourite) {
        return a.favourite;
      }
      const double la = costs_.bottom_level(a.op);
      const double lb = costs_.bottom_level(b.op);
      return la != lb ? la > lb : a.op != b.op ? a.op < b.op : a.device < b.device;
    }

    /// The next pair; without a device if an op fits nowhere.
    constexpr choice choose() {
      kept_for_.clear();
      for (const device_id d : ids(num_devices_)) {
        kept_for_.push_back(awaited(d));
      }
      choice best;
      for (const op_id v : ready_) {
        const double urgent = urgent_from(v);
        bool fits = false;
        for (const device_id d : ids(num_devices_)) {
          if (!may_use(v, d)) {
            continue;
          }
          fits = true;
          double start = std::max(free_from(d), arrival(v, d));
          if (kept_for_[d] != none && kept_for_[d] != v) {
            start = std::max(start, urgent);
          }
          const choice c{v, d, start + slowdown(v, d), last_[d] != none && favourite_[last_[d]] == v};
          if (best.op == none || before(c, best)) {
            best = c;
          }
        }
        if (!fits) {
          return {v, none};
        }
      }
      return best;
    }

    constexpr void commit(op_id v, device_id d) {
      const component_id c = p_.component(v);
      if (!assignment_.is_placed(c)) {
        assignment_.place(c, d);
      }
      const double start = std::max(free_from(d), arrival(v, d));
      finish_[v] = start + p_.compute_time(v, d);
      auto& used = slots_[d];
      if (used.size() < p_.platform().slots(d)) {
        used.push_back(finish_[v]);
      } else {
        *std::min_element(used.begin(), used.end()) = finish_[v];
      }
      steps_.push_back({start, finish_[v], static_cast<std::uint32_t>(steps_.size()), v});
      last_[d] = v;
      free_rows_.push_back(std::exchange(row_[v], none));
      *std::find(ready_.begin(), ready_.end(), v) = ready_.back();
      ready_.pop_back();
      waiting_.finish(p_.workload(), v, [this](op_id u) { make_ready(u); });
    }

    constexpr plan take() && {
      weft::sort(steps_, [](const timed_step& a, const timed_step& b) {
        return a.start != b.start     ? a.start < b.start
               : a.finish != b.finish ? a.finish < b.finish
                                      : a.number < b.number;
      });
      plan result{std::move(assignment_).take(), {}};
      for (const timed_step& s : steps_) {
        result.order.push_back(step::run(s.op));
      }
      return result;
    }

    const cluster::mean_costs<Problem>& costs_;
    const Problem& p_;
    std::size_t num_devices_;
    assignment<Problem> assignment_;
    std::vector<op_id> favourite_;
    graph::release_counter<> waiting_; // inputs whose producers have not been scheduled
    std::vector<double> finish_;
    std::vector<std::uint32_t> row_;     // per ready op; `none` for the others
    std::vector<std::uint32_t> free_rows_;
    std::vector<double> arrival_;        // per row and device: when the inputs can be there
    std::vector<double> slowdown_;       // per row and device: seconds more than on the fastest
    std::vector<op_id> ready_;
    std::vector<op_id> last_;            // per device: what was scheduled there last
    std::vector<op_id> kept_for_;        // per device, of this step
    buffer<buffer<double>> slots_; // per device: when its used slots are free
    buffer<timed_step> steps_;
  };
};

} // namespace weft::partition
