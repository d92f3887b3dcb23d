// SPDX-License-Identifier: BSL-1.0
/// Finds out from a trace which devices lack memory, and what fills them.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

namespace detail {

/// A tensor on a device for some time, as `peak_memory_of` defines it.
struct tensor_stay {
  device_id device = none;
  double begin = 0;
  double end = 0;
  memory_shortage::live_tensor what = {};
};

/// All stays of tensors that take memory for some time; those of a tensor together, by tensor.
template <class W, class P, class C>
buffer<tensor_stay> tensor_stays(const problem<W, P, C>& p, const placement& where, const trace& run) {
  const W& w = p.workload();
  std::vector<std::uint32_t> first(p.num_tensors() + 1, 0); // transfers by tensor
  for (const auto& x : run.transfers) {
    ++first[x.tensor + 1];
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    first[t + 1] += first[t];
  }
  std::vector<std::uint32_t> sent(run.transfers.size());
  auto next = first;
  for (std::uint32_t k = 0; k < run.transfers.size(); ++k) {
    sent[next[run.transfers[k].tensor]++] = k;
  }
  buffer<tensor_stay> stays;
  std::vector<op_id> keeper(p.num_devices(), none); // of the tensor at hand
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = w.producer(t);
    for (const op_id c : w.consumers(t)) {
      auto& last = keeper[where[c]];
      last = last == none || run.ops[c].finish > run.ops[last].finish ? c : last;
    }
    const auto stay = [&](device_id d, double begin, double end, op_id last, bool received) {
      if (begin < end && w.bytes(t) > 0) {
        stays.push_back({d, begin, end, {t, u, w.bytes(t), last, received}});
      }
    };
    const op_id local = keeper[where[u]];
    double end = local != none ? run.ops[local].finish : run.ops[u].finish;
    op_id last = local;
    for (auto k = first[t]; k < first[t + 1]; ++k) {
      const auto& x = run.transfers[sent[k]];
      last = x.send_finish > end ? none : last;
      end = std::max(end, x.send_finish);
      const op_id there = keeper[x.to];
      stay(x.to, x.start, std::max(x.arrival, run.ops[there].finish), there, true);
    }
    stay(where[u], run.ops[u].start, end, last, false);
    for (const op_id c : w.consumers(t)) {
      keeper[where[c]] = none;
    }
  }
  return stays;
}

} // namespace detail

/// The devices that hold more at their worst moment than they can, by id, and what they hold then. Empty: memory is
/// enough. `capacity_share` asks the same of devices with that share of their memory; 0: what fills every device.
/// Preconditions: as for `peak_memory_of`, whose peaks these are. Complexity: O((n + m) log(n + m)).
template <class W, class P, class C>
std::vector<memory_shortage> memory_shortages(const problem<W, P, C>& p, const placement& where, const trace& run,
                                              double capacity_share = 1) {
  const auto stays = detail::tensor_stays(p, where, run);
  struct change {
    device_id device;
    double time;
    bool begins; // what ends at an instant is gone before anything else begins
    byte_count bytes;
  };
  buffer<change> changes;
  changes.reserve(2 * stays.size());
  for (const auto& s : stays) {
    changes.push_back({s.device, s.begin, true, s.what.bytes});
    changes.push_back({s.device, s.end, false, s.what.bytes});
  }
  weft::sort(changes, [](const change& a, const change& b) {
    return a.device != b.device ? a.device < b.device : a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  std::vector<byte_count> resident(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    resident[where[v]] += p.workload().resident_bytes(v);
  }
  std::vector<memory_shortage> found;
  std::vector<std::uint32_t> index(p.num_devices(), none);
  const change* next = changes.begin();
  for (const device_id d : ids(p.num_devices())) {
    const auto all = static_cast<byte_count>(p.platform().memory_capacity(d));
    const byte_count capacity = memory_limit{.capacity_share = capacity_share}.of(all);
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
        short_of.alive.push_back(s.what);
      }
    }
  }
  for (auto& s : found) {
    weft::sort(s.alive, [](const memory_shortage::live_tensor& a, const memory_shortage::live_tensor& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.tensor != b.tensor ? a.tensor < b.tensor : a.received < b.received;
    });
  }
  return found;
}

} // namespace weft
