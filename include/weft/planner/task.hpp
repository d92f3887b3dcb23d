// SPDX-License-Identifier: BSL-1.0
/// The questions that the planner answers: a step, a machine, what things cost, and which ways are wanted.
#pragma once

#include "weft/core/stop_pointer.hpp"
#include "weft/parallel/choose_devices.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/plan/contention.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/way.hpp"
#include "weft/platform/platform.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace weft::planner {

/// What the planner does next, for those who wait for it.
struct attempt {
  enum class kind : std::uint8_t {
    way,              ///< it makes that way
    least_batch,      ///< it looks for the smallest batch for which that way pays
    ops_each_on_one   ///< it searches for a plan with each op on one device
  };
  kind is = kind::way;
  way how = {};
};

struct options {
  wanted_ways ways = {};
  contention_model contention = contention_model::none; ///< of transfers on links
  double least_gain = 0.05;  ///< by which each feature of a way has to make a step faster (`simplest_within`)
  std::uint64_t seed = 0;    ///< of the search for orders of micro-batches
  unsigned jobs = 1;         ///< threads of the search for splits of ops
  stop_pointer stop = nullptr; ///< ends with the best way so far; must outlive the work
  std::function<void(const attempt&)> on_attempt = {};
  /// What is run again for the backward pass, one after the other until all ways fit; empty: as the model does.
  std::vector<std::optional<recomputation>> recomputations = {};
};

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
  model_step with_batch(std::uint64_t batch) const { return model_(batch, again_); }
  const step_source& model() const { return model_; }

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
