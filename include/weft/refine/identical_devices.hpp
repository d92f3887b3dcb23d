// SPDX-License-Identifier: BSL-1.0
/// Exact, anytime search for problems whose devices are alike and whose transfers cost nothing.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/core/time_grid.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/refine/detail/usable_devices.hpp"
#include "weft/refine/exact/parallel_jobs.hpp"
#include "weft/refine/exact/parallel_proof.hpp"
#include "weft/refine/exact/parallel_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace weft::refine {

/// Finds the smallest makespan of ops with precedences on devices that cannot be told apart: P | prec | Cmax.
///
/// Begins with a list schedule and the window bound of Fernandez and Bussell, and asks for a schedule that ends by the
/// bound: by depth-first search (refine/exact/parallel_search.hpp) from the front, from the back, and again and again
/// with shuffled priorities, each with a number of nodes that grows by the round. A proof that there is none raises
/// the bound; where neither comes, makespans between the bound and the best plan are asked for. Where all times are
/// multiples of some unit, so is the optimum, and the bound rises in such steps; elsewhere it is found up to a relative
/// error of 1e-9, by bisection.
///
/// Run the plan under `schedule::static_order`; a run ends no later than planned. When the search ends within the
/// budget, the bound that is returned equals the plan's makespan; else it is the best that was proven. Budget: nodes of
/// the search. Memory: n² / 2 bits and what is remembered, at most some 300 MB, n + m otherwise.
/// Beyond 3000 ops only list schedules are tried.
struct identical_devices {
  weft::budget budget = {.moves = 2'000'000}; ///< nodes visited; a few seconds at most
  exact::parallel_proof* proof = nullptr;     ///< receives what proves the bound; up to 8 bytes per node

  static constexpr std::size_t max_ops = 3000; ///< that are searched

