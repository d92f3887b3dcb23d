// SPDX-License-Identifier: BSL-1.0
#include "parallel_step.hpp"

#include "weft/parallel/copies_in_order.hpp"
#include "weft/parallel/replica_placement.hpp"
#include "weft/report/names.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace place {

using namespace weft;

std::vector<device_id> alike_devices(const platform<>& p) {
  const auto key = [&](device_id d) {
    return std::tuple{hardware_kind(p, d), p.speed(d), p.memory_bandwidth(d), p.memory_capacity(d)};
  };
  std::vector<device_id> best;
  const auto merit = [&](const std::vector<device_id>& all) {
    return all.empty() ? std::tuple{false, 0.0, 0.0, byte_count{0}}
                       : std::tuple{hardware_kind(p, all.front()) != device_kind::cpu,
                                    static_cast<double>(all.size()) * p.speed(all.front()),
                                    p.memory_bandwidth(all.front()), p.memory_capacity(all.front())};
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

std::vector<device_id> joined_devices(const options& o, const tool::target& target, const std::vector<device_id>& among,
                                      const std::vector<parallel::mesh_level>& levels) {
  return parallel::choose_devices(target.devices, among, levels, o.contention);
}

byte_count memory_for_each(const platform<>& p, const std::vector<device_id>& devices) {
  constexpr auto unlimited = std::numeric_limits<byte_count>::max();
  byte_count least = unlimited;
  for (const device_id d : devices) {
    const auto sharing = std::ranges::count(devices, p.memory_of(d), [&](device_id e) { return p.memory_of(e); });
    const auto all = p.memory_capacity(d);
    least = std::min(least, all == unlimited ? all : all / static_cast<byte_count>(sharing));
  }
  return least;
}

placement replica_on(device_id home, const workload& w, const platform<>& p) {
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
    const auto there = parallel::nearest_device(p, home, [&](device_id d) { return kinds.contains(p.kind(d)); });
    where[v] = there == none ? home : there;
  }
  return where;
}

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

std::string why_not_along_axes(const tool::input& in) {
  return in.unfused ? "ops that --fuse joined cannot be split"
                    : "axes along which ops may be split are known of bundled networks, and of ONNX, PyTorch, "
                      "StableHLO and TensorFlow models whose ops come after what they read";
}

static double bytes_sent(const problem& p, const trace& run) {
  double bytes = 0;
  for (const auto& x : run.transfers) {
    bytes += static_cast<double>(p.workload().bytes(x.tensor));
  }
  return bytes;
}

std::string range_of(const platform<>& p, const std::vector<device_id>& devices) {
  const auto is_left_out = [&](device_id d) {
    return hardware_kind(p, d) != device_kind::cpu && std::find(devices.begin(), devices.end(), d) == devices.end();
  };
  std::vector<std::string> names;
  for (const device_id d : devices) {
    names.push_back(report::device_name(p, d));
  }
  const auto [first, last] = std::minmax_element(devices.begin(), devices.end());
  const auto between = ids(*last + 1);
  if (std::any_of(between.begin() + *first, between.end(), is_left_out)) {
    return fmt::format("{}", fmt::join(names, ", "));
  }
  const auto range = fmt::format("{} to {}", report::device_name(p, *first), report::device_name(p, *last));
  return std::is_sorted(devices.begin(), devices.end()) ? range
                                                        : fmt::format("{} in the order {}", range,
                                                                      fmt::join(names, ", "));
}

/// True if what stays on each device fits there.
static bool resident_bytes_fit(const problem& p, const placement& where) {
  std::vector<byte_count> held(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    held[p.memory_of(where[v])] += p.workload().resident_bytes(v);
  }
  const auto devices = ids(p.num_devices());
  return std::all_of(devices.begin(), devices.end(), [&](device_id d) { return held[d] <= p.capacity(d); });
}

/// Looks for an order in which a step fits that does not, one with the longest way to the end first: as the model runs
/// on one device where it holds little, with what is sent whenever it arrives, or waiting for it. Keeps the order in
/// which it lacks least.
static void hold_less(const options& o, const tool::target& target, const workload& model,
                      const std::vector<op_id>& origin, parallel_step& step) {
  const auto& p = *step.made;
  const auto where = step.found.plan.placement;
  const auto shortages = memory_shortages(p, where, step.found.run);
  if (shortages.empty() || !resident_bytes_fit(p, where)) {
    return;
  }
  const auto lacks = [&](const answer& a) {
    byte_count most = 0;
    for (const auto& s : memory_shortages(p, where, a.run)) {
      most = std::max(most, s.peak - s.capacity);
    }
    return most;
  };
  const auto list = parallel::copies_in_order(p.workload(), origin,
                                              solve::order_within(model, shortages.front().capacity).sequence);
  for (const bool waits : {false, true}) {
    answer other{.found = true, .plan = {where, {}}};
    if (waits) {
      std::transform(list.begin(), list.end(), std::back_inserter(other.plan.order), step::run);
    } else {
      other.plan.order = order_by_list(o, p, where, list);
    }
    auto before = std::exchange(step.found, std::move(other));
    follow_step(o, target, step);
    if (step.found.found) {
      return;
    }
    if (lacks(before) <= lacks(step.found)) {
      step.found = std::move(before);
    }
  }
}

void run_step(const options& o, const tool::target& target, const cost::efficiency_table& table, placement where,
              const workload& model, const std::vector<op_id>& origin, parallel_step& step) {
  auto& returned = step.in.model.returned;
  const auto of_model = std::exchange(returned, {});
  for (const op_id v : ids(origin.size())) {
    if (std::binary_search(of_model.begin(), of_model.end(), origin[v])) {
      returned.push_back(v);
    }
  }
  tool::share_memory(o.modelling, step.in);
  const auto base = tool::make_estimate(o.modelling, step.in, target, table);
  step.made = std::make_unique<problem>(step.in.model.ops, target.devices,
                                        tool::make_costs(o.modelling, step.in, target, base, step.cost_notes));
  auto& a = step.found;
  a.found = true;
  a.plan.placement = std::move(where);
  follow_step(o, target, step);
  if (!a.found) {
    hold_less(o, target, model, origin, step);
  }
}

void follow_step(const options& o, const tool::target& target, parallel_step& step) {
  auto& a = step.found;
  follow(o, *step.made, a);
  for (const op_id v : ids(a.plan.placement.size())) {
    if (!step.in.model.ops.kinds(v).contains(target.devices.kind(a.plan.placement[v]))) {
      a.found = false;
      a.why = fmt::format("no device may run ops such as {}", step.in.model.ops.name(v));
      return;
    }
  }
  for (const auto& s : memory_shortages(*step.made, a.plan.placement, a.run)) {
    a.found = false;
    a.why = fmt::format("does not fit: needs {} of {} {}", readable_bytes(s.peak), readable_bytes(s.capacity),
                        report::in_memory_of(target.devices, s.device));
    break;
  }
}

double element_bytes(const options& o, const model& m) {
  const auto bits = number_bits(m);
  return o.modelling.numbers ? bytes_of(*o.modelling.numbers) : (bits != 0 ? bits : 32) / 8.0;
}

std::vector<placement> replicas_on(const std::vector<device_id>& devices, const workload& w, const platform<>& p) {
  std::vector<placement> replicas;
  for (const device_id d : devices) {
    replicas.push_back(replica_on(d, w, p));
  }
  return replicas;
}

void add_remark(const std::string& remark, report::way& w) {
  w.remark += fmt::format("{}{}", w.remark.empty() || remark.empty() ? "" : ", ", remark);
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

void keep_best(std::shared_ptr<parallel_step> step, const std::string& name, const tool::input& in,
               parallel_answer& all) {
  all.ways.push_back(way_of(*step->made, step->found, name, in.batch));
  all.ways.back().remark = step->about;
  all.all_fit = all.all_fit && step->found.found;
  all.ways.back().bytes_sent += step->sent_within;
  step->name = name;
  if (step->found.found) {
    keep(std::move(step), all);
  }
}

void keep(std::shared_ptr<parallel_step> step, parallel_answer& all) {
  const auto way = step->timed();
  if (std::any_of(all.kept.begin(), all.kept.end(),
                  [&](const auto& x) { return parallel::makes_needless(x->timed(), way); })) {
    return;
  }
  std::erase_if(all.kept, [&](const auto& x) { return parallel::makes_needless(way, x->timed()); });
  all.kept.push_back(std::move(step));
}

void choose_way(const options& o, parallel_answer& all) {
  std::vector<parallel::timed_way> ways;
  for (const auto& x : all.kept) {
    ways.push_back(x->timed());
  }
  const auto chosen = parallel::simplest_within(ways, o.least_gain / 100);
  all.best = chosen ? all.kept[chosen.number] : nullptr;
}

parallel_step* parallel_answer::fastest() const {
  const auto at = std::min_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return a->timed().seconds < b->timed().seconds;
  });
  return at == kept.end() ? nullptr : at->get();
}

double parallel_answer::least_seconds() const {
  const auto* const first = fastest();
  return first ? first->found.run.makespan : std::numeric_limits<double>::infinity();
}

void keep_misfit(const std::string& name, const std::string& why, parallel_answer& all) {
  all.all_fit = false;
  if (std::none_of(all.ways.begin(), all.ways.end(),
                   [&](const report::way& w) { return w.name == name && w.status == why; })) {
    all.ways.push_back({.name = name, .status = why});
  }
}

void sort_ways(std::vector<report::way>& ways) {
  const auto rank = [](const report::way& w) {
    return std::pair{!w.status.empty(),
                     std::isfinite(w.step_seconds) ? w.step_seconds : std::numeric_limits<double>::infinity()};
  };
  std::stable_sort(ways.begin(), ways.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

} // namespace place
