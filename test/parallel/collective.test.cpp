// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/collective.hpp"

#include "weft/cost/linear.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace collective_test {

using namespace weft;
using parallel::collective;

/// How often each rank's part is in what each rank has of each chunk.
std::vector<std::vector<std::uint32_t>> contents(const collective& c) {
  std::vector<std::vector<std::uint32_t>> have;
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    for (std::uint32_t k = 0; k < c.chunks; ++k) {
      have.emplace_back(c.ranks, 0)[r] = 1;
    }
  }
  const auto first = have;
  for (const auto& m : c.messages) {
    REQUIRE(m.from < c.ranks);
    REQUIRE(m.to < c.ranks);
    REQUIRE(m.from != m.to);
    REQUIRE(m.chunk < c.chunks);
    const auto sent = (m.of_first ? first : have)[m.from * c.chunks + m.chunk];
    auto& to = have[m.to * c.chunks + m.chunk];
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      to[r] = m.adds ? to[r] + sent[r] : sent[r];
    }
  }
  return have;
}

TEST_CASE("collective: all-reduces give all ranks every part exactly once") {
  for (std::uint32_t p = 1; p <= 20; ++p) {
    std::vector<collective> all{parallel::ring_all_reduce(p), parallel::tree_all_reduce(p),
                                parallel::direct_all_reduce(p), parallel::one_shot_all_reduce(p)};
    for (std::uint32_t group = 1; group <= p; ++group) {
      if (p % group == 0) {
        all.push_back(parallel::hierarchical_all_reduce(p, group));
      }
    }
    for (const auto& c : all) {
      CAPTURE(p);
      for (const auto& of_chunk : contents(c)) {
        REQUIRE(of_chunk == std::vector<std::uint32_t>(p, 1));
      }
    }
  }
}

TEST_CASE("collective: reduce-scatter leaves each rank its chunk, all-gather gives it to all") {
  for (std::uint32_t p = 1; p <= 9; ++p) {
    for (const auto& [scatter, gather] :
         {std::pair{parallel::ring_reduce_scatter(p), parallel::ring_all_gather(p)},
          std::pair{parallel::direct_reduce_scatter(p), parallel::direct_all_gather(p)}}) {
      const auto scattered = contents(scatter);
      const auto have = contents(gather);
      for (std::uint32_t r = 0; r < p; ++r) {
        REQUIRE(scattered[r * p + (r + 1) % p] == std::vector<std::uint32_t>(p, 1));
        for (std::uint32_t k = 0; k < p; ++k) { // chunk k comes from the rank before k
          REQUIRE(have[r * p + k][(k + p - 1) % p] == 1);
        }
      }
    }
  }
}

TEST_CASE("collective: an all-to-all gives each rank its piece of each other one") {
  for (std::uint32_t p = 1; p <= 6; ++p) {
    const auto c = parallel::all_to_all(p);
    CHECK(c.messages.size() == std::size_t{p} * (p - 1));
    for (const auto& m : c.messages) {
      REQUIRE(m == parallel::message{m.from, m.to, m.from * p + m.to, false});
    }
  }
}

