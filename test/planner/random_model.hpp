// SPDX-License-Identifier: BSL-1.0
/// Random small models and machines for tests of the planner.
#pragma once

#include "weft/core/random.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/lower.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/model.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::test {

/// A forward model of layers, in each a product with a parameter and an activation, some with a residual. Sizes are a
/// function of the seed alone, whatever the batch.
inline model random_layers(std::uint64_t seed, std::uint64_t batch) {
  rng random{seed};
  const auto g = std::make_shared<model_graph>();
  const auto rows = static_cast<std::int64_t>(batch);
  const auto num_layers = 2 + random.below(4);
  auto width = static_cast<std::int64_t>(8 << random.below(4));
  auto x = g->add_tensor({.dims = {rows, width}, .role = tensor_role::input, .name = "x"});
  for (std::uint64_t i = 0; i < num_layers; ++i) {
    const auto layer = "layer_" + std::to_string(i) + "/";
    const bool adds = random.below(3) == 0;
    const auto next = adds ? width : static_cast<std::int64_t>(8 << random.below(5));
    const auto w = g->add_tensor({.dims = {width, next}, .role = tensor_role::parameter, .name = layer + "w"});
    const auto out = [&](const std::string& type, std::vector<tensor_id> inputs) {
      const op_id v = g->add_op({.type = type, .name = layer + type, .inputs = std::move(inputs)},
                                {{.dims = {rows, next}}});
      return *g->outputs(v).begin();
    };
    auto y = out("Relu", {out("MatMul", {x, w})});
    x = adds ? out("Add", {x, y}) : y;
    width = next;
  }
  auto made = lower(*g);
  return {.ops = std::move(made.graph), .format = "test", .graph = g};
}

/// A host and 2 to 4 accelerators, all alike or not, with or without limits of memory.
inline platform<> random_machine(std::uint64_t seed) {
  rng random{seed};
  const auto count = 2 + random.below(3);
  const bool alike = random.below(4) > 0;
  const bool is_tight = random.below(3) == 0;
  std::vector<device> devices{{.kind = device_kind::cpu, .speed = 1e9, .memory_capacity = 1 << 30}};
  for (std::uint64_t i = 0; i < count; ++i) {
    devices.push_back({.kind = device_kind::gpu,
                       .speed = alike ? 1e10 : 1e10 / static_cast<double>(1 + random.below(3)),
                       .memory_capacity = is_tight ? 20'000 + 1000 * random.below(60) : byte_count{1} << 30});
  }
  const double bandwidth = 1e7 * static_cast<double>(1 + random.below(1000));
  const link_matrix links{devices.size(), {.latency = 1e-6, .bandwidth = bandwidth}};
  return platform<>{std::move(devices), links};
}

} // namespace weft::test
