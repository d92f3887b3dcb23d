// SPDX-License-Identifier: BSL-1.0
/// Tensor parallelism: each op in parts, along the axis that suits best, among all devices or those of each replica.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/parallel/axis_units.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/choose_resharding.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/fully_sharded.hpp"
#include "weft/parallel/parameter_gathers.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/parallel/sharded_parameters.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/kinds/pruning.hpp"
#include "weft/planner/kinds/run_way.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/step_origins.hpp"
#include "weft/workload/stored_as.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace weft::planner {

namespace detail {

/// So many groups of devices, one after the other.
inline std::vector<std::vector<device_id>> groups_of(const std::vector<device_id>& devices, std::size_t count) {
  const auto size = static_cast<std::ptrdiff_t>(devices.size() / count);
  std::vector<std::vector<device_id>> groups;
  for (auto first = devices.begin(); groups.size() < count; first += size) {
    groups.emplace_back(first, first + size);
  }
  return groups;
}

/// Makes steps with ops split among devices, or among those of each of so many replicas.
class op_splitter {
public:
  op_splitter(const task& t, const std::vector<device_id>& devices, const way& how)
      : t_{t}, how_{how}, devices_{devices}, groups_{groups_of(devices, how.replicas)}, part_{part_of(t, how.replicas)},
        model_{model_of(t, *part_, how)}, parts_{model_, ranks()},
        held_{how.shards_updates ? held_by_replica(part_->ops, how) : workload{}},
        where_{replicas_on(groups_[0], part_->ops, t.machine())},
        fastest_{t.machine(), groups_[0], t.how().contention, parallel::usual_collectives(t.machine(), groups_[0]),
                 t.costs().ops} {}
  op_splitter(const op_splitter&) = delete; // it refers to itself

  /// A step with each op split as suits best; null if none may be faster than that. Throws `refusal` if none fits.
  std::shared_ptr<made_way> make(double faster_than) const {
    auto [x, is_slow] = make_within_memory(model_, faster_than);
    if (how_.shards_parameters && !(x && x->fits())) { // what ranks gather of parameters stays until it is read again
      if (auto other = make_within_memory(with_parameters_where_they_are(), faster_than).made) {
        x = std::move(other);
      }
    }
    if (!x && !is_slow) {
      throw refusal{{.is = reason::kind::no_splits_fit}};
    }
    if (x) {
      describe(*x);
    }
    return x;
  }

private:
  /// The step of a replica.
  static std::shared_ptr<const model_step> part_of(const task& t, std::size_t replicas) {
    auto part = std::make_shared<const model_step>(replicas > 1 ? t.with_batch(t.whole().batch / replicas) : t.whole());
    if (auto why = why_not_along_axes(*part)) {
      throw refusal{std::move(why)};
    }
    return part;
  }

  /// The model of the part, as the way splits it: along a batch that the ranks do not divide not at all, since
  /// runtimes give each as many examples.
  static parallel::split_model model_of(const task& t, const model_step& part, const way& how) {
    auto model = axes_of(part);
    how.splits_sequence ? parallel::keep_weights_whole(model) : void();
    if (part.batch > 1 && part.batch % how.ranks != 0) {
      keep_batch_whole(t, part, how.ranks, model);
    }
    return model;
  }

  /// Axes that grow with the batch are those of which half a batch has less.
  static void keep_batch_whole(const task& t, const model_step& part, std::uint32_t ranks,
                               parallel::split_model& model) {
    try {
      const auto half = t.with_batch(part.batch / 2);
      if (half.ops.num_ops() != part.ops.num_ops() || !has_axes(half)) {
        return;
      }
      const auto smaller = axes_of(half);
      for (const op_id v : ids(model.axes.size())) {
        auto& a = model.axes[v];
        const auto& b = smaller.axes[v].extents;
        for (std::uint32_t k = 0; k < a.extents.size() && a.extents.size() == b.size(); ++k) {
          const bool grows = a.extents[k] != b[k];
          grows && a.extents[k] % ranks != 0 ? a.keep_whole(k) : void();
          grows && k < a.units.size() ? void(a.units[k] = a.extents[k]) : void();
        }
      }
    } catch (const error&) { // its extents do not follow
    }
  }

