// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/fully_sharded.hpp"
#include "weft/parallel/parameter_gathers.hpp"

#include "parallel/built_net.hpp"
#include "support/random_forward.hpp"
#include "support/rounds.hpp"
#include "weft/core/random.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fully_sharded_test {

using namespace weft;

/// A training step, and what tells who reads what ops hold.
struct step_of_net {
  workload ops;
  std::optional<step_origins> from = {};

  const step_origins* origins() const { return from ? &*from : nullptr; }
};

step_of_net with_variables(const char* spec) {
  return {stored_as(zoo::make(spec), {.tensor_bits = 16, .weight_bits = 16})};
}

step_of_net of_forward(const workload& forward, optimizer rule) {
  auto made = training_step_with_origins(forward, {.rule = rule});
  return {stored_as(made.graph, {.tensor_bits = 16, .weight_bits = 16}), std::move(made.from)};
}

/// A forward pass of blocks whose products hold their weights.
workload chain(std::uint32_t blocks, byte_count bytes, bool named = true) {
  workload_builder b;
  op_id last = b.add_op({.bytes = 64, .name = "input", .type = "Placeholder"});
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const op_id v = b.add_op({.work = 1e6,
                              .bytes = 64,
                              .resident_bytes = bytes,
                              .name = (named ? "layer_" + std::to_string(i) : std::string(i + 1, 'x')) + "/product",
                              .type = "MatMul"});
    b.add_edge(last, v);
    last = v;
  }
  return std::move(b).build();
}

struct sharded_step {
  parallel::parameter_gathers gathers;
  parallel::replicated_workload replicas, made;

  sharded_step(const step_of_net& step, std::uint32_t ranks, std::uint32_t group = 0)
      : gathers{parallel::find_parameter_gathers(step.ops, step.origins(), {.block_bytes = 0})} {
    const auto ring = group > 0 ? parallel::hierarchical_all_reduce(ranks, group) : parallel::ring_all_reduce(ranks);
    replicas = parallel::data_parallel(step.ops, test::each_on_its_own(step.ops, ranks), ring,
                                       {.bucket_of = parallel::units_of_gradients(step.ops, gathers),
                                        .shard_updates = true,
                                        .shard_ranks = group,
                                        .gather_updated = false,
                                        .element_bytes = 2});
    made = parallel::fully_sharded(replicas, step.ops, gathers, ring, 2, group);
  }
};

TEST_CASE("parameter gathers: blocks one after the other, and backward from the two that are there") {
  const auto step = of_forward(chain(5, 1000), optimizer::adam);
  const auto found = parallel::find_parameter_gathers(step.ops, step.origins(), {.block_bytes = 0});
  REQUIRE(found.units.size() == 5);
  for (const auto& u : found.units) {
    CHECK(u.bytes == 500); // in 16 bits
  }
  std::vector<std::size_t> order, in_place_of;
  for (const auto& g : found.gathers) {
    order.push_back(g.unit);
    in_place_of.push_back(g.in_place_of.empty() ? 99 : found.gathers[g.in_place_of.front()].unit);
  }
  // What the first one makes has no gradient, so it is not wanted again.
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4, 2, 1});
  CHECK(in_place_of == std::vector<std::size_t>{99, 99, 0, 1, 2, 4, 3});
  CHECK(parallel::find_parameter_gathers(step.ops).units.empty()); // nobody tells who reads them
  const auto all = parallel::find_parameter_gathers(step.ops, step.origins(), {.most_units = 5, .block_bytes = 0});
  CHECK(all.gathers.size() == 5);
  const auto joined = parallel::find_parameter_gathers(step.ops, step.origins(), {.block_bytes = 600});
  REQUIRE(joined.units.size() == 3); // of two blocks each, and the last one
  CHECK(joined.units[0].bytes == 1000);
  CHECK(joined.units[2].bytes == 500);
}

TEST_CASE("parameter gathers: parameters outside blocks are in units of so many bytes") {
  const auto net = of_forward(chain(7, 1000, false), optimizer::adam);
  const auto found = parallel::find_parameter_gathers(net.ops, net.origins(), {.bytes = 1200});
  std::vector<byte_count> bytes;
  for (const auto& u : found.units) {
    bytes.push_back(u.bytes);
  }
  CHECK(bytes == std::vector<byte_count>{1500, 1500, 500});
  CHECK(parallel::find_parameter_gathers(net.ops, net.origins()).gathers.size() == 1);
}

// Rajbhandari et al., *ZeRO*, SC 2020, section 5: 16 P / N bytes with Adam, 2 P / N of them for gradients, which are
// tensors.
TEST_CASE("fully_sharded: a replica holds 14 P / N bytes") {
  const auto expanded = of_forward(zoo::make_inference("mnist_conv@8"), optimizer::adam);
  for (const auto& step : {with_variables("mnist_conv@8"), with_variables("gpt2@1x16"), expanded}) {
    for (const std::uint32_t ranks : {2u, 3u, 8u}) {
      const sharded_step x{step, ranks};
      std::vector<double> resident(ranks, 0);
      for (const op_id v : ids(x.made.graph.num_ops())) {
        resident[x.made.replica[v]] += static_cast<double>(x.made.graph.resident_bytes(v));
      }
      const double parameters = static_cast<double>(x.made.gradient_bytes) / 2;
      byte_count gathered = 0;
      for (const auto& u : x.gathers.units) {
        gathered += u.bytes;
      }
      CHECK(gathered == x.made.gradient_bytes);
      for (const double bytes : resident) {
        CHECK(bytes / parameters == doctest::Approx(14.0 / ranks).epsilon(2e-3));
      }
    }
  }
}

