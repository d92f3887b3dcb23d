// SPDX-License-Identifier: BSL-1.0
/// Steps in micro-batches: stages of layers on different devices, or one micro-batch after the other.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/cost/efficiency.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/find_pipeline_order.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/parallel/replica_placement.hpp"
#include "weft/parallel/staged_step.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/kinds/micro_batch.hpp"
#include "weft/planner/kinds/replicas.hpp"
#include "weft/planner/kinds/run_way.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/run.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace weft::planner {

namespace detail {

/// Makes a step in micro-batches of that model, of one shape.
class stage_maker {
public:
  stage_maker(const task& t, const micro_batch& model, const way& shape, const std::vector<device_id>& among,
              stage_rule rule, parallel::backward_passes how)
      : t_{t}, model_{model}, shape_{shape}, rule_{rule}, how_{how}, devices_{mesh_of(t, shape, among)},
        of_replica_{replicas_of(shape, devices_)} {}

  /// Null if no order of it is faster than `faster_than` seconds, or the rule has no cut; without a problem if no order
  /// was found that fits. Throws `refusal` if splits of ops do not fit, and `cycle_error` if stages wait for each
  /// other.
  std::shared_ptr<made_way> make(double faster_than) {
    if (!cut(faster_than)) {
      return nullptr;
    }
    std::vector<std::uint32_t> device_of(staged_.num_stages);
    for (std::uint32_t s = 0; s < staged_.num_stages; ++s) {
      device_of[s] = s % shape_.stages;
    }
    auto p = parallel::pipeline_of(
      staged_, static_cast<std::uint32_t>(shape_.micro_batches), device_of, capacities(),
      [&](byte_count bytes, device_id from, device_id to) {
        return t_.machine().latency(from, to) + static_cast<double>(bytes) / t_.machine().bandwidth(from, to);
      },
      [&](byte_count bytes, device_id d) { return model_.seconds_of_sum(bytes, d); });
    if (parallel::pipeline_bound(p, parallel::pipeline_objective::makespan) >= faster_than) {
      return nullptr;
    }
    const auto given = p.capacity;
    std::shared_ptr<made_way> x;
    for (std::uint32_t tries = 0; tries < 4 && (!x || !x->fits()); ++tries) {
      auto found = parallel::find_pipeline_order(p, search_options(p));
      if (!found.found) {
        return x ? x : without_order(p);
      }
      x = in_order(p, std::move(found));
      for (std::size_t d = 0; d < p.capacity.size(); ++d) { // what waits to be sent is not counted
        p.capacity[d] = given[d] / 10 * static_cast<byte_count>(9 - tries);
      }
    }
    return x;
  }

private:
  /// The devices, stage by stage. The replicas of a stage are beside each other: what they send is most.
  static std::vector<device_id> mesh_of(const task& t, const way& s, const std::vector<device_id>& among) {
    using enum parallel::mesh_traffic;
    return t.joined(among, {{s.ranks}, {s.replicas, s.shards_updates ? in_parts : all_reduce}, {s.stages, neighbours}});
  }
  static std::vector<std::vector<device_id>> replicas_of(const way& s, const std::vector<device_id>& devices) {
    std::vector<std::vector<device_id>> of(s.replicas);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      of[i / s.ranks % s.replicas].push_back(devices[i]);
    }
    return of;
  }

  /// Cuts the model into stages and these into passes; false if that takes far longer than `faster_than`.
  bool cut(double faster_than) {
    auto found = model_.staged(shape_, of_replica_.front(), rule_, faster_than);
    if (!found) {
      return false;
    }
    m_ = std::move(*found);
    m_.ops = parallel::without_barriers(m_.ops);
    staged_ = parallel::make_staged_step(
      m_.ops, m_.repeated, m_.stage, m_.where,
      [&](const workload& ops, const placement& where, const std::vector<op_id>& origin) {
        std::vector<double> seconds;
        for (const op_id v : origin) {
          seconds.push_back(v == none ? 0 : m_.seconds[v]);
        }
        return run_alone(ops, where, std::move(seconds));
      },
      how_);
    for (const op_id v : ids(staged_.graph.num_ops())) {
      const auto sum = [&](byte_count bytes, device_id d) { return model_.seconds_of_sum(bytes, d); };
      sums_.push_back(staged_.repeated[v] ? parallel::seconds_of_sums(staged_, v, sum) : 0);
    }
    return true;
  }