  std::size_t replicas() const { return groups_.size(); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(groups_[0].size()); }
  double seconds_of(const workload& w, op_id of, op_id v) const {
    return t_.costs().ops.compute_time(w, of, t_.machine(), where_.front()[v]);
  }
  auto messages() const {
    return [this](parallel::resharding what, byte_count size) { return fastest_.messages(what, size); };
  }

  /// The ops with what a replica holds of them, of which replicas share updates, or parameters as well.
  static workload held_by_replica(const workload& w, const way& how) {
    const auto state = weft::detail::optimizer_state(w);
    const auto of_parameters = made_of_parameters(w);
    workload_builder b;
    copy_ops(
      b, w,
      [&](op_id v) {
        const bool is_shared = state[v] ? how.shards_updates : how.shards_parameters;
        const auto bytes = w.resident_bytes(v);
        return is_shared ? (bytes + how.replicas - 1) / how.replicas : bytes;
      },
      [&](tensor_id t) {
        const bool is_shared = how.shards_parameters && of_parameters[w.producer(t)] && w.bytes(t) > largest_constant;
        return is_shared ? (w.bytes(t) + how.replicas - 1) / how.replicas : w.bytes(t);
      });
    return std::move(b).build();
  }

  struct tried_splits {
    std::shared_ptr<made_way> made = {}; ///< that fit, or else the last that do not; null if there are none
    bool is_slow = false;                ///< others would be no faster than what is there
  };

  /// The fastest splits that fit, by a few tries.
  tried_splits make_within_memory(const parallel::split_model& model, double faster_than) const {
    // What is gathered lives beside what it is made of, which the choice does not count: where it does not fit, it gets
    // less memory, by as much as it lacks if that is a lot.
    const auto limit = memory_for_each(t_.machine(), devices_);
    auto capacity = limit;
    tried_splits x;
    for (int tries = 0; tries < 4 && !(x.made && x.made->fits()); ++tries) {
      auto chosen = choose(model, capacity);
      x.is_slow = chosen.found && chosen.seconds > most_overlap * faster_than;
      if (!chosen.found || x.is_slow) {
        break;
      }
      x.made = run(std::move(chosen.axis));
      const double excess = static_cast<double>(x.made->figures.peak_memory) / static_cast<double>(limit);
      capacity = static_cast<byte_count>(static_cast<double>(capacity) / (excess > 1.25 ? excess : 1 / 0.9));
    }
    return x;
  }

  /// The model with parameters that are read in the parts that lie on a device.
  parallel::split_model with_parameters_where_they_are() const {
    auto model = model_;
    const auto of_parameters = made_of_parameters(part_->ops);
    for (const op_id v : ids(part_->ops.num_ops())) {
      model.is_state[v] = model.is_state[v] || of_parameters[v];
    }
    return model;
  }

  parallel::chosen_splits choose(const parallel::split_model& of, byte_count capacity) const {
    if (!how_.shards_updates) {
      return choose_within(of, capacity);
    }
    auto held = of;
    held.ops = &held_;
    return choose_within(held, capacity);
  }

  parallel::chosen_splits choose_within(const parallel::split_model& model, byte_count capacity) const {
    return parallel::choose_splits(
      model, ranks(),
      {.op = [&](op_id v, std::uint32_t axis) { return seconds_of(parts_.ops(), parts_.of(v, axis), v); },
       .transfer = [&](parallel::resharding what, byte_count size) { return fastest_.seconds(what, size); },
       .capacity = capacity},
      // Without a clock or seed, so that a plan can be made again.
      {.budget = {.moves = 2000, .stop = t_.how().stop}, .jobs = t_.how().jobs});
  }

  /// Makes the step of these splits and runs it.
  std::shared_ptr<made_way> run(std::vector<std::uint32_t> axis) const {
    auto x = std::make_shared<made_way>();
    auto made = parallel::tensor_parallel(model_, axis, where_, part_->element_bytes, messages());
    x->part = part_;
    x->devices = devices_;
    const auto in_parts = std::count_if(axis.begin(), axis.end(), parallel::chosen_splits::in_parts);
    x->split = {std::move(axis), static_cast<std::size_t>(in_parts), std::move(made.reshardings),
                std::move(made.resharded)};
    if (replicas() > 1) {
      on_all_groups(made, x->split.axis);
    }
    x->ops = std::move(made.graph);
    x->origin = std::move(made.origin);
    run_way(t_, std::move(made.where), *x);
    return x;
  }

