// SPDX-License-Identifier: BSL-1.0
/// Random changes of a placement that a search may try: one component, two that swap, or a cluster that moves along.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/throughput/flow.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::throughput::detail {

/// Components that go to one device, and possibly one that comes from there in exchange.
struct proposal {
  std::vector<component_id> moved; ///< all from one device; empty if the draw was good for nothing
  component_id exchanged = none;
  device_id from = none;
  device_id to = none;
};

/// Draws proposals that respect kinds and memory. Source of clusters: Swendsen, Wang, *Nonuniversal critical dynamics
/// in Monte Carlo simulations*, 1987: components on the same device are bound with a probability that grows with what
/// it would cost to part them, so that one step crosses barriers that single moves climb in many.
template <class Problem>
class proposals {
public:
  explicit proposals(const flow<Problem>& f)
      : flow_{&f}, bond_(f.num_parcels(), 0.0), stamp_(f.num_components(), 0) {
    const auto k = static_cast<device_id>(f.num_devices());
    for (std::uint32_t q = 0; q < f.num_parcels(); ++q) {
      for (device_id d = 0; d < k && k > 1; ++d) { // neighbouring devices stand for all pairs
        double cost = f.leaving(q, d);
        f.moving(q, d, d + 1 < k ? d + 1 : 0, [&cost](std::size_t, double seconds) { cost = std::max(cost, seconds); });
        bond_[q] = std::max(bond_[q], cost);
      }
      strongest_ = std::max(strongest_, bond_[q]);
    }
  }

  /// Fills `x` for a state with `device(c)` and `free(d)`; `x.moved` is empty if nothing came of it.
  template <class State>
  void draw(const State& s, rng& random, double cluster_share, proposal& x) {
    x.moved.clear();
    x.exchanged = none;
    const auto n = flow_->num_components();
    const component_id c = random.below(n);
    const auto what = random.uniform();
    const bool cluster = what < cluster_share;
    x.from = s.device(c);
    if (!cluster && what > 0.75 + rounded(0.25 * cluster_share)) {
      swap(s, c, random.below(n), x);
      return;
    }
    x.to = random.below(3) == 0 ? anywhere(c, random) : beside(s, c, random);
    if (x.to == none || x.to == x.from) {
      return;
    }
    x.moved.push_back(c);
    if (cluster) {
      grow(s, random, x);
    }
    byte_count demand = 0;
    for (const component_id y : x.moved) {
      demand += flow_->problem().demand(y);
      if (!allows(y, x.to)) {
        x.moved.clear();
        return;
      }
    }
    if (s.free(x.to) < demand && !share_memory(x)) {
      x.moved.clear();
    }
  }

private:
  bool share_memory(const proposal& x) const {
    return flow_->problem().memory_of(x.from) == flow_->problem().memory_of(x.to);
  }
  bool allows(component_id c, device_id d) const {
    const auto& p = flow_->problem();
    return p.kinds(c).contains(p.platform().kind(d)) && flow_->time(c, d) < std::numeric_limits<double>::infinity();
  }

  template <class State>
  void swap(const State& s, component_id c, component_id other, proposal& x) const {
    const auto& p = flow_->problem();
    x.to = s.device(other);
    if (x.to != x.from && allows(c, x.to) && allows(other, x.from) &&
        (share_memory(x) ||
         (s.free(x.to) + p.demand(other) >= p.demand(c) && s.free(x.from) + p.demand(c) >= p.demand(other)))) {
      x.moved.push_back(c);
      x.exchanged = other;
    }
  }

  device_id anywhere(component_id c, rng& random) const {
    const auto allowed = flow_->allowed(c);
    return allowed.empty() ? none : allowed[random.below(allowed.size())];
  }

  /// The device of a random neighbour.
  template <class State>
  device_id beside(const State& s, component_id c, rng& random) const {
    const auto in = flow_->inputs(c);
    const auto out = flow_->outputs(c);
    if (in.size() + out.size() == 0) {
      return none;
    }
    const std::size_t pick = random.below(in.size() + out.size());
    if (pick < in.size()) {
      return s.device(flow_->producer(in[pick]));
    }
    const auto consumers = flow_->consumers(*out.begin() + static_cast<std::uint32_t>(pick - in.size()));
    return s.device(consumers[random.below(consumers.size())]);
  }

  template <class State>
  void grow(const State& s, rng& random, proposal& x) {
    double weak = random.uniform(); // the strength that is bound in half of the cases; small more often than large
    weak *= weak;
    weak *= weak;
    weak *= weak * strongest_;
    ++now_;
    stamp_[x.moved.front()] = now_;
    const auto visit = [&](component_id y, std::uint32_t q) {
      if (stamp_[y] != now_ && s.device(y) == x.from && random.uniform() * (bond_[q] + weak) < bond_[q]) {
        stamp_[y] = now_;
        x.moved.push_back(y);
      }
    };
    for (std::size_t i = 0; i < x.moved.size() && x.moved.size() <= max_members; ++i) {
      const component_id y = x.moved[i];
      for (const std::uint32_t q : flow_->inputs(y)) {
        visit(flow_->producer(q), q);
      }
      for (const std::uint32_t q : flow_->outputs(y)) {
        for (const component_id z : flow_->consumers(q)) {
          visit(z, q);
        }
      }
    }
  }

  static constexpr std::size_t max_members = 200; // at about that, a cluster ends, so that a move stays cheap

  const flow<Problem>* flow_;
  std::vector<double> bond_; // per parcel: seconds that it costs to part its ends
  double strongest_ = 0;
  std::vector<std::uint64_t> stamp_; // per component: the last cluster that it was in
  std::uint64_t now_ = 0;
};

/// A random number that is small more often than large, like an exponential one, from arithmetic that is the same
/// everywhere: how many "temperatures" a worsening may cost.
inline double patience(rng& random) { return 1 / (random.uniform() + 0.2) - 1 / 1.2; }

} // namespace weft::throughput::detail
