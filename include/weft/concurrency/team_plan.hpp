// SPDX-License-Identifier: BSL-1.0
/// Plans for the cores of one machine, made before a run: which cores each op has, and from when.
#pragma once

#include "weft/concurrency/op_graph.hpp"
#include "weft/concurrency/time_table.hpp"
#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/platform/machine.hpp"
#include "weft/plan/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::concurrency {

/// The team of each op, the cores that it has, and the order in which each core takes its ops. An op with p threads
/// has the cores from `first_core` to `first_core + p − 1`, all at once.
struct team_plan {
  std::vector<team> teams = {};                 ///< by op
  std::vector<std::uint32_t> first_core = {};   ///< by op
  std::vector<op_id> order = {};                ///< by start; topological
  weft::trace predicted = {};                   ///< as the times say
};

/// Throws `value_error` unless the plan has each op of the graph once, `constraint_error` for an op that comes before
/// one whose result it needs. Complexity: O(n + m).
inline void check_team_plan(const op_graph& g, const team_plan& p) {
  const std::size_t n = g.num_ops();
  std::vector<std::uint32_t> place(n, none);
  for (std::uint32_t i = 0; i < p.order.size(); ++i) {
    if (p.order[i] < n && place[p.order[i]] == none) {
      place[p.order[i]] = i;
    }
  }
  if (p.order.size() != n || p.teams.size() != n || p.first_core.size() != n || std::ranges::count(place, none) > 0) {
    throw value_error("team plan", "does not have each of the " + std::to_string(n) + " ops of the graph once");
  }
  for (const op_id v : p.order) {
    for (const op_id w : g.consumers(v)) {
      if (place[w] < place[v]) {
        throw constraint_error({v, w}, "team plan: op " + std::to_string(w) + " comes before op " + std::to_string(v) +
                                         ", whose result it needs");
      }
    }
  }
}

/// True if ops with several threads have the machine for themselves, as the plan's times say.
inline bool has_wide_ops_alone(const team_plan& p) {
  double free_from = 0; // the end of the last wide op
  double last = 0;      // the end of all that has begun
  for (const op_id v : p.order) {
    const auto& r = p.predicted.ops[v];
    if (r.start < free_from || (r.threads > 1 && r.start < last)) {
      return false;
    }
    free_from = r.threads > 1 ? r.finish : free_from;
    last = std::max(last, r.finish);
  }
  return true;
}

/// Options of `plan_teams`.
struct team_planning {
  std::uint32_t threads = 0;    ///< of every op; 0: as many as suit the op
  bool alone = false;           ///< an op with several threads has the machine for itself, and begins on core 0
  double min_efficiency = 0.75; ///< the core-seconds of an op's thriftiest team, relative to those of the team chosen
  double handover_seconds = 1e-6; ///< until an op on one core is known to have ended on another
  double release_seconds = 2e-4;  ///< after an op with several threads, until a core that helped can start its own
  double least_gain = 0.05;       ///< more threads must end an op earlier by at least this share of its time
};

namespace detail {

/// List scheduling of moldable ops, see `plan_teams`.
class team_planner {
public:
  team_planner(const op_graph& g, const time_table& times, std::uint32_t cores, const team_planning& o)
      : graph_{g}, times_{times}, options_{o}, cores_{cores}, free_from_(cores, 0.0), lent_to_(cores), gaps_(cores),
        teams_(times.classes().num_classes()), missing_{g.num_inputs().begin(), g.num_inputs().end()},
        ready_(g.num_ops(), 0.0) {
    for (class_id c = 0; c < teams_.size(); ++c) {
      teams_[c] = teams_of(c);
    }
    for (std::uint32_t core = 0; core < cores; ++core) {
      lent_to_[core] = core;
    }
    const auto shortest = [&](op_id v) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::uint32_t p : teams_[times.classes().class_of(v)]) {
        least = std::min(least, times.seconds(v, {p}));
      }
      return least;
    };
    rank_ = graph::longest_to_sink(g, g.topological_order(), shortest);
    plan_.teams.resize(g.num_ops());
    plan_.first_core.resize(g.num_ops(), 0);
    plan_.predicted.ops.resize(g.num_ops());
  }

  team_plan operator()() && {
    for (const op_id v : ids(graph_.num_ops())) {
      if (missing_[v] == 0) {
        pending_.push({0.0, v});
      }
    }
    while (!pending_.empty() || !urgent_.empty()) {
      double now = *std::min_element(free_from_.begin(), free_from_.end());
      now = urgent_.empty() ? std::max(now, pending_.top().first) : now;
      for (; !pending_.empty() && pending_.top().first <= now; pending_.pop()) {
        const op_id v = pending_.top().second;
        urgent_.push({rank_[v], none - v}); // of two the one with the smaller number
      }
      const op_id v = none - urgent_.top().second;
      urgent_.pop();
      place(v);
    }
    sort_order();
    return std::move(plan_);
  }