  /// Ops of a pass as they run by themselves.
  parallel::pass_run run_alone(const workload& ops, const placement& where, std::vector<double> seconds) const {
    known_times times;
    times.seconds = std::move(seconds);
    const instance alone{ops, t_.machine(), cost::lowered{times, ops, t_.machine()}};
    plan x{where, {}};
    if (how_ == parallel::backward_passes::whole) { // where memory is short
      for (const op_id v : solve::lazy_order(ops)) {
        x.order.push_back(step::run(v));
      }
    }
    const auto run = follow(alone, x, t_.how().contention);
    simulate::memory_tracker<instance> memory{alone};
    memory.follow(where, run);
    const std::vector<double> none_yet(t_.machine().num_devices(), 0);
    parallel::pass_run r{.seconds = none_yet, .peak = memory.peaks(), .busy = none_yet};
    auto host = none_yet;
    for (const op_id v : ids(ops.num_ops())) {
      const auto d = where[v];
      r.seconds[d] = std::max(r.seconds[d], run.ops[v].finish);
      r.busy[d] += run.ops[v].finish - run.ops[v].start;
      host[d] += is_launched(t_.costs(), t_.machine(), d) ? cost::host_seconds(ops, v, t_.costs().how, shape_.ranks)
                                                          : 0;
    }
    for (const device_id d : ids(host.size())) {
      const bool passes_on = host[d] > 0 && shape_.stages > 1;
      r.launched_in(d, host[d] + (passes_on ? cost::pass_launch_seconds(t_.costs().how) : 0));
    }
    for (const auto& x_sent : run.transfers) {
      r.bytes_sent += static_cast<double>(ops.bytes(x_sent.tensor));
    }
    return r;
  }

  /// The bytes that each device has room for.
  std::vector<byte_count> capacities() const {
    const auto& machine = t_.machine();
    std::vector<byte_count> capacity;
    for (const device_id d : ids(machine.num_devices())) {
      const bool has_stage = std::find(devices_.begin(), devices_.end(), d) != devices_.end();
      capacity.push_back(has_stage ? memory_for_each(machine, devices_) : machine.memory_capacity(d));
    }
    const auto& w = staged_.graph;
    for (const op_id v : ids(shape_.shards_updates ? w.num_ops() : 0)) { // each replica has a part of what only
      bool is_shared = !staged_.repeated[v];                             // updates read
      bool is_read = is_update(w, v);
      for (const tensor_id t : w.outputs(v)) {
        for (const op_id c : w.consumers(t)) {
          is_shared = is_shared && (is_update(w, v) || is_update(w, c));
          is_read = true;
        }
      }
      const byte_count kept = w.resident_bytes(v) / shape_.replicas;
      capacity[staged_.where[v]] += is_shared && is_read ? w.resident_bytes(v) - kept : 0;
    }
    return capacity;
  }

  parallel::pipeline_search_options search_options(const parallel::pipeline_problem& p) const {
    const auto num_steps = static_cast<double>(p.passes_each() * p.stages.size() * p.micro_batches);
    const bool is_only_one = t_.wanted().asks_for(wanted_ways::which::pipeline);
    const auto moves = static_cast<std::uint64_t>(std::clamp((is_only_one ? 1e8 : 1e7) / num_steps, 1e2, 1e5));
    return {.budget = {.moves = moves, .stop = t_.how().stop}, .seed = t_.how().seed};
  }

  /// A way without a problem, which says which stage lacks most memory for one micro-batch, if one does.
  std::shared_ptr<made_way> without_order(const parallel::pipeline_problem& p) const {
    auto x = std::make_shared<made_way>();
    x->figures.how = shape_;
    auto& why = x->figures.why_not;
    why = {.is = reason::kind::no_order_fits};
    byte_count most = 0;
    for (std::uint32_t s = 0; s < p.num_stages(); ++s) {
      const byte_count left = p.capacity[p.stages[s].device];
      const byte_count peak = p.stages[s].peak();
      if (peak > left && peak - left > most) {
        most = peak - left;
        why = {.is = reason::kind::no_order_fits_stage, .have = s, .needed = peak, .left = left,
               .capacity = memory_for_each(t_.machine(), devices_)};
      }
    }
    return x;
  }

  /// The step of all replicas: ops, devices, their turns, and where they came from.
  struct step_of_all {
    workload graph = {};
    placement where = {};
    std::vector<std::uint64_t> turns = {};
    std::vector<op_id> origin = {}; ///< in the micro-batches of one; `none`: it reduces gradients
    reduced_gradients reduced = {};
  };

  step_of_all on_all_replicas(parallel::parallel_workload& passes, std::vector<std::uint64_t> turns) const {
    step_of_all s;
    if (shape_.replicas == 1) {
      s = {std::move(passes.graph), std::move(passes.where), std::move(turns), {}, {}};
      s.origin.resize(s.graph.num_ops());
      std::iota(s.origin.begin(), s.origin.end(), op_id{0});
      return s;
    }
    std::vector<placement> replicas;
    std::vector<device_id> firsts;
    for (const auto& mine : of_replica_) {
      replicas.push_back(parallel::replica_placement(passes.where, of_replica_.front(), mine, t_.machine()));
      firsts.push_back(mine.front());
    }
    const parallel::data_parallel_options how{.shard_updates = shape_.shards_updates,
                                              .element_bytes = model_.part()->element_bytes};
    const auto all_reduce = parallel::choose_all_reduce(how.bucket_bytes, t_.machine(), firsts, t_.how().contention,
                                                        shape_.shards_updates, t_.costs().kernels);
    auto both = parallel::data_parallel(passes.graph, replicas, all_reduce.messages, how);
    const auto last_turn = *std::max_element(turns.begin(), turns.end());
    for (const op_id v : both.origin) {
      s.turns.push_back(v == none ? last_turn : turns[v]);
    }
    s.graph = std::move(both.graph);
    s.where = std::move(both.where);
    s.origin = std::move(both.origin);
    s.reduced = {both.gradient_bytes, both.buckets.size(), all_reduce.algorithm};
    return s;
  }