  /// Whether the search understands p: every op may run everywhere and takes as long everywhere, nothing takes time to
  /// move, every device has room for all ops together, and no group has several members, and all ops one after the
  /// other take a finite time. Slots may differ. Devices on which no op may run do not count. Complexity: O(n · devices
  /// + tensors · devices²), less where the answer is no.
  template <class Problem>
  static constexpr bool applies(const Problem& p) {
    const auto& w = p.workload();
    const auto devices = detail::usable_devices(p);
    if (p.num_components() != p.num_ops() || (p.num_ops() > 0 && devices.empty())) {
      return false;
    }
    byte_count demand = 0;
    double sum = 0;
    for (component_id c = 0; c < p.num_components(); ++c) {
      if (p.demand(c) > std::numeric_limits<byte_count>::max() - demand) {
        return false;
      }
      demand += p.demand(c);
      const op_id v = p.members(c).front();
      const double time = p.compute_time(v, devices.front());
      sum += time;
      for (const device_id d : devices) {
        if (!p.allows(c, d) || p.compute_time(v, d) != time || !(sum < std::numeric_limits<double>::infinity())) {
          return false;
        }
      }
    }
    for (const device_id d : devices) {
      if (p.capacity(d) < demand) {
        return false;
      }
    }
    for (const tensor_id t : ids(p.num_tensors())) {
      if (std::ranges::empty(w.consumers(t))) {
        continue;
      }
      for (const device_id from : devices) {
        for (const device_id to : devices) {
          if (from != to && (p.send_time(t, from, to) != 0 || p.transfer_time(t, from, to) != 0)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// Precondition: `applies(p)`. Uses `random` for shuffles only.
  template <class Problem>
  outcome<partition::decided> operator()(const Problem& p, rng& random, workspace&) const {
    WEFT_ASSERT(applies(p));
    if (p.num_ops() == 0) {
      return partition::decided{};
    }
    const auto devices = detail::usable_devices(p);
    const auto jobs = jobs_of(p, devices);
    run r{jobs, budget, random, proof};
    if (jobs.size() <= max_ops) {
      r.search();
    }
    if (proof != nullptr) {
      r.finish_proof(p.topological_order());
    }
    return partition::decided{plan_of(p, devices, jobs, r.best()), r.bound()};
  }

private:
  template <class Problem>
  static exact::parallel_jobs jobs_of(const Problem& p, const std::vector<device_id>& devices) {
    const auto& w = p.workload();
    exact::parallel_jobs g;
    g.machines = 0;
    for (const device_id d : devices) { // no more are ever in use than there are ops
      g.machines += std::min<std::size_t>(p.platform().slots(d), p.num_ops());
    }
    g.machines = std::min(g.machines, p.num_ops());
    const auto order = p.topological_order();
    std::vector<std::uint32_t> position(p.num_ops());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
    }
    const auto add_row = [](std::vector<std::uint32_t>& first, std::vector<std::uint32_t>& list) {
      const auto from = list.begin() + first.back();
      weft::sort(list.data() + first.back(), list.data() + list.size());
      list.erase(std::unique(from, list.end()), list.end());
      first.push_back(static_cast<std::uint32_t>(list.size()));
    };
    time_grid grid;
    for (const op_id v : order) {
      g.time.push_back(p.compute_time(v, devices.front()));
      grid.add(g.time.back());
      graph::for_each_successor(w, v, [&](op_id c) { g.after.push_back(position[c]); });
      graph::for_each_predecessor(w, v, [&](op_id u) { g.before.push_back(position[u]); });
      add_row(g.first_after, g.after);
      add_row(g.first_before, g.before);
    }
    g.grid = grid.unit(std::accumulate(g.time.begin(), g.time.end(), 0.0));
    return g;
  }

  /// The best schedule so far, and the best bound.
  class run {
  public:
    run(const exact::parallel_jobs& g, const weft::budget& limit, rng& random, exact::parallel_proof* into)
        : forward_{g}, backward_{g.reversed()}, meter_{limit}, random_{random}, proof_{into} {
      if (proof_ != nullptr) {
        *proof_ = {};
        proof_->num_machines = g.machines;
        proof_->unit = g.grid;
      }
      if (g.size() > max_ops) {
        forward_tail_ = longest_tails(forward_);
        backward_tail_ = longest_tails(backward_);
      } else {
        forward_tail_ = exact::tails(forward_, exact::descendants(forward_));
        backward_tail_ = exact::tails(backward_, exact::descendants(backward_));
      }
      const std::vector<double> head(backward_tail_.rbegin(), backward_tail_.rend());
      low_ = exact::window_bound{}(g, head, forward_tail_);
      take(exact::list_schedule(forward_, forward_tail_), false);
      take(exact::list_schedule(backward_, backward_tail_), true);
    }

    /// The jobs in the order in which the best schedule starts them.
    const std::vector<std::uint32_t>& best() const { return best_; }
    double bound() const { return closed() ? high_ : low_; }

    /// In terms of ops; `order[v]`: the op of job v.
    template <class Order>
    void finish_proof(const Order& order) {
      exact::parallel_proof& x = *proof_;
      x.start.assign(forward_.size(), 0.0);
      x.makespan =
        replay(forward_, best_, [&](std::uint32_t v, std::size_t, double start) { x.start[order[v]] = start; });
      x.bound = bound();
      for (op_id& v : x.walk) {
        if (v != none) {
          v = order[x.is_backward ? forward_.size() - 1 - v : v];
        }
      }
    }

    void search() {
      exact::parallel_search front{forward_, forward_tail_};
      exact::parallel_search back{backward_, backward_tail_};
      std::uint64_t nodes = 8 * forward_.size();
      for (int round = 0; !closed() && !meter_.exhausted(); ++round, nodes = std::min(2 * nodes, max_nodes)) {
        while (!closed() && low_ > refuted_ && ask(front, back, low_, nodes, round) == answer::no) {
          refute(low_); // without a grid the next value to ask for is not known
        }
        // Between the bound and the best plan either answer helps; next to the best plan a better one is likeliest.
        for (const double share : {0.5, 1.0}) {
          if (!closed() && (round > 2 || forward_.grid == 0)) {
            const double makespan = between(share);
            if (ask(front, back, makespan, nodes, round) == answer::no) {
              refute(makespan);
            }
          }
        }
      }
    }

  private:
    using answer = exact::parallel_search::answer;

    static constexpr std::uint64_t max_nodes = std::uint64_t{1} << 40; ///< per question

    bool closed() const { return high_ - low_ <= 2e-9 * high_; }

    static std::vector<double> longest_tails(const exact::parallel_jobs& g) {
      std::vector<double> tail(g.size(), 0.0);
      for (auto v = static_cast<std::uint32_t>(g.size()); v-- > 0;) {
        tail[v] = graph::max_over_successors(g, v, 0.0, [&](std::uint32_t s) { return g.time[s] + tail[s]; });
      }
      return tail;
    }

    double between(double share) const {
      if (forward_.grid == 0) {
        return share < 1 ? low_ + rounded(share * (high_ - low_)) : high_ - rounded(1e-9 * high_);
      }
      const double steps = std::floor(share * (high_ - low_) / forward_.grid + 1e-6);
      return std::min(low_ + rounded(steps * forward_.grid), high_ - forward_.grid);
    }

    /// No schedule ends by then.
    void refute(double makespan) {
      refuted_ = std::max(refuted_, makespan);
      low_ = std::min(high_, std::max(low_, makespan + forward_.grid));
    }

    answer ask(exact::parallel_search& front, exact::parallel_search& back, double makespan, std::uint64_t nodes,
               int round) {
      std::uint64_t left = nodes;
      const auto spend = [&] { return left-- > 0 && meter_.spend(); };
      const auto try_one = [&](bool backwards, std::span<const double> priority) {
        auto& s = backwards ? back : front;
        const answer a = s(makespan, spend, priority, proof_ != nullptr ? &walk_ : nullptr);
        if (a == answer::yes) {
          take(s.schedule(), backwards);
        } else if (a == answer::no && proof_ != nullptr) {
          proof_->refuted = makespan;
          proof_->is_backward = backwards;
          proof_->walk.swap(walk_);
        }
        return a;
      };
      answer a = try_one(round % 2 == 1, {});
      std::vector<double> priority(forward_.size());
      // Shuffled starts get as many nodes together.
      const std::uint64_t starts = round == 0 ? 0 : nodes / (4 * forward_.size());
      for (std::uint64_t i = 0; i < starts && a == answer::unknown && !meter_.exhausted(); ++i) {
        const double noise = makespan * 0.02 * static_cast<double>(1 + i % 5);
        for (double& x : priority) {
          x = random_.uniform(0, noise);
        }
        left = 4 * forward_.size();
        a = try_one(i % 2 == 1, priority);
      }
      return a;
    }

    /// Keeps a schedule if it is the shortest so far.
    void take(const exact::start_times& start, bool backwards) {
      const auto n = static_cast<std::uint32_t>(start.size());
      std::vector<double> at(start);
      std::vector<double> until(n); // a job that takes no time, or none that counts beside its start, goes first
      for (std::uint32_t v = 0; v < n; ++v) {
        until[v] = start[v] + forward_.time[v];
      }
      if (backwards) { // what ends last starts first; times are only compared, since sums would be rounded differently
        for (std::uint32_t v = 0; v < n; ++v) {
          at[v] = -(start[n - 1 - v] + forward_.time[v]);
          until[v] = -start[n - 1 - v];
        }
      }
      std::vector<std::uint32_t> sequence(n);
      std::iota(sequence.begin(), sequence.end(), 0u);
      weft::sort(sequence, [&](std::uint32_t a, std::uint32_t b) {
        return at[a] != at[b] ? at[a] < at[b] : until[a] != until[b] ? until[a] < until[b] : a < b;
      });
      if (const double end = replay(forward_, sequence, [](std::uint32_t, std::size_t, double) {}); end < high_) {
        high_ = end;
        best_ = std::move(sequence);
      }
    }

    exact::parallel_jobs forward_;
    exact::parallel_jobs backward_;
    std::vector<double> forward_tail_;
    std::vector<double> backward_tail_;
    budget_meter meter_;
    rng& random_;
    exact::parallel_proof* proof_; // or none
    std::vector<std::uint32_t> walk_;
    double low_ = 0;      // no schedule is shorter
    double refuted_ = -1; // the longest makespan that the search has proven impossible
    double high_ = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> best_;
  };

  /// Jobs in a sequence, each as early as it can on the machine that is free first: if the sequence is that of the
  /// starts of a schedule, none starts later than there. Calls use(job, machine, start) and returns the makespan.
  template <class Use>
  static double replay(const exact::parallel_jobs& g, const std::vector<std::uint32_t>& sequence, Use use) {
    std::vector<double> free(g.machines, 0.0);
    std::vector<double> finish(g.size(), 0.0);
    double end = 0;
    for (const std::uint32_t v : sequence) {
      double ready = 0;
      for (const std::uint32_t u : g.predecessors(v)) {
        ready = std::max(ready, finish[u]);
      }
      const auto machine = std::min_element(free.begin(), free.end());
      const double start = std::max(ready, *machine);
      finish[v] = *machine = start + g.time[v];
      end = std::max(end, finish[v]);
      use(v, static_cast<std::size_t>(machine - free.begin()), start);
    }
    return end;
  }

  template <class Problem>
  static plan plan_of(const Problem& p, const std::vector<device_id>& devices, const exact::parallel_jobs& g,
                      const std::vector<std::uint32_t>& sequence) {
    std::vector<device_id> device_of; // per machine; those beyond g.machines are not needed
    for (const device_id d : devices) {
      device_of.insert(device_of.end(), std::min<std::size_t>(p.platform().slots(d), p.num_ops()), d);
    }
    plan made{placement(p.num_ops(), none), {}};
    const auto order = p.topological_order();
    struct start_of {
      double time;
      std::uint32_t job;
    };
    buffer<start_of> by_start; // a device takes its steps strictly in their order
    replay(g, sequence, [&](std::uint32_t v, std::size_t machine, double start) {
      made.placement[order[v]] = device_of[machine];
      by_start.emplace_back(start, v);
    });
    weft::sort(by_start, [&](const start_of& a, const start_of& b) {
      const double until_a = a.time + g.time[a.job];
      const double until_b = b.time + g.time[b.job];
      return a.time != b.time ? a.time < b.time : until_a != until_b ? until_a < until_b : a.job < b.job;
    });
    for (const auto& [start, v] : by_start) {
      made.order.push_back(step::run(order[v]));
    }
    return made;
  }
};

} // namespace weft::refine
