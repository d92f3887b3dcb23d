// SPDX-License-Identifier: BSL-1.0
/// Graphs on which executors show what they cost.
#pragma once

#include "weft/core/random.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace layered_graphs {

/// Layers of `width` ops, each with up to two inputs of so many bytes from the layer before; a chain if the width is 1.
inline weft::workload layers(std::uint32_t ops, std::uint32_t width, weft::byte_count bytes = 1) {
  weft::workload_builder b;
  weft::rng random{1};
  for (std::uint32_t i = 0; i < ops; ++i) {
    const auto v = b.add_op({.work = 1, .bytes = bytes});
    if (v >= width) {
      const auto before = (v / width - 1) * width;
      const auto a = before + random.below(width), c = before + random.below(width);
      b.add_edge(a, v);
      if (c != a) {
        b.add_edge(c, v);
      }
    }
  }
  return std::move(b).build();
}

/// The ops of every layer dealt out to the workers in equal parts, so that on two about half of all edges cross.
inline weft::plan dealt_out(const weft::workload& w, std::uint32_t width, std::uint32_t workers) {
  weft::plan p;
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    p.placement.push_back(v % width * workers / width);
  }
  return p;
}

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

} // namespace layered_graphs
