// SPDX-License-Identifier: BSL-1.0
// Every list scheduler solves a small graph in a constant expression.
#include "weft/graph/adjacency.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/standard_strategies.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <string_view>
#include <vector>

using namespace weft;

namespace {

/// ```
///   0 (2 work, 8 bytes) -> 1 (4, 4), 2 (6, 4), 4 (3); 1, 2 -> 3 (8)
/// ```
/// on devices of speed 1 and 2; a link takes 1 second + bytes / 4.
template <class S>
constexpr double makespan(S s) {
  const std::vector<std::vector<op_id>> successors{{1, 2, 4}, {3}, {3}, {}, {}};
  const std::vector<double> work{2, 4, 6, 8, 3};
  const std::vector<byte_count> bytes{8, 4, 4, 0, 0};
  const annotated_graph ops{successors, {.work = work, .bytes = bytes}};
  const platform<uniform_links> devices{{{.speed = 1}, {.speed = 2}}, {{.latency = 1, .bandwidth = 4}}};
  return pipeline(s, schedule::static_order{})(problem{ops, devices}).makespan;
}

/// The optimum is 10; everything on the slower device takes 23. Each in a constant expression of its own, since
/// compilers limit their steps.
struct solves_each {
  template <class S>
  void add_partitioner(std::string_view, S) {
    static_assert(makespan(S{}) >= 10 && makespan(S{}) <= 23);
  }
};
[[maybe_unused]] void all_solve(solves_each check) { standard_strategies::list_schedulers(check); }

} // namespace
