// SPDX-License-Identifier: BSL-1.0
#include "parallel.hpp"

#include "parallel_step.hpp"
#include "pipeline.hpp"
#include "recomputation.hpp"
#include "sharding.hpp"

#include "weft/bound/area.hpp"
#include "weft/bound/best.hpp"
#include "weft/bound/live_memory.hpp"
#include "weft/core/readable.hpp"
#include "weft/parallel/batch_parts.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/choose_resharding.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/experts.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/parallel/placed_way.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/platform/canonical_order.hpp"
#include "weft/report/names.hpp"
#include "weft/validate/memory_shortage.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/role.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace place {
namespace {

using namespace weft;
using parallel::mesh_level;
using parallel::mesh_traffic;

/// So many of the fastest accelerators (0: all), if there are several in all, and they are not all alike.
std::vector<device_id> unlike_devices(const platform<>& p, std::size_t count = 0) {
  std::vector<device_id> all;
  for (const device_id d : ids(p.num_devices())) {
    if (hardware_kind(p, d) != device_kind::cpu) {
      all.push_back(d);
    }
  }
  if (all.size() <= alike_devices(p).size()) {
    return {};
  }
  if (count == 0 || count >= all.size()) {
    return all;
  }
  std::vector<device_id> fastest; // of equally fast ones those that come first whatever their numbers
  for (const device_id d : canonical_order(p)) {
    hardware_kind(p, d) != device_kind::cpu ? fastest.push_back(d) : void();
  }
  std::stable_sort(fastest.begin(), fastest.end(), [&](device_id a, device_id b) { return p.speed(a) > p.speed(b); });
  fastest.resize(count);
  std::sort(fastest.begin(), fastest.end());
  return fastest;
}

double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

/// A way to split the batch: the devices, the examples of each, and what is not on all of them.
struct batch_split {
  std::vector<device_id> devices = {};
  std::vector<std::uint64_t> examples = {};
  bool shard_updates = false;
  bool split_experts = false;
  bool by_speed = false; ///< parts are of several sizes
};

/// As many examples for each device.
batch_split even_split(const std::vector<device_id>& devices, std::uint64_t batch, bool shard_updates,
                       bool split_experts) {
  return {devices, std::vector<std::uint64_t>(devices.size(), batch / devices.size()), shard_updates, split_experts};
}

/// The argument of --parallel that makes such a step again; `examples` are of all devices that it counts, if their
/// numbers differ.
std::string argument_of(std::size_t ranks, const batch_split& split, const std::vector<std::uint64_t>& examples) {
  return fmt::format("data={},{}{}{}", ranks, split.shard_updates ? "sharded" : "whole",
                     split.split_experts ? ",experts" : "",
                     split.by_speed ? fmt::format(",by-speed={}", fmt::join(examples, "+")) : "");
}

/// Steps with these numbers of examples.
class steps_of_parts {
public:
  steps_of_parts(const options& o, const tool::input& first, const std::vector<std::uint64_t>& examples) {
    for (const auto count : examples) {
      if (count == examples.front()) {
        all_.push_back(&first.model.ops);
        continue;
      }
      auto& other = others_[count];
      if (other.batch == 0) {
        other = tool::load_with_batch(o.source, o.modelling, count);
      }
      all_.push_back(&other.model.ops);
    }
  }
  const std::vector<const workload*>& all() const { return all_; }

private:
  std::map<std::uint64_t, tool::input> others_; // by examples
  std::vector<const workload*> all_;
};

/// The reason for which replicas may not do a step whose own ops change its parameters; empty if they may.
std::string why_unknown_gradients(const tool::input& in) {
  return !in.changes_parameters || !parallel::gradients(in.model.ops).empty()
           ? std::string{}
           : "its own ops change its parameters, and it is not known which of their inputs are gradients";
}

/// The bytes of all gradients of a step; 0 if it trains nothing. Throws `error` if its updates are not understood.
byte_count gradient_bytes(const tool::input& in) {
  const auto& step = in.model.ops;
  byte_count bytes = 0;
  for (const tensor_id t : parallel::gradients(step)) {
    bytes += step.bytes(t);
  }
  if (const auto type = bytes == 0 ? unknown_update(step) : std::string{}; !type.empty()) {
    throw error(fmt::format("it changes its variables by ops of type {}, and it is not known which of their inputs are "
                            "gradients", type));
  }
  if (const auto why = why_unknown_gradients(in); !why.empty()) {
    throw error(why);
  }
  return bytes;
}

/// The sentence for a split of a batch among devices; `experts` are those that are split.
std::string tell_batch_split(const tool::target& target, const batch_split& split, std::uint64_t batch,
                             std::size_t experts, const parallel::replicated_workload& made,
                             parallel::collective_algorithm algorithm) {
  auto text = fmt::format("data parallelism on {}, {} of {} samples{}", range_of(target.devices, split.devices),
                          split.by_speed ? fmt::format("{}", fmt::join(split.examples, " + "))
                                         : std::to_string(split.examples.front()),
                          batch, split.by_speed ? "" : " each");
  if (split.split_experts) {
    text += fmt::format("; each of {} experts on one of them", experts);
  }
  return text + (made.buckets.empty()
                   ? std::string{"; inference, so there are no gradients to reduce"}
                   : fmt::format("; {} of gradients {} in {} bucket{} ({})", readable_bytes(made.gradient_bytes),
                                 split.shard_updates ? "reduced and parameters gathered" : "all-reduced",
                                 made.buckets.size(), made.buckets.size() == 1 ? "" : "s", to_string(algorithm)));
}

/// A step made of such a split; null if updates are to be sharded and there are none, or experts split and there are
/// fewer.
std::unique_ptr<parallel_step> make_step(const options& o, const tool::target& target, const tool::input& whole,
                                         const batch_split& split, const cost::efficiency_table& table) {
  const auto ranks = split.devices.size();
  auto step = std::make_unique<parallel_step>();
  step->in = tool::load_with_batch(o.source, o.modelling, split.examples.front());
  step->in.name = whole.name;
  const auto& one = step->in.model.ops;
  if (split.examples.front() < whole.batch / 10 * 9 && total_work(one) > 0.95 * total_work(whole.model.ops)) {
    throw error("it does as much work as the whole one; the model's batch is fixed");
  }
  const steps_of_parts steps{o, step->in, split.examples};
  const auto replicas = replicas_on(split.devices, one, target.devices);
  parallel::data_parallel_options how{.shard_updates = split.shard_updates,
                                      .element_bytes = element_bytes(o, step->in.model)};
  const auto experts = split.split_experts ? parallel::count_experts(one) : 0;
  if (split.split_experts) {
    if (experts < ranks) {
      return nullptr;
    }
    how.shared = {&whole.model.ops, parallel::expert_owners(one, static_cast<std::uint32_t>(ranks))};
  }
  const auto gradients = gradient_bytes(step->in);
  if (gradients == 0 && split.shard_updates) {
    return nullptr;
  }
  const auto all_reduce =
    parallel::choose_all_reduce(std::min(gradients, how.bucket_bytes), target.devices, split.devices, o.contention,
                                split.shard_updates, tool::make_estimate(o.modelling, step->in, target, table));
  auto made = parallel::data_parallel(steps.all(), replicas, all_reduce.messages, how);
  step->how = shard_batch(target, step->in, split.devices, split.shard_updates, how.shared.owner);
  step->config = {.devices = static_cast<std::uint32_t>(ranks),
                  .replicas = static_cast<std::uint32_t>(ranks),
                  .shards_updates = split.shard_updates,
                  .splits_experts = split.split_experts,
                  .on_unlike_devices = split.by_speed,
                  .recomputes = o.modelling.recompute.has_value()};
  step->how.value.batch = whole.batch;
  step->how.value.examples = split.by_speed ? split.examples : std::vector<std::uint64_t>{};
  const auto alone = std::exchange(step->in.model.ops, std::move(made.graph));
  run_step(o, target, table, std::move(made.where), alone, made.origin, *step);
  step->spec = argument_of(ranks, split, split.examples);
  step->found.strategy = tell_batch_split(target, split, whole.batch, experts, made, all_reduce.algorithm);
  return step;
}

/// True if ops that are split along `axis` are so along the batch, but for next to nothing, by what `seconds` says of
/// each.
template <class Seconds>
bool splits_batch(const options& o, const tool::input& in, const parallel::split_model& m, std::uint32_t ranks,
                  const std::vector<std::uint32_t>& axis, Seconds seconds) {
  if (in.batch == 0 || in.batch % ranks != 0) {
    return false;
  }
  tool::input part;
  try {
    part = tool::load_with_batch(o.source, o.modelling, in.batch / ranks);
  } catch (const error&) { // its extents do not follow
    return false;
  }
  return part.origin == in.origin && part.model.ops.num_ops() == in.model.ops.num_ops() && has_axes(part) &&
         parallel::work_in_parts(m, axes_of(part), ranks, axis, seconds).is_data_parallel();
}

/// So many groups of devices, one after the other.
std::vector<std::vector<device_id>> groups_of(const std::vector<device_id>& devices, std::size_t count) {
  const auto size = static_cast<std::ptrdiff_t>(devices.size() / count);
  std::vector<std::vector<device_id>> groups;
  for (auto first = devices.begin(); groups.size() < count; first += size) {
    groups.emplace_back(first, first + size);
  }
  return groups;
}

/// Makes steps with ops split among devices, or among those of each of so many replicas.
class split_step_maker {
public:
  split_step_maker(const options& o, const tool::target& target, const tool::input& whole,
                   const std::vector<device_id>& devices, std::size_t replicas, const cost::efficiency_table& table)
      : o_{o}, target_{target}, whole_{whole}, devices_{devices}, table_{table}, groups_{groups_of(devices, replicas)},
        part_{replicas > 1 ? tool::load_with_batch(o.source, o.modelling, whole.batch / replicas) : tool::input{}},
        in_{replicas > 1 ? part_ : whole}, model_{axes_of(in_)},
        parts_{model_, ranks()}, where_{replicas_on(groups_[0], in_.model.ops, target.devices)},
        estimate_{tool::make_estimate(o.modelling, in_, target, table)},
        fastest_{target.devices, groups_[0], o.contention, parallel::usual_collectives(target.devices, groups_[0]),
                 estimate_},
        element_bytes_{element_bytes(o, in_.model)} {}
  split_step_maker(const split_step_maker&) = delete; // it refers to itself

