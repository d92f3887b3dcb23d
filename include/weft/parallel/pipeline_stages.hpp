// SPDX-License-Identifier: BSL-1.0
/// The stages of a pipeline: consecutive layers of a training step on each device, of about equal time.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft::parallel {

/// The placement of a step in as many stages as there are devices, stage s on `devices[s]`: consecutive layers
/// (`partition::find_layers`, with what comes before them and what follows) and their gradients and updates, at least
/// one layer each, so that the time of the slowest stage is as short as can be. Of equally good cuts, the first stages
/// take as few layers as possible. Times are those of all ops of the step, updates included; transfers do not count,
/// nor does memory.
///
/// Throws `value_error` if there are no devices or fewer layers than devices, and if no cut leaves each op on a device
/// of a kind that it allows. Complexity: that of `find_layers`, and O(n devices + layers² devices).
/// Source: Narayanan et al., *PipeDream: Generalized Pipeline Parallelism for DNN Training*, SOSP 2019, section 3.1,
/// for stages without replicas.
template <class Problem>
placement pipeline_stages(const Problem& step, std::span<const device_id> devices) {
  const auto found = partition::find_layers(step);
  std::vector<std::uint32_t> layer_of(found.num_parts(), none); // of those that have ops
  std::uint32_t num_layers = 0;
  for (const auto part : found.part) {
    layer_of[part] = 0;
  }
  for (auto& layer : layer_of) {
    layer = layer == none ? none : num_layers++;
  }
  const auto num_stages = devices.size();
  if (num_stages == 0 || num_layers < num_stages) {
    throw value_error("pipeline_stages", "a step of " + std::to_string(num_layers) + " layers cannot be cut into " +
                                           std::to_string(num_stages) + " stages");
  }

  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> slowest(num_layers + 1, never); // of the stages so far, which take so many layers
  slowest[0] = 0;
  std::vector<std::vector<std::uint32_t>> first(num_stages, std::vector<std::uint32_t>(num_layers + 1, 0));
  for (std::size_t s = 0; s < num_stages; ++s) {
    std::vector<double> seconds(num_layers, 0);
    for (const op_id v : ids(step.num_ops())) {
      const auto c = step.component(v);
      seconds[layer_of[found.part[c]]] +=
        step.kinds(c).contains(step.platform().kind(devices[s])) ? step.compute_time(v, devices[s]) : never;
    }
    std::vector<double> with_stage(num_layers + 1, never);
    for (std::uint32_t end = 1; end <= num_layers; ++end) {
      double stage = 0;
      for (std::uint32_t begin = end; begin-- > 0;) {
        stage += seconds[begin];
        if (const double all = std::max(slowest[begin], stage); all <= with_stage[end] && slowest[begin] < never) {
          with_stage[end] = all;
          first[s][end] = begin;
        }
      }
    }
    slowest = with_stage;
  }
  if (slowest[num_layers] == never) {
    throw value_error("pipeline_stages", "some op allows the kind of no device that it could be on");
  }

  std::vector<device_id> device_of(num_layers, none);
  std::uint32_t end = num_layers;
  for (std::size_t s = num_stages; s-- > 0;) {
    std::fill(device_of.begin() + first[s][end], device_of.begin() + end, devices[s]);
    end = first[s][end];
  }
  placement where(step.num_ops(), none);
  for (const op_id v : ids(step.num_ops())) {
    where[v] = device_of[layer_of[found.part[step.component(v)]]];
  }
  return where;
}

} // namespace weft::parallel
