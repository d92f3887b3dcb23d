// SPDX-License-Identifier: BSL-1.0
/// Random graphs with random plans, and a kernel whose results tell whether every input was what it should be.
#pragma once

#include "weft/core/random.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::test {

/// Up to `max_ops` ops of up to three outputs with up to `max_bytes`, some of zero bytes, some that nobody reads.
inline workload random_graph(rng& random, std::uint32_t max_ops, std::uint32_t max_bytes) {
  workload_builder b;
  const auto n = random.below(max_ops + 1);
  std::vector<std::uint32_t> num_outputs;
  for (op_id v = 0; v < n; ++v) {
    const auto bytes = [&]() -> byte_count { return random.below(4) == 0 ? 0 : random.below(max_bytes + 1); };
    b.add_op(
      {.work = static_cast<double>(random.below(5)), .bytes = bytes(), .resident_bytes = random.below(3) * bytes()});
    num_outputs.push_back(1);
    for (auto more = random.below(3); more > 0; --more) {
      b.add_output(v, bytes());
      ++num_outputs[v];
    }
    std::vector<std::pair<op_id, std::uint32_t>> read; // each once
    for (auto edges = v == 0 ? 0 : random.below(4); edges > 0; --edges) {
      const auto from = random.below(v);
      const std::pair input{from, random.below(num_outputs[from])};
      if (std::find(read.begin(), read.end(), input) == read.end()) {
        read.push_back(input);
        b.add_edge(from, v, input.second);
      }
    }
  }
  return std::move(b).build();
}

/// The ops in a random order that respects the graph.
inline std::vector<op_id> random_topological_order(const workload& w, rng& random) {
  std::vector<std::size_t> missing;
  std::vector<op_id> ready;
  for (const op_id v : ids(w.num_ops())) {
    missing.push_back(w.inputs(v).size());
    if (missing[v] == 0) {
      ready.push_back(v);
    }
  }
  std::vector<op_id> ops;
  while (!ready.empty()) {
    std::swap(ready[random.below(ready.size())], ready.back());
    ops.push_back(ready.back());
    ready.pop_back();
    for (const tensor_id t : w.outputs(ops.back())) {
      for (const op_id u : w.consumers(t)) {
        if (--missing[u] == 0) {
          ready.push_back(u);
        }
      }
    }
  }
  return ops;
}

/// A plan for up to some number of devices whose orders agree with the graph: no order, a topological one, or any merge
/// of the workers' own; with a send here and there.
inline plan random_plan(const workload& w, rng& random, std::uint32_t max_devices = 4) {
  plan p;
  const auto num_workers = 1 + random.below(max_devices);
  for ([[maybe_unused]] const op_id v : ids(w.num_ops())) {
    p.placement.push_back(random.below(num_workers));
  }
  const auto how = random.below(3);
  if (how == 0) {
    return p;
  }
  const auto ops = random_topological_order(w, random);
  std::vector<std::vector<op_id>> queue(num_workers);
  std::vector<device_id> turns;
  for (const op_id v : ops) {
    queue[p.placement[v]].push_back(v);
    turns.push_back(p.placement[v]);
  }
  if (how == 2) {
    random.shuffle(turns);
  }
  std::vector<std::size_t> next(num_workers, 0);
  for (const device_id d : turns) {
    const op_id v = queue[d][next[d]++];
    p.order.push_back(step::run(v));
    if (!w.outputs(v).empty() && random.below(4) == 0) {
      p.order.push_back(step::send(v, w.outputs(v).front(), random.below(4)));
    }
  }
  return p;
}

/// A placement that keeps groups together: every group, and every op without one, on any device.
inline placement random_placement(const workload& w, std::size_t num_devices, rng& random) {
  std::vector<device_id> of_group(w.num_groups());
  for (device_id& d : of_group) {
    d = random.below(num_devices);
  }
  placement where;
  for (const op_id v : ids(w.num_ops())) {
    where.push_back(w.group(v) == none ? random.below(num_devices) : of_group[w.group(v)]);
  }
  return where;
}

/// Fills the outputs of an op with bytes that depend on every byte of its inputs, and counts its calls in its resident
/// bytes, on which they depend, too.
struct hashing_kernel {
  void operator()(op_id v, const execute::op_buffers& b) const {
    std::uint64_t hash = rng::mix(v + 1);
    const auto add = [&](std::span<const std::byte> bytes) {
      for (std::size_t i = 0; i < bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, bytes.size() - i < 8 ? bytes.size() - i : 8);
        hash = rng::mix(hash ^ word) + bytes.size();
      }
    };
    for (const auto& in : b.inputs) {
      add(in);
    }
    if (!b.resident.empty()) {
      b.resident[0] = static_cast<std::byte>(std::to_integer<unsigned>(b.resident[0]) + 1);
      add(b.resident);
    }
    for (const auto& out : b.outputs) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (i % 8 == 0) {
          hash = rng::mix(hash + i);
        }
        out[i] = static_cast<std::byte>(hash >> (i % 8 * 8));
      }
    }
  }
};

/// What the tensors hold after some runs of a kernel on one device with memory of its own for every tensor.
template <class Kernel>
std::vector<std::vector<std::byte>> tensors_after(const workload& w, int runs, Kernel&& kernel) {
  std::vector<std::vector<std::byte>> tensors(w.num_tensors()), resident(w.num_ops());
  for (const tensor_id t : ids(w.num_tensors())) {
    tensors[t].resize(w.bytes(t));
  }
  for (const op_id v : ids(w.num_ops())) {
    resident[v].resize(w.resident_bytes(v));
  }
  rng any{1};
  const auto ops = random_topological_order(w, any);
  for (int run = 0; run < runs; ++run) {
    for (const op_id v : ops) {
      std::vector<std::span<const std::byte>> in;
      std::vector<std::span<std::byte>> out;
      for (const tensor_id t : w.inputs(v)) {
        in.emplace_back(tensors[t]);
      }
      for (const tensor_id t : w.outputs(v)) {
        out.emplace_back(tensors[t]);
      }
      kernel(v, execute::op_buffers{in, out, resident[v]});
    }
  }
  return tensors;
}

} // namespace weft::test