  /// The seconds of all ops. `sent_within`: bytes that ops of passes send.
  std::vector<double> seconds_of(const step_of_all& s, const parallel::parallel_workload& passes,
                                 double& sent_within) const {
    std::vector<double> seconds;
    for (const op_id v : ids(s.graph.num_ops())) {
      const bool is_new = s.origin[v] == none; // what reduces gradients
      const auto from = is_new ? none : passes.origin[s.origin[v]];
      if (from != none && staged_.repeated[from]) {
        seconds.push_back(staged_.seconds[from] + (passes.replica[s.origin[v]] > 0 ? sums_[from] : 0));
        sent_within += staged_.sent_within[from];
      } else { // what others have added up is there
        const bool runs = from != none || is_new;
        seconds.push_back(runs ? t_.costs().kernels.compute_time(s.graph, v, t_.machine(), s.where[v]) : 0);
      }
    }
    return seconds;
  }

  /// The step with its micro-batches in that order.
  std::shared_ptr<made_way> in_order(const parallel::pipeline_problem& p, parallel::found_pipeline_order found) const {
    auto passes = parallel::micro_batched(staged_.graph, staged_.repeated, p.micro_batches, staged_.where,
                                          model_.part()->element_bytes, parallel::micro_batch_sums::in_place);
    auto turns = parallel::turns_of(staged_, passes, p, found.order);
    auto s = on_all_replicas(passes, std::move(turns));
    auto x = std::make_shared<made_way>();
    double sent_within = 0;
    known_times times;
    times.seconds = seconds_of(s, passes, sent_within);
    x->part = model_.part();
    x->devices = devices_;
    x->ops = std::move(s.graph);
    x->problem = std::make_unique<instance>(x->ops, t_.machine(), cost::lowered{times, x->ops, t_.machine()});
    x->plan = {std::move(s.where), parallel::order_by_turns(x->ops, s.turns)};
    follow(t_, *x, sent_within);
    x->figures.how = shape_;
    x->figures.idle = idle_share(*x);
    x->features = features_of(shape_, x->part->recomputes);
    x->reduced = s.reduced;
    x->stages = {m_.layers, m_.stage_of_part, p, std::move(found.order), std::move(found.start)};
    if (shape_.stages == 1 && shape_.ranks == 1 && shape_.replicas > 1) {
      x->sharding = sharding_of_replicas(*x->part, devices_, shape_, {});
      x->sharding.batch = t_.whole().batch;
      x->sharding.micro_batches = shape_.micro_batches;
    }
    return x;
  }

  /// The share of the step in which the devices of the first replica do nothing.
  double idle_share(const made_way& x) const {
    std::vector<double> busy(t_.machine().num_devices(), 0);
    for (const op_id v : ids(x.ops.num_ops())) {
      busy[x.plan.placement[v]] += x.run.ops[v].finish - x.run.ops[v].start;
    }
    double idle = 0;
    for (const auto d : of_replica_.front()) {
      idle += (1 - busy[d] / x.run.makespan) / static_cast<double>(of_replica_.front().size());
    }
    return idle;
  }

  const task& t_;
  const micro_batch& model_;
  const way& shape_;
  stage_rule rule_;
  parallel::backward_passes how_;
  std::vector<device_id> devices_;
  std::vector<std::vector<device_id>> of_replica_;
  staged_model m_ = {};
  parallel::staged_step staged_ = {};
  std::vector<double> sums_ = {}; // seconds, of passes after the first micro-batch
};

} // namespace detail

/// A step of that shape on some of the devices, which are alike, cut by that rule. Null if no order of its passes is
/// faster than `faster_than` seconds, or if the rule has no cut; without a problem if no order was found that fits.
/// Throws `refusal` if no splits of its ops fit into memory, and `cycle_error` if stages would wait for each other.
inline std::shared_ptr<made_way> make_stages(const task& t, const micro_batch& model, const way& shape,
                                             const std::vector<device_id>& among, stage_rule rule,
                                             parallel::backward_passes how, double faster_than) {
  return detail::stage_maker{t, model, shape, among, rule, how}.make(faster_than);
}

} // namespace weft::planner
