// SPDX-License-Identifier: BSL-1.0
/// Data parallelism: replicas with a part of the batch each.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/experts.hpp"
#include "weft/parallel/fully_sharded.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/parallel/parameter_gathers.hpp"
#include "weft/parallel/sharded_parameters.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/kinds/pruning.hpp"
#include "weft/planner/kinds/run_way.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace weft::planner {

namespace detail {

/// A way to split the batch among these devices, none of which is without examples.
struct batch_split {
  way how = {};
  std::vector<device_id> devices = {};
  std::vector<std::uint64_t> examples = {}; ///< of each
};

/// As many examples for each device. `how` says what replicas share.
inline batch_split even_split(const task& t, const std::vector<device_id>& devices, std::uint64_t batch, way how) {
  how.replicas = static_cast<std::uint32_t>(devices.size());
  how.recomputes = t.recomputes();
  return {.how = std::move(how),
          .devices = devices,
          .examples = std::vector<std::uint64_t>(devices.size(), batch / devices.size())};
}

/// Steps with these numbers of examples, of which the first is `first`.
class steps_of_parts {
public:
  steps_of_parts(const task& t, const model_step& first, const std::vector<std::uint64_t>& examples) {
    for (const auto count : examples) {
      if (count == examples.front()) {
        all_.push_back(&first.ops);
        continue;
      }
      auto& other = others_[count];
      if (other.batch == 0) {
        other = t.with_batch(count);
      }
      all_.push_back(&other.ops);
    }
  }
  const std::vector<const workload*>& all() const { return all_; }

private:
  std::map<std::uint64_t, model_step> others_; // by examples
  std::vector<const workload*> all_;
};

inline double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

/// The sharding of replicas on these devices, each with all parameters, but for ops that `owner` gives to one of them;
/// or with parts of all, each along the first dimension that they divide.
inline parallel::sharding sharding_of_replicas(const model_step& part, const std::vector<device_id>& devices,
                                               const way& how, const std::vector<std::uint32_t>& owner) {
  const auto shards = how.shard_ranks > 0 ? how.shard_ranks : static_cast<std::uint32_t>(devices.size());
  parallel::sharding s{
    .mesh = {.axes = {{"data", static_cast<std::uint32_t>(devices.size())}}, .devices = devices},
    .trains = is_training_step(part.ops),
    .zero_stage = how.shards_parameters ? 3u : how.shards_updates ? 2u : 0u};
  if (how.shard_ranks > 0) {
    s.mesh.axes = {{"data", how.replicas / shards}, {"data_shard", shards}};
  }
  s.parameters = has_axes(part) ? parallel::sharded_parameters(
                                    axes_of(part), std::vector<std::uint32_t>(part.ops.num_ops(), none), 0, 1)
                                : parallel::whole_parameters(part.ops);
  for (auto& x : s.parameters) {
    x.owner = owner.empty() ? none : owner[x.op];
    if (how.shards_parameters) {
      parallel::split_whole_dimension(x, static_cast<std::uint32_t>(s.mesh.axes.size() - 1), shards);
    }
  }
  return s;
}

/// The step of a replica. Throws `refusal` if it does as much work as the whole one.
inline std::shared_ptr<const model_step> part_of_batch(const task& t, const model_step& whole, std::uint64_t examples) {
  auto part = std::make_shared<const model_step>(t.with_batch(examples));
  if (examples < whole.batch / 10 * 9 && total_work(part->ops) > 0.95 * total_work(whole.ops)) {
    throw refusal{{.is = reason::kind::fixed_batch}};
  }
  return part;
}

/// The all-reduce of so many bytes of gradients: the fastest, or rings within and between groups that share parts.
inline parallel::chosen_collective all_reduce_of(const task& t, const batch_split& split, byte_count bytes) {
  if (split.how.shard_ranks > 0) {
    const auto ranks = static_cast<std::uint32_t>(split.devices.size());
    return {.messages = parallel::hierarchical_all_reduce(ranks, split.how.shard_ranks),
            .algorithm = parallel::collective_algorithm::hierarchical};
  }
  return parallel::choose_all_reduce(bytes, t.machine(), split.devices, t.how().contention, split.how.shards_updates,
                                     t.costs().ops);
}

/// A step made of such a split of `whole`; null if updates are to be sharded and there are none, or experts split and
/// there are fewer.
inline std::shared_ptr<made_way> make_replicas(const task& t, const model_step& whole, const batch_split& split) {
  const auto ranks = split.devices.size();
  auto x = std::make_shared<made_way>();
  x->figures.how = split.how;
  x->devices = split.devices;
  x->part = part_of_batch(t, whole, split.examples.front());
  const auto& one = x->part->ops;
  const steps_of_parts steps{t, *x->part, split.examples};
  parallel::data_parallel_options how{.shard_updates = split.how.shards_updates,
                                      .gather_updated = !split.how.shards_parameters,
                                      .element_bytes = x->part->element_bytes};
  if (split.how.splits_experts) {
    x->experts = parallel::count_experts(one);
    if (x->experts < ranks) {
      return nullptr;
    }
    how.shared = {&whole.ops, parallel::expert_owners(one, static_cast<std::uint32_t>(ranks))};
  }
  const auto gradients = gradient_bytes(*x->part);
  if (gradients == 0 && split.how.shards_updates) {
    return nullptr;
  }
  parallel::parameter_gathers gathers;
  if (split.how.shards_parameters) {
    gathers = gathers_of(one, holders_of(*x->part));
    how.bucket_of = parallel::units_of_gradients(one, gathers);
    how.bucket_bytes = gathers.largest_unit();
  }
  how.shard_ranks = split.how.shard_ranks;
  const auto all_reduce =
    all_reduce_of(t, split, std::max(std::min(gradients, how.bucket_bytes), gathers.largest_unit()));
  auto made = parallel::data_parallel(steps.all(), replicas_on(split.devices, one, t.machine()), all_reduce.messages,
                                      how);
  if (split.how.shards_parameters) {
    made = parallel::fully_sharded(made, one, gathers, all_reduce.messages, how.element_bytes, how.shard_ranks);
  }
  x->sharding = sharding_of_replicas(*x->part, split.devices, split.how, how.shared.owner);
  x->sharding.batch = whole.batch;
  x->sharding.examples = split.how.is_by_speed() ? split.examples : std::vector<std::uint64_t>{};
  x->features = features_of(split.how, x->part->recomputes);
  x->reduced = {made.gradient_bytes, made.buckets.size(), all_reduce.algorithm, gathers.gathers.size(),
                gathers.largest_unit()};
  x->ops = std::move(made.graph);
  x->origin = std::move(made.origin);
  run_way(t, std::move(made.where), *x);
  return x;
}

/// So many of these devices, those that are joined best for reducing gradients, the groups that share parts inside.
inline std::vector<device_id> best_joined(const task& t, const std::vector<device_id>& devices, std::size_t ranks,
                                          const way& how) {
  using enum parallel::mesh_traffic;
  const auto count = static_cast<std::uint32_t>(ranks);
  return how.shard_ranks > 0 ? t.joined(devices, {{how.shard_ranks, in_parts}, {count / how.shard_ranks, in_parts}})
                             : t.joined(devices, {{count, how.shards_updates ? in_parts : all_reduce}});
}

/// The smallest batch, with 1, 2, 4 … examples on each device, of which the step is faster on all of them than on one;
/// 0 if none below that of the model is.
inline std::uint64_t least_batch_that_pays(const task& t, const batch_split& like) {
  for (std::uint64_t batch = like.devices.size(); batch < t.whole().batch && !t.is_stopped(); batch *= 2) {
    try {
      const auto whole = t.with_batch(batch);
      const auto x = make_replicas(t, whole, even_split(t, like.devices, batch, like.how));
      if (x && x->fits() && x->run.makespan < seconds_alone(t, whole.ops, like.devices.front())) {
        return batch;
      }
    } catch (const error&) { // most of its work does not depend on the batch
    }
  }
  return 0;
}

/// The kinds of replicas that fit on the number of devices that was tried last: with all parameters and updates on each
/// device, with updates in parts, and with both in parts.
struct fitting_parts {
  bool whole = true, updates = true, parameters = true;