TEST_CASE("fully_sharded: in groups a replica holds 14 P / G bytes, and parameters stay within them") {
  for (const auto& step : {with_variables("mnist_conv@8"), with_variables("gpt2@1x16")}) {
    constexpr std::uint32_t ranks = 6;
    for (const std::uint32_t group : {2u, 3u}) {
      const sharded_step x{step, ranks, group};
      const auto& w = x.made.graph;
      std::vector<double> resident(ranks, 0);
      double updates = 0, updates_of_one = 0;
      for (const op_id v : ids(w.num_ops())) {
        resident[x.made.replica[v]] += static_cast<double>(w.resident_bytes(v));
        updates += is_update(w, v) ? w.work(v) : 0;
      }
      for (const op_id v : ids(step.ops.num_ops())) {
        updates_of_one += is_update(step.ops, v) ? step.ops.work(v) : 0;
      }
      for (const double bytes : resident) {
        CHECK(bytes / static_cast<double>(x.made.gradient_bytes) == doctest::Approx(7.0 / group).epsilon(2e-3));
      }
      CHECK(updates == doctest::Approx(ranks / group * updates_of_one));
      for (const tensor_id t : ids(w.num_tensors())) {
        const op_id from = w.producer(t);
        const bool gathers = w.name(from).find("gather_") != std::string_view::npos;
        for (const op_id reader : w.consumers(t)) {
          CHECK((!gathers || x.made.replica[from] / group == x.made.replica[reader] / group));
        }
      }
    }
  }
  CHECK_THROWS_AS(parallel::halves_of(parallel::ring_all_reduce(6), 4), value_error);
  CHECK_THROWS_AS(parallel::halves_of(parallel::ring_all_reduce(6), 2), value_error); // its parts leave the groups
}

/// The bytes that an op reads, but for small numbers.
byte_count bytes_read(const workload& w, op_id v) {
  byte_count sum = 0;
  for (const tensor_id t : w.inputs(v)) {
    sum += w.bytes(t) > largest_constant ? w.bytes(t) : 0;
  }
  return sum;
}

/// The bytes that a run sends between devices.
double bytes_sent(const workload& w, const trace& run) {
  double sum = 0;
  for (const auto& x : run.transfers) {
    sum += static_cast<double>(w.bytes(x.tensor));
  }
  return sum;
}

void check(const step_of_net& step, std::uint32_t ranks, std::uint32_t group = 0) {
  const sharded_step x{step, ranks, group};
  const auto& w = x.made.graph;
  std::vector<byte_count> held(step.ops.num_ops(), 0); // that the op reads beside its inputs
  for (const auto& g : x.gathers.gathers) {
    for (const auto& reader : g.readers) {
      const auto& p = x.gathers.units[g.unit].parameters[reader.parameter];
      held[reader.op] += p.holder == none ? 0 : p.bytes;
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    const op_id o = x.made.origin[v];
    if (o == none || is_update(step.ops, o) || x.gathers.in_parts[o]) {
      continue;
    }
    REQUIRE(w.work(v) == step.ops.work(o));
    REQUIRE(bytes_read(w, v) == bytes_read(step.ops, o) + held[o]);
  }
  std::vector<device> devices{{.kind = device_kind::cpu, .speed = 1e12}};
  devices.resize(ranks + 1, {.kind = device_kind::gpu, .speed = 1e12});
  const platform machine{devices, uniform_links{{.latency = 1e-6, .bandwidth = 1e10}}};
  const problem p{w, machine};
  const plan placed{.placement = x.made.where};
  trace run;
  REQUIRE(simulator{p, schedule::path_completion_time{}}.run(placed, simulate::recorder{run}).complete);
  const auto count = group > 0 ? group : ranks;
  double sent = static_cast<double>(x.made.gradient_bytes) * (ranks - 1);
  for (const auto& g : x.gathers.gathers) {
    sent += static_cast<double>(x.gathers.units[g.unit].bytes) * (count - 1) * (ranks / count);
  }
  CHECK(bytes_sent(w, run) >= sent);
  // Once the unit that takes a place is on its way, who read there is done.
  std::vector<std::vector<double>> begins(ranks, std::vector<double>(x.gathers.gathers.size(), 0));
  std::vector<std::vector<op_id>> copy(ranks, std::vector<op_id>(step.ops.num_ops(), none));
  for (const op_id v : ids(w.num_ops())) {
    const std::string name{w.name(v)};
    if (const auto at = name.find("/gather_"); at != name.npos && name.ends_with("/parameters")) {
      begins[x.made.replica[v]][std::stoul(name.substr(at + 8))] = run.ops[v].start;
    } else if (x.made.origin[v] != none) {
      copy[x.made.replica[v]][x.made.origin[v]] = v;
    }
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < begins[r].size(); ++i) {
      for (const auto before : x.gathers.gathers[i].in_place_of) {
        for (const auto& reader : x.gathers.gathers[before].readers) {
          REQUIRE(run.ops[copy[r][reader.op]].finish <= begins[r][i]);
        }
      }
    }
  }
}