  /// A step with each op split as suits best; null if none may be faster than that. Throws `does_not_fit`.
  std::unique_ptr<parallel_step> operator()(double faster_than) const {
    // What is gathered lives beside what it is made of, which the choice does not count: where it does not fit, it gets
    // less memory.
    auto capacity = memory_for_each(target_.devices, devices_);
    std::unique_ptr<parallel_step> step;
    split_ops_of_step split;
    for (int tries = 0; tries < 4 && (!step || !step->found.found); ++tries) {
      auto again = choose(capacity);
      if (!again.found && !step) {
        throw does_not_fit("no splits of its ops were found that fit into memory");
      }
      if (!again.found || again.seconds > most_overlap * faster_than) {
        break;
      }
      split = {.chosen = std::move(again)};
      step = run(split);
      capacity = capacity / 10 * 9;
    }
    if (step) {
      describe(split, *step);
    }
    return step;
  }

private:
  struct split_ops_of_step {
    parallel::chosen_splits chosen = {};
    parallel::split_workload made = {}; ///< of a replica; its graph may be gone
    std::vector<op_id> origin = {};     ///< of the step's ops in the model
  };

  std::size_t replicas() const { return groups_.size(); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(groups_[0].size()); }
  double seconds_of(const workload& w, op_id of, op_id v) const {
    return estimate_.compute_time(w, of, target_.devices, where_.front()[v]);
  }
  auto messages() const {
    return [this](parallel::resharding what, byte_count size) { return fastest_.messages(what, size); };
  }

