// SPDX-License-Identifier: BSL-1.0
/// Peak memory of each device in a run, computed from the trace alone.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <vector>

namespace weft {

/// The most bytes that were in use at one time on each device: the resident bytes of its ops, all the time, and the
/// tensors alive there. A tensor is alive
/// - on its producer's device, unless it is resident there (`is_resident`), from the op's start until its last local
///   consumer has finished and its last send is over; if it has neither, until the op has finished;
/// - on a consumer's device from the transfer's start until its last consumer there has finished;
/// - where devices share a memory, a transfer between them copies nothing: the tensor is alive where it was made until
///   its last consumer there, too, has finished; all that these devices hold counts on the one whose memory it is;
/// - if its one consumer writes over it (`is_overwritten`), until that has started instead.
/// Lifetimes are half-open: what ends at an instant is gone before anything else begins, and what ends when it
/// begins needs nothing.
/// Preconditions: the placement is complete; the trace has every op, and its transfers are those that the placement
/// causes. Complexity: O((n + m) log (n + m)).
template <class W, class P, class C>
constexpr std::vector<byte_count> peak_memory_of(const problem<W, P, C>& p, const placement& where, const trace& run) {
  struct event {
    device_id device;
    double time;
    bool begins;
    byte_count bytes;
    constexpr bool operator<(const event& b) const {
      return device != b.device ? device < b.device : time != b.time ? time < b.time : begins < b.begins;
    }
  };
  const W& w = p.workload();
  std::vector<event> events;
  const auto live = [&](device_id d, double begin, double end, byte_count bytes) {
    if (begin < end) {
      events.push_back({d, begin, true, bytes});
      events.push_back({d, end, false, bytes});
    }
  };

  std::vector<const transfer_record*> transfers;
  for (const auto& x : run.transfers) {
    transfers.push_back(&x);
  }
  std::sort(transfers.begin(), transfers.end(), [](const auto* a, const auto* b) { return a->tensor < b->tensor; });
  auto next = transfers.begin();
  std::vector<double> last_use(p.num_devices(), -1); // of the tensor at hand; -1: no consumer there
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = w.producer(t);
    for (const op_id c : w.consumers(t)) {
      last_use[where[c]] = std::max(last_use[where[c]], is_overwritten(w, t) ? run.ops[c].start : run.ops[c].finish);
    }
    const device_id memory = p.memory_of(where[u]);
    double end = last_use[where[u]];
    for (; next != transfers.end() && (*next)->tensor == t; ++next) {
      const device_id to = (*next)->to;
      end = std::max(end, (*next)->send_finish);
      if (p.memory_of(to) == memory) {
        end = std::max({end, (*next)->arrival, last_use[to]});
      } else {
        live(p.memory_of(to), (*next)->start, last_use[to], w.bytes(t));
      }
    }
    live(memory, run.ops[u].start, end < 0 ? run.ops[u].finish : end, is_resident(w, t) ? 0 : w.bytes(t));
    for (const op_id c : w.consumers(t)) {
      last_use[where[c]] = -1;
    }
  }

  std::vector<byte_count> in_use(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    in_use[p.memory_of(where[v])] += w.resident_bytes(v);
  }
  auto peak = in_use;
  std::sort(events.begin(), events.end());
  for (const auto& e : events) {
    in_use[e.device] = e.begins ? in_use[e.device] + e.bytes : in_use[e.device] - e.bytes;
    peak[e.device] = std::max(peak[e.device], in_use[e.device]);
  }
  return peak;
}

} // namespace weft