TEST_CASE("fully_sharded: ops read whole parameters, of no more units at a time than may be there") {
  for (const char* spec : {"mnist_conv@8", "gpt2@1x16", "resnet50_cifar10@2", "lstm@4"}) {
    CAPTURE(spec);
    check(with_variables(spec), 3);
  }
  check(of_forward(chain(4, 4096), optimizer::sgd), 2);
  check(with_variables("gpt2@1x16"), 4, 2);
  check(of_forward(zoo::make_inference("bert_base@1x16"), optimizer::adam), 3);
}

TEST_CASE("fully_sharded: any step, also one that makes results again") {
  for (int seed = 0; seed < test::rounds(300); ++seed) {
    CAPTURE(seed);
    rng random{static_cast<std::uint64_t>(seed)};
    const auto forward = test::random_forward(random);
    step_options o{.rule = optimizer::adam};
    for (const op_id v : ids(forward.num_ops())) {
      if (random.below(3) == 0) {
        o.recompute.push_back(v);
      }
    }
    expanded_step made;
    try {
      made = training_step_with_origins(forward, o);
    } catch (const value_error&) { // nothing to train
      continue;
    }
    const step_of_net step{std::move(made.graph), std::move(made.from)};
    if (parallel::gradients(step.ops).empty()) {
      continue;
    }
    check(step, 2 + static_cast<std::uint32_t>(random.below(3)));
  }
}

TEST_CASE("fully_sharded: gradients in buckets by size, which hold those of several units") {
  const auto step = with_variables("mnist_conv@8");
  const auto gathers = parallel::find_parameter_gathers(step.ops, nullptr, {.bytes = 1000, .block_bytes = 0});
  const auto ring = parallel::ring_all_reduce(2);
  const auto replicas = parallel::data_parallel(step.ops, test::each_on_its_own(step.ops, 2), ring,
                                                {.shard_updates = true, .gather_updated = false});
  CHECK(parallel::fully_sharded(replicas, step.ops, gathers, ring).graph.num_ops() > replicas.graph.num_ops());
}

TEST_CASE("parameter gathers: an op that reads more units than may be there, and what is made of parameters") {
  workload_builder b;
  const op_id fed = b.add_op({.bytes = 64, .name = "input", .type = "Placeholder"});
  std::vector<op_id> weights;
  for (int i = 0; i < 5; ++i) {
    const auto scope = "layer_" + std::to_string(i);
    weights.push_back(
      b.add_op({.bytes = 400, .resident_bytes = 400, .name = scope + "/w", .type = "VariableV2"}));
  }
  const op_id norm = b.add_op({.work = 100, .bytes = 4, .name = "layer_0/L2Loss", .type = "L2Loss"});
  b.add_edge(weights[0], norm);
  const op_id all = b.add_op({.work = 1, .bytes = 64, .name = "all", .type = "AddN"});
  b.add_edge(fed, all);
  for (int i = 0; i < 4; ++i) {
    b.add_edge(weights[static_cast<std::size_t>(i)], all);
  }
  const op_id last = b.add_op({.work = 1, .bytes = 64, .name = "last", .type = "MatMul"});
  b.add_edge(all, last);
  b.add_edge(weights[4], last);
  const auto w = std::move(b).build();
  const auto found = parallel::find_parameter_gathers(w, nullptr, {.block_bytes = 0});
  REQUIRE(found.units.size() == 5);
  CHECK(!found.in_parts[norm]); // which needs all of it
  const auto& end = found.gathers.back();
  CHECK(found.units[end.unit].parameters.front().tensor == *w.outputs(weights[4]).begin());
  CHECK(end.in_place_of.size() == 3);
}

TEST_CASE("fully_sharded: refuses what does not fit together") {
  const auto step = with_variables("mnist_conv@8");
  const sharded_step x{step, 3};
  CHECK_THROWS_AS(parallel::fully_sharded(x.replicas, step.ops, x.gathers, parallel::ring_all_reduce(2)), value_error);
  CHECK_THROWS_AS(parallel::fully_sharded(x.replicas, step.ops, x.gathers, parallel::ring_all_reduce(4)), value_error);
  CHECK_THROWS_AS(parallel::fully_sharded(x.replicas, step.ops, x.gathers, parallel::tree_all_reduce(3)), value_error);
  CHECK_THROWS_AS(parallel::data_parallel(step.ops, test::each_on_its_own(step.ops, 2), parallel::ring_all_reduce(2),
                                          {.bucket_of = {1, 2}}),
                  value_error);
}

} // namespace fully_sharded_test
