// SPDX-License-Identifier: BSL-1.0
#include "weft/all.hpp"
#include "weft/networks.hpp"
#include "weft/shard.hpp"
#include "weft/all.hpp" // a second time: every header guards itself

weft::workload first_workload() {
  weft::workload_builder b;
  const auto x = b.add_op({.work = 1, .bytes = 8});
  b.add_edge(x, b.add_op({.work = 2}));
  return std::move(b).build();
}
