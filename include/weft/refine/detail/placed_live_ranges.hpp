// SPDX-License-Identifier: BSL-1.0
/// A placed workload as numbers, for searches that follow the tensors in memory.
#pragma once

#include "weft/plan/memory_rule.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::refine::detail {

/// Rows of numbers, one after the other.
struct number_rows {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::uint32_t> numbers;

  void clear() {
    first.assign(1, 0);
    numbers.clear();
  }
  void push(std::uint32_t x) { numbers.push_back(x); }
  void end_row() { first.push_back(static_cast<std::uint32_t>(numbers.size())); }
  id_range positions(std::size_t row) const { return {first[row], first[row + 1]}; }
};

/// A placed workload as numbers: what runs, what waits for it, and what takes memory from when to when. A *stay* is a
/// tensor on one device: stay t is tensor t where it is made, stay `num_tensors` + k what transfer k brings, which is
/// nothing if it is within a memory.
struct placed_live_ranges {
  std::uint32_t num_ops = 0;
  std::uint32_t num_tensors = 0;
  std::vector<double> seconds;       // per item: ops, then the sends of transfers
  std::vector<device_id> device;     // per item
  std::vector<double> tail;          // per item: the least time from its start to the end
  std::vector<std::uint32_t> waits;  // per item: for how many arrivals, or ends of ops on its device
  std::vector<double> moving;        // per transfer: seconds on the link
  std::vector<device_id> to;         // per transfer
  std::vector<std::uint32_t> sent;   // per transfer: its stay on the sender's device
  number_rows reaches;               // per transfer: the ops that it serves
  number_rows leads_to;              // per op: the ops on its device that wait for it
  number_rows transfers;             // per op: of what it makes
  number_rows makes;                 // per op: stays that begin with it
  number_rows holds;                 // per op: stays that last until it has ended, or longer
  number_rows overwrites;            // per op: stays that last until it starts, as it writes over them
  std::vector<std::uint32_t> holders; // per stay: ends of ops and of sends before it ends
  std::vector<byte_count> bytes;      // per stay
  std::vector<device_id> memory;      // per device: the one whose memory it works in
  std::vector<byte_count> resident;   // per memory
  std::vector<byte_count> limit;      // per memory
  std::vector<std::size_t> slots;     // per device

  template <class Problem>
  void assign(const placed_flow<Problem>& f) {
    const Problem& p = f.problem();
    const auto& w = p.workload();
    num_ops = static_cast<std::uint32_t>(f.num_ops());
    num_tensors = static_cast<std::uint32_t>(p.num_tensors());
    const std::size_t num_transfers = f.transfers().size();
    bytes.assign(num_tensors + num_transfers, 0);
    holders.assign(bytes.size(), 0);
    resident.assign(p.num_devices(), 0);
    seconds.clear();
    device.clear();
    waits.clear();
    for (auto* rows : {&reaches, &leads_to, &transfers, &makes}) {
      rows->clear();
    }
    for (const op_id v : ids(num_ops)) {
      seconds.push_back(f.duration(v));
      device.push_back(f.device_of(v));
      waits.push_back(f.num_inputs(v));
      resident[p.memory_of(f.device_of(v))] += w.resident_bytes(v);
      for (const tensor_id t : w.outputs(v)) {
        makes.push(t);
        bytes[t] = is_resident(w, t) ? 0 : w.bytes(t);
        for (const op_id c : f.local_consumers(t)) {
          leads_to.push(c);
        }
        for (const std::uint32_t k : f.transfers_of(t)) {
          transfers.push(k);
          holders[t] += f.needs_queue(f.send_of(k)) ? 1u : 0u;
        }
      }
      makes.end_row();
      leads_to.end_row();
      transfers.end_row();
    }
    moving.clear();
    to.clear();
    sent.clear();
    for (const std::uint32_t k : ids(num_transfers)) {
      const auto& x = f.transfers()[k];
      seconds.push_back(x.send_time);
      device.push_back(x.from);
      waits.push_back(1);
      moving.push_back(x.transfer_time);
      to.push_back(x.to);
      sent.push_back(x.tensor);
      bytes[num_tensors + k] = p.memory_of(x.from) == p.memory_of(x.to) ? 0 : w.bytes(x.tensor);
      for (const op_id c : f.consumers_of_transfer(k)) {
        reaches.push(c);
      }
      reaches.end_row();
    }
    holds.clear();
    overwrites.clear();
    for (const op_id v : ids(num_ops)) {
      for (const tensor_id t : w.outputs(v)) {
        hold(t, holds);
      }
      for (const tensor_id t : w.inputs(v)) {
        std::uint32_t stay = t;
        for (const std::uint32_t k : f.transfers_of(t)) {
          const auto& x = f.transfers()[k];
          stay = x.to == f.device_of(v) && p.memory_of(x.from) != p.memory_of(x.to) ? num_tensors + k : stay;
        }
        hold(stay, is_overwritten(w, t) ? overwrites : holds);
      }
      holds.end_row();
      overwrites.end_row();
    }
    tail.assign(seconds.size(), 0.0);
    f.from_the_end(
      tail, [&](op_id v, double rest) { return rest + seconds[v]; },
      [&](std::uint32_t k, double rest) { return moving[k] + rest + seconds[f.send_of(k)]; });
    memory.clear();
    limit.clear();
    slots.clear();
    for (const device_id d : ids(p.num_devices())) {
      memory.push_back(p.memory_of(d));
      limit.push_back(p.capacity(d));
      slots.push_back(p.platform().slots(d));
    }
  }

  /// True if the ops run one after the other on one device.
  bool is_one_queue() const {
    return num_ops > 0 && slots[device[0]] == 1 &&
           std::all_of(device.begin(), device.end(), [&](device_id d) { return d == device[0]; });
  }

private:
  void hold(std::uint32_t stay, number_rows& by) {
    by.push(stay);
    ++holders[stay];
  }
};

} // namespace weft::refine::detail
