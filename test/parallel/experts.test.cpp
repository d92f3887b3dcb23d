// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/experts.hpp"

#include "parallel/built_net.hpp"
#include "weft/cost/linear.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/zoo/switch_transformer.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace experts_test {

using namespace weft;

constexpr std::uint32_t replicas = 2;

workload small_switch(std::uint64_t batch) {
  return zoo::switch_transformer(batch, {.layers = 2, .hidden = 16, .heads = 2, .head_size = 8, .ffn = 32,
                                         .experts = 4, .length = 32, .vocabulary = 64});
}

std::vector<placement> each_on_its_own(const workload& w) { return test::each_on_its_own(w, replicas); }

TEST_CASE("expert_in: the number behind the word") {
  CHECK(parallel::expert_in("layer_1/moe/expert_3/MatMul") == 3);
  CHECK(parallel::expert_in("gradients/layer_1/moe/expert_12/Relu_grad") == 12);
  CHECK(parallel::expert_in("/model/layers.0/mlp/experts.7/w1/MatMul") == 7);
  CHECK(parallel::expert_in("an_expert/experts/5") == 5);
  for (const auto* name : {"", "expert", "experts_", "layer_1/moe/router", "expertise/3", "expert_x"}) {
    CHECK(parallel::expert_in(name) == none);
  }
}

TEST_CASE("data_parallel: experts are there once and take the rows of all replicas") {
  const workload part = small_switch(2), whole = small_switch(2 * replicas);
  REQUIRE(parallel::count_experts(part) == 4);
  for (const bool sharded : {false, true}) {
    CAPTURE(sharded);
    parallel::data_parallel_options how{.shard_updates = sharded};
    const auto plain = parallel::data_parallel(part, each_on_its_own(part), parallel::ring_all_reduce(replicas), how);
    how.shared = {&whole, parallel::expert_owners(part, replicas)};
    const auto made = parallel::data_parallel(part, each_on_its_own(part), parallel::ring_all_reduce(replicas), how);
    const auto& g = made.graph;

    // Each expert's op is that of the whole batch, once, where its expert is.
    double work = 0, expected = 0;
    byte_count resident = 0, expected_resident = 0;
    byte_count of_experts = 0; // their parameters
    for (const op_id v : ids(part.num_ops())) {
      const bool shared = how.shared.owner[v] != none;
      expected += (shared && part.work(v) == whole.work(v) ? 1 : replicas) * part.work(v);
      of_experts += shared && part.name(v).ends_with("/weights") ? part.resident_bytes(v) : 0;
      if (!sharded || shared) {
        expected_resident += (shared ? 1 : replicas) * part.resident_bytes(v);
      }
    }
    std::set<op_id> seen;
    for (const op_id v : ids(g.num_ops())) {
      const op_id from = made.origin[v];
      if (from == none) {
        continue;
      }
      work += g.work(v);
      if (how.shared.owner[from] != none) {
        REQUIRE(seen.insert(from).second);
        REQUIRE(made.replica[v] == how.shared.owner[from]);
        REQUIRE(g.inputs(v).size() == part.inputs(from).size());
        for (std::size_t k = 0; k < g.outputs(v).size(); ++k) {
          const tensor_id t = *part.outputs(from).begin() + static_cast<tensor_id>(k);
          REQUIRE(g.bytes(*g.outputs(v).begin() + static_cast<tensor_id>(k)) ==
                  (part.bytes(t) == whole.bytes(t) ? 1 : replicas) * part.bytes(t));
        }
      }
      resident += !sharded || how.shared.owner[from] != none ? g.resident_bytes(v) : 0;
    }
    CHECK(of_experts > 0);
    CHECK(made.gradient_bytes == plain.gradient_bytes - of_experts);
    CHECK(resident == expected_resident);
    if (!sharded) {
      CHECK(work == doctest::Approx(expected));
    }

    // What is made of a replica's part of the batch goes to its own ops, or to all experts with that of the others.
    enum : std::uint32_t { of_all = replicas, unknown };
    std::vector<std::uint32_t> rows(g.num_tensors(), unknown); // whose a tensor is that grows with the batch
    for (const op_id v : graph::topological_order(g)) {
      std::set<std::uint32_t> from;
      for (const tensor_id t : g.inputs(v)) {
        if (rows[t] != unknown) {
          from.insert(rows[t]);
        }
      }
      const bool joins = g.name(v).ends_with("/all_to_all/join"), cuts = g.name(v).ends_with("/all_to_all/cut");
      const bool sends = g.name(v).ends_with("/all_to_all/send");
      const op_id origin = made.origin[v];
      const bool shared = origin != none && how.shared.owner[origin] != none;
      if (joins) {
        REQUIRE(from == std::set<std::uint32_t>{0, 1});
        REQUIRE(g.inputs(v).size() == replicas);
        byte_count bytes = 0;
        for (const tensor_id t : g.inputs(v)) {
          bytes += g.bytes(t);
          REQUIRE(is_message(g, t));
        }
        REQUIRE(g.bytes(*g.outputs(v).begin()) == bytes);
      } else if (cuts || shared) {
        REQUIRE((from.empty() || from == std::set<std::uint32_t>{of_all}));
      } else if (origin != none && !is_update(g, v)) {
        REQUIRE((from.empty() || from == std::set<std::uint32_t>{made.replica[v]}));
      }
      std::uint32_t k = 0;
      for (const tensor_id t : g.outputs(v)) {
        const tensor_id of_part = origin == none ? tensor_id{none} : *part.outputs(origin).begin() + k;
        rows[t] = joins ? of_all
                  : cuts ? k
                  : sends ? made.replica[v]
                  : origin == none || whole.bytes(of_part) == part.bytes(of_part) ? std::uint32_t{unknown}
                  : shared ? of_all
                           : made.replica[v];
        ++k;
      }
    }

    const platform machine{{{.kind = device_kind::cpu, .speed = 1e11},
                            {.kind = device_kind::gpu, .speed = 1e12},
                            {.kind = device_kind::gpu, .speed = 1e12}},
                           uniform_links{{.latency = 1e-6, .bandwidth = 1e10}}};
    const problem p{g, machine};
    const plan x{.placement = made.where};
    trace run;
    simulator{p, schedule::path_completion_time{}}.run(x, simulate::recorder{run});
    CHECK(validate(p, made.where, run).empty());
  }
}