/// The same of what the ops of `add_collective` make.
std::vector<std::vector<std::uint32_t>> made_contents(const collective& c) {
  workload_builder b;
  const std::vector<byte_count> sizes(c.chunks, 8);
  std::vector<parallel::op_output> have;
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    const op_id v = b.add_op({.name = "source"});
    for (std::uint32_t k = 0; k < c.chunks; ++k) {
      have.push_back({v, b.add_output(v, sizes[k])});
    }
  }
  parallel::add_collective(b, c, sizes, have, "c", 4, [](std::uint32_t, op_id) {});
  const workload w = std::move(b).build();
  std::vector<std::vector<std::uint32_t>> made(w.num_tensors(), std::vector<std::uint32_t>(c.ranks, 0));
  for (const op_id v : ids(w.num_ops())) { // built in an order in which inputs come first
    for (const tensor_id t : w.outputs(v)) {
      if (v < c.ranks) {
        made[t][v] = 1;
      }
      for (const tensor_id in : w.inputs(v)) {
        for (std::uint32_t r = 0; r < c.ranks; ++r) {
          made[t][r] += made[in][r];
        }
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> all;
  for (const auto& [op, output] : have) {
    all.push_back(made[*w.outputs(op).begin() + output]);
  }
  return all;
}

TEST_CASE("add_collective: its ops move and add what the messages say") {
  for (std::uint32_t p = 1; p <= 12; ++p) {
    for (const auto& c : {parallel::ring_all_reduce(p), parallel::tree_all_reduce(p), parallel::direct_all_reduce(p),
                          parallel::one_shot_all_reduce(p), parallel::hierarchical_all_reduce(p, p % 2 == 0 ? 2 : 1),
                          parallel::ring_all_gather(p), parallel::direct_all_gather(p),
                          parallel::ring_reduce_scatter(p), parallel::direct_reduce_scatter(p)}) {
      CAPTURE(p);
      REQUIRE(made_contents(c) == contents(c));
    }
  }
}

/// Runs a collective alone, on p devices with links between all of them.
template <class Network>
double simulated(const collective& c, byte_count bytes, double latency, double bandwidth, Network network) {
  workload_builder b;
  std::vector<byte_count> sizes(c.chunks, bytes / c.chunks);
  std::vector<parallel::op_output> have;
  placement where;
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    const op_id v = b.add_op({.name = "source"});
    where.push_back(r);
    for (std::uint32_t k = 0; k < c.chunks; ++k) {
      have.push_back({v, b.add_output(v, sizes[k])});
    }
  }
  parallel::add_collective(b, c, sizes, have, "c", 1e300, [&](std::uint32_t r, op_id) { where.push_back(r); });
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    const op_id v = b.add_op({.name = "sink"});
    where.push_back(r);
    for (std::uint32_t k = 0; k < c.chunks; ++k) {
      const auto& [op, output] = have[r * c.chunks + k];
      b.add_edge(op, v, output);
    }
  }
  const workload w = std::move(b).build();
  const platform devices{std::vector<device>(c.ranks, device{.kind = device_kind::gpu, .speed = 1}),
                         uniform_links{{.latency = latency, .bandwidth = bandwidth}}};
  const problem p{w, devices};
  return simulator{p, schedule::fifo{}, network}.run(plan{.placement = where}).makespan;
}

TEST_CASE("collective: simulated rings and trees take what the formulas say") {
  using enum parallel::collective_algorithm;
  constexpr double latency = 1e-5, bandwidth = 1e9;
  for (const std::uint32_t p : {2u, 3u, 4u, 5u, 8u, 12u, 16u}) {
    const byte_count bytes = 120'000 * p;
    CAPTURE(p);
    const auto near = [](double x) { return doctest::Approx(x).epsilon(1e-9); };
    const auto formula = [&](parallel::collective_algorithm a) {
      return near(parallel::all_reduce_seconds(a, p, static_cast<double>(bytes), latency, bandwidth));
    };
    const auto run = [&](const collective& c, auto network) {
      return simulated(c, bytes, latency, bandwidth, network);
    };
    CHECK(run(parallel::ring_all_reduce(p), simulate::no_contention{}) == formula(ring));
    CHECK(run(parallel::ring_all_reduce(p), simulate::port_contention{}) == formula(ring));
    CHECK(run(parallel::ring_all_reduce(p), simulate::fair_sharing{}) == formula(ring));
    CHECK(run(parallel::tree_all_reduce(p), simulate::port_contention{}) == formula(tree));
    if (std::has_single_bit(p)) { // else some rank might send to several at once
      CHECK(run(parallel::tree_all_reduce(p), simulate::no_contention{}) == formula(tree));
    }
    const double alone = latency + static_cast<double>(bytes) / bandwidth; // links of their own, all at once
    CHECK(run(parallel::one_shot_all_reduce(p), simulate::no_contention{}) == near(alone));
    CHECK(run(parallel::direct_all_reduce(p), simulate::no_contention{}) ==
          near(2 * (latency + static_cast<double>(bytes) / p / bandwidth)));
    CHECK(run(parallel::hierarchical_all_reduce(p, p), simulate::no_contention{}) == formula(ring));
  }
}

} // namespace collective_test
