// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/copies_in_order.hpp"

#include "parallel/built_net.hpp"
#include "parallel/random_training_step.hpp"
#include "weft/cost/linear.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/validate/memory.hpp"
#include "weft/workload/role.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace copies_in_order_test {

using namespace weft;

std::vector<std::size_t> positions(const std::vector<op_id>& order) {
  std::vector<std::size_t> at(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    at[order[i]] = i;
  }
  return at;
}

/// The bytes of the device that needs most.
template <class Policy>
byte_count peak_of(const parallel::parallel_workload& made, std::uint32_t replicas, const plan& x, Policy policy) {
  const platform machine{std::vector<device>(replicas, device{.speed = 1e9}), uniform_links{{.bandwidth = 1e12}}};
  const problem p{made.graph, machine};
  trace found;
  simulator{p, policy}.run(x, simulate::recorder{found});
  const auto peaks = peak_memory_of(p, made.where, found);
  return *std::max_element(peaks.begin(), peaks.end());
}

TEST_CASE("copies_in_order: replicas do their ops as one does them alone, and fit where that fits") {
  constexpr std::uint32_t replicas = 3;
  std::size_t longest_path_needs_more = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const workload step = test::random_training_step(seed, 10'000, test::random_names::flat).graph;
    const auto one = solve::order_within(step, std::numeric_limits<byte_count>::max() / 4);
    for (const bool sharded : {false, true}) {
      const auto made = parallel::data_parallel(step, test::on_ranks(step, replicas),
                                                parallel::ring_all_reduce(replicas),
                                                {.bucket_bytes = 100, .shard_updates = sharded});
      const auto& w = made.graph;
      const auto list = parallel::copies_in_order(w, made.origin, one.sequence);
      REQUIRE(list.size() == w.num_ops());
      const auto at = positions(list), in_one = positions(one.sequence);
      for (const tensor_id t : ids(w.num_tensors())) {
        for (const op_id c : w.consumers(t)) {
          REQUIRE(at[w.producer(t)] < at[c]);
        }
      }
      std::vector<op_id> last(replicas, none);
      for (const op_id v : list) {
        if (made.origin[v] == none || is_update(w, v)) {
          continue;
        }
        auto& before = last[made.replica[v]];
        CHECK((before == none || in_one[made.origin[before]] < in_one[made.origin[v]]));
        before = v;
      }
      plan in_order{made.where, {}};
      for (const op_id v : list) {
        in_order.order.push_back(weft::step::run(v));
      }
      // Gradients are small: a bucket is packed, received, added and unpacked.
      const byte_count room = one.peak + 8 * made.gradient_bytes;
      const auto as_listed = [&](const auto& flow, item_id i) {
        return flow.is_send(i) ? 1.0 : -static_cast<double>(at[i]);
      };
      const plan in_any_order{made.where, {}};
      CHECK(peak_of(made, replicas, in_order, schedule::static_order{}) <= room);
      CHECK(peak_of(made, replicas, in_any_order, as_listed) <= room);
      longest_path_needs_more += peak_of(made, replicas, in_any_order, schedule::path_completion_time{}) > room;
    }
  }
  CHECK(longest_path_needs_more > 0);
}

TEST_CASE("copies_in_order: what is gathered is gathered when it is wanted, and sums are made at once") {
  workload_builder b;
  const op_id variable = b.add_op({.bytes = 8, .name = "variable"});
  const op_id first = b.add_op({.bytes = 8, .name = "first"});
  const op_id gathered = b.add_op({.bytes = 8, .name = "gathered"});
  const op_id second = b.add_op({.bytes = 8, .name = "second"});
  const op_id sum = b.add_op({.bytes = 8, .name = "sum"});
  const op_id update = b.add_op({.name = "update", .type = "ApplyAdam"});
  const op_id third = b.add_op({.name = "third"});
  b.add_edge(variable, gathered);
  b.add_edge(gathered, second);
  b.add_edge(first, second);
  b.add_edge(second, sum);
  b.add_edge(sum, update);
  b.add_edge(second, third);
  const workload w = std::move(b).build();
  const std::vector<op_id> origin{0, 1, none, 2, none, 4, 3}, sequence{0, 1, 2, 3, 4};
  CHECK(parallel::copies_in_order(w, origin, sequence) ==
        std::vector<op_id>{variable, first, gathered, second, sum, update, third});
}

} // namespace copies_in_order_test