TEST_CASE("data_parallel: refuses shared ops that do not fit the step") {
  const workload part = small_switch(2), whole = small_switch(4);
  const auto refused = [&](const parallel::shared_ops& shared) {
    CHECK_THROWS_AS(parallel::data_parallel(part, each_on_its_own(part), parallel::ring_all_reduce(replicas),
                                            {.shared = shared}),
                    value_error);
  };
  const auto owners = parallel::expert_owners(part, replicas);
  refused({nullptr, owners});
  refused({&whole, {0, 1}});
  refused({&whole, parallel::expert_owners(part, 4)});
  const workload other = zoo::switch_transformer(4, {.layers = 4, .hidden = 16, .heads = 2, .head_size = 8, .ffn = 32});
  refused({&other, owners});
  auto updates_only = owners; // with gradients of replicas
  for (const op_id v : ids(part.num_ops())) {
    updates_only[v] = is_update(part, v) ? updates_only[v] : std::uint32_t{none};
  }
  refused({&whole, updates_only});
}

TEST_CASE("data_parallel: refuses experts whose rows do not tell the batch") {
  const auto of = [](std::uint64_t batch) { // so many experts that each takes a row
    return zoo::switch_transformer(batch, {.layers = 2, .hidden = 16, .heads = 2, .head_size = 8, .ffn = 32,
                                           .experts = 256, .length = 32, .vocabulary = 64});
  };
  const workload part = of(1), whole = of(2);
  CHECK_THROWS_AS(parallel::data_parallel(part, each_on_its_own(part), parallel::ring_all_reduce(replicas),
                                          {.shared = {&whole, parallel::expert_owners(part, replicas)}}),
                  value_error);
}

TEST_CASE("expert_owners: updates are where the parameters are, and state is where its readers are") {
  workload_builder b;
  const auto x = b.add_op({.bytes = 64, .name = "rows"});
  const auto weights = b.add_op({.bytes = 400, .resident_bytes = 400, .name = "expert_1/weights"});
  const auto state = b.add_op({.bytes = 400, .resident_bytes = 400, .name = "step_0/m"});
  const auto product = b.add_op({.work = 100, .bytes = 64, .name = "expert_1/MatMul", .type = "MatMul"});
  const auto gradient = b.add_op({.work = 100, .bytes = 400, .name = "expert_1/MatMul_grad", .type = "MatMul"});
  const auto update = b.add_op({.work = 100, .name = "step_0", .type = "ApplyMomentum"});
  b.add_op({.name = "expert_0/nothing"});
  for (const auto& [from, to] : {std::pair{x, product}, std::pair{weights, product}, std::pair{product, gradient},
                                 std::pair{weights, update}, std::pair{state, update}, std::pair{gradient, update}}) {
    b.add_edge(from, to);
  }
  const workload w = std::move(b).build();
  CHECK(parallel::expert_owners(w, 2) == std::vector<std::uint32_t>{none, 1, 1, 1, 1, 1, 0});
}

} // namespace experts_test
