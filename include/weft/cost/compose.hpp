// SPDX-License-Identifier: BSL-1.0
/// Cost models made from other cost models: scaled, perturbed, cached, and from a function.
#pragma once

#include "weft/core/random.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/linear.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::cost {

namespace detail {
template <class Base, class W, class P>
constexpr double send_time(const Base& base, const W& w, tensor_id t, const P& p, device_id from, device_id to) {
  if constexpr (cost_parts::has_send_time<Base, W, P>) {
    return base.send_time(w, t, p, from, to);
  } else {
    return 0;
  }
}
} // namespace detail

/// Every compute time of `base` times `compute`, every send and transfer time times `communication`.
template <class Base>
struct scaled {
  Base base{};
  double compute = 1;
  double communication = 1;

  template <class W, class P>
    requires cost_parts::has_compute_time<Base, W, P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return compute * base.compute_time(w, v, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return communication * base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
  constexpr double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return communication * detail::send_time(base, w, t, p, from, to);
  }
  template <class P>
    requires cost_parts::has_device_classes<Base, P>
  constexpr device_id device_class(const P& p, device_id d) const {
    return base.device_class(p, d);
  }
};
template <class Base>
scaled(Base, double, double) -> scaled<Base>;

/// Compute times of `base` times a factor drawn uniformly from `[1 - spread, 1 + spread]` per op and device: what
/// happens when an estimate is wrong. The same seed gives the same factors, in whatever order they are asked for.
template <class Base>
struct perturbed {
  Base base{};
  double spread = 0.1; ///< at least 0, below 1
  std::uint64_t seed = 0;

  template <class W, class P>
    requires cost_parts::has_compute_time<Base, W, P>
  constexpr double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    rng random{rng::mix(seed ^ rng::mix((std::uint64_t{v} << 32) | d))};
    return random.uniform(1 - spread, 1 + spread) * base.compute_time(w, v, p, d);
  }
  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return base.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
  constexpr double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return detail::send_time(base, w, t, p, from, to);
  }
};
template <class Base>
perturbed(Base, double, std::uint64_t) -> perturbed<Base>;

/// Compute times of `base`, asked for once per op and device class and then read from memory: for models that are
/// expensive to ask. Devices whose times are all the same become one class, also where `base` has no classes. Made for
/// one workload and one platform. Memory: 8 bytes per op and class.
template <class Base>
class cached {
public:
  template <class W, class P>
    requires cost_model_for<Base, W, P>
  constexpr cached(Base base, const W& w, const P& p) : base_{base}, num_ops_{static_cast<std::size_t>(w.num_ops())} {
    for (const device_id d : ids(p.num_devices())) {
      if constexpr (cost_parts::has_device_classes<Base, P>) {
        if (const device_id first = base.device_class(p, d); first != d) {
          class_.push_back(class_[first]);
          continue;
        }
      }
      const auto begin = seconds_.size();
      for (const op_id v : ids(num_ops_)) {
        seconds_.push_back(base.compute_time(w, v, p, d));
      }
      device_id same = 0; // the first class with these times; at the latest, the one just made
      while (!std::equal(row(same), row(same) + static_cast<std::ptrdiff_t>(num_ops_),
                         seconds_.begin() + static_cast<std::ptrdiff_t>(begin))) {
        ++same;
      }
      if (same < first_device_.size()) {
        seconds_.resize(begin);
      } else {
        first_device_.push_back(d);
      }
      class_.push_back(same);
    }
  }

  template <class W, class P>
  constexpr double compute_time(const W&, op_id v, const P&, device_id d) const {
    return seconds_[class_[d] * num_ops_ + v];
  }
  template <class W, class P>
    requires cost_parts::has_transfer_time<Base, W, P>
  constexpr double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return base_.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
  constexpr double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return detail::send_time(base_, w, t, p, from, to);
  }
  template <class P>
  constexpr device_id device_class(const P&, device_id d) const {
    return first_device_[class_[d]];
  }

private:
  constexpr auto row(device_id c) const { return seconds_.begin() + static_cast<std::ptrdiff_t>(c * num_ops_); }

  Base base_;
  std::size_t num_ops_;
  std::vector<double> seconds_;         // one run of all ops per class
  std::vector<device_id> class_;        // per device
  std::vector<device_id> first_device_; // per class
};

/// Compute times from a function `(op_id, device_id) -> seconds`, transfers over the platform's links.
/// ```
/// cost::from_function model{[&](op_id v, device_id d) { return flops[v] / rate[d] + 5e-6; }};
/// ```
template <class Function>
struct from_function : link_transfers {
  Function function;
  constexpr explicit from_function(Function f) : function{std::move(f)} {}

  template <class W, class P>
  constexpr double compute_time(const W&, op_id v, const P&, device_id d) const {
    return function(v, d);
  }
};

} // namespace weft::cost
