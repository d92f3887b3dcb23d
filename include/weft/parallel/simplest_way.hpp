// SPDX-License-Identifier: BSL-1.0
/// The simplest of the ways to run a step, of which each feature that a runtime needs has to pay for itself.
#pragma once

#include "weft/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace weft::parallel {

/// A thing that those who run a step have to set up, and that their runtime has to be able to do.
enum class feature {
  data,            ///< replicas with a part of the batch each
  tensor,          ///< ops in parts on several devices
  context,         ///< sequences in parts on several devices
  pipeline,        ///< stages on several devices
  placed_ops,      ///< a device for each op
  turns,           ///< virtual stages: several on each device
  micro_batches,   ///< the batch in parts one after the other, whose gradients are added up
  sharded_updates, ///< each replica updates a part of the parameters
  sharded_parameters, ///< each replica holds a part of them, which all gather before they are read
  experts,         ///< each expert of a mixture on one replica
  unlike_devices,  ///< devices of several kinds or speeds that share the work
  recomputation,   ///< ops that run again for the backward pass
  offloading       ///< tensors that wait on the host
};
inline constexpr std::size_t num_features = 13;
inline constexpr std::array<std::string_view, num_features> feature_names{
  "data parallelism",    "tensor parallelism",          "context parallelism",
  "pipeline stages",     "ops on devices of their own", "virtual stages",
  "micro-batches",       "sharded updates",             "sharded parameters",
  "experts on devices of their own", "unlike devices",  "recomputation",
  "tensors on the host"}; ///< in their order

constexpr std::string_view to_string(feature f) { return feature_names[static_cast<std::size_t>(f)]; }

/// A way to run a step, in the numbers that say how complicated it is.
struct configuration {
  std::uint32_t devices = 1; ///< that share the work
  std::uint32_t replicas = 1;
  std::uint32_t ranks = 1;  ///< devices that split an op
  std::uint32_t context_ranks = 1; ///< devices that split a sequence
  std::uint32_t stages = 1; ///< of devices
  std::uint32_t turns = 1;  ///< stages of each device
  std::uint64_t micro_batches = 1;
  bool places_ops = false;
  bool shards_updates = false;
  bool shards_parameters = false;
  bool splits_experts = false;
  bool on_unlike_devices = false;
  bool recomputes = false;
  bool offloads = false;

  constexpr bool has(feature f) const {
    switch (f) {
    case feature::data: return replicas > 1;
    case feature::tensor: return ranks > 1;
    case feature::context: return context_ranks > 1;
    case feature::pipeline: return stages > 1;
    case feature::placed_ops: return places_ops;
    case feature::turns: return turns > 1;
    case feature::micro_batches: return micro_batches > 1;
    case feature::sharded_updates: return shards_updates;
    case feature::sharded_parameters: return shards_parameters;
    case feature::experts: return splits_experts;
    case feature::unlike_devices: return on_unlike_devices;
    case feature::recomputation: return recomputes;
    case feature::offloading: return offloads;
    }
    return false;
  }
  /// How many features it needs.
  constexpr std::uint32_t complexity() const {
    std::uint32_t count = 0;
    for (std::size_t f = 0; f < num_features; ++f) {
      count += has(static_cast<feature>(f)) ? 1u : 0u;
    }
    return count;
  }
  friend bool operator==(const configuration&, const configuration&) = default;
};

/// True if `a` is simpler than `b`: it needs fewer features; of equally many, fewer devices; then ops are where their
/// framework has them, are split among fewer devices, sequences as well, and there are fewer stages, turns and micro-
/// batches, in this order. A strict weak order.
constexpr bool is_simpler(const configuration& a, const configuration& b) {
  const auto key = [](const configuration& c) {
    return std::tuple{c.complexity(), c.devices, c.places_ops, c.ranks, c.context_ranks, c.stages, c.turns,
                      c.micro_batches};
  };
  return key(a) < key(b);
}

/// A way with the time of a step; infinite if it does not fit.
struct timed_way {
  configuration how = {};
  double seconds = std::numeric_limits<double>::infinity();
};

/// A way that is faster than the one that was taken, though not by enough.
struct untaken_way {
  std::size_t number = 0; ///< among the ways
  double gain = 0;        ///< the time of the way that was taken over its own, less 1
  double asked = 0;       ///< the gain with which it might have been taken
};