  /// True if something that may be wanted fits.
  bool any(const wanted_ways& wanted) const { return wanted.shards_parameters.value_or(true) ? parameters : updates; }
  bool& of(const way& how) { return how.shards_parameters ? parameters : how.shards_updates ? updates : whole; }
  /// `first`: no other number was tried, and all ways are shown. Parameters in parts are sent more often than updates.
  bool is_worthwhile(const way& how, bool first) const {
    return how.shards_parameters ? parameters && (first || !updates)
                                 : updates && (how.shards_updates ? first || !whole : whole);
  }
};

/// Splits the batch among 2, 3, … of the devices, which are alike.
class even_splits {
public:
  even_splits(const task& t, const std::vector<device_id>& devices, comparison& all)
      : t_{t}, wanted_{t.wanted()}, devices_{devices}, all_{all}, prune_{t, devices.front()},
        num_experts_{parallel::count_experts(t.whole().ops)} {}

  void try_all() {
    if (wanted_.splits_experts && *wanted_.splits_experts && num_experts_ < std::max(wanted_.replicas, 2u)) {
      all_.why_not = {{.is = reason::kind::no_experts, .have = num_experts_, .asked = wanted_.replicas}};
    }
    const auto batch = t_.whole().batch;
    std::size_t tried = 0;
    for (std::size_t ranks = devices_.size(); ranks > 1 && tried < max_numbers; --ranks) {
      if (t_.is_stopped() || !all_.why_not.empty() ||
          !(fits_[0].any(wanted_) || (fits_[1].updates && num_experts_ >= ranks))) {
        break;
      }
      if (batch % ranks == 0 && (wanted_.replicas == 0 || wanted_.replicas == ranks) &&
          !prune_.is_hopeless(ranks, all_)) {
        ++tried;
        try_on(ranks);
      }
    }
    if (pays_) {
      t_.tell({attempt::kind::least_batch, pays_->how});
      const auto least = least_batch_that_pays(t_, *pays_);
      for (const auto& x : all_.kept) {
        x->least_batch = least;
      }
    }
    if (all_.ways.empty() && all_.why_not.empty()) {
      all_.why_not = {why_none()};
    }
  }

private:
  static constexpr std::size_t max_numbers = 6; // of devices

