// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/data_parallel.hpp"

#include "parallel/built_net.hpp"
#include "support/marked.hpp"
#include "weft/core/random.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/linear.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace data_parallel_test {

using namespace weft;

using test::each_on_its_own;

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

TEST_CASE("data_parallel: each rank starts a collective once, and nothing is launched for its messages") {
  const auto p = presets::dgx_a100();
  const workload step = zoo::make("mnist_conv@8");
  std::vector<placement> replicas;
  for (const device_id gpu : {1u, 2u, 3u}) {
    replicas.emplace_back(step.num_ops(), gpu);
  }
  const auto table = cost::typical_efficiencies();
  cost::roofline typical;
  typical.efficiencies = &table;
  for (const bool sharded : {false, true}) {
    CAPTURE(sharded);
    const auto made = parallel::data_parallel(step, replicas, parallel::ring_all_reduce(3), {.shard_updates = sharded});
    std::size_t starts = 0;
    for (const op_id v : ids(made.graph.num_ops())) {
      starts += ops::use_of(made.graph.type(v)) == ops::device_use::collective_start;
    }
    CHECK(starts == (sharded ? 2 : 1) * 3 * made.buckets.size());
    for (const tensor_id t : ids(made.graph.num_tensors())) {
      for (const op_id reader : made.graph.consumers(t)) {
        const device_id from = made.where[made.graph.producer(t)], to = made.where[reader];
        CHECK((from == to || typical.send_time(made.graph, t, p, from, to) == 0));
      }
    }
  }
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
      if (is_update(step, from)) {
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
      updates_of_one += is_update(step, v);
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
      updates += is_update(step, v);
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

/// A parameter, a product with a batch, and the update with the product's gradient.
struct small_step {
  workload_builder b;
  op_id parameter = b.add_op({.bytes = 4000, .resident_bytes = 4000, .name = "w"});
  op_id batch = b.add_op({.bytes = 800, .name = "x"});
  op_id forward = add({parameter, batch}, 400, "y", "MatMul");
  op_id gradient = add({forward, batch}, 4000, "dw", "MatMul");

  op_id add(const std::vector<op_id>& reads, byte_count bytes, std::string name, std::string type) {
    const op_id v = b.add_op({.work = 1e6, .bytes = bytes, .name = std::move(name), .type = std::move(type)});
    for (const op_id from : reads) {
      b.add_edge(from, v);
    }
    return v;
  }
  /// The names of the ops that make gradients.
  std::vector<std::string> gradients() {
    const workload w = std::move(b).build();
    std::vector<std::string> names;
    for (const tensor_id t : parallel::gradients(w)) {
      names.emplace_back(w.name(w.producer(t)));
    }
    return names;
  }
};

TEST_CASE("gradients: found by what follows from the parameters") {
  using names = std::vector<std::string>;
  SUBCASE("a rate that is a variable, and a parameter that only the group tells") {
    small_step x;
    const op_id rate = x.b.add_op({.bytes = 4, .resident_bytes = 4, .name = "rate"});
    x.b.colocate(x.parameter, x.add({rate, x.gradient}, 8, "u", "ApplyGradientDescent"));
    CHECK(x.gradients() == names{"dw"});
  }
  SUBCASE("a gradient whose op has state of its own") {
    small_step x;
    const op_id kept = x.b.add_op({.bytes = 4000, .resident_bytes = 64, .name = "dw2", .type = "MatMul"});
    x.b.add_edge(x.gradient, kept);
    x.add({x.parameter, kept}, 8, "u", "ApplyGradientDescent");
    CHECK(x.gradients() == names{"dw2"});
  }
  SUBCASE("nobody tells the parameters") {
    small_step x;
    x.add({x.gradient}, 8, "u", "ApplyGradientDescent");
    CHECK(x.gradients() == names{"dw"});
  }
  SUBCASE("a ratio that follows from the parameter") {
    small_step x;
    const op_id ratio = x.add({x.parameter, x.gradient}, 4, "ratio", "Norm");
    x.add({x.parameter, ratio, x.gradient}, 8, "u", "ApplyMomentum");
    CHECK(x.gradients() == names{"dw"});
  }
  SUBCASE("a counter in the group, and one that is read") {
    small_step x;
    const op_id counter = x.b.add_op({.bytes = 4, .resident_bytes = 4, .name = "power"});
    const op_id read = x.add({counter}, 4, "power/read", "Identity");
    x.b.colocate(x.parameter, counter);
    x.b.colocate(x.parameter, x.add({x.parameter, read, x.gradient}, 8, "u", "ApplyAdam"));
    CHECK(x.gradients() == names{"dw"});
  }
}

TEST_CASE("data_parallel: gradients after an update are not reduced with those before it") {
  small_step x;
  const op_id u = x.add({x.parameter, x.gradient}, 8, "u", "ApplyGradientDescent");
  const op_id second = x.b.add_op({.bytes = 4000, .resident_bytes = 4000, .name = "w2"});
  const op_id again = x.add({second, x.batch}, 400, "y2", "MatMul");
  x.b.add_control_edge(u, again);
  const op_id dw2 = x.add({again, x.batch}, 4000, "dw2", "MatMul");
  const op_id u2 = x.add({second, dw2}, 8, "u2", "ApplyGradientDescent");
  x.b.add_control_edge(u2, x.add({}, 0, "all", "NoOp"));
  const workload w = std::move(x.b).build();
  const std::vector<placement> where{placement(w.num_ops(), 0), placement(w.num_ops(), 1)};
  for (const bool sharded : {false, true}) {
    const auto made =
      parallel::data_parallel(w, where, parallel::ring_all_reduce(2), {.shard_updates = sharded}); // else a cycle
    CHECK(made.buckets.size() == 2);
    std::size_t waits = 0; // "y2" and "all" come after all parts of the parameters
    for (const op_id v : ids(made.graph.num_ops())) {
      if (const std::string name{made.graph.name(v)}; name.ends_with("/y2") || name.ends_with("/all")) {
        const auto packs = replicas_before(made, v);
        CHECK(std::find(packs.begin(), packs.end(), 0u) != packs.end());
        CHECK(std::find(packs.begin(), packs.end(), 1u) != packs.end());
        ++waits;
      }
    }
    CHECK(waits == 4);
  }
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
      double work = 0;
      for (const op_id v : ids(made.graph.num_ops())) {
        work += is_update(made.graph, v) ? made.graph.work(v) : 0;
      }
      double work_of_one = 0;
      for (const op_id v : ids(step.num_ops())) {
        work_of_one += is_update(step, v) ? step.work(v) : 0;
      }
      CHECK(work == doctest::Approx(work_of_one));
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

// Rajbhandari et al., *ZeRO*, SC 2020, section 5: 2 P + 14 P / N bytes of P parameters with Adam, 2 P / N of them for
// gradients, which are tensors. Without sharding, 16 P.
TEST_CASE("data_parallel: sharded updates divide the copy in single precision, too") {
  const workload zoo_step = zoo::make("mnist_conv@8");
  const workload expanded = training_step(zoo::make_inference("mnist_conv@8"), {.rule = optimizer::adam});
  for (const auto* single : {&zoo_step, &expanded}) {
    const workload step = stored_as(*single, {.tensor_bits = 16, .weight_bits = 16});
    for (const std::uint32_t replicas : {2u, 8u}) {
      const auto where = each_on_its_own(step, replicas);
      const auto ring = parallel::ring_all_reduce(replicas);
      for (const bool sharded : {false, true}) {
        const auto made = parallel::data_parallel(step, where, ring, {.shard_updates = sharded, .element_bytes = 2});
        std::vector<double> resident(replicas, 0);
        for (const op_id v : ids(made.graph.num_ops())) {
          resident[made.replica[v]] += static_cast<double>(made.graph.resident_bytes(v));
        }
        const double parameters = static_cast<double>(made.gradient_bytes) / 2;
        for (const double bytes : resident) {
          CHECK(bytes / parameters == doctest::Approx(2 + 12.0 / (sharded ? replicas : 1)).epsilon(1e-3));
        }
      }
    }
  }
}

TEST_CASE("data_parallel: replicas may have parts of the batch of several sizes") {
  const workload large = zoo::make("mnist_conv@8"), small = zoo::make("mnist_conv@2");
  const std::vector<const workload*> steps{&large, &small, &small};
  for (const bool sharded : {false, true}) {
    const auto made = parallel::data_parallel(steps, each_on_its_own(large, 3), parallel::ring_all_reduce(3),
                                              {.shard_updates = sharded});
    const auto even = parallel::data_parallel(small, each_on_its_own(small, 3), parallel::ring_all_reduce(3),
                                              {.shard_updates = sharded});
    REQUIRE(made.graph.num_ops() == even.graph.num_ops());
    CHECK(made.gradient_bytes == even.gradient_bytes);
    for (const op_id v : ids(made.graph.num_ops())) {
      const op_id from = made.origin[v];
      REQUIRE(from == even.origin[v]);
      if (from == none || made.replica[v] > 0) { // collectives are the same, and so are the small parts
        REQUIRE(made.graph.work(v) == even.graph.work(v));
        continue;
      }
      REQUIRE(made.graph.work(v) * small.work(from) == doctest::Approx(even.graph.work(v) * large.work(from)));
      for (std::size_t k = 0; k < large.outputs(from).size(); ++k) {
        REQUIRE(made.graph.bytes(*made.graph.outputs(v).begin() + static_cast<tensor_id>(k)) ==
                large.bytes(*large.outputs(from).begin() + static_cast<tensor_id>(k)));
      }
    }
  }
  const workload other = zoo::make("lstm@2");
  const std::vector<const workload*> unlike{&large, &other};
  CHECK_THROWS_AS(parallel::data_parallel(unlike, each_on_its_own(large, 2), parallel::ring_all_reduce(2)),
                  value_error);
  const std::vector<const workload*> two{&large, &small};
  CHECK_THROWS_AS(parallel::data_parallel(two, each_on_its_own(large, 3), parallel::ring_all_reduce(3)), value_error);
}

TEST_CASE("data_parallel: replicas keep the slots of ops, and the memory of results") {
  const workload step = test::marked(zoo::make("mnist_conv@8"));
  for (const bool sharded : {false, true}) {
    const auto made = parallel::data_parallel(step, each_on_its_own(step, 2), parallel::ring_all_reduce(2),
                                              {.shard_updates = sharded});
    test::check_marks(made.graph, made.origin, step);
  }
}

TEST_CASE("data_parallel: refuses what does not fit together") {
  const workload step = zoo::make("mnist_conv@8");
  auto where = each_on_its_own(step, 2);
  CHECK_THROWS_WITH_AS(parallel::data_parallel(step, where, parallel::ring_all_reduce(3)),
                       "data_parallel: 2 replicas for an all-reduce among 3", value_error);
  CHECK_THROWS_WITH_AS(parallel::data_parallel(step, where, {2, 2, {{0, 7, 0, true}}}),
                       "data_parallel: a message of the all-reduce goes from rank 0 to 7 with chunk 0; there are 2 "
                       "ranks and 2 chunks",
                       value_error);
  where[1].pop_back();
  CHECK_THROWS_AS(parallel::data_parallel(step, where, parallel::ring_all_reduce(2)), value_error);
}

} // namespace data_parallel_test
