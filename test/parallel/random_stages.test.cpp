// SPDX-License-Identifier: BSL-1.0
/// Pipelines of random training steps: `pipeline_stages` and `make_staged_step` together.
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/parallel/staged_step.hpp"

#include "random_training_step.hpp"

#include "weft/graph/topological_order.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace random_stages_test {

using namespace weft;

/// By op: what it is a gradient of, which for the gradient of a loss is that loss; `none` for others.
std::vector<op_id> differentiated(const expanded_step& made) {
  const auto& w = made.graph;
  std::map<std::string, op_id> losses;
  std::vector<op_id> of(w.num_ops(), none);
  for (const op_id v : ids(w.num_ops())) {
    const std::string name{w.name(v)};
    if (name.starts_with("loss/")) {
      losses[name] = v;
    } else if (name.starts_with("gradients/")) {
      const auto loss = losses.find(name.substr(10));
      of[v] = loss == losses.end() ? made.from.op[v] : loss->second;
    }
  }
  return of;
}

TEST_CASE("pipeline_stages: random steps make passes that run, and gradients are where their forward ops are") {
  std::size_t cut = 0;
  for (const auto names : {test::random_names::none, test::random_names::flat, test::random_names::in_layers}) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      CAPTURE(static_cast<int>(names));
      CAPTURE(seed);
      const auto made = test::random_training_step(seed, 2, names);
      const auto& step = made.graph;
      const auto repeated = parallel::repeated_ops(step, test::random_training_step(seed, 4, names).graph);
      const auto of = differentiated(made);
      for (std::uint32_t count = 2; count <= 4; ++count) {
        const platform machine{std::vector<device>(count), uniform_links{}};
        const problem p{step, machine};
        if (const auto layers = partition::find_layers(p); layers.num_layers < count) {
          continue;
        }
        std::vector<device_id> devices(count);
        std::iota(devices.begin(), devices.end(), 0);
        const auto where = parallel::pipeline_stages(p, devices);
        for (const op_id v : ids(step.num_ops())) {
          REQUIRE((of[v] == none || where[v] == where[of[v]]));
        }
        const auto staged = parallel::make_staged_step( // throws if passes wait for each other
          step, repeated, {where.begin(), where.end()}, where,
          [&](const workload&, const placement&, const std::vector<op_id>&) {
            return parallel::pass_run{std::vector<double>(count, 1), std::vector<byte_count>(count, 1)};
          });
        CHECK(graph::topological_order(staged.graph).size() == staged.graph.num_ops());
        CHECK(staged.num_stages == count);
        ++cut;
      }
    }
  }
  CHECK(cut > 500);
}

} // namespace random_stages_test
