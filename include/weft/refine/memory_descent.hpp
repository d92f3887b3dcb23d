// SPDX-License-Identifier: BSL-1.0
/// Search for plans that need less memory at their worst moment.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::refine {

/// Lowers the largest share of its capacity that any device needs at any time in the run under
/// `schedule::static_order`, and among plans that need the same shortens the makespan. A move takes a component that
/// something alive at the peak of a full device belongs to elsewhere, half of the time to where there is most room, or
/// puts an op elsewhere into the order, between what it waits for and what waits for it. Each move is a full run. Worse
/// plans are accepted while they are worse by less than a threshold, which falls to 0.
///
/// Ends when the share is at most `enough`; returns the best plan met, with its order, never one that needs more than
/// the given one. Kinds and groups are respected; reservations are not looked at. Deterministic for a seed when the
/// budget is in moves. Source of the threshold: Dueck, Scheuer, *Threshold Accepting*, J. Comp. Physics 90, 1990.
/// Complexity: O((n + m) log(n + m)) per move.
struct memory_descent {
  weft::budget budget = {.moves = 2000};
  double enough = 0;      ///< share of the capacities
  double threshold = 0.2; ///< in the beginning, relative, of the share
  bool keep_kinds = false; ///< components go only to devices of the kind on which they are

  template <class Problem>
  plan operator()(const Problem& p, plan start, const schedule::static_order&, rng& random) const {
    if (p.num_ops() == 0) {
      return start;
    }
    return search<Problem>{p, *this, random}.run(std::move(start));
  }

private:
  /// The memory that a plan needs, and its makespan.
  struct need {
    double share = 0;    ///< largest of all devices
    double pressure = 0; ///< Σ share^16: falls also while only some of several full devices get emptier
    double makespan = 0;
    constexpr bool operator<(const need& b) const {
      return share != b.share ? share < b.share : makespan < b.makespan;
    }
  };

  template <class Problem>
  class search {
  public:
    search(const Problem& p, const memory_descent& options, rng& random)
        : p_{p}, empty_{p.with_capacities(std::vector<byte_count>(p.num_devices(), 0))}, options_{options},
          random_{random}, simulate_{p}, memory_{p} {}

    plan run(plan start) {
      budget_meter meter{options_.budget};
      plan now = start;
      if (!evaluate(now)) {
        return start;
      }
      now = without_sends(simulate::plan_of(p_, trace_));
      const need given = need_;
      if (!evaluate(now) || given < need_) { // sends in another order
        now = start;
        evaluate(now);
      }
      need current = need_;
      need least = need_;
      plan best = now;
      look_at_peaks(now.placement);
      while (least.share > options_.enough && meter.spend()) {
        const double slack = options_.threshold * (1 - meter.fraction()) * (1 - meter.fraction());
        plan next = now;
        if (!(p_.num_devices() > 1 && random_.below(3) > 0 ? move_component(next) : move_step(next)) ||
            !evaluate(next)) {
          continue;
        }
        const double limit = current.pressure * (1 + rounded(16 * slack * random_.uniform()));
        if (need_.pressure < limit || (need_.pressure == current.pressure && need_.makespan <= current.makespan)) {
          current = need_;
          now = std::move(next);
          look_at_peaks(now.placement);
          if (current < least) {
            least = current;
            best = now;
          }
        }
      }
      return best;
    }

  private:
    /// Runs a plan; false if it does not end.
    bool evaluate(const plan& x) {
      if (!simulate_.run(x, simulate::recorder{trace_}).complete) {
        return false;
      }
      memory_.follow(x.placement, trace_);
      need_ = {0, 0, trace_.makespan};
      for (const device_id d : ids(p_.num_devices())) {
        const double s = share(d, memory_.peaks()[d]);
        const double s2 = s * s;
        const double s4 = s2 * s2;
        const double s8 = s4 * s4;
        need_.share = std::max(need_.share, s);
        need_.pressure += rounded(s8 * s8);
      }
      return true;
    }

    double share(device_id d, byte_count bytes) const {
      const auto capacity = p_.capacity(d);
      return bytes == 0 ? 0 : static_cast<double>(bytes) / std::max(0.5, static_cast<double>(capacity));
    }

    static plan without_sends(plan x) {
      std::erase_if(x.order, [](const step& s) { return s.is_send(); });
      return x;
    }

    /// Of the run that was evaluated last.
    void look_at_peaks(const placement& where) {
      peaks_ = memory_shortages(empty_, where, trace_);
      residents_.assign(p_.num_devices(), {});
      for (component_id c = 0; c < p_.num_components(); ++c) {
        if (p_.resident_bytes(c) > 0) {
          residents_[p_.memory_of(where[p_.members(c).front()])].push_back(c);
        }
      }
    }