  /// Puts the step of the first group on each of them, with gradients reduced between them.
  void on_all_groups(parallel::split_workload& made, const std::vector<std::uint32_t>& axis) const {
    std::vector<placement> all{made.where};
    std::vector<device_id> firsts; // of the groups, for the all-reduces between them
    for (const auto& g : groups_) {
      if (!firsts.empty()) {
        const auto where = replicas_on(g, part_->ops, t_.machine());
        all.push_back(parallel::tensor_parallel(model_, axis, where, part_->element_bytes, messages()).where);
      }
      firsts.push_back(g.front());
    }
    parallel::data_parallel_options how{.shard_updates = how_.shards_updates,
                                        .gather_updated = !how_.shards_parameters,
                                        .element_bytes = part_->element_bytes};
    parallel::parameter_gathers gathers;
    if (how_.shards_parameters) {
      const auto holders = holders_of(*part_) ? origins_of_copies(made) : step_origins{};
      gathers = gathers_of(made.graph, holders_of(*part_) ? &holders : nullptr, {.rank = made.replica});
      how.bucket_of = parallel::units_of_gradients(made.graph, gathers);
      how.bucket_bytes = gathers.largest_unit();
    }
    const auto all_reduce = parallel::choose_all_reduce(how.bucket_bytes, t_.machine(), firsts, t_.how().contention,
                                                        how.shard_updates, t_.costs().ops);
    auto both = parallel::data_parallel(made.graph, all, all_reduce.messages, how);
    if (how_.shards_parameters) {
      both = parallel::fully_sharded(both, made.graph, gathers, all_reduce.messages, how.element_bytes);
    }
    for (auto& v : both.origin) {
      v = v == none ? none : made.origin[v];
    }
    made.graph = std::move(both.graph);
    made.where = std::move(both.where);
    made.origin = std::move(both.origin);
  }

  /// The roles of copies of the part's ops, and the copy on the same device that holds the parameters of each.
  step_origins origins_of_copies(const parallel::split_workload& made) const {
    const auto& of = *part_->expanded;
    const auto n = part_->ops.num_ops();
    std::vector<op_id> copy(n * ranks(), none);
    for (const op_id v : ids(made.origin.size())) {
      made.origin[v] == none ? void() : void(copy[made.replica[v] * n + made.origin[v]] = v);
    }
    step_origins found;
    for (const op_id v : ids(made.origin.size())) {
      const op_id from = made.origin[v];
      const op_id holder = from == none ? none : of.holder[from];
      found.role.push_back(from == none ? step_role::forward : of.role[from]);
      found.holder.push_back(holder == none ? none : copy[made.replica[v] * n + holder]);
    }
    return found;
  }

  /// True if ops that are split along `axis` are so along the batch, but for next to nothing.
  bool splits_batch(const std::vector<std::uint32_t>& axis) const {
    if (part_->batch == 0 || part_->batch % ranks() != 0) {
      return false;
    }
    try {
      const auto smaller = t_.with_batch(part_->batch / ranks());
      return smaller.origin == part_->origin && smaller.ops.num_ops() == part_->ops.num_ops() && has_axes(smaller) &&
             parallel::work_in_parts(model_, axes_of(smaller), ranks(), axis,
                                     [&](op_id v) { return seconds_of(part_->ops, v, v); })
               .is_data_parallel();
    } catch (const error&) { // its extents do not follow
      return false;
    }
  }

  void describe(made_way& x) const {
    x.figures.splits_batch = splits_batch(x.split.axis);
    x.figures.splits_sequence = !x.figures.splits_batch && splits_sequence(x.split.axis);
    x.figures.how = how_;
    take_sharding(x);
    x.features = features_of(x.how(), part_->recomputes);
    x.features.shards_updates = x.sharding.zero_stage > 0;
    x.features.shards_parameters = x.sharding.zero_stage == 3;
    if (x.figures.splits_batch) {
      x.features.replicas = x.features.devices;
      x.features.ranks = 1;
    } else if (x.figures.splits_sequence) {
      x.features.context_ranks = ranks();
      x.features.ranks = 1;
    }
  }

