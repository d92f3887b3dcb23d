// SPDX-License-Identifier: BSL-1.0
#include "weft/planner/share.hpp"

#include "parallel/built_net.hpp"
#include "weft/cost/linear.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/planner/way_text.hpp"
#include "weft/platform/links.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/stored_as.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace planner_context_test {

using namespace weft;
using planner::reason;
using which = planner::wanted_ways::which;

/// A bundled network with a batch.
planner::model_step step_of(const std::string& name, const std::string& size, std::uint64_t batch) {
  const test::built_net n{(name + "@" + std::to_string(batch) + size).c_str()};
  planner::model_step s{.ops = n.built.graph, .batch = batch};
  s.graph = std::make_shared<const model_graph>(graph_of(*n.net));
  s.origin = n.built.origin;
  return s;
}

planner::comparison ask(const std::string& name, const std::string& size, std::uint64_t batch, std::size_t devices,
                        const std::string& text) {
  const device gpu{.kind = device_kind::gpu, .speed = 1e9, .memory_capacity = byte_count{1} << 40};
  std::vector<device> all(devices + 1, gpu);
  all.front().kind = device_kind::cpu;
  const platform<> machine{all, link_matrix{devices + 1, {.latency = 1e-6, .bandwidth = 1e12}}};
  const planner::step_source net = [&](std::uint64_t b, auto) { return step_of(name, size, b); };
  planner::options how;
  how.ways = planner::wanted_from(text);
  const planner::step_costs costs{planner::any_cost{cost::linear{}}};
  auto found = planner::share(net, step_of(name, size, batch), machine, costs, how);
  for (const auto& x : found.kept) {
    CAPTURE(text);
    for (const auto& bad : validate(*x->problem, x->plan, memory_rule::over_time)) {
      FAIL_CHECK(to_string(bad));
    }
    // It refers to what goes with this question.
    x->problem = nullptr;
  }
  return found;
}

TEST_CASE("context: rows of a sequence on several devices, and products with whole weights") {
  const std::string net = "gpt2+layers=2+hidden=64+heads=4+vocabulary=128", size = "x64";
  for (const std::uint64_t batch : {1u, 2u}) {
    const auto text = batch == 1 ? "context=4" : "data=2,context=2";
    CAPTURE(text);
    const auto found = ask(net, size, batch, 4, text);
    REQUIRE(found.kept.size() == 1);
    const auto& x = *found.kept.front();
    CHECK(to_string(x.how()) == text);
    CHECK(x.how().splits_sequence);
    CHECK(x.figures.splits_sequence);
    CHECK(x.features.has(parallel::feature::context));
    CHECK(!x.features.has(parallel::feature::tensor));
    CHECK(x.sharding.size_of("context") == x.how().ranks);
    const auto& w = x.part->ops;
    const auto of_parameters = made_of_parameters(w);
    const auto ranks = x.how().ranks;
    double in_parts = 0, all = 0;
    for (const op_id v : ids(x.ops.num_ops())) {
      const op_id from = x.origin[v];
      if (from == none || ops::use_of(w.type(from)) != ops::device_use::product) {
        continue;
      }
      byte_count weights = 0, read = 0; // that the op reads, at least
      for (const tensor_id t : w.inputs(from)) {
        weights += of_parameters[w.producer(t)] ? w.bytes(t) : 0;
      }
      for (const tensor_id t : x.ops.inputs(v)) {
        read += x.ops.bytes(t);
      }
      CHECK(read >= weights);
      all += w.work(from) / ranks;
      in_parts += x.ops.work(v);
    }
    CHECK(in_parts == doctest::Approx(all).epsilon(0.01));
    double alone = 0;
    for (const op_id v : ids(w.num_ops())) {
      alone += w.work(v) * static_cast<double>(batch) / 1e9;
    }
    CHECK(x.run.makespan < 0.4 * alone); // a quarter, and what is sent
  }
}

TEST_CASE("context: tried for batches with a sequence for each replica, and the reasons against it") {
  const std::string net = "gpt2+layers=1+hidden=32+heads=4+vocabulary=64", size = "x32";
  const auto has_context = [](const planner::comparison& c) {
    return std::any_of(c.ways.begin(), c.ways.end(), [](const auto& w) { return w.splits_sequence; });
  };
  CHECK(has_context(ask(net, size, 1, 4, "auto")));
  CHECK(has_context(ask(net, size, 2, 4, "auto")));
  CHECK(!has_context(ask(net, size, 3, 4, "auto"))); // two devices of three replicas each are too many
  CHECK(!has_context(ask("mnist_conv", "", 1, 4, "auto")));
  const auto why = [](const planner::comparison& c) {
    CHECK(c.kept.empty());
    return c.why_not.empty() ? reason::kind::nothing : c.why_not.front().is;
  };
  using enum reason::kind;
  CHECK(why(ask("mnist_conv", "", 1, 4, "context=4")) == no_attentions);
  CHECK(why(ask(net, size, 4, 4, "data=2,context=2")) == not_one_sequence);
  CHECK(why(ask(net, size, 1, 4, "context=5")) == few_for_sequences);
  CHECK(why(ask(net, size, 4, 4, "context")) == few_for_sequences);
  CHECK(why(ask(net, size, 1, 1, "context")) == no_alike_devices);
  CHECK_THROWS_AS(planner::wanted_from("context=1"), value_error);
  CHECK_THROWS_AS(planner::wanted_from("data=2,context=1"), value_error);
  CHECK_THROWS_AS(planner::wanted_from("context=4,sharded"), value_error);
}

} // namespace planner_context_test
