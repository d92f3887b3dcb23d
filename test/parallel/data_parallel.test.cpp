// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/data_parallel.hpp"

#include "weft/core/random.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace data_parallel_test {

using namespace weft;

/// The ops of one kind of device on that, everything else on device 0.
std::vector<placement> each_on_its_own(const workload& w, std::uint32_t replicas) {
  std::vector<placement> all;
  for (std::uint32_t r = 0; r < replicas; ++r) {
    placement where;
    for (const op_id v : ids(w.num_ops())) {
      where.push_back(w.kinds(v).contains(device_kind::gpu) ? r + 1 : 0);
    }
    all.push_back(std::move(where));
  }
  return all;
}

/// What an op of a replica depends on, the collectives' ops included, counted by replica.
std::vector<std::uint32_t> replicas_before(const parallel::parallel_workload& p, op_id v) {
  std::vector<bool> seen(p.graph.num_ops(), false);
  std::vector<op_id> open{v};
  std::vector<std::uint32_t> packs;
  while (!open.empty()) {
    const op_id u = open.back();
    open.pop_back();
    if (seen[u]) {
      continue;
    }
    seen[u] = true;
    if (p.graph.type(u) == "PackBucket") {
      packs.push_back(p.replica[u]);
      continue;
    }
    for (const tensor_id t : p.graph.inputs(u)) {
      open.push_back(p.graph.producer(t));
    }
  }
  std::sort(packs.begin(), packs.end());
  return packs;
}

TEST_CASE("data_parallel: every update reads the sums of all replicas' gradients, and nothing else changes") {
  for (const char* name : {"mnist_conv@8", "lstm@8", "dcgan@8", "resnet50_cifar10@8"}) {
    CAPTURE(name);
    const workload step = zoo::make(name);
    constexpr std::uint32_t replicas = 3;
    const auto made =
      parallel::data_parallel(step, each_on_its_own(step, replicas), parallel::ring_all_reduce(replicas));
    REQUIRE(made.where.size() == made.graph.num_ops());
    REQUIRE(made.origin.size() == made.graph.num_ops());
    REQUIRE(made.replica.size() == made.graph.num_ops());
    std::size_t updates = 0;
    byte_count resident = 0;
    for (const op_id v : ids(made.graph.num_ops())) {
      resident += made.graph.resident_bytes(v);
      const op_id from = made.origin[v];
      if (from == none) {
        continue;
      }
      REQUIRE(made.graph.work(v) == step.work(from));
      REQUIRE(made.graph.type(v) == step.type(from));
      REQUIRE(made.graph.inputs(v).size() == step.inputs(from).size());
      if (is_update(step.type(from))) {
        ++updates;
        const auto packs = replicas_before(made, v);
        REQUIRE(packs.size() % replicas == 0);
        REQUIRE(packs == std::vector<std::uint32_t>{0, 1, 2});
      }
    }
    byte_count of_one = 0;
    std::size_t updates_of_one = 0;
    for (const op_id v : ids(step.num_ops())) {
      of_one += step.resident_bytes(v);
      updates_of_one += is_update(step.type(v));
    }
    CHECK(resident == replicas * of_one);
    CHECK(updates == replicas * updates_of_one);
    CHECK(made.buckets.size() >= 1);
  }
}