struct chosen_way {
  static constexpr std::size_t nothing = static_cast<std::size_t>(-1);
  std::size_t number = nothing; ///< among the ways; `nothing` if none fits
  std::vector<untaken_way> not_taken = {}; ///< the fastest first
  explicit operator bool() const { return number != nothing; }
};

namespace detail {

/// (1 + least_gain)^count: the least ratio of times for which so many features are worth their trouble.
inline double ratio_for(std::uint32_t count, double least_gain) {
  double ratio = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    ratio *= 1 + least_gain;
  }
  return ratio;
}

} // namespace detail

/// The time of a step as it counts beside ways that need no feature: times 1 + `least_gain` for each that it needs.
inline double seconds_with_complexity(const timed_way& w, double least_gain) {
  return w.seconds * detail::ratio_for(w.how.complexity(), least_gain);
}

/// The way to take. Each feature has to make the step faster by `least_gain` (0.05 for 5 %): a way with k features more
/// than another one is taken only where it is faster by more than (1 + least_gain)^k - 1. Complexity adds up, for those
/// who set a step up as for estimates, each of which rests on one more model, so what it has to gain adds up, too; and
/// times that are multiplied by that for each feature can be compared, where "faster by 5 %" alone is not transitive.
/// Of the ways with as many features as the best one by that measure, for which they pay and more would not, and that
/// take at most 1 + `least_gain` times as long as the fastest of these, it is the simplest, such as that on the fewest
/// devices; of equally simple ones the fastest, then the first.
/// With `least_gain` 0 it is the fastest of all, and of equally fast ones the simplest.
/// Throws `value_error` for a `least_gain` that is below 0 or not finite. Complexity: O(n log n).
inline chosen_way simplest_within(std::span<const timed_way> ways, double least_gain) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(least_gain >= 0 && least_gain < infinity)) {
    throw value_error("simplest_within", "least_gain is a share, such as 0.05: give a finite one that is not below 0");
  }
  double least = infinity; // with complexity
  std::uint32_t complexity = 0;
  for (const auto& w : ways) {
    const double seconds = seconds_with_complexity(w, least_gain);
    const auto own = w.how.complexity();
    if (seconds < least || (seconds == least && seconds < infinity && own < complexity)) {
      least = seconds;
      complexity = own;
    }
  }
  double simpler = infinity, others = infinity; // with complexity: of those with fewer features, and with more
  double fastest = infinity;                    // of those with as many
  for (const auto& w : ways) {
    const auto own = w.how.complexity();
    auto& kind = own < complexity ? simpler : own > complexity ? others : fastest;
    kind = std::min(kind, own == complexity ? w.seconds : seconds_with_complexity(w, least_gain));
  }
  chosen_way chosen;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const auto& w = ways[i];
    const double seconds = seconds_with_complexity(w, least_gain);
    const bool is_worth_it = w.how.complexity() == complexity && w.seconds < infinity &&
                             w.seconds <= fastest * (1 + least_gain) && seconds < simpler && seconds <= others;
    if (is_worth_it && (!chosen || is_simpler(w.how, ways[chosen.number].how) ||
                        (!is_simpler(ways[chosen.number].how, w.how) && w.seconds < ways[chosen.number].seconds))) {
      chosen.number = i;
    }
  }
  if (!chosen) {
    return chosen;
  }
  const double taken = ways[chosen.number].seconds;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].seconds < taken) {
      const auto own = ways[i].how.complexity();
      const auto more = own > complexity ? own - complexity : 1;
      chosen.not_taken.push_back({i, taken / ways[i].seconds - 1, detail::ratio_for(more, least_gain) - 1});
    }
  }
  std::stable_sort(chosen.not_taken.begin(), chosen.not_taken.end(),
                   [&](const auto& a, const auto& b) { return ways[a.number].seconds < ways[b.number].seconds; });
  return chosen;
}

/// True if `a` is at least as fast as `b` and `b` is not simpler, so that `simplest_within` has no need of `b` beside
/// `a`, whatever else there is.
inline bool makes_needless(const timed_way& a, const timed_way& b) {
  return a.seconds <= b.seconds && !is_simpler(b.how, a.how);
}

} // namespace weft::parallel
