// SPDX-License-Identifier: BSL-1.0
/// The all-reduce that is fastest on some devices of a platform.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/cost/linear.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::parallel {

/// A collective, and how long it takes alone.
struct chosen_collective {
  collective messages = {};
  collective_algorithm algorithm = collective_algorithm::ring;
  double seconds = 0;
};

/// The time that a collective of so many bytes takes on the devices, one per rank, when nothing else runs: simulated on
/// the platform's links, where transfers affect each other as `how` says. `cost` says what it takes to start it and to
/// add, of numbers of no FLOP: nothing by `cost::linear`.
template <class Platform, class Cost = cost::linear>
double collective_seconds(const collective& c, byte_count bytes, const Platform& p, std::span<const device_id> devices,
                          contention_model how, const Cost& cost = {}) {
  workload_builder b;
  placement where;
  const std::vector<byte_count> sizes(c.chunks, (bytes + c.chunks - 1) / c.chunks);
  std::vector<op_output> have;
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    const op_id v = b.add_op({.type = collective_types::start});
    where.push_back(devices[r]);
    for (std::uint32_t k = 0; k < c.chunks; ++k) {
      have.push_back({v, b.add_output(v, sizes[k])});
    }
  }
  add_collective(b, c, sizes, have, {}, std::numeric_limits<double>::infinity(),
                 [&](std::uint32_t r, op_id) { where.push_back(devices[r]); });
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    const op_id v = b.add_op({});
    where.push_back(devices[r]);
    for (std::uint32_t k = 0; k < c.chunks; ++k) {
      const auto& [op, output] = have[std::size_t{r} * c.chunks + k];
      b.add_edge(op, v, output);
    }
  }
  const workload w = std::move(b).build();
  const problem all{w, p, cost};
  const plan x{.placement = std::move(where)};
  return how == contention_model::none
           ? simulator{all, schedule::fifo{}}.run(x).makespan
           : simulator{all, schedule::fifo{}, simulate::any_network{.model = how}}.run(x).makespan;
}

/// The fastest of a ring, a tree (unless all ranks have to have a part, as for sharded updates) and, where some of the
/// devices are nearer to each other than to the others, rings within and between those groups, for so many bytes. Rings
/// follow the order of the devices: `choose_devices` gives a good one. `cost` as for `collective_seconds`. Complexity:
/// that of simulating each once.
template <class Platform, class Cost = cost::linear>
chosen_collective choose_all_reduce(byte_count bytes, const Platform& p, std::span<const device_id> devices,
                                    contention_model how, bool in_parts = false, const Cost& cost = {}) {
  const auto ranks = static_cast<std::uint32_t>(devices.size());
  std::vector<std::pair<collective_algorithm, collective>> all{{collective_algorithm::ring, ring_all_reduce(ranks)}};
  if (!in_parts) {
    all.emplace_back(collective_algorithm::tree, tree_all_reduce(ranks));
  }
  const auto bandwidth = [&](std::uint32_t a, std::uint32_t b) { return p.bandwidth(devices[a], devices[b]); };
  for (const auto group : ranks_per_group(ranks, bandwidth)) {
    all.emplace_back(collective_algorithm::hierarchical, hierarchical_all_reduce(ranks, group));
  }
  chosen_collective best{.seconds = std::numeric_limits<double>::infinity()};
  for (auto& [algorithm, c] : all) {
    const double seconds = collective_seconds(c, bytes, p, devices, how, cost);
    if (seconds < best.seconds) {
      best = {std::move(c), algorithm, seconds};
    }
  }
  return best;
}

} // namespace weft::parallel
