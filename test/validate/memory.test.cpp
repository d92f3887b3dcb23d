// SPDX-License-Identifier: BSL-1.0
#include "scene.hpp"

#include "weft/validate/memory.hpp"

#include <doctest/doctest.h>

namespace validate_memory_test {

using weft_test::scene;
using bytes = std::vector<weft::byte_count>;

TEST_CASE("peak memory: the scene") {
  // Device 0 keeps 100 bytes. x (8) lives in [0, 11): e is its last consumer there; z (2) in [3, 10): its send.
  // Device 1 keeps 10. x (8) lives in [3, 8), y (4) in [6, 12.5), z (2) in [10, 12.5).
  const scene s;
  CHECK(peak_memory_of(s.p, s.where, s.run) == bytes{110, 22});
}

/// u on device 0 makes 8 bytes for v on device 1 and for w on device 0; `probe` makes 16 bytes in [5, 6) for nobody.
/// The times need not make a valid run.
weft::byte_count peak_with_probe(weft::device_id device, const weft::transfer_record& x, double w_finish) {
  weft::workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 8});
  const auto v = b.add_op({.work = 1});
  const auto w = b.add_op({.work = 1});
  b.add_op({.work = 1, .bytes = 16});
  b.add_edge(u, v);
  b.add_edge(u, w);
  const weft::workload all = std::move(b).build();
  const weft::platform<weft::uniform_links> two{{{}, {}}, {}};
  const weft::trace run{
    .ops = {{0, 0, 1}, {1, 6, 7}, {0, 2, w_finish}, {device, 5, 6}}, .transfers = {x}, .makespan = 7};
  return peak_memory_of(weft::problem{all, two}, {0, 1, 0, device}, run)[device];
}

TEST_CASE("peak memory: at its producer, a tensor lives until its last local consumer and its last send are over") {
  CHECK(peak_with_probe(0, {0, 0, 1, 1, 2, 3, 4}, 5) == 16);
  CHECK(peak_with_probe(0, {0, 0, 1, 1, 2, 3, 4}, 5.5) == 24);
  CHECK(peak_with_probe(0, {0, 0, 1, 4, 5, 6, 7}, 3) == 16); // the send counts, not the transfer
  CHECK(peak_with_probe(0, {0, 0, 1, 4, 5.5, 6, 7}, 3) == 24);
}

TEST_CASE("peak memory: at its consumer, a tensor lives from the transfer's start") {
  CHECK(peak_with_probe(1, {0, 0, 1, 1, 2, 5.5, 6}, 3) == 24);
  CHECK(peak_with_probe(1, {0, 0, 1, 1, 2, 6, 6}, 3) == 16);
}

TEST_CASE("peak memory: what ends goes before what begins") {
  weft::workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 5});
  const auto v = b.add_op({.work = 1, .bytes = 7});
  const auto idle = b.add_op({.work = 0, .bytes = 1000}); // runs for no time, and nobody wants its output
  b.add_edge(u, v);
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> one{{{}}, {}};
  const weft::problem p{w, one};
  weft::trace run{.ops = {{0, 0, 1}, {0, 1, 2}, {0, 2, 2}}, .transfers = {}, .makespan = 2};
  CHECK(peak_memory_of(p, {0, 0, 0}, run) == bytes{12}); // u's output until v has finished
  run.ops[idle] = {0, 2, 3};
  CHECK(peak_memory_of(p, {0, 0, 0}, run) == bytes{1000}); // at 2, both others are gone
}

TEST_CASE("peak memory: a device without ops needs nothing") {
  weft::workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 3});
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> two{{{}, {}}, {}};
  CHECK(peak_memory_of(weft::problem{w, two}, {1}, {.ops = {{1, 0, 1}}, .transfers = {}, .makespan = 1}) ==
        bytes{0, 3});
}

} // namespace validate_memory_test
