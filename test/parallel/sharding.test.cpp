// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/sharded_parameters.hpp"
#include "weft/parallel/sharding.hpp"

#include "parallel/built_net.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sharding_test {

using namespace weft;
using test::built_net;

TEST_CASE("sharded_parameters: the parts of each rank are what the split workload holds there") {
  constexpr std::uint32_t ranks = 4;
  const parallel::device_mesh mesh{{{"data", 2}, {"tensor", ranks}}, {0, 1, 2, 3, 4, 5, 6, 7}};
  for (const char* spec : {"gpt2_small@4x16", "resnet50_cifar10@8", "bert_base@1x16:inference", "switch_base@4x16"}) {
    CAPTURE(spec);
    const built_net n{spec};
    const auto& w = n.built.graph;
    const auto m = n.model();
    byte_count capacity = 0;
    for (const op_id v : ids(w.num_ops())) {
      capacity += w.resident_bytes(v) / 2;
    }
    auto costs = test::costs_of(w, ranks, 1e9);
    costs.capacity = std::max<byte_count>(capacity, 800'000'000); // not all of it whole
    const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 500}});
    REQUIRE(chosen.found);
    const auto parameters = parallel::sharded_parameters(m, chosen.axis, 1, ranks);
    std::size_t variables = 0;
    for (const auto& x : n.net->variables()) {
      variables += std::binary_search(n.built.origin.begin(), n.built.origin.end(), x.op);
    }
    CHECK(parameters.size() == variables); // the optimiser's state is none
    const auto made = parallel::tensor_parallel(m, chosen.axis, test::on_ranks(w, ranks));
    std::vector<byte_count> held(std::size_t{ranks} * w.num_ops(), 0);
    for (const op_id v : ids(made.graph.num_ops())) {
      if (made.origin[v] != none) {
        held[made.replica[v] * w.num_ops() + made.origin[v]] += made.graph.resident_bytes(v);
      }
    }
    std::size_t split = 0;
    for (const auto& x : parameters) {
      CAPTURE(x.name);
      REQUIRE(x.shape);
      REQUIRE(x.shape->size() == x.spec.size());
      std::uint64_t elements = 1;
      for (std::size_t d = 0; d < x.spec.size(); ++d) {
        elements *= (*x.shape)[d];
        CHECK((x.spec[d] == none || x.spec[d] == 1));
        CHECK((x.spec[d] == none || ((*x.shape)[d] % ranks == 0) != x.has_unequal_parts()));
      }
      CHECK(x.bytes == 4 * elements);
      CHECK(x.bytes == w.resident_bytes(x.op));
      CHECK(x.name == w.name(x.op));
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const auto part = x.has_unequal_parts() ? x.part.of(x.bytes, r) : parallel::shard_bytes(x, mesh);
        CHECK(held[r * w.num_ops() + x.op] == part);
      }
      split += x.is_split();
    }
    CHECK(split > 0);
    CHECK_THROWS_AS(parallel::sharded_parameters(m, {}, 1, ranks), value_error);
  }
}

TEST_CASE("sharded_parameters: without splits all is whole") {
  const built_net n{"mnist_conv@8"};
  const auto m = n.model();
  const auto parameters = parallel::sharded_parameters(m, std::vector<std::uint32_t>(m.axes.size(), none), 0, 4);
  REQUIRE(!parameters.empty());
  for (const auto& x : parameters) {
    CHECK(!x.is_split());
    CHECK(parallel::shard_bytes(x, {{{"data", 4}}, {0, 1, 2, 3}}) == x.bytes);
  }
}

TEST_CASE("whole_parameters: what ops hold, but for updates and what only they read") {
  workload_builder b;
  const auto weights = b.add_op({.resident_bytes = 40, .name = "w", .type = "VariableV2"});
  const auto slot = b.add_op({.resident_bytes = 40, .name = "w/momentum", .type = "VariableV2"});
  const auto product = b.add_op({.resident_bytes = 8, .name = "w", .type = "MatMul"}); // of the same name
  const auto update = b.add_op({.resident_bytes = 16, .name = "update", .type = "ApplyMomentum"});
  const auto last = b.add_op({.resident_bytes = 4, .type = "BiasAdd"}); // nobody reads it
  for (const auto v : {weights, slot, product}) {
    b.add_output(v, 8);
  }
  b.add_edge(weights, product, 0);
  b.add_edge(product, update, 0);
  b.add_edge(weights, update, 0);
  b.add_edge(slot, update, 0);
  b.add_edge(product, last, 0);
  const auto found = parallel::whole_parameters(std::move(b).build());
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "w");
  CHECK(found[0].bytes == 40);
  CHECK(!found[0].shape);
  CHECK(found[1].name == "op_2");
  CHECK(found[2].name == "op_4");
  CHECK(found[2].op == last);
}

