// SPDX-License-Identifier: BSL-1.0
/// Finds the devices that lack memory in a trace, and the tensors that fill them.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/live_ranges.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <cstdint>
#include <vector>

namespace weft {

/// The devices that hold more at their worst moment than they can, by id, and what they hold then. Empty: memory is
/// enough. Preconditions: as for `peak_memory_of`, whose peaks these are. Complexity: O((n + m) log(n + m)).
template <class W, class P, class C>
std::vector<memory_shortage> memory_shortages(const problem<W, P, C>& p, const placement& where, const trace& run) {
  const auto& w = p.workload();
  const auto stays = live_ranges(w, p.platform(), where, run);
  struct change {
    device_id device;
    double time;
    bool begins; // what ends at an instant is gone before anything else begins
    byte_count bytes;
  };
  buffer<change> changes;
  changes.reserve(2 * stays.size());
  for (const auto& s : stays) {
    changes.push_back({s.device, s.begin, true, w.bytes(s.tensor)});
    changes.push_back({s.device, s.end, false, w.bytes(s.tensor)});
  }
  weft::sort(changes, [](const change& a, const change& b) {
    return a.device != b.device ? a.device < b.device : a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  std::vector<byte_count> resident(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    resident[p.memory_of(where[v])] += p.workload().resident_bytes(v);
  }
  std::vector<memory_shortage> found;
  std::vector<std::uint32_t> index(p.num_devices(), none);
  const change* next = changes.begin();
  for (const device_id d : ids(p.num_devices())) {
    const byte_count capacity = p.capacity(d);
    memory_shortage s{.device = d, .peak = resident[d], .capacity = capacity, .resident = resident[d]};
    byte_count held = resident[d];
    for (; next != changes.end() && next->device == d; ++next) {
      held = next->begins ? held + next->bytes : held - next->bytes;
      if (held > s.peak) {
        s.peak = held;
        s.time = next->time;
      }
    }
    if (s.peak > capacity) {
      index[d] = static_cast<std::uint32_t>(found.size());
      found.push_back(std::move(s));
    }
  }
  for (const auto& s : stays) {
    if (index[s.device] != none) {
      auto& short_of = found[index[s.device]];
      if (s.begin <= short_of.time && short_of.time < s.end && short_of.peak > short_of.resident) {
        short_of.alive.push_back({s.tensor, w.producer(s.tensor), w.bytes(s.tensor), s.keeper, s.received});
      }
    }
  }
  for (auto& s : found) {
    weft::sort(s.alive, [](const memory_shortage::live_tensor& a, const memory_shortage::live_tensor& b) {
      return a.bytes != b.bytes     ? a.bytes > b.bytes
             : a.tensor != b.tensor ? a.tensor < b.tensor
                                    : a.received < b.received;
    });
  }
  return found;
}

} // namespace weft
