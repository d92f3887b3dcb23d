// SPDX-License-Identifier: BSL-1.0
/// Runs plans for the cores of one machine in which wide ops have it for themselves: the threads that run ops side by
/// side and those of the wide ops can then be the same.
#pragma once

#include "weft/concurrency/team_plan.hpp"
#include "weft/execute/crew.hpp"
#include "weft/execute/detail/backoff.hpp"
#include "weft/execute/ongoing_run.hpp"
#include "weft/execute/run_report.hpp"

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace weft {

/// `c.run(count, f)` calls `f(i)` for i from 0 to `count`, each on a thread of its own, 0 on the calling one, and
/// returns when all are done. `execute::crew` is one; interop/openmp.hpp has one of OpenMP's threads.
template <class C>
concept worker_crew = requires(C& c, std::uint32_t count, void (*f)(std::uint32_t)) {
  C{count};
  c.run(count, f);
};

/// Executes a team plan in phases, one after the other: either an op with several threads, which the calling thread
/// calls, or ops with one thread each on as many workers as have some, which wait for each other where an input comes
/// from another. With the threads of OpenMP as workers, kernels that use OpenMP have the same threads in wide ops:
/// none has to be woken, and none spins on the core of another.
/// ```
/// phased_executor<execute::openmp_crew> run{graph, concurrency::plan_teams(graph, times, machine, {.alone = true})};
/// auto report = run([&](op_id v, team t) { … });
/// ```
/// One run at a time. Memory: some 50 bytes per op, at most 8 per edge.
template <worker_crew Crew = execute::crew>
class phased_executor {
public:
  /// Ops with several threads are alone, also where the plan has others beside them. Throws `value_error` if the plan
  /// is of another graph, `constraint_error` if its order contradicts the graph.
  phased_executor(const concurrency::op_graph& g, const concurrency::team_plan& p)
      : num_ops_{g.num_ops()}, teams_{p.teams} {
    check_team_plan(g, p);
    find_phases(p);
    find_waits(g, p);
    std::size_t most = 1; // workers of a phase
    for (const phase& x : phases_) {
      most = std::max(most, x.workers.size());
    }
    done_ = std::make_unique<progress[]>(most);
    crew_ = std::make_unique<Crew>(static_cast<std::uint32_t>(most - 1));
  }

  std::size_t num_ops() const { return num_ops_; }
  std::size_t num_phases() const { return phases_.size(); }

  /// Runs every op once and returns when nothing runs any more.
  template <must_be::op_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::run_options& options = {}) {
    execute::ongoing_run state{options, num_ops_};
    for (const phase& p : phases_) {
      if (p.workers.size() == 1) {
        follow(p, 0, kernel, state);
      } else {
        for (std::size_t i = 0; i < p.workers.size(); ++i) {
          done_[i].count.store(0, std::memory_order_relaxed);
        }
        auto work = [&](std::uint32_t i) { follow(p, i, kernel, state); };
        crew_->run(static_cast<std::uint32_t>(p.workers.size() - 1), work);
      }
      if (state.is_over()) {
        break;
      }
    }
    auto report = state.conclude();
    for (op_id v = 0; v < report.trace.ops.size(); ++v) {
      auto& r = report.trace.ops[v];
      r.threads = r.device == none ? 1 : teams_[v].threads;
    }
    return report;
  }

private:
  /// "Worker `worker` has done `count` of its ops."
  struct milestone {
    std::uint32_t worker = 0;
    std::uint32_t count = 0;
  };
  struct entry {
    op_id op = none;
    std::vector<milestone> waits = {};
    bool publishes = false; ///< another worker waits for it
  };
  struct phase {
    std::vector<std::vector<entry>> workers = {}; ///< what each does, in order; none has nothing to do
  };
  struct alignas(64) progress {
    std::atomic<std::uint32_t> count{0};
  };

  /// Ops with one thread form a phase, until one with several comes; that joins the phase before it if this has one
  /// worker only.
  void find_phases(const concurrency::team_plan& p) {
    std::vector<std::uint32_t> worker_of; // by core, in the last phase
    bool is_open = false;
    for (const op_id v : p.order) {
      const bool is_wide = p.teams[v].threads > 1;
      const bool may_join = is_wide && !phases_.empty() && phases_.back().workers.size() == 1;
      if (!may_join && (is_wide || !is_open)) {
        phases_.emplace_back();
        worker_of.assign(worker_of.size(), none);
      }
      is_open = !is_wide;
      auto& workers = phases_.back().workers;
      const std::size_t core = is_wide ? 0 : p.first_core[v];
      worker_of.resize(std::max(worker_of.size(), core + 1), none);
      if (worker_of[core] == none && !may_join) {
        worker_of[core] = static_cast<std::uint32_t>(workers.size());
        workers.emplace_back();
      }
      workers[may_join ? 0 : worker_of[core]].push_back({.op = v});
    }
  }

  void find_waits(const concurrency::op_graph& g, const concurrency::team_plan& p) {
    struct place {
      std::uint32_t phase = none, worker = none, index = none;
    };
    std::vector<place> places(num_ops_);
    for (std::uint32_t i = 0; i < phases_.size(); ++i) {
      for (std::uint32_t w = 0; w < phases_[i].workers.size(); ++w) {
        for (std::uint32_t k = 0; k < phases_[i].workers[w].size(); ++k) {
          places[phases_[i].workers[w][k].op] = {i, w, k};
        }
      }
    }
    for (const op_id u : p.order) {
      const place from = places[u];
      for (const op_id v : g.consumers(u)) {
        const place to = places[v];
        if (from.phase == to.phase && from.worker != to.worker) {
          auto& waits = phases_[to.phase].workers[to.worker][to.index].waits;
          const auto known = std::ranges::find(waits, from.worker, &milestone::worker);
          if (known == waits.end()) {
            waits.push_back({from.worker, from.index + 1});
          } else {
            known->count = std::max(known->count, from.index + 1);
          }
        }
      }
    }
    for (phase& x : phases_) {
      for (auto& entries : x.workers) {
        for (const entry& e : entries) {
          for (const milestone& m : e.waits) {
            x.workers[m.worker][m.count - 1].publishes = true;
          }
        }
      }
    }
  }

  template <class Kernel>
  void follow(const phase& p, std::uint32_t worker, Kernel& kernel, execute::ongoing_run& state) {
    const auto& options = state.options();
    const bool clocked = options.record || options.seconds < std::numeric_limits<double>::infinity();
    std::uint32_t count = 0;
    for (const entry& e : p.workers[worker]) {
      for (const milestone& m : e.waits) {
        execute::detail::backoff b;
        while (done_[m.worker].count.load(std::memory_order_acquire) < m.count && !state.must_end()) {
          b.wait();
        }
      }
      const auto call = [&] { execute::call_kernel(kernel, e.op, teams_[e.op]); };
      if (state.must_end() ||
          !(clocked ? state.template run_op<true>(e.op, 0, call) : state.template run_op<false>(e.op, 0, call))) {
        break;
      }
      ++count;
      if (e.publishes) {
        done_[worker].count.store(count, std::memory_order_release);
      }
    }
    state.add_finished(count);
  }

  std::size_t num_ops_ = 0;
  std::vector<team> teams_; // by op
  std::vector<phase> phases_;
  std::unique_ptr<progress[]> done_; // by worker
  std::unique_ptr<Crew> crew_;
};

} // namespace weft
