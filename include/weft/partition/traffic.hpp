// SPDX-License-Identifier: BSL-1.0
/// The increase in traffic between devices, and in the load of each, from placing a component.
#pragma once

#include "weft/partition/assignment.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace weft::partition {

/// Computes, for one component, the transfer time that each device would add with the neighbours that are placed
/// already: a tensor counts once per device that it goes to, and not at all where it goes already.
/// Complexity of `of`: O(devices · (inputs + outputs + placed neighbours)).
template <class Problem>
class added_traffic {
public:
  constexpr explicit added_traffic(const Problem& p)
      : problem_{&p}, seconds_(p.num_devices(), 0.0), has_tensor_(p.num_devices(), none) {}

  /// Seconds per device, valid until the next call.
  constexpr std::span<const double> of(component_id c, const assignment<Problem>& a) {
    const auto& w = problem_->workload();
    const auto k = problem_->num_devices();
    for (auto& s : seconds_) {
      s = 0;
    }
    for (const op_id v : problem_->members(c)) {
      for (const tensor_id t : w.inputs(v)) {
        const device_id from = a.device(w.producer(t));
        if (from == none || !is_first_consumer(t, c, v)) {
          continue;
        }
        mark_devices_with(t, a);
        for (const device_id d : ids(k)) {
          if (d != from && has_tensor_[d] != t) {
            seconds_[d] += problem_->transfer_time(t, from, d);
          }
        }
      }
      for (const tensor_id t : w.outputs(v)) {
        mark_devices_with(t, a);
        for (const device_id to : ids(k)) {
          if (has_tensor_[to] == t) {
            for (const device_id d : ids(k)) {
              if (d != to) {
                seconds_[d] += problem_->transfer_time(t, d, to);
              }
            }
          }
        }
      }
    }
    return seconds_;
  }

private:
  /// Of the members of c that consume t, v is the one that counts it.
  constexpr bool is_first_consumer(tensor_id t, component_id c, op_id v) const {
    for (const op_id u : problem_->workload().consumers(t)) {
      if (problem_->component(u) == c) {
        return u == v;
      }
    }
    return false;
  }

  constexpr void mark_devices_with(tensor_id t, const assignment<Problem>& a) {
    for (auto& tensor : has_tensor_) {
      tensor = none;
    }
    for (const op_id c : problem_->workload().consumers(t)) {
      if (a.device(c) != none) {
        has_tensor_[a.device(c)] = t;
      }
    }
  }

  const Problem* problem_;
  std::vector<double> seconds_;
  std::vector<tensor_id> has_tensor_;
};

/// The product that `mite` and `dfs` minimise: execution · traffic. Execution is the compute time of a device with the
/// component on it, traffic the transfer time added; each is normalised by its largest value among the devices that
/// fit. A term of 0 counts `zero_term`, so that it does not erase the others.
template <class Problem>
class execution_and_traffic {
public:
  constexpr execution_and_traffic(const Problem& p, double zero_term)
      : problem_{&p}, traffic_{p}, zero_term_{zero_term}, own_(p.num_devices(), 0.0), product_(p.num_devices(), 0.0) {}

  /// Looks at one component; `product` and `own_seconds` are then about it, for the devices that fit.
  constexpr void look_at(component_id c, const assignment<Problem>& a) {
    const auto traffic = traffic_.of(c, a);
    double max_traffic = 0;
    double max_execution = 0;
    for (const device_id d : ids(own_.size())) {
      if (a.fits(c, d)) {
        own_[d] = problem_->component_time(c, d);
        max_traffic = std::max(max_traffic, traffic[d]);
        const double all = a.load(d) + own_[d];
        max_execution = std::max(max_execution, all < std::numeric_limits<double>::infinity() ? all : 0);
      }
    }
    for (const device_id d : ids(own_.size())) {
      if (a.fits(c, d)) {
        const double t = max_traffic > 0 ? term(traffic[d] / max_traffic) : 1;
        const double e = max_execution > 0 ? term((a.load(d) + own_[d]) / max_execution) : 1;
        product_[d] = t * e;
      }
    }
  }

  constexpr double term(double x) const { return x == 0 ? zero_term_ : x; }
  constexpr double product(device_id d) const { return product_[d]; }
  constexpr double own_seconds(device_id d) const { return own_[d]; } ///< the component's compute time on d

private:
  const Problem* problem_;
  added_traffic<Problem> traffic_;
  double zero_term_;
  std::vector<double> own_;
  std::vector<double> product_;
};

} // namespace weft::partition