  /// True if products with whole weights are in parts along rows, which are those of one sequence.
  bool splits_sequence(const std::vector<std::uint32_t>& axis) const {
    if (part_->batch != 1 || !has_attentions(part_->ops)) {
      return false;
    }
    auto rows = axes_of(*part_);
    parallel::keep_weights_whole(rows);
    double in_parts = 0, all = 0;
    for (const op_id v : ids(axis.size())) {
      if (ops::use_of(part_->ops.type(v)) == ops::device_use::product) {
        const bool of_rows = parallel::chosen_splits::in_parts(axis[v]) && rows.axes[v].extents[axis[v]] > 1;
        in_parts += of_rows ? part_->ops.work(v) : 0;
        all += part_->ops.work(v);
      }
    }
    return in_parts > 0.9 * all;
  }

  void take_sharding(made_way& x) const {
    const bool of_batch = x.figures.splits_batch;
    auto& s = x.sharding;
    s = {.mesh = {.devices = devices_}, .batch = t_.whole().batch, .trains = is_training_step(part_->ops)};
    if (replicas() > 1) {
      s.mesh.axes.push_back({"data", static_cast<std::uint32_t>(replicas())});
    }
    const bool of_sequence = x.figures.splits_sequence;
    s.mesh.axes.push_back({of_sequence      ? "context"
                           : !of_batch      ? "tensor"
                           : replicas() > 1 ? "data_shard"
                                            : "data",
                           ranks()});
    s.parameters = parallel::sharded_parameters(model_, x.split.axis,
                                                static_cast<std::uint32_t>(s.mesh.axes.size() - 1), ranks());
    const bool in_parts = std::any_of(s.parameters.begin(), s.parameters.end(),
                                      [](const auto& p) { return p.is_split(); });
    s.zero_stage = !s.trains                         ? 0
                   : of_batch                         ? parallel::zero_stage_of(s.parameters)
                   : how_.shards_parameters           ? 3
                   : of_sequence && in_parts          ? 3
                   : how_.shards_updates              ? 2
                                                      : 0;
    if (how_.shards_parameters) {
      for (auto& parameter : s.parameters) {
        parallel::split_whole_dimension(parameter, 0, static_cast<std::uint32_t>(replicas()));
      }
    }
  }

  const task& t_;
  way how_;
  std::vector<device_id> devices_;
  std::vector<std::vector<device_id>> groups_; // of devices, one for each replica
  std::shared_ptr<const model_step> part_;     // with the examples of a replica
  parallel::split_model model_;
  parallel::split_ops parts_;
  workload held_; // of the part, as a replica that shares updates or parameters holds it; else empty
  std::vector<placement> where_; // by rank of the first group
  parallel::fastest_resharding fastest_;
};

/// The ways to split ops that are tried: replicas, and devices of each.
inline std::vector<std::pair<std::size_t, std::size_t>> proposed_op_splits(const wanted_ways& wanted,
                                                                           std::size_t devices, std::uint64_t batch) {
  using which = wanted_ways::which;
  std::vector<std::pair<std::size_t, std::size_t>> ways;
  if (wanted.asks_for(which::data)) {
    const auto most = std::max<std::size_t>(devices / wanted.ranks, 2);
    for (auto replicas = most; wanted.replicas == 0 && replicas > 1; --replicas) {
      if (batch % replicas == 0) {
        ways.emplace_back(replicas, wanted.ranks);
      }
    }
    if (ways.empty()) {
      ways.emplace_back(wanted.replicas != 0 ? wanted.replicas : most, wanted.ranks);
    }
    return ways;
  }
  const std::size_t given = wanted.asks_for(which::tensor) ? wanted.ranks : 0;
  const std::size_t most = given != 0 ? given : devices;
  for (std::size_t ranks = 2; ranks < devices && wanted.asks_for(which::all); ++ranks) {
    if (const auto replicas = devices / ranks; devices % ranks == 0 && batch != 0 && batch % replicas == 0) {
      ways.emplace_back(replicas, ranks);
    }
  }
  for (std::size_t ranks = most; ranks > 1 && ranks * 4 >= most && (given == 0 || ranks == most); ranks /= 2) {
    ways.emplace_back(1, ranks);
  }
  return ways;
}

/// The reason for which ops are not split so among some of the devices that are alike.
inline reason why_no_op_split(const task& t, std::size_t devices, std::size_t replicas, std::size_t ranks) {
  using enum reason::kind;
  if (auto why = replicas > 1 ? why_not_replicated(t.whole()) : reason{}) {
    return why;
  }
  return replicas * ranks > devices ? reason{.is = few_alike_devices, .have = devices, .asked = replicas * ranks}
         : t.whole().batch % replicas != 0
           ? reason{.is = batch_not_for_replicas, .have = t.whole().batch, .asked = replicas}
           : reason{};
}

/// Tries ways to split ops on devices that are alike, and adds them to others.
class op_split_search {
public:
  op_split_search(const task& t, const std::vector<device_id>& devices, comparison& all)
      : t_{t}, devices_{devices}, all_{all}, prune_{t, devices.front()} {}