  parallel::chosen_splits choose(byte_count capacity) const {
    return parallel::choose_splits(
      model_, ranks(),
      {.op = [&](op_id v, std::uint32_t axis) { return seconds_of(parts_.ops(), parts_.of(v, axis), v); },
       .transfer = [&](parallel::resharding what, byte_count size) { return fastest_.seconds(what, size); },
       .capacity = capacity},
      // Without a clock or seed, so that a plan can be made again.
      {.budget = {.moves = 2000, .stop = o_.budget.stop}, .jobs = o_.jobs});
  }

  /// Makes the step of these splits and runs it.
  std::unique_ptr<parallel_step> run(split_ops_of_step& split) const {
    split.made = parallel::tensor_parallel(model_, split.chosen.axis, where_, element_bytes_, messages());
    split.origin = split.made.origin;
    auto placed = split.made.where;
    auto step = std::make_unique<parallel_step>();
    step->in.spec = whole_.spec;
    step->in.name = whole_.name;
    step->in.from = whole_.from;
    step->in.model = in_.model;
    if (replicas() > 1) {
      auto both = on_all_groups(split);
      step->in.model.ops = std::move(both.graph);
      placed = std::move(both.where);
      split.origin = std::move(both.origin);
    } else {
      step->in.model.ops = std::move(split.made.graph);
    }
    run_step(o_, target_, table_, std::move(placed), in_.model.ops, split.origin, *step);
    return step;
  }

  /// The step of the first group on each of them, with gradients reduced between them.
  parallel::replicated_workload on_all_groups(const split_ops_of_step& split) const {
    std::vector<placement> all{split.made.where};
    std::vector<device_id> firsts; // of the groups, for the all-reduces between them
    for (const auto& g : groups_) {
      if (!firsts.empty()) {
        const auto where = replicas_on(g, in_.model.ops, target_.devices);
        all.push_back(parallel::tensor_parallel(model_, split.chosen.axis, where, element_bytes_, messages()).where);
      }
      firsts.push_back(g.front());
    }
    const parallel::data_parallel_options how{.element_bytes = element_bytes_};
    const auto all_reduce = parallel::choose_all_reduce(how.bucket_bytes, target_.devices, firsts, o_.contention,
                                                        how.shard_updates, estimate_);
    auto both = parallel::data_parallel(split.made.graph, all, all_reduce.messages, how);
    for (auto& v : both.origin) {
      v = v == none ? none : split.made.origin[v];
    }
    return both;
  }

  void describe(const split_ops_of_step& split, parallel_step& step) const {
    const auto& axis = split.chosen.axis;
    const bool of_batch = splits_batch(o_, in_, model_, ranks(), axis,
                                       [&](op_id v) { return seconds_of(in_.model.ops, v, v); });
    step.how = shard_ops(target_, model_, axis, split.made.resharded, devices_, replicas(), of_batch, split.origin,
                         step.found.run);
    step.how.value.batch = whole_.batch;
    step.config = {.devices = static_cast<std::uint32_t>(devices_.size()),
                   .replicas = static_cast<std::uint32_t>(of_batch ? devices_.size() : replicas()),
                   .ranks = of_batch ? 1 : ranks(),
                   .shards_updates = step.how.value.zero_stage > 0,
                   .recomputes = o_.modelling.recompute.has_value()};
    step.about = of_batch ? "its ops in parts of the batch" : "";
    step.spec = replicas() > 1 ? fmt::format("data={},tensor={}", replicas(), ranks())
                               : fmt::format("tensor={}", ranks());
    step.found.strategy = tell(split, of_batch);
  }

  std::string tell(const split_ops_of_step& split, bool of_batch) const {
    const auto& axis = split.chosen.axis;
    const auto where = range_of(target_.devices, devices_);
    auto text = fmt::format("{}{} of {} ops split among {}", of_batch ? "data parallelism, with " : "",
                            std::ranges::count_if(axis, parallel::chosen_splits::in_parts), axis.size(),
                            replicas() > 1 ? fmt::format("the {} devices of each of {} replicas, on {}", ranks(),
                                                         replicas(), where)
                                           : where);
    const char* separator = "; ";
    for (const auto& [what, count] : split.made.reshardings) {
      if (what != parallel::resharding::nothing) {
        text += fmt::format("{}{} {}{}", separator, count, parallel::to_string(what), count == 1 ? "" : "s");
        separator = ", ";
      }
    }
    return text;
  }

  const options& o_;
  const tool::target& target_;
  const tool::input& whole_;
  const std::vector<device_id>& devices_;
  const cost::efficiency_table& table_;
  std::vector<std::vector<device_id>> groups_; // of devices, one for each replica
  tool::input part_;                           // with the examples of a replica, if there are several
  const tool::input& in_;
  parallel::split_model model_;
  parallel::split_ops parts_;
  std::vector<placement> where_; // by rank of the first group
  tool::estimate estimate_;
  parallel::fastest_resharding fastest_;
  double element_bytes_;
};

} // namespace

/// The reason for which devices may not do the step with examples of their own; empty if they may, as where gradients
/// are known. Where ops are split along the batch instead, what they add up is sent.
static std::string why_not_replicated(const tool::input& in) {
  constexpr auto instead = "; --parallel tensor splits ops along the batch, too, and adds up what has to be";
  if (const auto why = why_unknown_gradients(in); !why.empty()) {
    return why + instead;
  }
  return in.step || in.changes_parameters || in.summed_by.empty()
           ? std::string{}
           : fmt::format("{} adds up over the batch, as for a gradient{}", in.summed_by, instead);
}

/// The reason for which a step is not cut into stages, or its batch into micro-batches; empty if it may be.
static std::string why_not_in_stages(const tool::input& in) {
  const auto& w = in.model.ops;
  const auto all = ids(w.num_ops());
  return std::none_of(all.begin(), all.end(), [&](op_id v) { return w.role(v) == op_role::parameter_gradient; })
           ? std::string{}
           : "it was traced with its optimiser, and which of its ops are of the backward pass is not known; --train "
             "makes a step of its forward pass, of which it is";
}

