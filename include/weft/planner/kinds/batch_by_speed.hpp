// SPDX-License-Identifier: BSL-1.0
/// Data parallelism on devices that differ: parts of the batch as large as they are fast and as their memory holds.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/batch_parts.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/kinds/pruning.hpp"
#include "weft/planner/kinds/replicas.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::planner {

namespace detail {

/// The number of devices that have samples.
inline std::size_t count_sharing(const std::vector<std::uint64_t>& samples) {
  return samples.size() - static_cast<std::size_t>(std::ranges::count(samples, 0u));
}

/// Splits the batch among devices that differ.
class splits_by_speed {
public:
  splits_by_speed(const task& t, comparison& all)
      : t_{t}, wanted_{t.wanted()}, all_{all}, is_asked_{wanted_.by_speed && *wanted_.by_speed} {}

  void try_all() {
    if (wanted_.shards_parameters.value_or(false) || !find_devices() || !have_given_sum() || !may_share()) {
      return;
    }
    bool fits = false;
    const auto num_ways = all_.ways.size();
    for (const bool sharded : {false, true}) {
      if (wanted_.shards_updates ? *wanted_.shards_updates != sharded : fits) {
        continue;
      }
      try {
        fits = try_one(sharded);
      } catch (const error& e) { // such as a model whose batch is fixed
        all_.why_not = {reason_of(e)};
        return;
      }
    }
    if (all_.ways.size() == num_ways && why_one_ && no_other_may()) {
      all_.why_not = {why_one_};
    }
  }

private:
  /// Nobody else is going to say why the batch is not shared.
  bool no_other_may() const { return is_asked_ || alike_devices(t_.machine()).size() < 2; }

  bool find_devices() {
    const auto count = wanted_.examples.empty() ? wanted_.replicas : wanted_.examples.size();
    devices_ = unlike_devices(t_.machine(), count);
    if (devices_.size() < 2 || devices_.size() < count) {
      if (is_asked_ || !wanted_.examples.empty()) {
        using enum reason::kind;
        all_.why_not = {{.is = devices_.empty() ? no_unlike_devices : few_accelerators, .have = devices_.size()}};
      }
      return false;
    }
    devices_ = t_.joined(devices_, {{static_cast<std::uint32_t>(devices_.size())}});
    for (const device_id d : devices_) {
      seconds_.push_back(seconds_alone(t_, t_.whole().ops, d) / static_cast<double>(t_.whole().batch));
    }
    return true;
  }

  bool have_given_sum() {
    const auto& given = wanted_.examples;
    if (given.empty() || std::accumulate(given.begin(), given.end(), std::uint64_t{0}) == t_.whole().batch) {
      return true;
    }
    std::string text;
    for (const auto x : given) {
      text += (text.empty() ? "" : "+") + std::to_string(x);
    }
    all_.why_not = {{.is = reason::kind::examples_of_other_sum, .have = t_.whole().batch, .name = std::move(text)}};
    return false;
  }

  /// True if several devices, and as many as are wanted, get examples by their speeds.
  bool may_share() {
    const auto& given = wanted_.examples;
    const auto sharing =
      count_sharing(given.empty() ? parallel::parts_by_speed(t_.whole().batch, seconds_).samples : given);
    if (sharing >= 2 && (!given.empty() || wanted_.replicas == 0 || wanted_.replicas == sharing)) {
      return true;
    }
    if (no_other_may() || !given.empty()) { // else those that are alike may share it evenly
      all_.why_not = {{.is = reason::kind::few_by_speed, .have = sharing}};
    }
    return false;
  }

  /// Those of the devices that have examples, with these.
  batch_split split_of(const std::vector<std::uint64_t>& examples, bool sharded) const {
    batch_split split{.how = {.shards_updates = sharded, .examples = examples, .recomputes = t_.recomputes()}};
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (examples[i] > 0) {
        split.devices.push_back(devices_[i]);
        split.examples.push_back(examples[i]);
      }
    }
    split.how.replicas = static_cast<std::uint32_t>(split.devices.size());
    return split;
  }

