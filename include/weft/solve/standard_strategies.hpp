// SPDX-License-Identifier: BSL-1.0
/// The list of the library's strategies by name, which the registry, tests and docs read.
#pragma once

#include "weft/partition/batch_split.hpp"
#include "weft/partition/bil.hpp"
#include "weft/partition/clustered.hpp"
#include "weft/partition/cpop.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/dfs.hpp"
#include "weft/partition/divide_successors.hpp"
#include "weft/partition/dls.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/fcp.hpp"
#include "weft/partition/flb.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/hlfet.hpp"
#include "weft/partition/ippts.hpp"
#include "weft/partition/iterated_critical_path.hpp"
#include "weft/partition/lookahead_heft.hpp"
#include "weft/partition/m_etf.hpp"
#include "weft/partition/m_sct.hpp"
#include "weft/partition/m_topo.hpp"
#include "weft/partition/max_min.hpp"
#include "weft/partition/mcp.hpp"
#include "weft/partition/mct.hpp"
#include "weft/partition/met.hpp"
#include "weft/partition/min_min.hpp"
#include "weft/partition/mite.hpp"
#include "weft/partition/olb.hpp"
#include "weft/partition/peft.hpp"
#include "weft/partition/pets.hpp"
#include "weft/partition/reverse_heft.hpp"
#include "weft/partition/sufferage.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/large_neighbourhood_search.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"

/// Each function hands its part of the list, in a fixed order, to an object with the members
/// `add_partitioner(name, strategy)`, `add_policy(name, strategy)` or `add_refiner(name, strategy)`, such as a
/// `registry`. Every partitioner places ops only where they fit (`memory_rule::reserved`).
namespace weft::standard_strategies {

/// Partitioners that choose devices and no order.
template <class To>
constexpr void placement_rules(To& to) {
  to.add_partitioner("hash", partition::hash{});
  to.add_partitioner("batch_split", partition::batch_split{});
  to.add_partitioner("critical_path", partition::critical_path{});
  to.add_partitioner("mite", partition::mite{});
  to.add_partitioner("dfs", partition::dfs{});
  to.add_partitioner("iterated_critical_path", partition::iterated_critical_path{});
  to.add_partitioner("divide_successors", partition::divide_successors{});
}

/// List schedulers: partitioners that choose device and start of one op after another.
template <class To>
constexpr void list_schedulers(To& to) {
  to.add_partitioner("heft", partition::heft{});
  to.add_partitioner("hlfet", partition::hlfet{});
  to.add_partitioner("mcp", partition::mcp{});
  to.add_partitioner("etf", partition::etf{});
  to.add_partitioner("dls", partition::dls{});
  to.add_partitioner("cpop", partition::cpop{});
  to.add_partitioner("pets", partition::pets{});
  to.add_partitioner("peft", partition::peft{});
  to.add_partitioner("ippts", partition::ippts{});
  to.add_partitioner("lookahead_heft", partition::lookahead_heft{});
  to.add_partitioner("reverse_heft", partition::reverse_heft{});
  to.add_partitioner("fcp", partition::fcp{});
  to.add_partitioner("flb", partition::flb{});
  to.add_partitioner("bil", partition::bil{});
  to.add_partitioner("min_min", partition::min_min{});
  to.add_partitioner("max_min", partition::max_min{});
  to.add_partitioner("sufferage", partition::sufferage{});
  to.add_partitioner("mct", partition::mct{});
  to.add_partitioner("met", partition::met{});
  to.add_partitioner("olb", partition::olb{});
}

/// Clusters for as many devices as one likes, mapped to those that there are.
template <class To>
constexpr void clusterings(To& to) {
  to.add_partitioner("edge_zeroing", partition::edge_zeroing{});
  to.add_partitioner("linear_clustering", partition::linear_clustering{});
  to.add_partitioner("dsc", partition::dsc{});
}

/// List schedulers for devices with little memory.
template <class To>
constexpr void memory_constrained(To& to) {
  to.add_partitioner("m_topo", partition::m_topo{});
  to.add_partitioner("m_etf", partition::m_etf{});
  to.add_partitioner("m_sct", partition::m_sct<>{});
}

/// Searches: partitioners that try many plans.
template <class To>
constexpr void searches(To& to) {
  to.add_partitioner("iterated_local_search", refine::iterated_local_search<>{});
  to.add_partitioner("branch_and_bound", refine::branch_and_bound{});
}

/// Ready policies: what a free device runs next.
template <class To>
constexpr void policies(To& to) {
  to.add_policy("fifo", schedule::fifo{});
  to.add_policy("path_completion_time", schedule::path_completion_time{});
  to.add_policy("maximum_successor_rank", schedule::maximum_successor_rank{});
  to.add_policy("largest_remaining_work", schedule::largest_remaining_work{});
  to.add_policy("static_order", schedule::static_order{});
}

/// Refiners, each with the budget that it comes with.
template <class To>
constexpr void refiners(To& to) {
  to.add_refiner("local_search", refine::local_search{});
  to.add_refiner("tabu_search", refine::tabu_search{});
  to.add_refiner("simulated_annealing", refine::simulated_annealing{});
  to.add_refiner("large_neighbourhood_search", refine::large_neighbourhood_search{});
  to.add_refiner("genetic", refine::genetic{});
}

/// The whole list.
template <class To>
constexpr void all(To& to) {
  placement_rules(to);
  list_schedulers(to);
  clusterings(to);
  memory_constrained(to);
  searches(to);
  policies(to);
  refiners(to);
}

} // namespace weft::standard_strategies