std::string why_not_in_parts(const options& o, const tool::input& in) {
  if (!in.model.seconds.empty() || !o.modelling.profile.empty() || in.model.unit != work_unit::flop) {
    return "times are of the whole batch, and those of a part are not known";
  }
  if (in.batch == 0) {
    return "the batch is not known; give it with --batch";
  }
  if (in.batch == 1) {
    return "a batch of 1 cannot be split";
  }
  return why_not_replicated(in);
}

std::string why_not_split(const options& o, const tool::target& target, const tool::input& in) {
  if (alike_devices(target.devices).size() < 2 && unlike_devices(target.devices).empty()) {
    return "the platform has no two devices that are alike";
  }
  return why_not_in_parts(o, in);
}

namespace {

/// The time of all ops that may run on the device, there.
double seconds_alone(const options& o, const tool::target& target, const tool::input& in, device_id device,
                     const cost::efficiency_table& table) {
  const auto estimate = tool::make_estimate(o.modelling, in, target, table);
  const auto& w = in.model.ops;
  double seconds = 0;
  for (const op_id v : ids(w.num_ops())) {
    if (w.kinds(v).contains(target.devices.kind(device))) {
      seconds += estimate.compute_time(w, v, target.devices, device);
    }
  }
  return seconds;
}

/// True if the whole step fits on the device, as a framework runs it there or in an order that holds less.
bool fits_one_device(const options& o, const tool::target& target, const tool::input& in, device_id device,
                     const cost::efficiency_table& table) {
  parallel_step step;
  step.in.spec = in.spec;
  step.in.model = in.model;
  std::vector<op_id> all(in.model.ops.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  run_step(o, target, table, replica_on(device, in.model.ops, target.devices), in.model.ops, all, step);
  return step.found.found;
}

/// The smallest batch, with 1, 2, 4 … examples on each device, of which the step is faster on all of them than on one;
/// 0 if none below that of the model is.
std::uint64_t least_batch_that_pays(const options& o, const tool::target& target, const tool::input& in,
                                    const batch_split& split, const cost::efficiency_table& table) {
  const auto& devices = split.devices;
  for (std::uint64_t batch = devices.size(); batch < in.batch && !is_stopped(o); batch *= 2) {
    try {
      const auto whole = tool::load_with_batch(o.source, o.modelling, batch);
      const auto step =
        make_step(o, target, whole, even_split(devices, batch, split.shard_updates, split.split_experts), table);
      const double alone = seconds_alone(o, target, whole, devices.front(), table);
      if (step && step->found.found && step->found.run.makespan < alone) {
        return batch;
      }
    } catch (const error&) { // most of its work does not depend on the batch
    }
  }
  return 0;
}

/// The ways that are not tried: steps on so many devices that take long to simulate, and cannot be faster than the best
/// with all work in equal parts and nothing sent. Of smaller models all are shown, which tells how many devices pay.
class hopeless_ways {
public:
  hopeless_ways(const options& o, const tool::target& target, const tool::input& in, device_id device,
                const cost::efficiency_table& table)
      : num_ops_{in.model.ops.num_ops()}, seconds_{seconds_alone(o, target, in, device, table)},
        least_gain_{o.least_gain / 100} {}
  bool is_large(std::size_t ranks) const { return num_ops_ * ranks > 100'000; }
  bool operator()(std::size_t ranks, const parallel_answer& all) const {
    return is_large(ranks) && seconds_ / static_cast<double>(ranks) >= (1 + least_gain_) * all.least_seconds();
  }

private:
  std::size_t num_ops_;
  double seconds_;
  double least_gain_; // fewer devices that are as much slower may be the ones to take
};

/// The time of an example on each device.
std::vector<double> seconds_of_example(const options& o, const tool::target& target, const tool::input& in,
                                       const std::vector<device_id>& devices, const cost::efficiency_table& table) {
  std::vector<double> seconds;
  for (const device_id d : devices) {
    seconds.push_back(seconds_alone(o, target, in, d, table) / static_cast<double>(in.batch));
  }
  return seconds;
}

/// The number of devices that have samples.
std::size_t count_sharing(const parallel::batch_parts& parts) {
  return parts.samples.size() - static_cast<std::size_t>(std::ranges::count(parts.samples, 0u));
}

/// Those of the devices that have examples, with these.
batch_split split_by_speed(const std::vector<device_id>& devices, const std::vector<std::uint64_t>& examples,
                           bool shard_updates) {
  batch_split split{.shard_updates = shard_updates, .by_speed = true};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (examples[i] > 0) {
      split.devices.push_back(devices[i]);
      split.examples.push_back(examples[i]);
    }
  }
  return split;
}

/// A step with its batch in parts by speed, none larger than its device holds.
struct step_by_speed {
  std::unique_ptr<parallel_step> step = {}; ///< null if updates are to be sharded and there are none
  parallel::batch_parts parts = {};
};

step_by_speed make_step_by_speed(const options& o, const tool::target& target, const tool::input& in,
                                 const std::vector<device_id>& devices, bool shard_updates,
                                 const cost::efficiency_table& table) {
  const auto seconds = seconds_of_example(o, target, in, devices, table);
  step_by_speed x;
  std::vector<std::uint64_t> made;
  const auto make = [&](const std::vector<std::uint64_t>& examples) {
    made = examples;
    x.step = make_step(o, target, in, split_by_speed(devices, examples, shard_updates), table);
  };
  x.parts = parallel::parts_within_memory(
    in.batch, seconds,
    [&](std::vector<std::uint64_t> examples) -> std::optional<std::vector<std::size_t>> {
      const auto asked = examples;
      if (std::count(examples.begin(), examples.end(), 0u) + 1 >= std::ssize(examples)) {
        std::replace(examples.begin(), examples.end(), std::uint64_t{0}, std::uint64_t{1}); // nothing is split else
      }
      if (!is_stopped(o)) {
        make(examples);
      }
      if (is_stopped(o) || !x.step) {
        return std::nullopt;
      }
      std::vector<std::size_t> full;
      const auto& found = x.step->found;
      for (const auto& s : memory_shortages(*x.step->made, found.plan.placement, found.run)) {
        for (std::size_t i = 0; i < devices.size(); ++i) { // a shortage is told of the device whose memory it is
          if (asked[i] > 0 && target.devices.memory_of(devices[i]) == s.device) {
            full.push_back(i);
          }
        }
      }
      return full;
    });
  if (x.step && x.parts.left == 0 && made != x.parts.samples) {
    make(x.parts.samples);
  }
  return x;
}

/// The sentence about parts that memory limits: which devices are full, or that all of them are.
std::string about_limits(const tool::target& target, const std::vector<device_id>& devices,
                         const parallel::batch_parts& parts, std::uint64_t batch) {
  std::vector<std::string> held;
  std::vector<std::string> full, none;
  for (std::size_t i = 0; i < parts.limits.size(); ++i) {
    const auto name = report::device_name(target.devices, devices[i]);
    held.push_back(fmt::format("{} on {}", parts.limits[i], name));
    if (parts.samples[i] == parts.limits[i]) {
      (parts.limits[i] == 0 ? none : full).push_back(name);
    }
  }
  return parts.left > 0 ? fmt::format("does not fit: of {} samples, {} fit ({}); give a smaller batch", batch,
                                      batch - parts.left, fmt::join(held, ", "))
         : none.empty() && full.empty() ? std::string{}
         : none.empty()                 ? fmt::format("no more samples fit on {}", fmt::join(full, ", "))
         : full.empty()                 ? fmt::format("no sample fits on {}", fmt::join(none, ", "))
                                        : fmt::format("no sample fits on {}, and no more on {}", fmt::join(none, ", "),
                                                      fmt::join(full, ", "));
}

constexpr const char* nothing_updated = "nothing is updated, so there are no updates to shard";

/// Tries the batch in parts by speed, with updates whole or sharded; whether its step fits with parts by speed alone.
/// `why` becomes the reason that nothing is shared, if memory is one.
bool try_by_speed(const options& o, const tool::target& target, const tool::input& in,
                  const std::vector<device_id>& devices, bool sharded, const cost::efficiency_table& table,
                  std::string& why, parallel_answer& all) {
  step_by_speed x;
  if (o.examples.empty()) {
    x = make_step_by_speed(o, target, in, devices, sharded, table);
  } else {
    x.step = make_step(o, target, in, split_by_speed(devices, o.examples, sharded), table);
    x.parts.samples = o.examples;
  }
  const auto count = count_sharing(x.parts);
  const auto name = fmt::format("{} × data by speed{}", count, sharded ? ", sharded" : "");
  if (!x.step) {
    all.why_not = o.shard_updates ? nothing_updated : all.why_not;
    return false;
  }
  const auto about = about_limits(target, devices, x.parts, in.batch);
  if (x.parts.left > 0) {
    if (!is_stopped(o)) {
      keep_misfit(name, about, all);
    }
    return false;
  }
  if (count < 2) { // which is no way to share the batch
    why = fmt::format("one device would get all samples{}{}", about.empty() ? "" : "; ", about);
    return false;
  }
  x.step->spec = argument_of(devices.size(), {.shard_updates = sharded, .by_speed = true}, x.parts.samples);
  if (!about.empty()) {
    x.step->about = about;
    x.step->found.strategy += "; " + about;
  }
  const bool fits = x.step->found.found;
  keep_best(std::move(x.step), name, in, all);
  return fits && about.empty();
}

/// Splits the batch among all accelerators, if they differ, as fits their speeds and their memory.
void split_batch_by_speed(const options& o, const tool::target& target, const tool::input& in,
                          const cost::efficiency_table& table, const std::function<void(const std::string&)>& on_stage,
                          parallel_answer& all) {
  const bool asked = o.by_speed && *o.by_speed;
  if ((o.by_speed && !asked) || (o.split_experts && *o.split_experts)) {
    return;
  }
  auto devices = unlike_devices(target.devices, o.ranks);
  if (devices.size() < 2 || devices.size() < o.ranks) {
    all.why_not = !asked            ? all.why_not
                  : devices.empty() ? "there are no accelerators that differ"
                                    : fmt::format("there are {} accelerators", devices.size());
    return;
  }
  devices = joined_devices(o, target, devices, {{static_cast<std::uint32_t>(devices.size())}});
  if (!o.examples.empty() &&
      std::accumulate(o.examples.begin(), o.examples.end(), std::uint64_t{0}) != in.batch) {
    all.why_not = fmt::format("by-speed={} does not add up to the {} samples of the batch",
                              fmt::join(o.examples, "+"), in.batch);
    return;
  }
  const auto by_speed = parallel::parts_by_speed(in.batch, seconds_of_example(o, target, in, devices, table));
  if (const auto sharing = o.examples.empty() ? count_sharing(by_speed) : devices.size();
      sharing < 2 || (o.ranks != 0 && o.ranks != sharing)) {
    if (asked || alike_devices(target.devices).size() < 2) { // else these may share it evenly
      all.why_not = fmt::format("by their speeds, {} would get all samples",
                                sharing < 2 ? "one device" : fmt::format("{} devices", sharing));
    }
    return;
  }
  on_stage("splitting the batch by speed");
  bool fits = false;
  const auto num_ways = all.ways.size();
  std::string why;
  for (const bool sharded : {false, true}) {
    if (o.shard_updates ? *o.shard_updates != sharded : fits) {
      continue;
    }
    try {
      fits = try_by_speed(o, target, in, devices, sharded, table, why, all);
    } catch (const error& e) { // such as a model whose batch is fixed
      all.why_not = e.what();
      return;
    }
  }
  if (all.ways.size() == num_ways && !why.empty() && (asked || alike_devices(target.devices).size() < 2)) {
    all.why_not = why;
  }
}

/// The reason that no number of `devices`, those that are alike, shares a batch: `ranks` of them, or any number if that
/// is 0.
std::string why_not_split(std::uint64_t batch, std::size_t ranks, std::size_t devices) {
  return ranks > devices ? fmt::format("there are only {} devices that are alike, not {}", devices, ranks)
         : ranks != 0    ? fmt::format("a batch of {} cannot be split among {} devices", batch, ranks)
                         : fmt::format("a batch of {} cannot be divided by 2 to {}", batch, devices);
}

std::string why_no_experts(const options& o, std::size_t count) {
  const bool lack = o.split_experts && *o.split_experts && count < std::max<std::size_t>(o.ranks, 2);
  return !lack        ? ""
         : count == 0 ? "there are no experts, as in layer_1/expert_0/weights, among the names of its ops"
                      : fmt::format("there are {} experts for {} devices", count, o.ranks);
}

std::string name_of_batch_split(std::size_t ranks, bool sharded, bool experts) {
  return fmt::format("{} × data{}", ranks,
                     experts ? sharded ? ", experts, sharded" : ", experts"
                     : sharded ? ", sharded updates"
                               : "");
}

/// Notes the least batch that pays, or nothing if that is 0.
void note_least_batch(std::uint64_t batch, parallel_answer& all) {
  for (std::size_t i = 0; batch != 0 && i < all.kept.size(); ++i) {
    all.kept[i]->cost_notes.push_back(fmt::format("on these devices data parallelism is faster than one of them from a "
                                                  "batch of {} on", batch));
  }
}

/// So many of these devices, those that are joined best for reducing gradients.
std::vector<device_id> best_joined(const options& o, const tool::target& target, const std::vector<device_id>& devices,
                                   std::size_t ranks, bool sharded) {
  return joined_devices(o, target, devices,
                        {{static_cast<std::uint32_t>(ranks),
                          sharded ? mesh_traffic::in_parts : mesh_traffic::all_reduce}});
}

/// The updates with which a step fits on the number of devices that was tried last: all on each device, or in parts.
struct fitting_updates {
  bool whole = true, sharded = true;

  /// `first`: no other number was tried, and all ways are shown.
  bool is_worthwhile(bool in_parts, bool first) const { return sharded && (in_parts ? first || !whole : whole); }
};

/// Splits the batch among 2, 3, … devices.
void split_batch(const options& o, const tool::target& target, const tool::input& in,
                 const std::vector<device_id>& devices, const cost::efficiency_table& table,
                 const std::function<void(const std::string&)>& on_stage, parallel_answer& all) {
  const hopeless_ways is_hopeless{o, target, in, devices.front(), table};
  // Fewer devices have larger parts of the batch each: what does not fit on many does not fit on few.
  fitting_updates fits[2]; // with experts on all devices, and on one each
  bool first = true;
  const auto num_experts = parallel::count_experts(in.model.ops);
  all.why_not = why_no_experts(o, num_experts);
  constexpr std::size_t max_numbers = 6; // of devices
  std::function<std::uint64_t()> least_batch; // that the best way of these pays for
  for (std::size_t ranks = devices.size(), tried = 0; ranks > 1 && tried < max_numbers; --ranks) {
    if (is_stopped(o) || !all.why_not.empty() || !(fits[0].sharded || (fits[1].sharded && num_experts >= ranks))) {
      break;
    }
    if (in.batch % ranks != 0 || (o.ranks != 0 && o.ranks != ranks) || is_hopeless(ranks, all)) {
      continue;
    }
    ++tried;
    on_stage(fmt::format("splitting the batch among {} devices", ranks));
    for (const auto& [sharded, experts] :
         {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}, std::pair{true, true}}) {
      auto& kind = fits[experts];
      if (!(o.shard_updates ? *o.shard_updates == sharded : kind.is_worthwhile(sharded, first)) ||
          (o.split_experts ? *o.split_experts != experts : experts && num_experts < ranks)) {
        continue;
      }
      const auto split = even_split(best_joined(o, target, devices, ranks, sharded), in.batch, sharded, experts);
      std::unique_ptr<parallel_step> step;
      try {
        step = make_step(o, target, in, split, table);
      } catch (const error& e) { // such as a model whose batch is fixed
        if (experts && !o.split_experts) {
          continue;
        }
        if (sharded && !o.shard_updates && kind.whole) { // its updates cannot be in parts
          kind.sharded = kind.whole;
          continue;
        }
        all.why_not = fmt::format("with a batch of {}: {}", in.batch / ranks, e.what());
        break;
      }
      if (!step) { // nothing is updated
        kind.sharded = kind.whole;
        all.why_not = o.shard_updates ? nothing_updated : all.why_not;
        continue;
      }
      (sharded ? kind.sharded : kind.whole) = step->found.found;
      const auto* const fastest = all.fastest();
      keep_best(std::move(step), name_of_batch_split(ranks, sharded, experts), in, all);
      if (all.fastest() != fastest && !is_hopeless.is_large(ranks)) {
        least_batch = [&, split] { return least_batch_that_pays(o, target, in, split, table); };
      }
    }
    first = false;
  }
  if (least_batch) {
    on_stage("trying smaller batches");
    note_least_batch(least_batch(), all);
  }
  if (all.ways.empty() && all.why_not.empty()) {
    all.why_not = why_not_split(in.batch, o.ranks, devices.size());
  }
}

/// The ways to split ops that are tried: replicas, and devices of each.
std::vector<std::pair<std::size_t, std::size_t>> ways_to_split(const options& o, std::size_t devices,
                                                               std::uint64_t batch) {
  if (o.parallel == options::parallelism::data) {
    return {{o.ranks, o.tensor_ranks}};
  }
  std::vector<std::pair<std::size_t, std::size_t>> ways;
  const std::size_t most = o.ranks != 0 ? o.ranks : devices;
  for (std::size_t ranks = 2; ranks < devices && o.parallel == options::parallelism::automatic; ranks *= 2) {
    if (const auto replicas = devices / ranks; devices % ranks == 0 && batch != 0 && batch % replicas == 0) {
      ways.emplace_back(replicas, ranks);
    }
  }
  for (std::size_t ranks = most; ranks > 1 && ranks * 4 >= most && (o.ranks == 0 || ranks == most); ranks /= 2) {
    ways.emplace_back(1, ranks);
  }
  return ways;
}

std::string name_of_split(std::size_t replicas, std::size_t ranks) {
  return ranks == 1      ? fmt::format("{} × data", replicas)
         : replicas == 1 ? fmt::format("{} × tensor", ranks)
                         : fmt::format("{} × data, {} × tensor", replicas, ranks);
}

/// Splits each op among all devices, half of them, and a quarter; and among the devices of replicas.
void split_ops(const options& o, const tool::target& target, const tool::input& in,
               const std::vector<device_id>& devices, const cost::efficiency_table& table,
               const std::function<void(const std::string&)>& on_stage, parallel_answer& all) {
  if (!has_axes(in) || !in.model.seconds.empty() || !o.modelling.profile.empty()) {
    all.why_not += (all.why_not.empty() ? "" : "; ") +
                   why_not_along_axes(in);
    return;
  }
  const hopeless_ways is_hopeless{o, target, in, devices.front(), table};
  double fastest = std::numeric_limits<double>::infinity(); // of splits
  const auto why_one = why_not_replicated(in);
  for (const auto& [replicas, ranks] : ways_to_split(o, devices.size(), why_one.empty() ? in.batch : 0)) {
    if (replicas > 1 && !why_one.empty()) {
      all.why_not = why_one;
      return;
    }
    if (replicas * ranks > devices.size()) {
      all.why_not = fmt::format("there are only {} devices that are alike, not {}", devices.size(), replicas * ranks);
      return;
    }
    if (in.batch % replicas != 0) {
      all.why_not = fmt::format("a batch of {} cannot be split among {} replicas", in.batch, replicas);
      return;
    }
    if (is_stopped(o)) {
      return;
    }
    if (is_hopeless(replicas * ranks, all)) {
      continue;
    }
    on_stage(fmt::format("splitting each op among {} devices", ranks));
    const auto some = joined_devices(o, target, devices,
                                     {{static_cast<std::uint32_t>(ranks)}, {static_cast<std::uint32_t>(replicas)}});
    const double faster_than = o.parallel == options::parallelism::automatic && is_hopeless.is_large(replicas * ranks)
                                 ? all.least_seconds()
                                 : std::numeric_limits<double>::infinity();
    const auto name = name_of_split(replicas, ranks);
    try {
      if (auto step = split_step_maker(o, target, in, some, replicas, table)(faster_than)) {
        const bool is_best = step->found.run.makespan < fastest;
        fastest = std::min(fastest, step->found.run.makespan);
        const bool of_batch = step->config.ranks == 1;
        keep_best(std::move(step), of_batch ? name_of_split(replicas * ranks, 1) : name, in, all);
        if (!is_best && is_hopeless.is_large(replicas * ranks)) { // more splits would hardly be better, and take long
          break;
        }
      }
    } catch (const does_not_fit& e) {
      if (!is_stopped(o)) { // else the search had no time
        keep_misfit(name, e.what(), all);
      }
    } catch (const error& e) { // such as extents that do not follow from another batch
      all.why_not = e.what();
    }
  }
}

/// Why the step fits into no number of parts that run at once: it holds more at some moment than all devices together
/// have. Empty if that is not so.
std::string why_too_large(const problem& whole) {
  const auto why = bound::why_too_large(whole);
  return why ? to_string(*why, why->op == none ? std::string_view{} : whole.workload().name(why->op)) : std::string{};
}

/// A bound on the time of a step, however its batch is split: the work of all ops on all devices.
lower_bound bound_on_any_split(const problem& whole) {
  // Without demands: parts may fit where the whole does not.
  return {bound::area(whole.with_demands(std::vector<byte_count>(whole.num_components(), 0))), lower_bound::rule::area};
}

} // namespace

