// SPDX-License-Identifier: BSL-1.0
/// Loads kept up to date while components move.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/throughput/flow.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace weft::throughput {

/// The loads of a placement under moves of single components: only what a move changes is updated. Equals
/// `throughput::loads` up to rounding; `rebuild` removes what rounding has gathered. Refers to the flow.
/// Complexity of a move: O(parcels of the component) with staged costs, O(parcels · devices) with others.
/// Memory: 4 bytes per parcel and device.
template <class Problem>
class ledger {
public:
  /// Precondition: `start` has an allowed device for every component.
  ledger(const flow<Problem>& f, std::vector<device_id> start) : flow_{&f}, where_(std::move(start)) { rebuild(); }

  device_id device(component_id c) const { return where_[c]; }
  const std::vector<device_id>& devices() const { return where_; } ///< by component
  std::span<const double> loads() const { return load_; }          ///< seconds, by resource
  double period() const { return *std::ranges::max_element(load_); }
  byte_count free(device_id d) const { return free_[d]; }

  /// Computes all loads from scratch, in O(components + parcels · devices).
  void rebuild() {
    const auto& f = *flow_;
    const std::size_t k = f.num_devices();
    load_.assign(f.num_resources(), 0.0);
    count_.assign(f.num_parcels() * k, 0);
    abroad_.assign(f.num_parcels(), 0);
    free_.assign(k, 0);
    for (const device_id d : ids(k)) {
      free_[d] = f.problem().capacity(d);
    }
    for (component_id c = 0; c < f.num_components(); ++c) {
      load_[where_[c]] += f.time(c, where_[c]);
      f.problem().memories().take(free_, where_[c], f.problem().demand(c));
    }
    for (std::uint32_t q = 0; q < f.num_parcels(); ++q) {
      for (const component_id c : f.consumers(q)) {
        arrive(q, where_[f.producer(q)], where_[c], [](std::size_t, double, double) {});
      }
    }
  }

  /// Moves c to another device, and calls `changed(resource, before, after)` after each change of a load.
  template <class Changed>
  void move(component_id c, device_id to, Changed changed) {
    const auto& f = *flow_;
    const device_id from = where_[c];
    add(from, -f.time(c, from), changed);
    add(to, f.time(c, to), changed);
    f.problem().memories().give(free_, from, f.problem().demand(c));
    f.problem().memories().take(free_, to, f.problem().demand(c));
    for (const std::uint32_t q : f.inputs(c)) {
      const device_id source = where_[f.producer(q)];
      withdraw(q, source, from, changed);
      arrive(q, source, to, changed);
    }
    for (const std::uint32_t q : f.outputs(c)) {
      relocate(q, from, to, changed);
    }
    where_[c] = to;
  }
  void move(component_id c, device_id to) {
    move(c, to, [](std::size_t, double, double) {});
  }

private:
  template <class Changed>
  void add(std::size_t r, double seconds, Changed& changed) {
    if (seconds != 0) {
      const double before = load_[r];
      load_[r] += seconds;
      changed(r, before, load_[r]);
    }
  }

  /// One more consumer of q on `to`.
  template <class Changed>
  void arrive(std::uint32_t q, device_id source, device_id to, Changed&& changed) {
    if (count_[q * flow_->num_devices() + to]++ == 0 && to != source) {
      flow_->moving(q, source, to, [&](std::size_t r, double seconds) { add(r, seconds, changed); });
      if (abroad_[q]++ == 0) {
        add(source, flow_->leaving(q, source), changed);
      }
    }
  }

  /// One consumer less.
  template <class Changed>
  void withdraw(std::uint32_t q, device_id source, device_id from, Changed& changed) {
    if (--count_[q * flow_->num_devices() + from] == 0 && from != source) {
      flow_->moving(q, source, from, [&](std::size_t r, double seconds) { add(r, -seconds, changed); });
      if (--abroad_[q] == 0) {
        add(source, -flow_->leaving(q, source), changed);
      }
    }
  }

  /// The producer of q goes elsewhere.
  template <class Changed>
  void relocate(std::uint32_t q, device_id from, device_id to, Changed& changed) {
    const std::uint32_t* const count = &count_[q * flow_->num_devices()];
    if (abroad_[q] != 0) {
      add(from, -flow_->leaving(q, from), changed);
    }
    const auto charge = [&](device_id source, device_id d, double sign) {
      if (count[d] != 0 && d != source) {
        flow_->moving(q, source, d, [&](std::size_t r, double seconds) { add(r, sign * seconds, changed); });
      }
    };
    if constexpr (charges<Problem>::staged) { // what comes in costs the same, wherever from
      charge(from, to, -1);
      charge(to, from, 1);
    } else {
      for (const device_id d : ids(flow_->num_devices())) {
        charge(from, d, -1);
        charge(to, d, 1);
      }
    }
    abroad_[q] += (count[from] != 0 ? 1u : 0u);
    abroad_[q] -= (count[to] != 0 ? 1u : 0u);
    if (abroad_[q] != 0) {
      add(to, flow_->leaving(q, to), changed);
    }
  }

  const flow<Problem>* flow_;
  std::vector<device_id> where_;
  std::vector<double> load_;
  std::vector<byte_count> free_;
  std::vector<std::uint32_t> count_;  // parcels x devices: consumers there
  std::vector<std::uint32_t> abroad_; // per parcel: devices with consumers, other than the producer's
};

} // namespace weft::throughput
