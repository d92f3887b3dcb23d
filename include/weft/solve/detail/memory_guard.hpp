// SPDX-License-Identifier: BSL-1.0
/// Judges runs by the memory that they need over time, and learns reservations from those that need too much.
#pragma once

#include "weft/bound/component_memory.hpp"
#include "weft/bound/live_memory.hpp"
#include "weft/core/numbering.hpp"
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
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// Why no plan keeps to the memory, if that is easy to see: a component never fits, or all devices together have too
/// little. Nothing if neither is so. Complexity: O((n + m) devices), and that of `bound::live_memory`.
template <class Problem>
std::optional<infeasibility> why_impossible(const Problem& p) {
  for (component_id c = 0; c < p.num_components(); ++c) {
    if (auto why = bound::why_never_fits(p, c)) {
      return why;
    }
  }
  return bound::why_too_large(p);
}

/// Demands that start with what components hold all the time. When a run needs too much, each tensor that was there at
/// the worst moment of an overfull device is charged to a component there: a tensor made there to its producer's, a
/// copy to that of the op that keeps it. So a placement that keeps to the new reservation does not fill a device with
/// the same things again. Charges are a part of [CP]'s demand: when all of these are charged the reservation cannot be
/// exceeded, so learning ends.
template <class Problem>
class memory_guard {
public:
  explicit memory_guard(const Problem& p) : p_{&p}, charge_(p.num_components(), 0) {}

  /// Whether the run of the plan keeps to the memory. If not, `learn` can learn from it.
  bool admits(const plan& x, const trace& run) {
    auto shortages = memory_shortages(*p_, x.placement, run);
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
    if (excess < nearest_.excess) {
      nearest_ = {x, excess, run.makespan,
                  *std::max_element(shortages.begin(), shortages.end(),
                                    [](const auto& l, const auto& r) { return l.excess() < r.excess(); })};
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
        if (charged_.insert(key)) {
          learned = true;
          charge_[c] += t.bytes;
        }
      }
    }
    pending_.clear();
    excess_ = std::numeric_limits<double>::infinity();
    return learned;
  }

  /// Marks the devices that were overfull in the run of which `learn` would learn, and those of the same kind with as
  /// little memory, as things would only go there.
  void mark_overfull(std::vector<std::uint8_t>& devices) const {
    const auto& q = p_->platform();
    for (const auto& s : pending_) {
      for (const device_id d : ids(devices.size())) {
        const bool alike = p_->memory_of(d) == s.device || (hardware_kind(q, d) == hardware_kind(q, s.device) &&
                                                            p_->capacity(d) <= p_->capacity(s.device));
        devices[d] = alike ? 1 : devices[d];
      }
    }
  }
  /// Marks the tensors that filled them at their worst moment.
  void mark_alive(std::vector<std::uint8_t>& tensors) const {
    for (const auto& s : pending_) {
      for (const auto& t : s.alive) {
        tensors[t.tensor] = 1;
      }
    }
  }

  /// The problem with the reservations that were learned so far, of which only a share is charged if it is below 1:
  /// what was there at different moments need not fit at once.
  const Problem& reserved(double share = 1) {
    std::vector<byte_count> demand(charge_.size(), 0);
    for (component_id c = 0; c < p_->num_components(); ++c) {
      const byte_count resident = p_->resident_bytes(c);
      const byte_count more =
        share < 1 ? static_cast<byte_count>(static_cast<double>(charge_[c]) * share) : charge_[c];
      demand[c] = resident + std::min(more, std::numeric_limits<byte_count>::max() - resident);
    }
    return reserved_.emplace(p_->with_demands(std::move(demand)));
  }

  /// A plan whose run needed too much, and what was missing most.
  struct near_miss {
    plan decided = {};
    double excess = std::numeric_limits<double>::infinity(); ///< Σ over devices, in capacities
    double makespan = 0;                                     ///< seconds
    memory_shortage shortage = {};
  };

  /// Forgets what was learned and what was not admitted; returns of the latter the plan that came nearest, with an
  /// infinite excess if all were admitted.
  near_miss start_anew() {
    learn();
    charged_.clear();
    charge_.assign(charge_.size(), 0);
    return std::exchange(nearest_, {});
  }

private:
  const Problem* p_;
  std::vector<byte_count> charge_; // per component, beyond what is resident
  std::optional<Problem> reserved_; // made anew each time, since cost models need not be assignable
  numbering<std::uint64_t> charged_;
  std::vector<memory_shortage> pending_;
  double excess_ = std::numeric_limits<double>::infinity(); // of the pending ones
  near_miss nearest_;
};

} // namespace weft::solve::detail