parallel_answer share_work(const options& o, const tool::target& target, const tool::input& in,
                           const cost::efficiency_table& table,
                           const std::function<void(const std::string&)>& on_stage) {
  using enum options::parallelism;
  parallel_answer all;
  std::vector<std::string> unread;
  const auto estimate = tool::make_estimate(o.modelling, in, target, table);
  const problem whole{in.model.ops, target.devices, tool::make_costs(o.modelling, in, target, estimate, unread)};
  const auto devices = alike_devices(target.devices);
  const bool mixed = o.parallel == data && o.tensor_ranks != 0;
  const auto too_large = o.parallel == pipeline ? std::string{} : why_too_large(whole);
  if (!too_large.empty()) {
    keep_misfit("without micro-batches", too_large, all);
  }
  if ((o.parallel == data && !mixed) || o.parallel == automatic) {
    all.why_not = why_not_split(o, target, in);
    if (all.why_not.empty() && too_large.empty()) {
      split_batch_by_speed(o, target, in, table, on_stage, all);
    }
    if (all.why_not.empty() && too_large.empty() && devices.size() > 1 && !(o.by_speed && *o.by_speed)) {
      split_batch(o, target, in, devices, table, on_stage, all);
    }
  }
  if (o.parallel == pipeline || o.parallel == automatic) {
    auto why = why_not_in_parts(o, in);
    if (why = why.empty() ? why_not_in_stages(in) : std::move(why); !why.empty()) {
      all.why_not = o.parallel == pipeline ? std::move(why) : all.why_not;
    } else if (o.parallel == pipeline || devices.size() > 1 ||
               !fits_one_device(o, target, in, devices.front(), table)) {
      pipeline_work(o, target, in, devices, on_stage, all);
    }
  }
  if ((o.parallel == tensor || mixed) && devices.size() < 2) {
    all.why_not = "the platform has no two devices that are alike";
  } else if (too_large.empty() &&
             (o.parallel == tensor || mixed || (o.parallel == automatic && devices.size() > 1))) {
    split_ops(o, target, in, devices, table, on_stage, all);
  }
  if (!all.kept.empty()) {
    const auto bound = bound_on_any_split(whole);
    for (const auto& x : all.kept) {
      x->modelling = o.modelling;
      x->bound = bound;
    }
  }
  sort_ways(all.ways);
  choose_way(o, all);
  return all;
}

