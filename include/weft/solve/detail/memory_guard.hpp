// SPDX-License-Identifier: BSL-1.0
/// Judges runs by the memory that they need over time, and learns reservations from those that need too much.
#pragma once

#include "weft/plan/memory_rule.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// What components hold all the time, scaled up where only a share of the capacities may be used.
template <class Problem>
std::vector<byte_count> resident_demands(const Problem& p, double capacity_share) {
  std::vector<byte_count> demand;
  demand.reserve(p.num_components());
  for (component_id c = 0; c < p.num_components(); ++c) {
    const byte_count bytes = p.resident_bytes(c);
    demand.push_back(capacity_share == 1 ? bytes
                                         : static_cast<byte_count>(static_cast<double>(bytes) / capacity_share));
  }
  return demand;
}

/// The first component of which an op needs more than any device has: its component's resident bytes, its inputs and
/// its outputs are there while it runs, if it takes time. Nothing if there is none. Complexity: O((n + m) devices).
template <class Problem>
std::optional<infeasibility> why_impossible(const Problem& p, memory_limit limit) {
  const auto& w = p.workload();
  for (component_id c = 0; c < p.num_components(); ++c) {
    const byte_count resident = p.resident_bytes(c);
    infeasibility best;
    bool fits = false;
    bool exists = false;
    for (const device_id d : ids(p.num_devices())) {
      if (fits || !p.kinds(c).contains(p.platform().kind(d))) {
        continue;
      }
      const byte_count capacity = limit.of(static_cast<byte_count>(p.platform().memory_capacity(d)));
      byte_count most = resident;
      op_id largest = p.members(c).front();
      for (const op_id v : p.members(c)) {
        byte_count needs = resident;
        if (p.compute_time(v, d) > 0) {
          for (const tensor_id t : w.inputs(v)) {
            needs += w.bytes(t);
          }
          for (const tensor_id t : w.outputs(v)) {
            needs += w.bytes(t);
          }
        }
        if (needs > most) {
          most = needs;
          largest = v;
        }
      }
      fits = most <= capacity;
      if (!exists || capacity > best.largest_free) {
        best = {infeasibility::reason::out_of_memory, largest, p.members(c).size(), p.kinds(c), most, capacity};
      }
      exists = true;
    }
    if (!exists) {
      return infeasibility{infeasibility::reason::no_device_of_kind, p.members(c).front(), p.members(c).size(),
                           p.kinds(c)};
    }
    if (!fits) {
      return best;
    }
  }
  return std::nullopt;
}

/// Demands that start with what components hold all the time. When a run needs too much, each tensor that was there at
/// the worst moment of an overfull device is charged to a component there: a tensor made there to its producer's, a copy
/// to that of the op that keeps it. So a placement that keeps to the new reservation does not fill a device with the
/// same things again. Charges are a part of [CP]'s demand: when all of these are charged the reservation cannot be
/// exceeded, so learning ends.
template <class Problem>
class memory_guard {
public:
  memory_guard(const Problem& p, memory_limit limit)
      : p_{&p}, limit_{limit}, demand_{resident_demands(p, limit.capacity_share)}, reserved_{p.reserving(demand_)} {}

  /// Whether the run of the plan keeps to the memory. If not, `learn` can learn from it.
  bool admits(const plan& x, const trace& run) {
    auto shortages = memory_shortages(*p_, x.placement, run, limit_.capacity_share);
    if (shortages.empty()) {
      return true;
    }
    double excess = 0;
    for (const auto& s : shortages) {
      excess += static_cast<double>(s.excess()) / std::max(1.0, static_cast<double>(s.capacity));
    }
    if (excess < excess_) {
      excess_ = excess;
      pending_ = shortages;
    }
    if (excess < least_excess_) {
      least_excess_ = excess;
      nearest_ = x;
      shortage_ = *std::max_element(shortages.begin(), shortages.end(), [](const auto& a, const auto& b) {
        return a.excess() < b.excess();
      });
    }
    return false;
  }

  /// Charges what was in the way in the best of the runs that were not admitted since the last call. False: nothing was
  /// learned.
  bool learn() {
    bool learned = false;
    for (const auto& s : pending_) {
      for (const auto& t : s.alive) {
        const component_id c = p_->component(t.received ? t.keeper : t.producer);
        const std::uint64_t key = std::uint64_t{t.tensor} << 32 | (t.received ? c : none);
        if (charged_.insert(key).second) {
          learned = true;
          const double scaled = static_cast<double>(t.bytes) / limit_.capacity_share;
          demand_[c] += limit_.capacity_share == 1 ? t.bytes : static_cast<byte_count>(scaled);
        }
      }
    }
    pending_.clear();
    excess_ = std::numeric_limits<double>::infinity();
    if (learned) {
      reserved_ = p_->reserving(demand_);
    }
    return learned;
  }

  /// The problem with the reservations that were learned so far.
  const Problem& reserved() const { return reserved_; }
  memory_limit limit() const { return limit_; }
  /// Of the runs that were not admitted, the plan that came nearest; empty if all were admitted.
  const std::optional<plan>& nearest() const { return nearest_; }
  /// What was missing most in its run.
  const memory_shortage& shortage() const { return shortage_; }

private:
  const Problem* p_;
  memory_limit limit_;
  std::vector<byte_count> demand_;
  Problem reserved_;
  std::unordered_set<std::uint64_t> charged_;
  std::vector<memory_shortage> pending_;
  double excess_ = std::numeric_limits<double>::infinity(); // of the pending ones
  double least_excess_ = std::numeric_limits<double>::infinity();
  std::optional<plan> nearest_;
  memory_shortage shortage_;
};

} // namespace weft::solve::detail
