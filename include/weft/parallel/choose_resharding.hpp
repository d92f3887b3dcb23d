// SPDX-License-Identifier: BSL-1.0
/// The collectives that bring tensors into other layouts in the least time on some devices of a platform.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/cost/linear.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/plan/contention.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace weft::parallel {

/// The algorithms of collectives that programs have.
enum class collective_family : std::uint8_t {
  library, ///< rings and trees, as in NCCL
  any      ///< also those of programs' own kernels, or of MPI, in which each rank sends to all others at once
};

/// The family that is usual on these devices: `library` on accelerators whose rates are peak rates, else `any`.
template <class Platform>
collective_family usual_collectives(const Platform& p, std::span<const device_id> devices) {
  const auto has_library = [&](device_id d) {
    bool reached = false;
    if constexpr (requires { p.reached_rates(d); }) {
      reached = p.reached_rates(d);
    }
    return hardware_kind(p, d) != device_kind::cpu && !reached;
  };
  return std::all_of(devices.begin(), devices.end(), has_library) ? collective_family::library : collective_family::any;
}

/// The fastest of several collectives for each resharding, by the bytes of the tensor. The time of each is a line
/// through those of two sizes, simulated on the platform's links when nothing else runs; time per byte is at least what
/// it is where a rank sends and receives one message at a time. `cost` as for `collective_seconds`. Complexity: that of
/// simulating each four times.
class fastest_resharding {
public:
  template <class Platform, class Cost = cost::linear>
  fastest_resharding(const Platform& p, std::span<const device_id> devices, contention_model how,
                     collective_family family = collective_family::any, const Cost& cost = {}) {
    const auto ranks = static_cast<std::uint32_t>(devices.size());
    const auto add = [&](resharding what, collective c) {
      constexpr byte_count small = 10'000, large = 100'000'000;
      const double at_small = collective_seconds(c, small, p, devices, how, cost);
      // However many links a rank has, what it sends to several at once shares its way out.
      double slope = 0;
      for (const auto shared : {how, contention_model::port}) {
        slope = std::max(slope, (collective_seconds(c, large, p, devices, shared, cost) -
                                 collective_seconds(c, small, p, devices, shared, cost)) /
                                  (large - small));
      }
      ways_[what].push_back({std::move(c), at_small - slope * small, slope});
    };
    for (const auto what : {resharding::all_gather, resharding::reduce_scatter, resharding::all_reduce}) {
      add(what, ring(what, ranks));
    }
    add(resharding::all_reduce, tree_all_reduce(ranks));
    if (family == collective_family::any) {
      add(resharding::all_gather, direct_all_gather(ranks));
      add(resharding::reduce_scatter, direct_reduce_scatter(ranks));
      add(resharding::all_reduce, direct_all_reduce(ranks));
      add(resharding::all_reduce, one_shot_all_reduce(ranks));
    }
    add(resharding::all_to_all, all_to_all(ranks));
  }

  double seconds(resharding what, byte_count bytes) const { return best(what, bytes).seconds(bytes); }
  const collective& messages(resharding what, byte_count bytes) const { return best(what, bytes).messages; }

private:
  struct way {
    collective messages;
    double latency, per_byte;
    double seconds(byte_count bytes) const { return latency + per_byte * static_cast<double>(bytes); }
  };
  const way& best(resharding what, byte_count bytes) const {
    const auto& all = ways_.at(what);
    return *std::min_element(all.begin(), all.end(),
                             [&](const way& a, const way& b) { return a.seconds(bytes) < b.seconds(bytes); });
  }

  std::map<resharding, std::vector<way>> ways_;
};

} // namespace weft::parallel