lower_bound bound_on_any_split(const problem& whole) {
  // Without demands: parts may fit where the whole does not.
  return {bound::area(whole.with_demands(std::vector<byte_count>(whole.num_components(), 0))), lower_bound::rule::area};
}

std::optional<answer> not_searched(const options& o, const problem& whole, const parallel_answer& split) {
  const double gain = o.least_gain / 100;
  const double least = bound::best(whole.with_resident_demands()).value;
  const parallel::timed_way simplest{{.recomputes = o.modelling.recompute.has_value()}, least};
  const bool is_beaten = std::any_of(split.kept.begin(), split.kept.end(), [&](const auto& x) {
    return parallel::seconds_with_complexity(x->timed(), gain) < parallel::seconds_with_complexity(simplest, gain);
  });
  if (!is_beaten || !std::isfinite(least)) {
    return std::nullopt;
  }
  return answer{.why = fmt::format("takes at least {:.4g} ms, so it was not searched", least * 1e3)};
}

/// The name of the plan with each op on one device, among the ways.
static const std::string each_op_once = "each op on one device";

/// The name of a way in sentences.
static std::string name_of(const parallel_step& x) {
  return x.about.empty() ? x.name : fmt::format("{} ({})", x.name, x.about);
}

/// The features of a way that the one that was taken has not; else what makes it less simple.
static std::string more_than(const parallel::configuration& taken, const parallel::configuration& how) {
  std::vector<std::string_view> more;
  for (std::size_t f = 0; f < parallel::num_features; ++f) {
    const auto x = static_cast<parallel::feature>(f);
    if (how.has(x) && !taken.has(x)) {
      more.push_back(to_string(x));
    }
  }
  if (more.empty()) {
    more.emplace_back(how.devices > taken.devices ? "more devices" : "a less simple way");
  }
  const auto last = std::exchange(more.back(), {});
  more.pop_back();
  return more.empty() ? std::string{last} : fmt::format("{} and {}", fmt::join(more, ", "), last);
}

