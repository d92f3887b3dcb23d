// SPDX-License-Identifier: BSL-1.0
/// Where each tensor lies in memory, and from when to when, in a run.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// A tensor on a device for some time, as `peak_memory_of` defines it: half-open, `[begin, end)` in seconds.
struct tensor_stay {
  tensor_id tensor = none;
  device_id device = none;
  double begin = 0;
  double end = 0;
  op_id keeper = none;   ///< the op there that needs it last; `none`: a send or nothing does
  bool received = false; ///< whether it is a copy of what another device made
  friend constexpr bool operator==(const tensor_stay&, const tensor_stay&) = default;
};

/// All stays of tensors that take memory for some time; those of a tensor together, by tensor.
/// Preconditions: as for `peak_memory_of`. Complexity: O(n + m + devices + transfers).
template <class W>
buffer<tensor_stay> tensor_stays(const W& w, std::size_t num_devices, const placement& where, const trace& run) {
  const auto num_tensors = static_cast<std::size_t>(w.num_tensors());
  std::vector<std::uint32_t> first(num_tensors + 1, 0); // transfers by tensor
  for (const auto& x : run.transfers) {
    ++first[x.tensor + 1];
  }
  for (const tensor_id t : ids(num_tensors)) {
    first[t + 1] += first[t];
  }
  std::vector<std::uint32_t> sent(run.transfers.size());
  auto next = first;
  for (std::uint32_t k = 0; k < run.transfers.size(); ++k) {
    sent[next[run.transfers[k].tensor]++] = k;
  }
  buffer<tensor_stay> stays;
  std::vector<op_id> keeper(num_devices, none); // of the tensor at hand
  for (const tensor_id t : ids(num_tensors)) {
    const op_id u = w.producer(t);
    for (const op_id c : w.consumers(t)) {
      auto& last = keeper[where[c]];
      last = last == none || run.ops[c].finish > run.ops[last].finish ? c : last;
    }
    const auto stay = [&](device_id d, double begin, double end, op_id last, bool received) {
      if (begin < end && w.bytes(t) > 0) {
        stays.push_back({t, d, begin, end, last, received});
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
      stay(x.to, x.start, there == none ? x.arrival : std::max(x.arrival, run.ops[there].finish), there, true);
    }
    stay(where[u], run.ops[u].start, end, last, false);
    for (const op_id c : w.consumers(t)) {
      keeper[where[c]] = none;
    }
  }
  return stays;
}

} // namespace weft
