// SPDX-License-Identifier: BSL-1.0
// Every list scheduler solves a small graph in a constant expression.
#include "weft/graph/adjacency.hpp"
#include "weft/partition/bil.hpp"
#include "weft/partition/cpop.hpp"
#include "weft/partition/dls.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/fcp.hpp"
#include "weft/partition/flb.hpp"
#include "weft/partition/hlfet.hpp"
#include "weft/partition/ippts.hpp"
#include "weft/partition/lookahead_heft.hpp"
#include "weft/partition/max_min.hpp"
#include "weft/partition/mcp.hpp"
#include "weft/partition/mct.hpp"
#include "weft/partition/met.hpp"
#include "weft/partition/min_min.hpp"
#include "weft/partition/olb.hpp"
#include "weft/partition/peft.hpp"
#include "weft/partition/pets.hpp"
#include "weft/partition/sufferage.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <vector>

using namespace weft;

namespace {

/// ```
///   0 (2 work, 8 bytes) -> 1 (4, 4), 2 (6, 4), 4 (3); 1, 2 -> 3 (8)
/// ```
/// on devices of speed 1 and 2; a link takes 1 second + bytes / 4.
template <class S>
constexpr double makespan() {
  const std::vector<std::vector<op_id>> successors{{1, 2, 4}, {3}, {3}, {}, {}};
  const std::vector<double> work{2, 4, 6, 8, 3};
  const std::vector<byte_count> bytes{8, 4, 4, 0, 0};
  const annotated_graph ops{successors, {.work = work, .bytes = bytes}};
  const platform<uniform_links> devices{{{.speed = 1}, {.speed = 2}}, {{.latency = 1, .bandwidth = 4}}};
  return pipeline(S{}, schedule::static_order{})(problem{ops, devices}).makespan;
}

static_assert(makespan<partition::hlfet>() == 10);
static_assert(makespan<partition::mcp>() == 10);
static_assert(makespan<partition::etf>() == 17);
static_assert(makespan<partition::dls>() == 10);
static_assert(makespan<partition::cpop>() == 10);
static_assert(makespan<partition::pets>() == 10);
static_assert(makespan<partition::peft>() == 10);
static_assert(makespan<partition::ippts>() == 10);
static_assert(makespan<partition::lookahead_heft>() == 10);
static_assert(makespan<partition::fcp>() == 17);
static_assert(makespan<partition::flb>() == 17);
static_assert(makespan<partition::min_min>() == 11.5);
static_assert(makespan<partition::max_min>() == 10);
static_assert(makespan<partition::sufferage>() == 10);
static_assert(makespan<partition::bil>() == 10);
static_assert(makespan<partition::mct>() == 10);
static_assert(makespan<partition::met>() == 11.5);
static_assert(makespan<partition::olb>() == 14);

} // namespace