/// The line that says which way is faster than the one that was taken, and why that is not enough; empty if none is.
static std::string about_untaken(const std::vector<parallel::timed_way>& ways, const std::vector<std::string>& names,
                                 const parallel::chosen_way& chosen, const std::optional<plan_among_ways>& once) {
  constexpr double told = 0.0005; // smaller gains are none in the digits that are shown
  if (!chosen) {
    return {};
  }
  const auto& taken = ways[chosen.number];
  const double least = chosen.not_taken.empty() ? taken.seconds : ways[chosen.not_taken.front().number].seconds;
  if (once && once->way.seconds > taken.seconds && once->seconds * (1 + told) < least) {
    return fmt::format("not taken: {}, {:.1f} % faster on paper: it hands {} tensor{} over between host and "
                       "accelerator, for each of which a runtime waits; --least-gain 0 takes it", names.back(),
                       100 * (taken.seconds / once->seconds - 1), once->hand_overs,
                       once->hand_overs == 1 ? "" : "s");
  }
  if (chosen.not_taken.empty() || chosen.not_taken.front().gain < told) {
    return {};
  }
  const auto& other = chosen.not_taken.front();
  return fmt::format("not taken: {}, which is {:.1f} % faster: {} would have to gain {:.3g} %, since estimates are not "
                     "more exact than that; --least-gain 0 takes it", names[other.number], 100 * other.gain,
                     more_than(taken.how, ways[other.number].how), 100 * other.asked);
}

