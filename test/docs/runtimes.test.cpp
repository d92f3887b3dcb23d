// SPDX-License-Identifier: BSL-1.0
// Code that docs/runtimes.md shows.
#include "weft/cost/roofline.hpp"
#include "weft/partition/layers.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/solve/by_layers.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

namespace docs_runtimes_test {

TEST_CASE("docs/runtimes: a split between layers") {
  // [by_layers]
  const auto model = weft::zoo::make_inference("gnmt");
  const auto machine = weft::presets::make("pcie_4gpu");
  const weft::problem problem{model, machine, weft::cost::roofline{}};
  const auto layers = weft::partition::find_layers(problem); // encoder/layer_0 … decoder/layer_7
  const auto split = weft::solve::by_layers(problem, layers, {.period = true});
  const weft::device_id first = split.devices[1]; // of the first layer; 0 is what comes before it
  // [by_layers]
  CHECK(layers.scopes.front() == "encoder/layer_0");
  CHECK(layers.scopes.back() == "decoder/layer_7");
  REQUIRE(split.found);
  CHECK(machine.kind(first) == weft::device_kind::gpu);
}

} // namespace docs_runtimes_test