  void try_on(std::size_t ranks) {
    bool goes_on = true;
    const auto try_if_wanted = [&](const way& how) {
      goes_on = goes_on && (!is_wanted(ranks, how) || try_one(ranks, how));
    };
    for (const auto& how : {way{}, way{.shards_updates = true}}) {
      try_if_wanted(how);
    }
    way fully{.shards_updates = true, .shards_parameters = true};
    try_if_wanted(fully);
    fully.shard_ranks = wanted_.shard_ranks.value_or(0);
    for (const auto group : goes_on && is_wanted(ranks, fully) ? near_groups(ranks) : std::vector<std::uint32_t>{}) {
      fully.shard_ranks = group;
      try_if_wanted(fully);
    }
    for (const auto& how : {way{.splits_experts = true}, way{.shards_updates = true, .splits_experts = true}}) {
      try_if_wanted(how);
    }
    is_first_ = false;
  }

  /// The sizes of groups that may hold all parameters together: those that are joined faster than they are with others.
  std::vector<std::uint32_t> near_groups(std::size_t ranks) const {
    if (wanted_.shard_ranks) {
      return *wanted_.shard_ranks > 0 ? std::vector{*wanted_.shard_ranks} : std::vector<std::uint32_t>{};
    }
    const auto devices = best_joined(t_, devices_, ranks, {.shards_updates = true});
    return parallel::ranks_per_group(static_cast<std::uint32_t>(ranks), [&](std::uint32_t a, std::uint32_t b) {
      return t_.machine().bandwidth(devices[a], devices[b]);
    });
  }

