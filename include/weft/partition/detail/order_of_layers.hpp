// SPDX-License-Identifier: BSL-1.0
/// The order of layers in which each comes after those that it reads.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/unique_queue.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::partition::detail {

/// Something that reads what another one makes, both by number.
struct dependence {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// Layers 0 … `count` - 1 in an order in which each comes after those that it reads, be it by way of others of the
/// `num_nodes`, which are in no layer; of those that may come next, the one with the smallest number. Where layers read
/// each other, the smallest number that is left comes next. Complexity: O((nodes + dependences) log nodes).
inline buffer<std::uint32_t> order_of_layers(std::size_t count, std::size_t num_nodes, const buffer<dependence>& all) {
  buffer<std::uint32_t> first, readers, waits; // readers of node i: from first[i] on
  first.resize(num_nodes + 1);
  waits.resize(num_nodes);
  readers.resize(all.size());
  for (const auto& x : all) {
    ++first[x.from];
    ++waits[x.to];
  }
  for (std::size_t i = 0; i < num_nodes; ++i) {
    first[i + 1] += first[i];
  }
  for (const auto& x : all) {
    readers[--first[x.from]] = x.to;
  }
  unique_queue ready{num_nodes};
  const auto release = [&](std::uint32_t i) { ready.add(i, i < count ? i : -1.0); };
  for (std::uint32_t i = 0; i < num_nodes; ++i) {
    waits[i] == 0 ? release(i) : void();
  }
  buffer<std::uint32_t> order, done;
  done.resize(count);
  for (std::uint32_t least = 0; order.size() < count;) {
    while (done[least]) {
      ++least;
    }
    const std::uint32_t next = ready.empty() ? least : ready.pop();
    if (next < count) {
      if (done[next]) { // it came early
        continue;
      }
      done[next] = 1;
      order.push_back(next);
    }
    for (std::uint32_t i = first[next]; i < first[next + 1]; ++i) {
      --waits[readers[i]] == 0 ? release(readers[i]) : void();
    }
  }
  return order;
}

} // namespace weft::partition::detail
