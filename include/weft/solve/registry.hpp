// SPDX-License-Identifier: BSL-1.0
/// Strategies by name: the one place where types are erased, for programs that choose at run time.
#pragma once

#include "weft/partition/batch_split.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/dfs.hpp"
#include "weft/partition/divide_successors.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/iterated_critical_path.hpp"
#include "weft/partition/mite.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// A simulator whose policy and contention are not in its type. Records every run.
template <class Problem>
class any_simulator {
public:
  virtual ~any_simulator() = default;
  /// See `simulator::prepare`.
  virtual void prepare(const plan& decided) = 0;
  /// See `simulator::run_prepared`; fills the trace.
  virtual simulation run_prepared(trace& into) = 0;
};

/// Partitioners and ready policies for one type of problem, by name and in a fixed order. Starts with those of the
/// library; add your own under new names.
template <class Problem>
class registry {
public:
  using partitioner = std::function<outcome<partition::decided>(const Problem&, rng&, workspace&)>;
  using simulator_factory = std::function<std::unique_ptr<any_simulator<Problem>>(const Problem&, contention_model)>;

  /// All strategies of the library.
  static registry standard() {
    registry r;
    r.add_partitioner("hash", partition::hash{});
    r.add_partitioner("batch_split", partition::batch_split{});
    r.add_partitioner("critical_path", partition::critical_path{});
    r.add_partitioner("mite", partition::mite{});
    r.add_partitioner("dfs", partition::dfs{});
    r.add_partitioner("iterated_critical_path", partition::iterated_critical_path{});
    r.add_partitioner("divide_successors", partition::divide_successors{});
    r.add_partitioner("heft", partition::heft{});
    r.add_partitioner("iterated_local_search", refine::iterated_local_search<>{});
    r.add_partitioner("branch_and_bound", refine::branch_and_bound{});
    r.add_policy("fifo", schedule::fifo{});
    r.add_policy("path_completion_time", schedule::path_completion_time{});
    r.add_policy("maximum_successor_rank", schedule::maximum_successor_rank{});
    r.add_policy("largest_remaining_work", schedule::largest_remaining_work{});
    r.add_policy("static_order", schedule::static_order{});
    return r;
  }

  template <partitioner_for<Problem> S>
  void add_partitioner(std::string name, S strategy) {
    partitioners_.emplace_back(std::move(name), [strategy](const Problem& p, rng& random, workspace& scratch) {
      return partition::run(strategy, p, random, scratch);
    });
  }

  template <ready_policy_for<Problem> S>
  void add_policy(std::string name, S policy) {
    policies_.emplace_back(
      std::move(name),
      [policy](const Problem& p, contention_model contention) -> std::unique_ptr<any_simulator<Problem>> {
        if (contention == contention_model::port) {
          return std::make_unique<erased<S, simulate::port_contention>>(p, policy);
        }
        return std::make_unique<erased<S, simulate::no_contention>>(p, policy);
      });
  }

  /// The strategy of that name, or nullptr.
  const partitioner* find_partitioner(std::string_view name) const { return find(partitioners_, name); }
  const simulator_factory* find_policy(std::string_view name) const { return find(policies_, name); }

  std::vector<std::string> partitioner_names() const { return names(partitioners_); }
  std::vector<std::string> policy_names() const { return names(policies_); }

private:
  template <class T>
  using table = std::vector<std::pair<std::string, T>>;

  template <class Policy, class Contention>
  class erased final : public any_simulator<Problem> {
  public:
    erased(const Problem& p, const Policy& policy) : simulator_{p, policy} {}
    void prepare(const plan& decided) override { simulator_.prepare(decided); }
    simulation run_prepared(trace& into) override { return simulator_.run_prepared(simulate::recorder{into}); }

  private:
    simulator<Problem, Policy, Contention> simulator_;
  };

  template <class T>
  static const T* find(const table<T>& entries, std::string_view name) {
    for (const auto& [key, value] : entries) {
      if (key == name) {
        return &value;
      }
    }
    return nullptr;
  }

  template <class T>
  static std::vector<std::string> names(const table<T>& entries) {
    std::vector<std::string> result;
    for (const auto& [key, value] : entries) {
      result.push_back(key);
    }
    return result;
  }

  table<partitioner> partitioners_;
  table<simulator_factory> policies_;
};

} // namespace weft
