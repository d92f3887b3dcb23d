// SPDX-License-Identifier: BSL-1.0
// A problem asks no more of workload, platform and cost model than their concepts, which refuse near misses.
#include "weft/cost/compose.hpp"
#include "weft/cost/linear.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/table.hpp"
#include "weft/platform/archetype.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/archetype.hpp"
#include "weft/workload/workload.hpp"

#include <memory>
#include <string>
#include <type_traits>

using namespace weft;

namespace {

/// Offers exactly what `cost_model_for` asks.
struct cost_archetype {
  double compute_time(const workload_archetype&, op_id, const platform_archetype&, device_id) const { return 0; }
  double transfer_time(const workload_archetype&, tensor_id, const platform_archetype&, device_id, device_id) const {
    return 0;
  }
  cost_archetype(const cost_archetype&) = default;
  cost_archetype& operator=(const cost_archetype&) = delete;
};
using W = workload_archetype;
using P = platform_archetype;
static_assert(cost_model_for<cost_archetype, W, P>);
static_assert(!cost_parts::has_send_time<cost_archetype, W, P> &&
              !cost_parts::has_device_classes<cost_archetype, W, P>);

[[maybe_unused]] void use(const problem<W, P, cost_archetype>& problem) {
  (void)problem.topological_order();
  (void)problem.compute_time(0, 0);
  (void)problem.transfer_time(0, 0, 0);
  (void)problem.send_time(0, 0, 0);
  (void)problem.component_time(0, 0);
  (void)problem.component(0);
  (void)problem.members(0);
  (void)problem.is_group(0);
  (void)problem.allows(0, 0);
  (void)problem.why_unplaced(0, {});
}
[[maybe_unused]] void construct(const W& w, const P& p, const cost_archetype& c) { use(problem{w, p, c}); }

// Workloads that lack one thing.
struct without_inputs : W {
  void inputs(op_id) const {}
};
struct without_consumers : W {
  void consumers(tensor_id) const = delete;
};
struct inputs_of_text : W {
  std::span<const std::string> inputs(op_id) const { return {}; }
};
static_assert(!dataflow_workload<without_inputs> && !workload_parts::has_dataflow<without_inputs>);
static_assert(!dataflow_workload<without_consumers> && !dataflow_workload<inputs_of_text>);
struct without_bytes : W {
  byte_count bytes(tensor_id) const = delete;
};
static_assert(!dataflow_workload<without_bytes> && !workload_parts::has_sizes<without_bytes>);
struct kind_instead_of_kinds : W {
  device_kind kinds(op_id) const { return {}; }
};
static_assert(!dataflow_workload<kind_instead_of_kinds> && !workload_parts::has_constraints<kind_instead_of_kinds>);
struct without_work : W {
  double work(op_id) const = delete;
};
static_assert(!dataflow_workload<without_work> && !workload_parts::has_work<without_work>);

// Platforms that lack one thing.
struct without_kind : P {
  device_kind kind(device_id) const = delete;
};
struct without_capacity : P {
  byte_count memory_capacity(device_id) const = delete;
};
struct without_slots : P {
  std::uint32_t slots(device_id) const = delete;
};
static_assert(!device_platform<without_kind> && !platform_parts::has_devices<without_kind>);
static_assert(!device_platform<without_capacity> && !platform_parts::has_limits<without_capacity>);
static_assert(!device_platform<without_slots> && !platform_parts::has_limits<without_slots>);

// Cost models that lack one thing, or fit other types only.
struct without_transfer_time {
  double compute_time(const W&, op_id, const P&, device_id) const { return 0; }
};
struct text_times : cost_archetype {
  std::string compute_time(const W&, op_id, const P&, device_id) const { return {}; }
};
struct only_once : without_transfer_time { // cannot be copied
  double transfer_time(const W&, tensor_id, const P&, device_id, device_id) const { return 0; }
  std::unique_ptr<int> state;
};
static_assert(!cost_model_for<without_transfer_time, W, P> &&
              cost_parts::has_compute_time<without_transfer_time, W, P>);
static_assert(!cost_model_for<text_times, W, P> && !cost_model_for<only_once, W, P>);
static_assert(!cost_model_for<cost_archetype, workload, platform<>>);
static_assert(!cost_model_for<cost::linear, W, P>, "the linear model needs speeds and links");
static_assert(!cost_parts::has_transfer_time<cost::table, W, P>, "links are needed to transfer");

struct with_links : P {
  double latency(device_id, device_id) const { return 0; }
  double bandwidth(device_id, device_id) const { return 1; }
};
struct with_speeds : with_links {
  double speed(device_id) const { return 1; }
};
struct with_memory_bandwidth : with_speeds {
  double memory_bandwidth(device_id) const { return 1; }
};
static_assert(cost_model_for<cost::table, W, with_links> && !cost_model_for<cost::linear, W, with_links>);
static_assert(cost_model_for<cost::linear, W, with_speeds> && !cost_model_for<cost::roofline, W, with_speeds>);
static_assert(cost_model_for<cost::roofline, W, with_memory_bandwidth>);
static_assert(cost_model_for<cost::scaled<cost::linear>, W, with_speeds>);
static_assert(!cost_model_for<cost::scaled<cost::linear>, W, with_links>);
static_assert(cost_model_for<cost::perturbed<cost::cached<cost::linear>>, W, with_speeds>);

// Both must outlive the problem, so temporaries are refused.
using full = problem<workload, platform<>>;
static_assert(std::is_constructible_v<full, const workload&, const platform<>&>);
static_assert(!std::is_constructible_v<full, workload, const platform<>&>);
static_assert(!std::is_constructible_v<full, const workload&, platform<>>);
static_assert(std::is_nothrow_move_constructible_v<full> && std::is_copy_constructible_v<full>);

} // namespace
