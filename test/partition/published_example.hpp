// SPDX-License-Identifier: BSL-1.0
/// The worked example of Topcuoglu, Hariri and Wu, *Performance-Effective and Low-Complexity Task Scheduling for
/// Heterogeneous Computing*, IEEE TPDS 13(3), 2002: 10 tasks on 3 processors.
#pragma once

#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <utility>

namespace weft::test {

/// Each edge is an output of its own, whose bytes are the seconds that it takes between any two processors.
struct published_example {
  static constexpr double seconds[] = {14, 16, 9, 13, 19, 18, 11, 13, 19, 13, 8,  17, 12, 13, 10,
                                       13, 16, 9, 7,  15, 11, 5,  11, 14, 18, 12, 20, 21, 7,  16};

  static workload make() {
    struct edge {
      op_id from, to;
      byte_count cost;
    };
    constexpr edge edges[] = {{0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11}, {0, 5, 14},
                              {1, 7, 19}, {1, 8, 16}, {2, 6, 23}, {3, 7, 27}, {3, 8, 23},
                              {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};
    workload_builder b;
    for (int i = 0; i < 10; ++i) {
      b.add_op({.work = 1});
    }
    for (const auto& [from, to, cost] : edges) {
      b.add_edge(from, to, b.add_output(from, cost));
    }
    return std::move(b).build();
  }

  published_example() = default;
  published_example(const published_example&) = delete;
  published_example& operator=(const published_example&) = delete;

  workload w = make();
  platform<uniform_links> q{{{}, {}, {}}, {{.bandwidth = 1}}};
  problem<workload, platform<uniform_links>, cost::table> p{w, q, cost::table{seconds, 10, 3}};
};

} // namespace weft::test
