// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/choose_resharding.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace choose_resharding_test {

using namespace weft;
using parallel::resharding;

TEST_CASE("fastest_resharding: no ring is faster, and its times are those of its messages") {
  const auto machine = presets::dgx_h100();
  std::vector<device_id> gpus;
  for (const device_id d : ids(machine.num_devices())) {
    if (machine.kind(d) == device_kind::gpu) {
      gpus.push_back(d);
    }
  }
  for (const auto how : {contention_model::none, contention_model::fair}) {
    const parallel::fastest_resharding fastest{machine, gpus, how};
    const auto seconds = [&](const parallel::collective& c, byte_count bytes) {
      return parallel::collective_seconds(c, bytes, machine, gpus, how);
    };
    for (const auto what : {resharding::all_gather, resharding::reduce_scatter, resharding::all_reduce}) {
      for (const byte_count bytes : {1'000u, 16'000u, 1'000'000u, 400'000'000u}) {
        CAPTURE(parallel::to_string(what));
        CAPTURE(bytes);
        CHECK(fastest.seconds(what, bytes) ==
              doctest::Approx(seconds(fastest.messages(what, bytes), bytes)).epsilon(0.01));
        CHECK(fastest.seconds(what, bytes) <=
              seconds(parallel::ring(what, static_cast<std::uint32_t>(gpus.size())), bytes) * 1.001);
      }
    }
    const auto all_reduced = [&](byte_count bytes) { return fastest.messages(resharding::all_reduce, bytes); };
    CHECK(all_reduced(16'000).messages.size() < parallel::ring_all_reduce(8).messages.size()); // the latency counts
    CHECK(all_reduced(400'000'000).chunks == 8); // … and here the bytes
  }
}

TEST_CASE("fastest_resharding: libraries have rings and trees, and starting a collective counts once") {
  const auto machine = presets::dgx_a100();
  const std::vector<device_id> gpus{1, 2, 3, 4, 5, 6, 7, 8};
  using parallel::collective_family;
  CHECK(parallel::usual_collectives(machine, gpus) == collective_family::library);
  CHECK(parallel::usual_collectives(machine, std::vector<device_id>{0, 1}) == collective_family::any);
  const auto reached = machine.changed([](device& d) { d.reached_rates = true; });
  CHECK(parallel::usual_collectives(reached, gpus) == collective_family::any);

  const auto table = cost::typical_efficiencies();
  cost::roofline typical;
  typical.efficiencies = &table;
  const auto how = contention_model::fair;
  const parallel::fastest_resharding library{machine, gpus, how, collective_family::library, typical};
  const parallel::fastest_resharding any{machine, gpus, how, collective_family::any, typical};
  const parallel::fastest_resharding free{machine, gpus, how, collective_family::any};
  CHECK(any.seconds(resharding::all_reduce, 1000) == doctest::Approx(cost::collective_launch + 5e-6).epsilon(0.01));
  CHECK(free.seconds(resharding::all_reduce, 1000) == doctest::Approx(5e-6).epsilon(0.01));
  CHECK(library.seconds(resharding::all_reduce, 1000) ==
        doctest::Approx(cost::collective_launch + 6 * 5e-6).epsilon(0.01)); // a tree
  CHECK(library.seconds(resharding::all_gather, 1000) ==
        doctest::Approx(cost::collective_launch + 7 * 5e-6).epsilon(0.01));
  CHECK(library.messages(resharding::all_reduce, 100'000'000) == parallel::ring_all_reduce(8));
}

TEST_CASE("choose_all_reduce: the choice takes as long as the collective in a step does") {
  const auto machine = presets::dgx_a100();
  const std::vector<device_id> gpus{1, 2, 3, 4};
  const auto table = cost::typical_efficiencies();
  cost::roofline typical;
  typical.efficiencies = &table;
  workload_builder step;
  const auto gradient = step.add_op({.work = 0, .bytes = 8'000'000, .name = "dense/gradient", .type = "MatMulGrad"});
  step.add_edge(step.add_op({.bytes = 4, .name = "example"}), gradient); // what nothing makes is no gradient
  step.add_edge(gradient, step.add_op({.name = "dense/update", .type = "ApplyGradientDescent"}));
  const workload one = std::move(step).build();
  std::vector<placement> replicas;
  for (const device_id gpu : gpus) {
    replicas.emplace_back(one.num_ops(), gpu);
  }
  const auto chosen = parallel::choose_all_reduce(8'000'000, machine, gpus, contention_model::fair, false, typical);
  const auto made = parallel::data_parallel(one, replicas, chosen.messages);
  REQUIRE(made.buckets.size() == 1);
  const problem p{made.graph, machine, typical};
  trace run;
  simulator{p, schedule::fifo{}, simulate::any_network{.model = contention_model::fair}}.run(
    plan{.placement = made.where}, simulate::recorder{run});
  double packed = std::numeric_limits<double>::infinity(), unpacked = 0;
  for (const op_id v : made.buckets[0].pack) {
    packed = std::min(packed, run.ops[v].finish);
  }
  for (const op_id v : made.buckets[0].unpack) {
    unpacked = std::max(unpacked, run.ops[v].start);
  }
  CHECK(chosen.seconds - cost::collective_launch == doctest::Approx(unpacked - packed).epsilon(1e-6));
}

} // namespace choose_resharding_test