  bool is_wanted(std::size_t ranks, const way& how) const {
    const auto is = [](const std::optional<bool>& asked, bool x) { return !asked || *asked == x; };
    const auto& given = how.shards_parameters ? wanted_.shards_parameters : wanted_.shards_updates;
    return is(wanted_.shards_updates, how.shards_updates) && is(wanted_.shards_parameters, how.shards_parameters) &&
           is(wanted_.splits_experts, how.splits_experts) &&
           (!how.shards_parameters || wanted_.shard_ranks.value_or(how.shard_ranks) == how.shard_ranks) &&
           (given || fits_[how.splits_experts].is_worthwhile(how, is_first_)) &&
           (wanted_.splits_experts || !how.splits_experts || num_experts_ >= ranks);
  }

  /// True if others of as many devices are worth a try.
  bool try_one(std::size_t ranks, const way& how) {
    auto& kind = fits_[how.splits_experts];
    const auto batch = t_.whole().batch;
    const auto split = even_split(t_, best_joined(t_, devices_, ranks, how), batch, how);
    t_.tell({attempt::kind::way, split.how});
    const auto why = prune_.is_large(ranks) ? why_too_large(split) : reason{}; // else a run tells how much it needs
    if (why) {
      all_.add_misfit(split.how, why);
      kind.of(how) = false;
      return true;
    }
    std::shared_ptr<made_way> x;
    try {
      x = make_replicas(t_, t_.whole(), split);
    } catch (const error& e) { // such as a model whose batch is fixed
      if (how.splits_experts && !wanted_.splits_experts) {
        return true;
      }
      if (how.shards_parameters && !wanted_.shards_parameters) { // they cannot be in parts
        kind.parameters = kind.updates;
        return true;
      }
      if (how.shards_updates && !wanted_.shards_updates && kind.whole) { // its updates cannot be in parts
        kind.updates = kind.parameters = kind.whole;
        return true;
      }
      all_.why_not = {reason_of(e)};
      all_.why_not.front().batch = batch / ranks;
      return false;
    }
    if (!x) { // nothing is updated
      kind.updates = kind.parameters = kind.whole;
      if (wanted_.shards_updates) {
        all_.why_not = {{.is = reason::kind::nothing_updated}};
      }
      return true;
    }
    kind.of(how) = x->fits() || (how.shard_ranks > 0 && kind.of(how)); // larger groups hold less each
    const auto* const fastest = all_.fastest();
    all_.add(std::move(x));
    if (all_.fastest() != fastest && !prune_.is_large(ranks)) {
      pays_ = split;
    }
    return true;
  }

  /// The reason that replicas with all parameters and updates do not fit, whatever their part of the batch.
  reason why_too_large(const batch_split& split) const {
    byte_count resident = 0;
    for (const op_id v : ids(t_.whole().ops.num_ops())) {
      resident += t_.whole().ops.resident_bytes(v);
    }
    const auto capacity = memory_for_each(t_.machine(), split.devices);
    const bool is_whole = !split.how.shards_updates && !split.how.splits_experts;
    return is_whole && resident > capacity
             ? reason{.is = reason::kind::parameters_too_large, .needed = resident, .capacity = capacity}
             : reason{};
  }

  /// The reason that no number of devices shares the batch.
  reason why_none() const {
    const auto asked = wanted_.replicas;
    using enum reason::kind;
    return asked > devices_.size() ? reason{.is = few_alike_devices, .have = devices_.size(), .asked = asked}
           : asked != 0 ? reason{.is = batch_not_for_devices, .have = t_.whole().batch, .asked = asked}
                        : reason{.is = batch_not_divisible, .have = t_.whole().batch, .asked = devices_.size()};
  }

  const task& t_;
  const wanted_ways& wanted_;
  const std::vector<device_id>& devices_;
  comparison& all_;
  pruning prune_;
  std::size_t num_experts_;
  // Fewer devices have larger parts of the batch each: what does not fit on many does not fit on few.
  fitting_parts fits_[2] = {}; // with experts on all devices, and on one each
  bool is_first_ = true;
  std::optional<batch_split> pays_ = {}; // the fastest of those that are no large steps
};

} // namespace detail

/// Compares data parallelism on devices that are alike: on all of them, or on as many as are wanted, and on fewer, with
/// updates whole and sharded, and with experts on one replica each.
inline void compare_even_batches(const task& t, const std::vector<device_id>& devices, comparison& all) {
  detail::even_splits{t, devices, all}.try_all();
}

} // namespace weft::planner