std::string tell_choice(const options& o, const std::optional<plan_among_ways>& once, parallel_answer& split) {
  std::vector<parallel::timed_way> ways;
  std::vector<std::string> names;
  for (const auto& x : split.kept) {
    ways.push_back(x->timed());
    names.push_back(name_of(*x));
  }
  if (once) {
    ways.push_back(once->way);
    names.push_back(each_op_once);
  }
  const auto chosen = parallel::simplest_within(ways, o.least_gain / 100);
  split.best = chosen && chosen.number < split.kept.size() ? split.kept[chosen.number] : nullptr;
  sort_ways(split.ways);
  const auto row = std::find_if(split.ways.begin(), split.ways.end(), [&](const report::way& w) {
    return split.best ? w.name == split.best->name && w.step_seconds == split.best->found.run.makespan
                      : w.name == each_op_once;
  });
  if (chosen && row != split.ways.end() && row->step_seconds > split.ways.front().step_seconds) {
    add_remark("taken", *row);
  }
  return about_untaken(ways, names, chosen, once);
}

bool compare(const options& o, const tool::input& in, const problem& whole, answer& found, parallel_answer& split) {
  if (split.ways.empty()) {
    return false;
  }
  std::optional<plan_among_ways> once;
  if (found.found) {
    split.ways.push_back(way_of(whole, found, each_op_once, in.batch));
    once = {timed_plan(o, whole, found), found.run.makespan, parallel::count_hand_overs(whole, found.run)};
  } else {
    split.ways.push_back({.name = each_op_once, .status = found.why.substr(0, found.why.find('\n'))});
  }
  if (o.modelling.recompute_least) { // else all ways run the same again
    add_remark(about_recomputation(o.modelling), split.ways.back());
  }
  auto note = tell_choice(o, once, split);
  if (split.best) {
    auto baselines = std::move(found.baselines);
    if (found.found) {
      baselines.insert(baselines.begin(), {.name = each_op_once, .step_seconds = found.run.makespan});
    }
    found = std::move(split.best->found);
    found.baselines = std::move(baselines);
    found.bound = split.best->bound;
  }
  if (!note.empty()) {
    found.notes.push_back(std::move(note));
  }
  return split.best != nullptr;
}

} // namespace place
