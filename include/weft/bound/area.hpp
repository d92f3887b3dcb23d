// SPDX-License-Identifier: BSL-1.0
/// The area bound: total work over the total rate at which the devices can do it.
#pragma once

#include "weft/bound/detail/relaxation.hpp"
#include "weft/core/rounding.hpp"

#include <algorithm>
#include <vector>

namespace weft::bound {

namespace detail {

/// The area bound over one set of device types.
template <class Problem>
class area_bound {
public:
  constexpr explicit area_bound(const relaxation<Problem>& r) : r_{r} {}

  /// The bound for these device types, ascending, and the ops that are allowed on no others.
  constexpr double operator()(const std::vector<std::uint32_t>& types) {
    inside_.clear();
    for (const auto& c : r_.choices()) {
      inside_.push_back(c.is_within(types) ? 1 : 0);
    }
    ops_.clear();
    for (const op_id v : ids(r_.problem().num_ops())) {
      if (inside_[r_.choice_index(v)]) {
        ops_.push_back(v);
      }
    }
    set_rates(types);
    double most = 0;
    // Where costs are unrelated, mean rates are not the best weights; a few steps improve them. The number of cost
    // look-ups is limited, so that large problems pay for few steps.
    const std::size_t look_ups = 1 + ops_.size() * types.size();
    const std::size_t steps = 1 + std::min<std::size_t>(16, 1'000'000 / look_ups);
    for (std::size_t step = 0; step < steps; ++step) {
      normalise(types);
      const auto [least, greatest] = evaluate();
      most = std::max(most, least);
      if (least <= 0 || greatest - least <= 1e-9 * greatest) {
        break; // all devices cost every op the same: these weights are optimal
      }
      // Load above the average makes a device dearer.
      const double rate = 1 / (2 + static_cast<double>(step) / 2); // exact, fused or not
      for (const std::uint32_t i : types) {
        const double relative = load_[i] / (places(i) * least);
        weight_[i] *= 1 + rounded(rate * (std::min(relative, 3.0) - 1));
      }
    }
    return most;
  }

private:
  struct range {
    double least;
    double greatest;
  };

  constexpr double places(std::uint32_t type) const {
    return r_.slots(type) * static_cast<double>(r_.types()[type].count);
  }

  /// Weights in proportion to the mean rates of the ops that are allowed on all of these types, if there are any: for
  /// linear costs these are the speeds. Otherwise, the mean rates relative to each op's best.
  constexpr void set_rates(const std::vector<std::uint32_t>& types) {
    const device_choice* const everywhere = r_.choice_of(types);
    double least = infinity;
    weight_.assign(r_.types().size(), 0.0);
    for (std::size_t k = 0; k < types.size(); ++k) {
      double time = 0;
      double best = 0;
      if (everywhere != nullptr) {
        time = everywhere->total[k];
        best = 1;
      } else {
        for (std::size_t c = 0; c < inside_.size(); ++c) {
          const auto& choice = r_.choices()[c];
          if (const std::size_t at = choice.find(types[k]); inside_[c] && at < choice.types.size()) {
            time += choice.total[at];
            best += choice.total_best;
          }
        }
      }
      weight_[types[k]] = best > 0 ? time / best : 0; // inverse for now
      least = weight_[types[k]] > 0 ? std::min(least, weight_[types[k]]) : least;
    }
    for (const std::uint32_t i : types) {
      weight_[i] = weight_[i] > 0 && least < infinity ? least / weight_[i] : 1;
    }
  }

  constexpr void normalise(const std::vector<std::uint32_t>& types) {
    double sum = 0;
    for (const std::uint32_t i : types) {
      sum += rounded(places(i) * weight_[i]);
    }
    for (const std::uint32_t i : types) {
      weight_[i] /= sum;
    }
  }

  /// Σ over the ops of their least weighted time, which is the bound, and of their greatest; fills the loads.
  constexpr range evaluate() {
    load_.assign(weight_.size(), 0.0);
    range sum{0, 0};
    for (const op_id v : ops_) {
      double least = infinity;
      double greatest = 0;
      double time_there = 0;
      std::uint32_t where = 0;
      for (const std::uint32_t i : r_.choice(v).types) {
        const double time = r_.time(v, i);
        if (!(time < infinity)) {
          continue; // v does not run there
        }
        const double weighted = weight_[i] * time;
        greatest = std::max(greatest, weighted);
        if (weighted < least) {
          least = weighted;
          time_there = time;
          where = i;
        }
      }
      load_[where] += time_there;
      sum.least += least;
      sum.greatest += greatest;
    }
    return sum;
  }

  const relaxation<Problem>& r_;
  std::vector<std::uint8_t> inside_;  // per choice
  std::vector<op_id> ops_;
  std::vector<double> weight_;        // per device type
  std::vector<double> load_;          // per device type
};

template <class Problem>
constexpr double area(const relaxation<Problem>& r) {
  area_bound<Problem> bound{r};
  const auto& all = r.usable_types();
  double most = bound(all);
  // With many capacities there may be many choices; the first ones will do.
  for (std::size_t c = 0; c < std::min<std::size_t>(r.choices().size(), 16); ++c) {
    if (const auto& types = r.choices()[c].types; types.size() < all.size()) {
      most = std::max(most, bound(types));
    }
  }
  return most;
}

} // namespace detail

/// Total work over total rate, for devices that may be unrelated; seconds. All devices that some op may run on,
/// and each set of devices that some component allows, are tried together with the ops that are confined to them; the
/// best is returned.
///
/// Valid for any weights y_d >= 0 with Σ_d slots(d)·y_d = 1: a plan of makespan T keeps device d busy for at most
/// slots(d)·T, so Σ_v min_d y_d·time(v, d) <= Σ_d y_d·busy(d) <= Σ_d y_d·slots(d)·T = T. (It is the dual of the linear
/// program that assigns ops to devices fractionally.) The weights start at each device's mean rate, which gives
/// exactly Σ work / Σ speed for linear costs, and are improved by a few multiplicative steps where costs are not.
///
/// Complexity: O(n · device types) per set of devices and step.
template <class Problem>
constexpr double area(const Problem& p) {
  const detail::relaxation<Problem> r{p};
  return r.feasible() ? detail::area(r) : detail::infinity;
}

} // namespace weft::bound