    /// Moves a component from one of the fullest devices to another device.
    bool move_component(plan& x) {
      if (peaks_.empty()) {
        return false;
      }
      const memory_shortage* full = &peaks_[random_.below(peaks_.size())];
      for (int k = 0; k < 3; ++k) {
        const auto& other = peaks_[random_.below(peaks_.size())];
        full = share(other.device, other.peak) > share(full->device, full->peak) ? &other : full;
      }
      const auto& here = residents_[full->device];
      component_id c = none;
      if (!here.empty() && (full->alive.empty() || random_.uniform() * static_cast<double>(full->peak) <
                                                       static_cast<double>(full->resident))) {
        c = here[random_.below(here.size())];
      } else if (!full->alive.empty()) {
        const double skewed = random_.uniform(); // large ones first
        const auto i = static_cast<std::size_t>(skewed * skewed * static_cast<double>(full->alive.size()));
        const auto& t = full->alive[i];
        c = p_.component(t.received || (t.keeper != none && random_.below(3) == 0) ? t.keeper : t.producer);
      } else {
        return false;
      }
      const device_id to = random_.below(2) == 0 ? roomiest(c, x.placement) : random_.below(p_.num_devices());
      if (to == none || to == x.placement[p_.members(c).front()] || !takes(to, c, x.placement)) {
        return false;
      }
      for (const op_id v : p_.members(c)) {
        x.placement[v] = to;
      }
      x = without_sends(std::move(x));
      return true;
    }

    bool takes(device_id d, component_id c, const placement& where) const {
      const auto kind = [&](device_id e) { return hardware_kind(p_.platform(), e); };
      return p_.kinds(c).contains(p_.platform().kind(d)) &&
             (!options_.keep_kinds || kind(d) == kind(where[p_.members(c).front()]));
    }

    /// The other device for c with the most bytes never used; ties: the smaller id.
    device_id roomiest(component_id c, const placement& where) const {
      device_id best = none;
      byte_count most = 0;
      for (const device_id d : ids(p_.num_devices())) {
        const auto capacity = p_.capacity(d);
        const byte_count room = capacity - std::min(capacity, memory_peak(p_.memory_of(d)));
        if (d != where[p_.members(c).front()] && takes(d, c, where) && (best == none || room > most)) {
          best = d;
          most = room;
        }
      }
      return best;
    }

    byte_count memory_peak(device_id d) const {
      const auto at = std::lower_bound(peaks_.begin(), peaks_.end(), d,
                                       [](const memory_shortage& s, device_id e) { return s.device < e; });
      return at != peaks_.end() && at->device == d ? at->peak : 0;
    }

    /// An op, half of the time one that makes or keeps something at a peak, goes elsewhere in the order.
    bool move_step(plan& x) {
      if (x.order.empty()) {
        return false;
      }
      auto i = static_cast<std::size_t>(random_.below(x.order.size()));
      if (!peaks_.empty() && random_.below(2) == 0) {
        const auto& full = peaks_[random_.below(peaks_.size())];
        if (!full.alive.empty()) {
          const auto& t = full.alive[random_.below(full.alive.size())];
          const op_id v = t.keeper != none && random_.below(2) == 0 ? t.keeper : t.producer;
          i = static_cast<std::size_t>(std::find(x.order.begin(), x.order.end(), step::run(v)) - x.order.begin());
        }
      }
      if (x.order[i].is_send()) {
        return false;
      }
      const op_id v = x.order[i].op;
      const auto& w = p_.workload();
      std::size_t first = i;
      while (first > 0 && !waits_for(w, v, x.order[first - 1].op)) {
        --first;
      }
      std::size_t last = i;
      while (last + 1 < x.order.size() && !waits_for(w, x.order[last + 1].op, v)) {
        ++last;
      }
      if (first == last) {
        return false;
      }
      const auto to = first + random_.below(last - first + 1);
      const auto at = [&](std::size_t k) { return x.order.begin() + static_cast<std::ptrdiff_t>(k); };
      if (to < i) {
        std::rotate(at(to), at(i), at(i + 1));
      } else {
        std::rotate(at(i), at(i + 1), at(to + 1));
      }
      return to != i;
    }

    template <class Workload>
    static bool waits_for(const Workload& w, op_id v, op_id u) {
      return u == v || std::ranges::any_of(w.inputs(v), [&](tensor_id t) { return w.producer(t) == u; });
    }

    const Problem& p_;
    const Problem empty_; // the same on devices without memory, where all that is held is lacking
    const memory_descent& options_;
    rng& random_;
    simulator<Problem, schedule::static_order> simulate_;
    simulate::memory_tracker<Problem> memory_;
    trace trace_;
    need need_;
    std::vector<memory_shortage> peaks_;                // what fills each device at its worst moment
    buffer<buffer<component_id>> residents_; // per device
  };
};

} // namespace weft::refine