TEST_CASE("work_in_parts: splits of the batch alone are data parallelism") {
  constexpr std::uint32_t ranks = 4;
  const built_net whole{"gpt2_small@4x16"}, part{"gpt2_small@1x16"};
  const auto m = whole.model(), replica = part.model();
  const auto& w = whole.built.graph;
  const auto work = [&](const std::vector<std::uint32_t>& axis) {
    return parallel::work_in_parts(m, replica, ranks, axis, [&](op_id v) { return w.work(v); });
  };
  const auto chosen_with = [&](double bandwidth, byte_count capacity) {
    auto costs = test::costs_of(w, ranks, bandwidth);
    costs.capacity = capacity;
    return parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 500}}).axis;
  };
  constexpr auto unlimited = std::numeric_limits<byte_count>::max();
  byte_count resident = 0;
  for (const op_id v : ids(w.num_ops())) {
    resident += w.resident_bytes(v);
  }
  std::vector<std::uint32_t> batch(w.num_ops(), none), columns(w.num_ops(), none);
  for (const op_id v : ids(w.num_ops())) {
    const auto& is = m.axes[v].extents;
    const auto& there = replica.axes[v].extents;
    for (const auto k : ids(is.size())) {
      batch[v] = is[k] == ranks * there[k] ? k : batch[v];
      columns[v] = is[k] == there[k] && is[k] % ranks == 0 ? k : columns[v];
    }
  }
  CHECK(work(batch).is_data_parallel());
  CHECK(work(batch).of_ops == 0);
  CHECK(!work(columns).is_data_parallel());
  CHECK(!work(std::vector<std::uint32_t>(w.num_ops(), none)).is_data_parallel());
  CHECK(work(std::vector<std::uint32_t>(w.num_ops(), none)).of_batch == 0);
  // Many parameters and few rows: columns and rows of weights, as far as memory asks for parts.
  CHECK(!work(chosen_with(1e9, resident / 2)).is_data_parallel());
  CHECK(work(chosen_with(1e16, unlimited)).of_batch > 0);
  // Next to nothing may be in other parts, and parameters lie as they like.
  op_id least = none;
  for (const op_id v : ids(w.num_ops())) {
    const bool grows = batch[v] != none && columns[v] != none && w.work(v) > 0;
    least = grows && (least == none || w.work(v) < w.work(least)) ? v : least;
  }
  REQUIRE(least != none);
  auto nearly = batch;
  nearly[least] = columns[least];
  for (const op_id v : ids(w.num_ops())) {
    nearly[v] = m.is_parameter[v] ? columns[v] : nearly[v];
  }
  CHECK(work(nearly).of_ops == w.work(least));
  CHECK(work(nearly).is_data_parallel());
  CHECK(parallel::zero_stage_of(parallel::sharded_parameters(m, nearly, 0, ranks)) == 3);
  CHECK(parallel::zero_stage_of(parallel::sharded_parameters(m, batch, 0, ranks)) == 0);
  CHECK_THROWS_AS(work({}), value_error);
}

TEST_CASE("work_in_parts: rows of a single sequence are no batch") {
  const built_net whole{"gpt2_small@1x16:inference"};
  const auto m = whole.model(); // a batch of 1 has no parts, so that a replica is the same
  std::vector<std::uint32_t> rows(m.axes.size(), none);
  for (const op_id v : ids(rows.size())) {
    rows[v] = !m.axes[v].extents.empty() && m.axes[v].extents[0] == 16 ? 0 : none;
  }
  CHECK(!parallel::work_in_parts(m, m, 4, rows, [](op_id) { return 1.0; }).is_data_parallel());
}

TEST_CASE("shard_bytes: along several axes, rounded up") {
  const parallel::device_mesh mesh{{{"data", 2}, {"tensor", 3}}, {0, 1, 2, 3, 4, 5}};
  CHECK(parallel::shard_bytes({.name = "x", .bytes = 60, .spec = {none, none}}, mesh) == 60);
  CHECK(parallel::shard_bytes({.name = "x", .bytes = 60, .spec = {none, 1}}, mesh) == 20);
  CHECK(parallel::shard_bytes({.name = "x", .bytes = 60, .spec = {1, 0}}, mesh) == 10);
  CHECK(parallel::shard_bytes({.name = "x", .bytes = 61, .spec = {1, 0}}, mesh) == 11);
  const parallel::sharding s{.mesh = mesh};
  CHECK(s.size_of("tensor") == 3);
  CHECK(s.replicas() == 2);
  CHECK(parallel::sharding{.mesh = {{{"data", 2}, {"data_shard", 3}}, {0, 1, 2, 3, 4, 5}}}.replicas() == 6);
  CHECK(s.size_of("pipeline") == 1);
}

} // namespace sharding_test