private:
  struct gap {
    double begin = 0;
    double end = 0;
  };
  struct choice {
    std::uint32_t first = 0;
    std::uint32_t threads = 1;
    double start = 0;
    double finish = std::numeric_limits<double>::infinity();
    double idle = 0; ///< how long the first core waits before
    bool in_gap = false;
  };

  /// Numbers of threads: powers of two and those between two of them, and all cores.
  std::vector<std::uint32_t> teams_of(class_id c) const {
    if (options_.threads > 0) {
      return {std::min(options_.threads, cores_)};
    }
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t p = 1; p < cores_; p *= 2) {
      sizes.push_back(p);
      if (p > 1 && p + p / 2 < cores_) {
        sizes.push_back(p + p / 2);
      }
    }
    sizes.push_back(cores_);
    const auto core_seconds = [&](std::uint32_t p) { return p * times_.seconds_of_class(c, {p}); };
    double least = std::numeric_limits<double>::infinity();
    for (const auto p : sizes) {
      least = std::min(least, core_seconds(p));
    }
    const double efficiency = std::min(options_.min_efficiency, 1.0);
    std::erase_if(sizes, [&](std::uint32_t p) { return core_seconds(p) * efficiency > least; });
    return sizes;
  }

  /// When op v could start on cores of which that is the first.
  double ready_on(op_id v, std::uint32_t first) const {
    return ready_[v] + (last_core_[v] == first || last_core_[v] == none ? 0 : options_.handover_seconds);
  }

  void place(op_id v) {
    std::optional<choice> best;
    for (const std::uint32_t p : teams_[times_.classes().class_of(v)]) {
      const auto with_p = earliest(v, p);
      const double gain = best ? options_.least_gain * (best->finish - best->start) : 0;
      if (!best || with_p.finish + gain < best->finish) {
        best = with_p;
      }
    }
    commit(v, *best);
  }

  std::uint32_t taken_by(std::uint32_t threads) const { return options_.alone && threads > 1 ? cores_ : threads; }

  /// The cores on which op v ends first with p threads: of those the ones that wait for the shortest time.
  choice earliest(op_id v, std::uint32_t p) const {
    choice best{.threads = p};
    const double seconds = times_.seconds(v, {p});
    const auto consider = [&](const choice& c) {
      if (std::tuple{c.finish, c.idle} < std::tuple{best.finish, best.idle}) {
        best = c;
      }
    };
    const std::uint32_t taken = taken_by(p);
    const std::uint32_t stride = options_.threads > 0 ? p : 1;
    for (std::uint32_t first = 0; first + taken <= cores_; first += stride) {
      double start = ready_on(v, first);
      for (std::uint32_t core = first; core < first + taken; ++core) {
        const bool was_lent = lent_to_[core] != first && lent_to_[core] != core;
        start = std::max(start, free_from_[core] + (was_lent ? options_.release_seconds : 0));
      }
      consider({first, p, start, start + seconds, start - free_from_[first], false});
      const gap& g = gaps_[first];
      if (const double early = std::max(g.begin, ready_on(v, first)); p == 1 && early + seconds <= g.end) {
        consider({first, p, early, early + seconds, 0, true});
      }
    }
    return best;
  }

  void commit(op_id v, const choice& c) {
    for (std::uint32_t core = c.first; core < c.first + taken_by(c.threads); ++core) {
      if (c.in_gap) {
        gaps_[core].begin = c.finish;
        continue;
      }
      const double begin = free_from_[core] + (lent_to_[core] != core ? options_.release_seconds : 0);
      if (c.start - begin > gaps_[core].end - gaps_[core].begin) {
        gaps_[core] = {begin, c.start};
      }
      free_from_[core] = c.finish;
      lent_to_[core] = c.first;
    }
    plan_.teams[v] = {c.threads};
    plan_.first_core[v] = c.first;
    plan_.predicted.ops[v] = {0, c.start, c.finish, c.threads};
    plan_.predicted.makespan = std::max(plan_.predicted.makespan, c.finish);
    for (const op_id w : graph_.consumers(v)) {
      if (c.finish >= ready_[w]) {
        ready_[w] = c.finish;
        last_core_[w] = c.first;
      }
      if (--missing_[w] == 0) {
        pending_.push({ready_[w], w});
      }
    }
  }

  void sort_order() {
    std::vector<std::uint32_t> place(graph_.num_ops());
    for (std::uint32_t i = 0; const op_id v : graph_.topological_order()) {
      plan_.order.push_back(v);
      place[v] = i++;
    }
    weft::sort(plan_.order, [&](op_id a, op_id b) {
      const auto& x = plan_.predicted.ops[a];
      const auto& y = plan_.predicted.ops[b];
      return std::tuple{x.start, x.finish, place[a]} < std::tuple{y.start, y.finish, place[b]};
    });
  }

  const op_graph& graph_;
  const time_table& times_;
  team_planning options_;
  std::uint32_t cores_;
  std::vector<double> free_from_;                 // by core
  std::vector<std::uint32_t> lent_to_;            // by core: the first one of the op that had it last
  std::vector<gap> gaps_;                         // by core: the longest time before in which it has nothing to do
  std::vector<std::vector<std::uint32_t>> teams_; // by class
  std::vector<std::uint32_t> missing_;            // by op: inputs that are not placed
  std::vector<double> ready_;                     // by op: when the last of its inputs ends …
  std::vector<std::uint32_t> last_core_ = std::vector<std::uint32_t>(graph_.num_ops(), none); // … and where
  std::vector<double> rank_;
  std::priority_queue<std::pair<double, op_id>, std::vector<std::pair<double, op_id>>, std::greater<>> pending_;
  std::priority_queue<std::pair<double, op_id>> urgent_; // by rank
  team_plan plan_;
};

} // namespace detail

