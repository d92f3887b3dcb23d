// SPDX-License-Identifier: BSL-1.0
/// A question to the planner: a step, a machine, what things cost, and which ways are wanted.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/choose_devices.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/options.hpp"
#include "weft/planner/way.hpp"
#include "weft/platform/platform.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft::planner {

/// A question to the planner. It refers to what it was made of.
class task {
public:
  task(const step_source& model, const model_step& whole, const platform<>& machine, const step_costs& costs,
       const options& how, std::optional<recomputation> again = {})
      : model_{model}, whole_{whole}, machine_{machine}, costs_{costs}, how_{how}, again_{again} {}

  const model_step& whole() const { return whole_; }
  const platform<>& machine() const { return machine_; }
  const step_costs& costs() const { return costs_; }
  const options& how() const { return how_; }
  const wanted_ways& wanted() const { return how_.ways; }
  std::optional<recomputation> recomputes() const { return again_; }
  bool is_stopped() const { return how_.stop != nullptr && how_.stop->stop_requested(); }

  /// The step with so many examples.
  model_step with_batch(std::uint64_t batch) const {
    auto made = model_(batch, again_);
    made.batch = batch;
    return made;
  }

  /// The devices of a mesh among these, by the links that join them.
  std::vector<device_id> joined(const std::vector<device_id>& among,
                                const std::vector<parallel::mesh_level>& levels) const {
    return parallel::choose_devices(machine_, among, levels, how_.contention);
  }

  void tell(attempt next) const {
    if (how_.on_attempt) {
      how_.on_attempt(next);
    }
  }

private:
  const step_source& model_;
  const model_step& whole_;
  const platform<>& machine_;
  const step_costs& costs_;
  const options& how_;
  std::optional<recomputation> again_;
};

} // namespace weft::planner
