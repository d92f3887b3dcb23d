// SPDX-License-Identifier: BSL-1.0
/// Costs in which transfers between some devices take longer than they would alone.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/concepts.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::cost {

/// Transfer times of `base` times a factor for each ordered pair of devices; all else is `base`'s. So a planner that
/// knows nothing of contention can be told where there was some: solve/best.hpp.
template <class Base>
class congested : public detail::computes_as<Base> {
public:
  /// `factors[from * num_devices + to]`, positive and finite. Copies share them.
  constexpr congested(Base wrapped, std::size_t num_devices, std::vector<double> factors)
      : detail::computes_as<Base>{{std::move(wrapped)}}, num_devices_{num_devices}, factors_{std::move(factors)} {
    WEFT_ASSERT(factors_->size() == num_devices * num_devices);
  }

  constexpr double factor(device_id from, device_id to) const { return (*factors_)[from * num_devices_ + to]; }

  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return factor(from, to) * this->base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_lines<Base, W, P>
  constexpr auto transfer_line(const W& w, const P& p, device_id from, device_id to) const {
    return detail::scaled_line{this->base.transfer_line(w, p, from, to), factor(from, to)};
  }

private:
  std::size_t num_devices_;
  shared<std::vector<double>> factors_;
};

} // namespace weft::cost
