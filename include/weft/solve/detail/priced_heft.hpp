// SPDX-License-Identifier: BSL-1.0
/// HEFT where memory has a price, so that what needs much of it for little work leaves the devices that are short of
/// it.
#pragma once

#include "weft/core/numbering.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list_scheduler.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// HEFT, but each op goes to the device with the least sum of its finish time and the price of the bytes that it would
/// keep there: what its component holds all the time, its outputs, and those of its inputs that are not there yet.
/// Only tensors that are `scarce` count, and only `short_of` devices charge. A byte costs more the fuller a device is:
/// price · fill / capacity seconds, where the fill is the share of the capacity that was charged so far. So where a
/// reservation sends everything elsewhere once it is full, prices send first what frees most bytes per second lost.
///
/// Source: prices that rise with the load, as in Aspnes, Azar, Fiat, Plotkin, Waarts, *On-Line Routing of Virtual
/// Circuits with Applications to Load Balancing and Machine Scheduling*, J. ACM 44, 1997. Ties, complexity: as HEFT.
struct priced_heft {
  double price = 0; ///< seconds, for as much as a full device holds
  std::span<const std::uint8_t> scarce = {};   ///< per tensor
  std::span<const std::uint8_t> short_of = {}; ///< per device

  template <class Problem>
  outcome<plan> operator()(const Problem& p, rng& random, workspace& scratch) const {
    books<Problem> b{p, *this};
    return partition::list_scheduler<partition::list::by_upward_rank, choice<Problem>>{.choice = {&b}}(p, random,
                                                                                                       scratch);
  }

private:
  /// What was charged in one run.
  template <class Problem>
  struct books {
    books(const Problem& problem, const priced_heft& s)
        : p{problem}, options{s}, used(p.num_devices(), 0.0), row(p.num_devices(), 0.0) {}

    /// Bytes that v would add to what is kept on d; the first op of a component brings all of it.
    double bytes(op_id v, device_id d, bool is_first) const {
      const auto& w = p.workload();
      const component_id c = p.component(v);
      double sum = 0;
      if (is_first) {
        sum = static_cast<double>(p.resident_bytes(c));
        for (const op_id m : p.members(c)) {
          for (const tensor_id t : w.outputs(m)) {
            sum += options.scarce[t] != 0 ? static_cast<double>(w.bytes(t)) : 0;
          }
        }
      }
      for (const tensor_id t : w.inputs(v)) {
        if (options.scarce[t] != 0 && p.component(w.producer(t)) != c && !there.contains(key(t, d))) {
          sum += static_cast<double>(w.bytes(t));
        }
      }
      return sum;
    }

    void charge(op_id v, device_id d, bool is_first) {
      used[p.memory_of(d)] += bytes(v, d, is_first);
      const auto& w = p.workload();
      const auto mark = [&](tensor_id t) {
        if (options.scarce[t] != 0) {
          there.insert(key(t, d));
        }
      };
      for (const tensor_id t : w.outputs(v)) {
        mark(t);
      }
      for (const tensor_id t : w.inputs(v)) {
        mark(t);
      }
    }

    double capacity(device_id d) const {
      return std::max(1.0, static_cast<double>(p.capacity(d)));
    }
    std::uint64_t key(tensor_id t, device_id d) const { return std::uint64_t{t} << 32 | p.memory_of(d); }

    const Problem& p;
    const priced_heft& options;
    std::vector<double> used; // bytes per memory
    std::vector<double> row;  // seconds per device, for the op in hand
    numbering<std::uint64_t> there; // scarce tensors in memories
  };

  template <class Problem>
  struct choice {
    books<Problem>* b = nullptr;

    template <class Builder>
    partition::list::option operator()(Builder& builder, op_id v, const partition::list::ranking&,
                                       double group_weight) const {
      const bool is_first = builder.placed().device(v) == none;
      for (const device_id d : ids(b->row.size())) {
        const double fill = b->used[b->p.memory_of(d)] / b->capacity(d);
        b->row[d] = b->options.short_of[d] == 0 || !is_first
                      ? 0
                      : b->options.price * fill * b->bytes(v, d, is_first) / b->capacity(d);
      }
      const auto chosen = builder.best(v, partition::list::finish_time{}, b->row, group_weight);
      if (chosen.device != none) {
        b->charge(v, chosen.device, is_first);
      }
      return chosen;
    }
  };
};

} // namespace weft::solve::detail