TEST_CASE("gradients: one per update, as large as the parameters") {
  const std::map<std::string, std::uint64_t> parameters{{"mnist_conv", 3'274'634}, {"lstm", 81'674},
                                                        {"resnet50", 25'557'032}};
  for (const auto& [name, count] : parameters) {
    const workload step = zoo::make(name + "@4");
    byte_count bytes = 0;
    std::size_t updates = 0;
    const auto found = parallel::gradients(step);
    for (const tensor_id t : found) {
      bytes += step.bytes(t);
    }
    for (const op_id v : ids(step.num_ops())) {
      updates += is_update(step.type(v));
    }
    CAPTURE(name);
    CHECK(bytes == 4 * count);
    CHECK(found.size() == updates);
    // The same for a step that is made of the forward ops alone.
    const workload forward = zoo::make_inference(name + "@4");
    const workload expanded = training_step(forward, {.rule = optimizer::adam});
    byte_count expanded_bytes = 0;
    for (const tensor_id t : parallel::gradients(expanded)) {
      expanded_bytes += expanded.bytes(t);
    }
    CHECK(expanded_bytes >= bytes);
    CHECK(static_cast<double>(expanded_bytes) <= 1.01 * static_cast<double>(bytes)); // averages are trained, too
  }
  CHECK(parallel::gradients(zoo::make_inference("mnist_conv@4")).empty());
}

TEST_CASE("data_parallel: buckets hold as much as they may") {
  const workload step = zoo::make("mnist_conv@8"); // 13.1 MB of gradients, the largest 12.8 MB
  const auto ring = parallel::ring_all_reduce(2);
  const auto where = each_on_its_own(step, 2);
  CHECK(parallel::data_parallel(step, where, ring).buckets.size() == 1);
  const auto small = parallel::data_parallel(step, where, ring, {.bucket_bytes = 1});
  CHECK(small.buckets.size() == parallel::gradients(step).size());
  CHECK(small.gradient_bytes == 4 * 3'274'634);
  CHECK(parallel::data_parallel(step, where, ring, {.bucket_bytes = 1'000'000}).buckets.size() > 1);
  CHECK(parallel::data_parallel(step, {where[0]}, parallel::ring_all_reduce(1)).buckets.size() == 0);
}

TEST_CASE("data_parallel: on links that take no time, replicas do not wait for each other") {
  const workload step = zoo::make("mnist_conv@8");
  std::vector<device> devices{{.kind = device_kind::cpu, .speed = 1e12}};
  devices.resize(5, {.kind = device_kind::gpu, .speed = 1e12});
  const platform machine{devices, uniform_links{{.latency = 0, .bandwidth = 1e30}}};
  const auto seconds = [&](const workload& w, const placement& where) {
    const problem p{w, machine};
    return simulator{p, schedule::path_completion_time{}}.run(plan{.placement = where}).makespan;
  };
  const auto where = each_on_its_own(step, 4);
  const auto made = parallel::data_parallel(step, where, parallel::ring_all_reduce(4));
  const double alone = seconds(step, where[0]);
  const double together = seconds(made.graph, made.where);
  CHECK(together >= alone);
  CHECK(together <= 1.1 * alone);
}

TEST_CASE("data_parallel: sharded updates hold a part of the state, and gather all parameters") {
  for (const char* name : {"mnist_conv@8", "resnet50_cifar10@8"}) {
    const workload step = zoo::make(name);
    constexpr std::uint32_t replicas = 4;
    const auto where = each_on_its_own(step, replicas);
    for (const auto& all_reduce :
         {parallel::ring_all_reduce(replicas), parallel::hierarchical_all_reduce(replicas, 2)}) {
      const auto plain = parallel::data_parallel(step, where, all_reduce);
      const auto made = parallel::data_parallel(step, where, all_reduce, {.shard_updates = true});
      const auto resident = [](const workload& w) {
        double sum = 0;
        for (const op_id v : ids(w.num_ops())) {
          sum += static_cast<double>(w.resident_bytes(v));
        }
        return sum / replicas;
      };
      // Parameters are there in every replica, the optimiser's state once in all.
      const double gradients = static_cast<double>(plain.gradient_bytes);
      const double state = resident(plain.graph) - resident(made.graph);
      const double slots = name[0] == 'm' ? 2 : 1; // Adam, momentum
      CHECK(state == doctest::Approx(slots * gradients * (replicas - 1) / replicas).epsilon(1e-3));
      // As much is sent.
      const auto sent = [&](const parallel::parallel_workload& x) {
        double bytes = 0;
        for (const tensor_id t : ids(x.graph.num_tensors())) {
          const op_id v = x.graph.producer(t);
          std::vector<device_id> to;
          for (const op_id reader : x.graph.consumers(t)) {
            if (x.where[reader] != x.where[v] && x.origin[v] == none) {
              to.push_back(x.where[reader]);
            }
          }
          std::sort(to.begin(), to.end());
          to.erase(std::unique(to.begin(), to.end()), to.end());
          bytes += static_cast<double>(to.size()) * static_cast<double>(x.graph.bytes(t));
        }
        return bytes;
      };
      CHECK(sent(plain) == doctest::Approx(2.0 * (replicas - 1) * gradients));
      CHECK(sent(made) == doctest::Approx(2.0 * (replicas - 1) * gradients));
    }
  }
  const workload step = zoo::make("mnist_conv@8");
  CHECK_THROWS_AS(parallel::data_parallel(step, each_on_its_own(step, 2), parallel::tree_all_reduce(2),
                                          {.shard_updates = true}),
                  value_error);
}

TEST_CASE("data_parallel: refuses what does not fit together") {
  const workload step = zoo::make("mnist_conv@8");
  auto where = each_on_its_own(step, 2);
  CHECK_THROWS_WITH_AS(parallel::data_parallel(step, where, parallel::ring_all_reduce(3)),
                       "data_parallel: 2 replicas for an all-reduce among 3", value_error);
  where[1].pop_back();
  CHECK_THROWS_AS(parallel::data_parallel(step, where, parallel::ring_all_reduce(2)), value_error);
}

} // namespace data_parallel_test
