// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/roofline.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace concurrency_roofline_test {

using namespace weft;
using concurrency::thread_roofline;
using doctest::Approx;

/// Two sockets of two tiles of two cores: 100 FLOP/s and 10 bytes/s a core, 15 a tile, 25 a socket.
machine small() {
  return {.sockets = 2,
          .cores_per_socket = 4,
          .cores_per_tile = 2,
          .core_speed = 100,
          .core_bandwidth = 10,
          .socket_bandwidth = 25,
          .tile_bandwidth = 15};
}

/// One op that reads `in` bytes and writes `out`; it is op 1.
workload one(double work, byte_count in, byte_count out, const std::string& type = "MatMul", byte_count resident = 0) {
  workload_builder b;
  b.add_op({.work = 0, .bytes = in});
  b.add_op({.work = work, .bytes = out, .resident_bytes = resident, .type = type});
  b.add_edge(0, 1);
  return std::move(b).build();
}

TEST_CASE("thread_roofline: bandwidth grows with cores up to the tiles', then the sockets' limits") {
  const machine m = small();
  const auto of = [&m](std::uint32_t threads, affinity a) { return thread_roofline::bandwidth(m, {threads, a}); };
  CHECK(of(1, affinity::packed) == 10);
  CHECK(of(2, affinity::packed) == 15); // one tile
  CHECK(of(3, affinity::packed) == 25); // two tiles, one socket
  CHECK(of(4, affinity::packed) == 25);
  CHECK(of(5, affinity::packed) == 31.25); // four fifths of them on one socket
  CHECK(of(8, affinity::packed) == 50);
  CHECK(of(1, affinity::spread) == 10);
  CHECK(of(2, affinity::spread) == 20);
  CHECK(of(4, affinity::spread) == 40);
  CHECK(of(8, affinity::spread) == 50);
}

TEST_CASE("thread_roofline: arithmetic scales with cores, memory with bandwidth") {
  const machine m = small();
  const thread_roofline fine{.grain_flop = 1, .grain_bytes = 1};
  const workload computes = one(8500, 10, 10);
  CHECK(fine.seconds(computes, 1, m, {1}) == Approx(100)); // 8500 / (100 · 0.85)
  CHECK(fine.seconds(computes, 1, m, {4}) == Approx(25));
  const workload copies = one(10, 600, 300, "Add", 100);
  CHECK(fine.memory_traffic(copies, 1, m, {}) == 1000);
  CHECK(fine.seconds(copies, 1, m, {1}) == Approx(100));
  CHECK(fine.seconds(copies, 1, m, {2}) == Approx(1000.0 / 15));
  CHECK(fine.seconds(copies, 1, m, {2, affinity::spread}) == Approx(50));
  CHECK(fine.seconds(copies, 1, m, {8}) == Approx(20));
}

TEST_CASE("thread_roofline: types reach different shares of the speed") {
  const machine m = small();
  const thread_roofline fine{.grain_flop = 1, .grain_bytes = 1};
  CHECK(fine.seconds(one(700, 1, 1, "Conv2D"), 1, m, {1}) == Approx(10));
  CHECK(fine.seconds(one(700, 1, 1, "Sigmoid"), 1, m, {1}) == Approx(70));
  CHECK(fine.seconds(one(700, 1, 1, ""), 1, m, {1}) == Approx(70));
}

TEST_CASE("thread_roofline: threads beyond the grains add nothing but their barrier") {
  machine m = small();
  m.dispatch_seconds = 1;
  m.fork_seconds = 2;
  m.join_seconds = 0.5;
  const thread_roofline coarse{.grain_flop = 850, .grain_bytes = 1e9};
  const workload three_grains = one(2550, 0, 0);
  CHECK(coarse.seconds(three_grains, 1, m, {1}) == Approx(1 + 30)); // no team, no fork
  CHECK(coarse.seconds(three_grains, 1, m, {2}) == Approx(1 + 2 + 1 + 20)); // two rounds
  CHECK(coarse.seconds(three_grains, 1, m, {3}) == Approx(1 + 2 + 1.5 + 10));
  CHECK(coarse.seconds(three_grains, 1, m, {8}) == Approx(1 + 2 + 4 + 10));
}

TEST_CASE("thread_roofline: threads that share a block of a sum move copies of it") {
  const machine m = small();
  const thread_roofline fine{.grain_flop = 1, .grain_bytes = 1, .reduced_block_bytes = 100};
  const workload sum = one(10, 800, 200, "BiasAddGrad"); // two blocks
  CHECK(fine.seconds(sum, 1, m, {1}) == Approx(100));
  CHECK(fine.seconds(sum, 1, m, {2}) == Approx(1000.0 / 15)); // a block each
  CHECK(fine.seconds(sum, 1, m, {4}) == Approx((1000.0 + 2 * 200) / 25));
  const workload plain = one(10, 800, 200, "Add");
  CHECK(fine.seconds(plain, 1, m, {4}) == Approx(1000.0 / 25));
}

TEST_CASE("thread_roofline: ops without arithmetic hand over references") {
  const workload w = one(0, 1000, 1000);
  CHECK(thread_roofline{}.memory_traffic(w, 1, small(), {}) == 0);
  CHECK(thread_roofline{}.seconds(w, 1, small(), {1}) == 0);
}

} // namespace concurrency_roofline_test
