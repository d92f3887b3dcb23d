// SPDX-License-Identifier: BSL-1.0
/// Small problems on identical devices for clustering.
#pragma once

#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <initializer_list>
#include <utility>
#include <vector>

namespace weft::test {

/// An edge with a tensor of its own, whose bytes are the seconds of its transfer.
struct timed_edge {
  op_id from, to;
  byte_count seconds;
};

inline workload timed_graph(const std::vector<double>& work, const std::vector<timed_edge>& edges) {
  workload_builder b;
  for (const double w : work) {
    b.add_op({.work = w});
  }
  for (const auto& e : edges) {
    b.add_edge(e.from, e.to, b.add_output(e.from, e.seconds));
  }
  return std::move(b).build();
}

/// `count` devices of speed 1 whose links carry a byte per second.
inline platform<uniform_links> unit_devices(std::size_t count) {
  return {std::vector<device>(count), {{.bandwidth = 1}}};
}

/// The graph of Kwok and Ahmad, *Static Scheduling Algorithms for Allocating Directed Task Graphs to Multiprocessors*,
/// ACM Computing Surveys 31(4), 1999, §6, whose published bottom levels are 23 15 14 15 5 10 11 10 1.
inline workload survey_graph() {
  return timed_graph({2, 3, 3, 4, 5, 4, 4, 4, 1}, {{0, 1, 4},
                                                  {0, 2, 1},
                                                  {0, 3, 1},
                                                  {0, 4, 1},
                                                  {0, 6, 10},
                                                  {1, 5, 1},
                                                  {1, 6, 1},
                                                  {2, 7, 1},
                                                  {3, 7, 1},
                                                  {5, 8, 5},
                                                  {6, 8, 6},
                                                  {7, 8, 5}});
}

} // namespace weft::test
