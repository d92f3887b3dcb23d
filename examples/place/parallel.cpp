// SPDX-License-Identifier: BSL-1.0
#include "parallel.hpp"

#include "weft/bound/area.hpp"
#include "weft/core/readable.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/report/names.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace place {
namespace {

using namespace weft;

/// Of the sets of devices that are alike the one that computes most, accelerators first.
std::vector<device_id> alike_devices(const platform<>& p) {
  const auto key = [&](device_id d) {
    return std::tuple{hardware_kind(p, d), p.speed(d), p.memory_bandwidth(d), p.memory_capacity(d)};
  };
  std::vector<device_id> best;
  const auto merit = [&](const std::vector<device_id>& all) {
    return all.empty() ? std::pair{false, 0.0}
                       : std::pair{hardware_kind(p, all.front()) != device_kind::cpu,
                                   static_cast<double>(all.size()) * p.speed(all.front())};
  };
  std::vector<bool> seen(p.num_devices(), false);
  for (const device_id d : ids(p.num_devices())) {
    std::vector<device_id> alike;
    for (device_id e = d; e < p.num_devices() && !seen[d]; ++e) {
      if (!seen[e] && key(e) == key(d)) {
        alike.push_back(e);
      }
    }
    for (const device_id e : alike) {
      seen[e] = true;
    }
    if (merit(best) < merit(alike)) {
      best = std::move(alike);
    }
  }
  return best;
}

/// All ops on the device; those that may not run there, and their colocation groups, on the one that may and is
/// nearest.
placement replica_on(device_id home, const workload& w, const platform<>& p) {
  const auto seconds = [&](device_id d) { return p.latency(d, home) + 1e6 / p.bandwidth(d, home); };
  placement where(w.num_ops(), home);
  std::vector<kind_set> of_group(w.num_groups(), kind_set::all());
  for (const op_id v : ids(w.num_ops())) {
    if (w.group(v) != none) {
      of_group[w.group(v)] = of_group[w.group(v)] & w.kinds(v);
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    const auto kinds = w.group(v) != none ? of_group[w.group(v)] : w.kinds(v);
    if (kinds.contains(p.kind(home))) {
      continue;
    }
    for (const device_id d : ids(p.num_devices())) {
      if (kinds.contains(p.kind(d)) && (where[v] == home || seconds(d) < seconds(where[v]))) {
        where[v] = d;
      }
    }
  }
  return where;
}

double bytes_sent(const problem& p, const trace& run) {
  double bytes = 0;
  for (const auto& x : run.transfers) {
    bytes += static_cast<double>(p.workload().bytes(x.tensor));
  }
  return bytes;
}

std::string range_of(const platform<>& p, const std::vector<device_id>& devices) {
  return fmt::format("{} to {}", report::device_name(p, devices.front()), report::device_name(p, devices.back()));
}

/// The type of an op that changes a variable in a way of its own; empty if there is none.
std::string unknown_update(const workload& w) {
  for (const op_id v : ids(w.num_ops())) {
    auto type = w.type(v);
    for (const std::string_view way : {"Resource", "Sparse"}) {
      type.remove_prefix(type.starts_with(way) ? way.size() : 0);
    }
    if (type.starts_with("Assign") || (type.starts_with("Scatter") && type != "ScatterNd" && type != "ScatterND" &&
                                       type != "ScatterElements" && type != "Scatter")) {
      return std::string{w.type(v)};
    }
  }
  return {};
}

double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

/// A step on these devices; null if updates are to be sharded and there are none.
std::unique_ptr<parallel_step> make_step(const options& o, const tool::target& target, const tool::input& whole,
                                         const std::vector<device_id>& devices, bool shard_updates,
                                         const cost::efficiency_table& table) {
  const auto ranks = devices.size();
  const auto batch = whole.batch;
  auto step = std::make_unique<parallel_step>();
  step->in = tool::load_with_batch(o.model, o.modelling, batch / ranks);
  const auto bits = number_bits(step->in.model);
  const double element_bytes = o.modelling.numbers ? bytes_of(*o.modelling.numbers) : (bits != 0 ? bits : 32) / 8.0;
  step->in.name = whole.name;
  const auto& one = step->in.model.ops;
  if (total_work(one) > 0.95 * total_work(whole.model.ops)) {
    throw error("it does as much work as the whole one; the model's batch is fixed");
  }
  std::vector<placement> replicas;
  for (const device_id d : devices) {
    replicas.push_back(replica_on(d, one, target.devices));
  }
  const parallel::data_parallel_options how{.shard_updates = shard_updates, .element_bytes = element_bytes};
  byte_count gradients = 0;
  for (const tensor_id t : parallel::gradients(one)) {
    gradients += one.bytes(t);
  }
  if (gradients == 0) {
    if (const auto type = unknown_update(one); !type.empty()) {
      throw error(fmt::format("it changes its variables by ops of type {}, of which nobody knows what is a gradient",
                              type));
    }
    if (shard_updates) {
      return nullptr;
    }
  }
  const auto all_reduce =
    parallel::choose_all_reduce(std::min(gradients, how.bucket_bytes), target.devices, devices, o.contention,
                                shard_updates);
  auto made = parallel::data_parallel(one, replicas, all_reduce.messages, how);
  step->in.model.ops = std::move(made.graph);
  const auto base = tool::make_estimate(o.modelling, step->in, target, table);
  step->made = std::make_unique<problem>(step->in.model.ops, target.devices,
                                         tool::make_costs(o.modelling, step->in, target, base, step->cost_notes));
  auto& a = step->found;
  a.found = true;
  a.plan.placement = std::move(made.where);
  follow(o, *step->made, a);
  step->spec = fmt::format("data={},{}", ranks, shard_updates ? "sharded" : "whole");
  a.strategy = fmt::format("data parallelism on {}, {} of {} samples each", range_of(target.devices, devices),
                           batch / ranks, batch);
  if (made.buckets.empty()) {
    a.strategy += "; nothing is trained, so nothing is summed up";
  } else {
    a.strategy += fmt::format("; {} of gradients {} in {} bucket{} ({})", readable_bytes(made.gradient_bytes),
                              shard_updates ? "reduced and parameters gathered" : "all-reduced", made.buckets.size(),
                              made.buckets.size() == 1 ? "" : "s", to_string(all_reduce.algorithm));
  }
  for (const auto& s : memory_shortages(*step->made, a.plan.placement, a.run)) {
    a.found = false;
    a.why = fmt::format("does not fit: needs {} of {} on {}", readable_bytes(s.peak), readable_bytes(s.capacity),
                        report::device_name(target.devices, s.device));
    break;
  }
  return step;
}

report::way way_of(const problem& p, const answer& a, const std::string& name, std::uint64_t batch) {
  simulate::memory_tracker<problem> memory{p};
  memory.follow(a.plan.placement, a.run);
  return {.name = name,
          .step_seconds = a.run.makespan,
          .samples_per_second =
            batch != 0 && a.run.makespan > 0 ? static_cast<double>(batch) / a.run.makespan : report::absent,
          .peak_memory = static_cast<double>(memory.largest_peak()),
          .bytes_sent = bytes_sent(p, a.run),
          .status = a.found ? "" : a.why};
}

/// The fastest first, what does not fit last.
void sort(std::vector<report::way>& ways) {
  const auto rank = [](const report::way& w) { return std::pair{!w.status.empty(), w.step_seconds}; };
  std::stable_sort(ways.begin(), ways.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

} // namespace

std::string why_not_split(const options& o, const tool::target& target, const tool::input& in) {
  if (alike_devices(target.devices).size() < 2) {
    return "the platform has no two devices that are alike";
  }
  if (!in.model.seconds.empty() || !o.modelling.profile.empty() || in.model.unit != work_unit::flop) {
    return "times are of the whole batch, and nobody knows those of a part";
  }
  if (in.batch == 0) {
    return "the batch is not known; give it with --batch";
  }
  if (in.batch == 1) {
    return "a batch of 1 cannot be split";
  }
  return {};
}

parallel_answer data_parallel(const options& o, const tool::target& target, const tool::input& in,
                              const cost::efficiency_table& table,
                              const std::function<void(const std::string&)>& on_stage) {
  parallel_answer all;
  const auto devices = alike_devices(target.devices);
  all.why_not = why_not_split(o, target, in);
  // Fewer devices have larger parts of the batch each: what does not fit on many does not fit on few.
  bool whole_fits = true, sharded_fits = true, first = true;
  constexpr std::size_t max_numbers = 6; // of devices
  std::size_t tried = 0;
  for (std::size_t ranks = devices.size(); ranks > 1 && sharded_fits && tried < max_numbers; --ranks) {
    if (!all.why_not.empty()) {
      break;
    }
    if (in.batch % ranks != 0 || (o.replicas != 0 && o.replicas != ranks)) {
      continue;
    }
    ++tried;
    on_stage(fmt::format("splitting the batch among {} devices", ranks));
    const std::vector<device_id> some(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(ranks));
    for (const bool sharded : {false, true}) {
      const bool is_worthwhile = sharded ? first || !whole_fits : whole_fits; // its time is much the same
      if (o.shard_updates ? *o.shard_updates != sharded : !is_worthwhile) {
        continue;
      }
      std::unique_ptr<parallel_step> step;
      try {
        step = make_step(o, target, in, some, sharded, table);
      } catch (const error& e) { // such as a model whose batch is fixed
        all.why_not = fmt::format("with a batch of {}: {}", in.batch / ranks, e.what());
        break;
      }
      if (!step) { // nothing is updated
        sharded_fits = whole_fits;
        continue;
      }
      const bool fits = step->found.found;
      (sharded ? sharded_fits : whole_fits) = fits;
      all.ways.push_back(way_of(*step->made, step->found,
                                fmt::format("{} × data{}", ranks, sharded ? ", sharded updates" : ""), in.batch));
      if (fits && (!all.best || step->found.run.makespan < all.best->found.run.makespan)) {
        all.best = std::move(step);
      }
    }
    first = false;
  }
  sort(all.ways);
  if (all.ways.empty() && all.why_not.empty()) {
    all.why_not = o.replicas != 0
                    ? fmt::format("a batch of {} cannot be split among {} of {} devices that are alike", in.batch,
                                  o.replicas, devices.size())
                    : fmt::format("a batch of {} cannot be divided by 2 to {}", in.batch, devices.size());
  }
  return all;
}

lower_bound bound_on_any_split(const problem& whole) {
  // Without demands: parts may fit where the whole does not.
  return {bound::area(whole.with_demands(std::vector<byte_count>(whole.num_components(), 0))), lower_bound::rule::area};
}

bool compare(const options& o, const tool::input& in, const problem& whole, answer& found, parallel_answer& split) {
  if (split.ways.empty()) {
    return false;
  }
  if (found.found) {
    split.ways.push_back(way_of(whole, found, "each op on one device", in.batch));
  }
  sort(split.ways);
  if (!split.best ||
      (found.found && found.run.makespan <= split.best->found.run.makespan * (1 + o.least_gain / 100))) {
    return false;
  }
  auto baselines = std::move(found.baselines);
  if (found.found) {
    baselines.insert(baselines.begin(), {.name = "each op on one device", .step_seconds = found.run.makespan});
  }
  found = std::move(split.best->found);
  found.baselines = std::move(baselines);
  found.bound = bound_on_any_split(whole);
  return true;
}

} // namespace place
