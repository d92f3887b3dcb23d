// SPDX-License-Identifier: BSL-1.0
/// A problem small enough to work out by hand.
#pragma once

#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <utility>

namespace weft::test {

/// a -> {b, c} -> d, where b also hands d a second tensor; work 10, 20, 30, 40.
/// Tensors: 0 = a (100 bytes), 1 = b (200), 2 = b's second (50), 3 = c (300). d has no output.
inline workload_builder diamond_builder() {
  workload_builder b;
  const auto a = b.add_op({.work = 10, .bytes = 100, .resident_bytes = 1000, .name = "a"});
  const auto left = b.add_op({.work = 20, .bytes = 200, .name = "b"});
  const auto right = b.add_op({.work = 30, .bytes = 300, .resident_bytes = 3000, .name = "c"});
  const auto d = b.add_op({.work = 40, .resident_bytes = 4000, .name = "d"});
  b.add_output(left, 50);
  b.add_edge(a, left);
  b.add_edge(a, right);
  b.add_edge(left, d);
  b.add_edge(left, d, 1);
  b.add_edge(right, d);
  return b;
}
inline workload diamond() { return diamond_builder().build(); }

/// A cpu of speed 10, two gpus of speed 20; links 0.5 s + bytes / 100 between any two, 1 s + bytes / 50 from 0 to 2.
inline platform<> three_devices() {
  link_matrix links{3, {0.5, 100}};
  links.set(0, 2, {1, 50});
  return {{{.kind = device_kind::cpu, .speed = 10, .memory_bandwidth = 400},
           {.kind = device_kind::gpu, .speed = 20, .memory_bandwidth = 2000},
           {.kind = device_kind::gpu, .speed = 20, .memory_bandwidth = 1000}},
          std::move(links), 5};
}

} // namespace weft::test
