// SPDX-License-Identifier: BSL-1.0
/// Memory layouts of devices: offsets for all resident data and tensors of a recorded run.
#pragma once

#include "weft/allocate/offsets.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/live_ranges.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::allocate {

/// The resident data of an op on its device, and its offset.
struct resident_block {
  op_id op = none;
  byte_count bytes = 0;
  byte_count offset = 0;
};

/// The memory of a device in a run: what is resident lies at the bottom, one after the other, and the tensors above. A
/// result that is written over an input lies where that was.
struct device_layout {
  std::vector<resident_block> residents; ///< of the ops there, by op
  std::vector<live_range> stays;        ///< of the tensors there, by tensor
  std::vector<byte_count> offsets;       ///< by stay
  byte_count bytes = 0;                  ///< where the last one ends
  byte_count bound = 0;                  ///< proven: no layout of this form takes less; at least the peak of the run
  byte_count capacity = 0;               ///< what the device has
  std::uint64_t nodes = 0;               ///< what the search spent

  bool fits() const { return bytes <= capacity; }
  bool is_least() const { return bytes == bound; }
};

/// Options of the search for offsets on devices.
struct device_options {
  byte_count alignment = 1;      ///< of every resident block and tensor, in bytes
  budget spend{.moves = 10'000}; ///< per device; `target` is not used
};

/// Tensors on one device as lifetimes: moments are numbered in the order of time. Complexity: O(n log n).
template <class W>
std::vector<lifetime> lifetimes_of(const W& w, std::span<const live_range> stays, byte_count alignment = 1) {
  std::vector<double> moments;
  for (const live_range& s : stays) {
    moments.insert(moments.end(), {s.begin, s.end});
  }
  weft::sort(moments);
  const auto number = [&](double time) {
    return std::lower_bound(moments.begin(), moments.end(), time) - moments.begin();
  };
  std::vector<lifetime> all;
  for (const live_range& s : stays) {
    all.push_back({number(s.begin), number(s.end), static_cast<byte_count>(w.bytes(s.tensor)), alignment});
  }
  return all;
}

namespace detail {

/// For each stay, the one that it is written over there, or `none`.
template <class W>
std::vector<std::uint32_t> stays_below(const W& w, std::span<const live_range> stays, const placement& where) {
  std::vector<std::uint32_t> below(stays.size(), none);
  for (const auto i : ids(stays.size())) {
    const tensor_id t = stays[i].tensor;
    if (!is_overwritten(w, t)) {
      continue;
    }
    const op_id v = *w.consumers(t).begin();
    const tensor_id result = *w.outputs(v).begin();
    auto s = std::lower_bound(stays.begin(), stays.end(), result,
                              [](const live_range& x, tensor_id u) { return x.tensor < u; });
    for (; s != stays.end() && s->tensor == result && where[v] == stays[i].device; ++s) {
      if (!s->received) {
        below[static_cast<std::size_t>(s - stays.begin())] = i;
      }
    }
  }
  return below;
}

} // namespace detail

/// Finds offsets, in as little memory as possible, for what each device holds in a run: what its ops keep, and each
/// tensor from when to when `simulate::memory_tracker` counts it there (plan/live_ranges.hpp). So with an alignment of
/// 1 a device's bound is at least its peak, and where a layout of this height is found, it needs no more than the plan
/// was thought to need. One after another, by `least`. Preconditions: as for `peak_memory_of`. Throws `value_error` as
/// `require_valid` does.
template <class W, class P, class C>
std::vector<device_layout> on_devices(const problem<W, P, C>& p, const placement& where, const trace& run,
                                      const device_options& options = {}) {
  std::vector<device_layout> made(p.num_devices());
  for (const op_id v : ids(p.num_ops())) {
    if (const byte_count bytes = p.workload().resident_bytes(v); bytes > 0) {
      made[p.memory_of(where[v])].residents.push_back({v, bytes, 0});
    }
  }
  live_ranges_of_runs<W>{p.workload(), p.platform()}(
    where, run, [&](const live_range& s) { made[s.device].stays.push_back(s); });
  budget spend = options.spend;
  spend.target = 0;
  for (const device_id d : ids(p.num_devices())) {
    device_layout& m = made[d];
    m.capacity = p.capacity(d);
    std::vector<lifetime> kept;
    for (const resident_block& x : m.residents) {
      kept.push_back({0, 1, x.bytes, options.alignment});
    }
    require_valid(kept);
    byte_count bottom = 0;
    for (resident_block& x : m.residents) {
      x.offset = aligned(bottom, options.alignment);
      bottom = x.offset + x.bytes;
    }
    m.bytes = m.bound = bottom;
    if (!m.stays.empty()) {
      auto lifetimes = lifetimes_of(p.workload(), m.stays, options.alignment);
      const auto first = join_in_place(detail::stays_below(p.workload(), m.stays, where), lifetimes);
      allocation found = least(lifetimes, spend);
      bottom = aligned(bottom, options.alignment);
      for (std::size_t i = 0; i < first.size(); ++i) {
        found.offsets[i] = i == first[i] ? found.offsets[i] + bottom : 0;
      }
      for (std::size_t i = 0; i < first.size(); ++i) {
        found.offsets[i] = found.offsets[first[i]];
      }
      m.bytes = bottom + found.bytes;
      m.bound = bottom + found.bound;
      m.nodes = found.nodes;
      m.offsets = std::move(found.offsets);
    }
  }
  return made;
}

} // namespace weft::allocate