  /// Tries replicas with all updates; where these do not fit, or as is wanted, with updates in parts, and with
  /// parameters in parts as well. True if others of fewer devices are worth a try.
  bool try_all(way how) {
    const auto& wanted = t_.wanted();
    const bool trains = is_training_step(t_.whole().ops);
    for (const auto& [updates, parameters] : {std::pair{false, false}, std::pair{true, false}, std::pair{true, true}}) {
      how.shards_updates = updates;
      how.shards_parameters = parameters;
      const bool is_wanted = wanted.shards_updates.value_or(updates) == updates &&
                             wanted.shards_parameters.value_or(parameters) == parameters;
      if (!is_wanted || (updates && how.replicas < 2)) {
        continue;
      }
      if (updates && !trains) {
        if (wanted.shards_updates) {
          all_.why_not = {{.is = reason::kind::nothing_updated}};
        }
        break;
      }
      fits_ = false;
      const bool goes_on = try_one(how);
      if (fits_ || !goes_on) {
        return goes_on;
      }
    }
    return true;
  }

  /// True if others of fewer devices are worth a try.
  bool try_one(way how) {
    if (auto why = why_no_op_split(t_, devices_.size(), how.replicas, how.ranks)) {
      all_.why_not = {std::move(why)};
      return false;
    }
    if (t_.is_stopped()) {
      return false;
    }
    if (prune_.is_hopeless(how.num_devices(), all_)) {
      return true;
    }
    how.kind = way_kind::ops;
    how.recomputes = t_.recomputes();
    t_.tell({attempt::kind::way, how});
    const bool is_large = prune_.is_large(how.num_devices());
    const bool is_free = t_.wanted().asks_for(wanted_ways::which::all);
    try {
      const op_splitter splitter{t_, t_.joined(devices_, {{how.ranks}, {how.replicas}}), how};
      if (auto x = splitter.make(is_free && is_large ? all_.least_seconds() : infinity)) {
        if (how.splits_sequence && !x->figures.splits_sequence) {
          is_free ? void() : void(all_.why_not = {{.is = reason::kind::sequence_stays_whole}});
          return true;
        }
        const bool is_best = x->run.makespan < fastest_;
        fastest_ = std::min(fastest_, x->run.makespan);
        fits_ = x->fits();
        all_.add(std::move(x));
        return is_best || !is_large; // more splits would hardly be better, and take long
      }
    } catch (const error& e) { // such as extents that do not follow from another batch
      const auto why = reason_of(e);
      if (why.is != reason::kind::no_splits_fit) {
        all_.why_not = {why};
      } else if (!t_.is_stopped()) { // else the search had no time
        all_.add_misfit(how, why);
      }
    }
    return true;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  const task& t_;
  const std::vector<device_id>& devices_;
  comparison& all_;
  pruning prune_;
  double fastest_ = infinity; // of splits
  bool fits_ = false;         // what was tried last
};

} // namespace detail

/// Compares tensor parallelism on devices that are alike: on all of them, half of them, and a quarter; and on those of
/// replicas.
inline void compare_op_splits(const task& t, const std::vector<device_id>& devices, comparison& all) {
  if (auto why = why_not_along_axes(t.whole())) {
    all.why_not.push_back(std::move(why));
    return;
  }
  detail::op_split_search search{t, devices, all};
  const auto batch = why_not_replicated(t.whole()) ? 0 : t.whole().batch;
  for (const auto& [replicas, ranks] : detail::proposed_op_splits(t.wanted(), devices.size(), batch)) {
    const way how{.replicas = static_cast<std::uint32_t>(replicas), .ranks = static_cast<std::uint32_t>(ranks)};
    if (!search.try_all(how)) {
      return;
    }
  }
}

} // namespace weft::planner
