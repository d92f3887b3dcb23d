// SPDX-License-Identifier: BSL-1.0
// Every strategy that does not measure time solves a small graph in a constant expression.
#include "weft/graph/adjacency.hpp"
#include "weft/partition/batch_split.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/dfs.hpp"
#include "weft/partition/divide_successors.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/iterated_critical_path.hpp"
#include "weft/partition/mite.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <array>
#include <vector>

using namespace weft;

namespace {

/// ```
///   0 (2 work, 8 bytes) -> 1 (4, 4), 2 (6, 4), 4 (3); 1, 2 -> 3 (8)
/// ```
/// on devices of speed 1 and 2; a send is 1 work, a link 1 second + bytes / 4.
constexpr result solve(const auto& solver) {
  const std::vector<std::vector<op_id>> successors{{1, 2, 4}, {3}, {3}, {}, {}};
  const std::vector<double> work{2, 4, 6, 8, 3};
  const std::vector<byte_count> bytes{8, 4, 4, 0, 0};
  const annotated_graph ops{successors, {.work = work, .bytes = bytes}};
  const platform<uniform_links> devices{{{.speed = 1}, {.speed = 2}}, {{.latency = 1, .bandwidth = 4}}, 1};
  return solver(problem{ops, devices});
}

/// Makespans under fifo, path_completion_time, maximum_successor_rank, largest_remaining_work and static_order.
template <class Partitioner>
constexpr std::array<double, 5> makespans() {
  const auto under = [](auto policy) { return solve(pipeline(Partitioner{}, policy)).makespan; };
  return {under(schedule::fifo{}), under(schedule::path_completion_time{}), under(schedule::maximum_successor_rank{}),
          under(schedule::largest_remaining_work{}), under(schedule::static_order{})};
}
using row = std::array<double, 5>;

static_assert(makespans<partition::hash>() == row{20.5, 17.5, 17.5, 17.5, 17.5});                   // 1 1 0 1 0
static_assert(makespans<partition::batch_split>() == row{20, 18.5, 18.5, 24.5, 18.5});              // 0 1 0 0 1
static_assert(makespans<partition::critical_path>() == row{18.5, 15.5, 15.5, 18.5, 15.5});          // 1 0 1 1 0
static_assert(makespans<partition::mite>() == row{11.5, 11.5, 11.5, 11.5, 11.5});                   // 1 1 1 1 1
static_assert(makespans<partition::dfs>() == row{11.5, 11.5, 11.5, 11.5, 11.5});                    // 1 1 1 1 1
static_assert(makespans<partition::iterated_critical_path>() == row{18.5, 15.5, 15.5, 18.5, 15.5}); // 1 0 1 1 0
static_assert(makespans<partition::divide_successors>() == row{20, 20, 20, 24.5, 21.5});            // 0 1 0 0 0
static_assert(makespans<partition::heft>() == row{10.5, 10.5, 10.5, 16.5, 10.5});                   // 1 1 1 1 0

// The whole result is there, and a lambda is a partitioner.
constexpr auto apart = [](const auto& p) {
  placement where;
  where.assign(p.num_ops(), 0);
  where[3] = 1;
  return where;
};
constexpr bool is_whole() {
  const auto r = solve(pipeline(apart, schedule::path_completion_time{}));
  return r.status == status::solved && r.plan.placement.size() == 5 && r.bound.value > 0 &&
         r.makespan > r.bound.value && r.stats.transfer_bytes == 8 && r.stats.num_events == 5 + 2 + 2 && !r.reason &&
         r.gap() > 0;
}
static_assert(is_whole());

} // namespace
