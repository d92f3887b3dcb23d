// SPDX-License-Identifier: BSL-1.0
/// Runs plans for the cores of one machine: ops with teams of threads, on cores that were chosen before.
#pragma once

#include "weft/concurrency/team_plan.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace weft {

/// Executes a team plan on one thread per core ("worker"). An op with several threads is called by the worker of its
/// first core, when the workers of the others have come to it, too; these wait until it has ended. Kernels create the
/// threads of teams, such as by OpenMP. As fast per op as a `static_executor`, which runs it.
/// ```
/// const concurrency::op_graph graph{workload};
/// team_executor run{graph, concurrency::plan_teams(graph, times, machine)};
/// auto report = run([&](op_id v, team t) { … });
/// ```
class team_executor {
public:
  /// Throws `value_error` if the plan is of another graph, `constraint_error` if its order contradicts the graph.
  team_executor(const concurrency::op_graph& g, const concurrency::team_plan& p)
      : teams_{p.teams}, run_{ordered(g, p), plan_of(p)} {}

  std::size_t num_ops() const { return run_.num_ops(); }

  /// Runs every op once and returns when nothing runs any more.
  template <must_be::op_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::run_options& options = {}) {
    auto report = run_([&](op_id v) { execute::call_kernel(kernel, v, teams_[v]); }, options);
    for (op_id v = 0; v < report.trace.ops.size(); ++v) {
      auto& r = report.trace.ops[v];
      r.threads = r.device == none ? 1 : teams_[v].threads;
      r.device = r.device == none ? none : 0;
    }
    return report;
  }

private:
  /// The graph, and what has to wait since it shares a core.
  static workload ordered(const concurrency::op_graph& g, const concurrency::team_plan& p) {
    check_team_plan(g, p);
    workload_builder b;
    for (op_id v = 0; v < g.num_ops(); ++v) {
      b.add_op({.bytes = 0});
    }
    std::vector<std::pair<op_id, op_id>> edges;
    std::vector<op_id> last; // by core
    for (const op_id v : p.order) {
      for (const op_id w : g.consumers(v)) {
        edges.emplace_back(v, w);
      }
      const std::size_t end = std::size_t{p.first_core[v]} + p.teams[v].threads;
      last.resize(std::max(last.size(), end), none);
      for (std::size_t core = p.first_core[v]; core < end; ++core) {
        if (const op_id before = std::exchange(last[core], v);
            before != none && p.first_core[before] != p.first_core[v]) {
          edges.emplace_back(before, v);
        }
      }
    }
    sort_unique(edges);
    for (const auto& [v, w] : edges) {
      b.add_edge(v, w);
    }
    return std::move(b).build();
  }
  static plan plan_of(const concurrency::team_plan& p) {
    plan made{{p.first_core.begin(), p.first_core.end()}};
    for (const op_id v : p.order) {
      made.order.push_back(step::run(v));
    }
    return made;
  }

  std::vector<team> teams_;
  static_executor run_;
};

} // namespace weft