  /// The devices that lack memory where each that has some of `samples` does its part; nothing to end the search.
  std::optional<std::vector<std::size_t>> full_devices(const std::vector<std::uint64_t>& samples, bool sharded) {
    auto some = samples;
    if (std::count(some.begin(), some.end(), 0u) + 1 >= std::ssize(some)) {
      std::replace(some.begin(), some.end(), std::uint64_t{0}, std::uint64_t{1}); // nothing is split else
    }
    if (!t_.is_stopped()) {
      made_ = make_replicas(t_, t_.whole(), split_of(some, sharded));
      made_of_ = some;
    }
    if (t_.is_stopped() || !made_) {
      return std::nullopt;
    }
    std::vector<std::size_t> full;
    for (const auto& s : memory_shortages(*made_->problem, made_->plan.placement, made_->run)) {
      for (std::size_t i = 0; i < devices_.size(); ++i) { // a shortage is told of the device whose memory it is
        if (samples[i] > 0 && t_.machine().memory_of(devices_[i]) == s.device) {
          full.push_back(i);
        }
      }
    }
    return full;
  }

  /// Makes the step with parts as they are given, or by speed, none larger than its device holds; the parts.
  parallel::batch_parts make_one(bool sharded) {
    made_ = nullptr;
    if (!wanted_.examples.empty()) {
      made_ = make_replicas(t_, t_.whole(), split_of(wanted_.examples, sharded));
      return {.samples = wanted_.examples};
    }
    auto parts = parallel::parts_within_memory(
      t_.whole().batch, seconds_,
      [&](const std::vector<std::uint64_t>& samples) { return full_devices(samples, sharded); });
    if (made_ && parts.left == 0 && made_of_ != parts.samples) {
      made_ = make_replicas(t_, t_.whole(), split_of(parts.samples, sharded));
    }
    return parts;
  }

  /// True if its step fits with parts by speed alone.
  bool try_one(bool sharded) {
    t_.tell({attempt::kind::way,
             {.shards_updates = sharded, .examples = std::vector<std::uint64_t>(devices_.size(), 0)}});
    const auto parts = make_one(sharded);
    if (!made_) {
      if (wanted_.shards_updates) {
        all_.why_not = {{.is = reason::kind::nothing_updated}};
      }
      return false;
    }
    const auto batch = t_.whole().batch;
    if (parts.left > 0) {
      if (!t_.is_stopped()) {
        all_.all_fit = false;
        all_.ways.push_back({.how = split_of(parts.samples, sharded).how,
                             .why_not = {.is = reason::kind::batch_too_large, .have = batch - parts.left,
                                         .asked = batch},
                             .limited = devices_,
                             .limits = parts});
      }
      return false;
    }
    if (count_sharing(parts.samples) < 2) { // which is no way to share the batch
      why_one_ = {.is = reason::kind::one_by_speed};
      for (std::size_t i = 0; i < parts.limits.size(); ++i) {
        if (parts.samples[i] == parts.limits[i]) {
          (parts.limits[i] == 0 ? why_one_.without_room : why_one_.full).push_back(devices_[i]);
        }
      }
      return false;
    }
    made_->figures.limited = devices_;
    made_->figures.limits = parts;
    const bool is_by_speed_alone = !limits_any(parts);
    const bool fits = made_->fits();
    all_.add(std::exchange(made_, nullptr));
    return fits && is_by_speed_alone;
  }

  /// True if a device has as many examples as it has room for.
  static bool limits_any(const parallel::batch_parts& parts) {
    for (std::size_t i = 0; i < parts.limits.size(); ++i) {
      if (parts.samples[i] == parts.limits[i]) {
        return true;
      }
    }
    return false;
  }

  const task& t_;
  const wanted_ways& wanted_;
  comparison& all_;
  bool is_asked_;
  std::vector<device_id> devices_ = {};
  std::vector<double> seconds_ = {}; // of an example, by device
  std::shared_ptr<made_way> made_ = {};
  std::vector<std::uint64_t> made_of_ = {}; // the samples of each device
  reason why_one_ = {}; // device would get all examples
};

} // namespace detail

/// Compares data parallelism on all accelerators, or on as many of the fastest as are wanted, if they differ, with
/// parts of the batch that fit their speeds and their memory.
inline void compare_batches_by_speed(const task& t, comparison& all) {
  const auto& wanted = t.wanted();
  if (!(wanted.by_speed && !*wanted.by_speed) && !(wanted.splits_experts && *wanted.splits_experts)) {
    detail::splits_by_speed{t, all}.try_all();
  }
}

} // namespace weft::planner