/// Gives each op a team and cores. Ops are taken when their inputs are there and a core is free, the one with the
/// longest way to the end of the graph first; it has the cores and the number of threads with which it ends the
/// earliest, of those that are efficient enough. Ops with one thread go into gaps that wide ops leave before them.
/// Precondition: the times are of the graph. Throws `value_error` for a machine without cores.
/// Complexity: O((n + m) log n + n · cores² · log cores).
/// Source: Casanova, Desprez, Suter, *From heterogeneous task scheduling to heterogeneous mixed parallel scheduling*,
/// 2004 (M-HEFT), with a bound on waste as in Radulescu and van Gemund's CPA, 2001. Order and gaps are ours.
inline team_plan plan_teams(const op_graph& g, const time_table& times, const machine& m, const team_planning& o = {}) {
  m.check();
  return detail::team_planner{g, times, std::min(m.cores(), times.max_threads()), o}();
}

/// One op after the other, on cores from 0, with teams by op.
inline team_plan one_after_the_other(const op_graph& g, const time_table& times, std::vector<team> teams) {
  team_plan p{std::move(teams), std::vector<std::uint32_t>(g.num_ops(), 0),
              {g.topological_order().begin(), g.topological_order().end()}, {}};
  p.predicted.ops.resize(g.num_ops());
  for (const op_id v : p.order) {
    const double finish = p.predicted.makespan + times.seconds(v, p.teams[v]);
    p.predicted.ops[v] = {0, p.predicted.makespan, finish, p.teams[v].threads};
    p.predicted.makespan = finish;
  }
  return p;
}

} // namespace weft::concurrency
