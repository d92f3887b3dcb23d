// SPDX-License-Identifier: BSL-1.0
/// Problems in which the number of threads matters: platforms with insides, and a cost model over them.
#pragma once

#include "weft/concurrency/concepts.hpp"
#include "weft/concurrency/roofline.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// A platform together with what each of its devices is like inside. Models whatever P models, and `has_machines`.
template <device_platform P>
class with_machines : public P {
public:
  /// Throws `value_error` unless there is one machine per device, each with sensible numbers.
  with_machines(P p, std::vector<weft::machine> machines) : P{std::move(p)}, machines_{std::move(machines)} {
    if (machines_.size() != static_cast<std::size_t>(this->num_devices())) {
      throw value_error("with_machines", std::to_string(machines_.size()) + " machines for " +
                                           std::to_string(this->num_devices()) + " devices");
    }
    for (const auto& m : machines_) {
      m.check();
    }
  }

  const weft::machine& machine(device_id d) const { return machines_[d]; }

private:
  std::vector<weft::machine> machines_;
};

/// A device that runs one op at a time on all that it has, such as a GPU: one core.
inline machine accelerator(std::string name, double speed, double bandwidth, double launch_seconds = 0) {
  return {.name = std::move(name),
          .core_speed = speed,
          .core_bandwidth = bandwidth,
          .socket_bandwidth = bandwidth,
          .dispatch_seconds = launch_seconds};
}

/// One processor as a platform of its own.
inline with_machines<platform<uniform_links>> single(const machine& m) {
  platform<uniform_links> one{{device{.speed = m.core_speed * m.cores(), .memory_bandwidth = m.bandwidth()}}, {}};
  one.set_names({m.name.empty() ? "cpu" : m.name});
  return {std::move(one), {m}};
}

namespace concurrency {

/// A cost model for problems over `with_machines`: `Model` tells the times by team, links the transfers. Where one
/// number per op and device is asked, by partitioners and bounds, it is the time with the fastest team, alone.
template <class Model = thread_roofline>
struct moldable : cost::link_transfers {
  Model model = {};

  /// Throws `value_error` if the model says something negative or not a number.
  template <dataflow_workload W>
    requires moldable_cost_for<Model, W>
  double seconds(const W& w, op_id v, const machine& m, team t) const {
    return checked_seconds(model, w, v, m, t);
  }

  template <dataflow_workload W>
    requires concurrency_parts::has_memory_traffic<Model, W>
  double memory_traffic(const W& w, op_id v, const machine& m, team t) const {
    return model.memory_traffic(w, v, m, t);
  }

  /// Complexity: O(cores of d).
  template <dataflow_workload W, platform_parts::has_machines P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    const machine& m = p.machine(d);
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t threads = 1; threads <= m.cores(); ++threads) {
      for (const auto a : {affinity::packed, affinity::spread}) {
        least = std::min(least, seconds(w, v, m, {threads, a}));
      }
    }
    return least;
  }
};

} // namespace concurrency
} // namespace weft
