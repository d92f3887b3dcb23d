// SPDX-License-Identifier: BSL-1.0
/// Generators of heterogeneity: platforms of related speeds, and tables of unrelated compute times.
#pragma once

#include "weft/core/elementary.hpp"
#include "weft/core/error.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/generate.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::generate {

/// Devices that are the same but for their speed.
struct related_options {
  std::uint32_t devices = 8;
  double min_speed = 1; ///< work units per second, drawn uniformly
  double max_speed = 4;
  link all = {.latency = 0, .bandwidth = 1}; ///< between any two
  double gpu_share = 0; ///< this share of the devices, rounded down and the last ones, are GPUs, the others CPUs
};

/// A platform of related devices: each op is as many times faster on one device than on another. Equal speeds make
/// identical devices. Memory is unlimited. Throws `value_error` for options that are out of range.
/// Complexity: O(devices²), since each link is checked.
inline platform<uniform_links> related_platform(const related_options& o = {}, std::uint64_t seed = 0) {
  detail::require(o.devices > 0, "devices", "must be at least 1");
  detail::require(o.min_speed > 0 && o.min_speed <= o.max_speed, "min_speed, max_speed",
                  "need 0 < smallest <= largest");
  detail::require(detail::is_probability(o.gpu_share), "gpu_share", "must be from 0 to 1");
  rng random{seed};
  const auto gpus = static_cast<std::uint32_t>(o.gpu_share * o.devices);
  std::vector<device> devices;
  for (const device_id d : ids(o.devices)) {
    devices.push_back({.kind = d + gpus < o.devices ? device_kind::cpu : device_kind::gpu,
                       .speed = random.uniform(o.min_speed, o.max_speed),
                       .reached_rates = true});
  }
  return {std::move(devices), uniform_links{o.all}};
}

namespace detail {

/// A number of the standard normal distribution. Source: Marsaglia's polar method.
inline double normal(rng& random) {
  for (;;) {
    const double x = random.uniform(-1, 1);
    const double y = random.uniform(-1, 1);
    const double r = rounded(x * x) + rounded(y * y);
    if (r < 1 && r > 0) {
      return x * std::sqrt(-2 * portable_log(r) / r);
    }
  }
}

/// A number of the gamma distribution with the given mean and coefficient of variation, `0 < variation <= 1`.
/// Source: Marsaglia and Tsang, ACM TOMS 26(3), 2000.
inline double gamma(double mean, double variation, rng& random) {
  const double shape = 1 / (variation * variation);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(random);
    const double root = 1 + rounded(c * x);
    const double v = root * root * root;
    if (const double u = random.uniform();
        v > 0 && u > 0 && portable_log(u) < rounded(x * x / 2) + d - rounded(d * v) + rounded(d * portable_log(v))) {
      return mean * (d * v / shape);
    }
  }
}

} // namespace detail

/// Unrelated compute times for `cost::table`, shape ops × devices, row-major, in seconds, by the range-based method: op
/// v takes from `work(v) (1 − beta/2)` to `work(v) (1 + beta/2)` on each device, drawn uniformly; work units are taken
/// for mean seconds. `beta` is from 0 (identical devices) to 2. Throws `value_error` otherwise. Complexity: O(ops ·
/// devices).
/// Source: Topcuoglu, Hariri, Wu 2002, §5.1.
template <workload_parts::has_work W>
std::vector<double> range_based_costs(const W& w, std::size_t num_devices, double beta, std::uint64_t seed = 0) {
  detail::require(beta >= 0 && beta <= 2, "beta", "must be from 0 to 2");
  rng random{seed};
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(w.num_ops()) * num_devices);
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    for (std::size_t d = 0; d < num_devices; ++d) {
      // beta / 2 is exact, so it does not matter whether the sums are fused or not.
      seconds.push_back(static_cast<double>(w.work(v)) * random.uniform(1 - beta / 2, 1 + beta / 2));
    }
  }
  return seconds;
}

/// Options of `cvb_costs`.
struct cvb_options {
  double op_variation = 0;       ///< coefficient of variation of an op's mean around its work, from 0 to 1
  double device_variation = 0.5; ///< coefficient of variation of an op's times on different devices, from 0 to 1
  bool consistent = false;       ///< each op's times ascend with the device, so that device 0 is best for all
};

/// Unrelated compute times like those of `range_based_costs`, by the method of coefficients of variation: an op's mean
/// is drawn from a gamma distribution around its work, and its times from one around that mean.
/// Throws `value_error` for options that are out of range. Complexity: O(ops · devices), plus sorting if consistent.
/// Source: Ali, Siegel, Maheswaran, Hensgen, Ali, *Representing Task and Machine Heterogeneities for Heterogeneous
/// Computing Systems*, Tamkang J. Science and Engineering 3(3), 2000 (there every op has the same expected mean).
template <workload_parts::has_work W>
std::vector<double> cvb_costs(const W& w, std::size_t num_devices, const cvb_options& o = {}, std::uint64_t seed = 0) {
  detail::require(o.op_variation >= 0 && o.op_variation <= 1, "op_variation", "must be from 0 to 1");
  detail::require(o.device_variation >= 0 && o.device_variation <= 1, "device_variation", "must be from 0 to 1");
  rng random{seed};
  const auto draw = [&](double mean, double variation) {
    return mean > 0 && variation > 0 ? detail::gamma(mean, variation, random) : mean;
  };
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(w.num_ops()) * num_devices);
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    const double mean = draw(static_cast<double>(w.work(v)), o.op_variation);
    for (std::size_t d = 0; d < num_devices; ++d) {
      seconds.push_back(draw(mean, o.device_variation));
    }
    if (o.consistent) {
      weft::sort(seconds.data() + seconds.size() - num_devices, seconds.data() + seconds.size());
    }
  }
  return seconds;
}

} // namespace weft::generate
