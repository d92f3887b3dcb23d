// SPDX-License-Identifier: BSL-1.0
/// Measured compute times in place of a model's estimates.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/platform/kinds.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace weft::cost {

/// Compute times of `base` where nothing was measured. A measured time holds for devices like the one it was measured
/// on; for any other device it is scaled by what `base` thinks of the two: t(d) = t · base(d) / base(measured on). So
/// one measured device calibrates the estimates for all, op by op. Transfers are `base`'s.
/// ```
/// cost::measured c{cost::roofline{}, platform};
/// c.add(device_kind::gpu, profile_seconds); // per op; NaN where there is none
/// ```
template <class Base = linear>
class measured : public detail::wrapper_of<Base> {
public:
  template <class P>
  measured(Base wrapped, const P& p) : detail::wrapper_of<Base>{std::move(wrapped)} {
    for (const device_id d : ids(p.num_devices())) {
      kinds_.push_back(p.kind(d));
    }
  }

  /// Times per op in seconds, NaN where an op was not measured, on devices of these kinds: on the first one of the
  /// platform. If the platform has none of them, times of accelerators hold for its first accelerator, and all others
  /// for its first device. For a device of a kind that was added, that kind's times are used; else those added first.
  /// Throws `value_error` for a negative or infinite time.
  void add(kind_set kinds, std::vector<double> seconds) {
    const auto first_of = [this](auto matches) {
      return static_cast<device_id>(std::find_if(kinds_.begin(), kinds_.end(), matches) - kinds_.begin());
    };
    device_id reference = first_of([&](device_kind k) { return kinds.contains(k); });
    if (reference == kinds_.size() && !kinds.contains(device_kind::cpu)) {
      reference = first_of([](device_kind k) { return k != device_kind::cpu; });
    }
    for (std::size_t v = 0; v < seconds.size(); ++v) {
      if (seconds[v] < 0 || std::isinf(seconds[v])) {
        throw value_error("measured time of op " + std::to_string(v), "must be finite and not negative");
      }
    }
    columns_.push_back({kinds, reference < kinds_.size() ? reference : 0, shared{std::move(seconds)}});
  }

  template <class W, class P>
    requires cost_parts::has_compute_time<Base, W, P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    const double estimate = this->base.compute_time(w, v, p, d);
    const column* used = nullptr;
    for (const auto& c : columns_) {
      if (v < c.seconds->size() && !std::isnan((*c.seconds)[v])) {
        const bool same_kind = c.kinds.contains(kinds_[d]);
        if (used == nullptr || same_kind) {
          used = &c;
        }
        if (same_kind) {
          break;
        }
      }
    }
    if (used == nullptr) {
      return estimate;
    }
    const double there = used->reference == d ? estimate : this->base.compute_time(w, v, p, used->reference);
    const double seconds = (*used->seconds)[v];
    return there > 0 && estimate > 0 ? seconds * (estimate / there) : seconds;
  }
  template <class W, class P>
    requires cost_parts::has_device_classes<Base, W, P>
  device_id device_class(const W& w, const P& p, device_id d) const {
    device_id first = 0;
    while (kinds_[first] != kinds_[d] || this->base.device_class(w, p, first) != this->base.device_class(w, p, d)) {
      ++first;
    }
    return first;
  }

private:
  struct column {
    kind_set kinds;
    device_id reference;
    shared<std::vector<double>> seconds; // per op; copies of the model share them
  };

  std::vector<device_kind> kinds_; // per device
  std::vector<column> columns_;
};

} // namespace weft::cost
