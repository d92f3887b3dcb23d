// SPDX-License-Identifier: BSL-1.0
/// A step whose ops are on the stages of a pipeline, as passes: an op for all that a device does between what it waits
/// for and what others wait for.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/parallel/pipeline_order.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// The step for one micro-batch. What is done for each of them is in passes of stages; what is there once, such as
/// parameters and updates, is as in the step.
struct staged_step {
  workload graph = {};
  weft::placement where = {};            ///< by op
  std::vector<bool> repeated = {};       ///< by op: for each micro-batch; these are the passes
  std::vector<std::uint32_t> stage = {}; ///< by op: of a pass; `none` for what is there once
  std::vector<parallel::pass> pass = {}; ///< by op, of passes
  std::vector<double> seconds = {};      ///< by op, of passes; NaN for what is there once
  std::vector<op_id> origin = {};        ///< by op: of the step, of what is there once; `none` for passes
  std::vector<double> sent_within = {};  ///< by op: bytes that ops of a pass send to other devices of their stage
  std::uint32_t num_stages = 0;
  bool trains = false;                   ///< something leads back from a later stage
};

/// The way in which a stage makes gradients: those of its parameters in a pass of their own, which may wait, or each
/// with what earlier stages need. The latter takes less memory.
enum class backward_passes : std::uint8_t { split, whole };

/// The ops of one pass of a stage as they run by themselves.
struct pass_run {
  std::vector<double> seconds = {};  ///< by device: until its last op has ended
  std::vector<byte_count> peak = {}; ///< by device: with all that they make for others until the end
  double bytes_sent = 0;             ///< between devices of the stage
  std::vector<double> busy = {};     ///< by device: its ops' times; empty: `seconds`

  /// The same if the host of device d takes so many seconds to launch its ops. A host and its accelerator are a queue
  /// of two: it launches while they run and wait for each other, and starts anew with each pass, which it waits for.
  /// Where both need about as long, now one waits and now the other: the cube root of the sum of cubes is up to a
  /// quarter above the longer of the two. The exponent is from the measurements of `cost::launch_seconds`.
  void launched_in(device_id d, double host) {
    const double longer = std::max(seconds[d], host);
    const double share = longer > 0 ? std::min(seconds[d], host) / longer : 0;
    seconds[d] = longer * std::cbrt(1 + share * share * share);
  }
};

namespace detail {

/// The devices of a pass, and which of them send something to which.
class pass_devices {
public:
  explicit pass_devices(std::vector<device_id> devices) : devices_{std::move(devices)} {
    reach_.assign(devices_.size(), std::vector<bool>(devices_.size(), false));
  }
  void add(device_id from, device_id to) { reach_[index(from)][index(to)] = true; }

  /// Pairs of devices of which the second waits for the first, perhaps by way of others, and never the other way round.
  std::vector<std::pair<device_id, device_id>> one_way() {
    const auto n = devices_.size();
    for (std::size_t via = 0; via < n; ++via) {
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
          reach_[a][b] = reach_[a][b] || (reach_[a][via] && reach_[via][b]);
        }
      }
    }
    std::vector<std::pair<device_id, device_id>> pairs;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (reach_[a][b] && !reach_[b][a]) {
          pairs.emplace_back(devices_[a], devices_[b]);
        }
      }
    }
    return pairs;
  }

private:
  std::size_t index(device_id d) const {
    return static_cast<std::size_t>(std::find(devices_.begin(), devices_.end(), d) - devices_.begin());
  }

  std::vector<device_id> devices_;
  std::vector<std::vector<bool>> reach_; ///< by position of both
};

/// The seconds of a device's part of a pass from when those have ended that it waits for.
inline double seconds_after_others(const pass_run& run, const std::vector<std::pair<device_id, device_id>>& one_way,
                                   device_id d) {
  double ended = 0;
  for (const auto& [before, after] : one_way) {
    ended = after == d ? std::max(ended, run.seconds[before]) : ended;
  }
  return std::max(run.seconds[d] - ended, run.busy.empty() ? run.seconds[d] : std::min(run.seconds[d], run.busy[d]));
}

/// By op: the pass that an op is in which is done for each micro-batch.
template <class Workload>
std::vector<pass> passes_of(const Workload& step, const std::vector<bool>& repeated,
                            const std::vector<std::uint32_t>& stage) {
  const auto order = graph::topological_order(step);
  const auto n = step.num_ops();
  std::uint32_t last = 0;
  std::vector<bool> returned(n, false), goes_back(n, false), is_awaited(n, false);
  bool trains = false;
  for (const op_id v : order) {
    if (!repeated[v]) {
      continue;
    }
    last = std::max(last, stage[v]);
    goes_back[v] = is_gradient(step, v);
    for (const tensor_id t : step.inputs(v)) {
      const op_id u = step.producer(t);
      if (repeated[u]) {
        returned[v] = returned[v] || returned[u] || stage[u] > stage[v];
        goes_back[v] = goes_back[v] || goes_back[u];
        trains = trains || stage[u] > stage[v];
      }
    }
  }
  std::vector<bool> leads_on(n, false); // to a later stage
  std::vector<pass> found(n, pass::forward);
  for (auto i = order.rbegin(); i != order.rend() && trains; ++i) {
    const op_id v = *i;
    if (!repeated[v]) {
      continue;
    }
    for (const tensor_id t : step.outputs(v)) {
      for (const op_id c : step.consumers(t)) {
        is_awaited[v] = is_awaited[v] || (repeated[c] && (stage[c] < stage[v] || is_awaited[c]));
        leads_on[v] = leads_on[v] || (repeated[c] && (stage[c] > stage[v] || leads_on[c]));
      }
    }
    if (returned[v] || (goes_back[v] && (stage[v] == last || !leads_on[v]))) {
      found[v] = is_awaited[v] ? pass::backward : pass::weights;
    }
  }
  return found;
}

} // namespace detail

/// The same step, op by op, without barriers between gradients: TensorFlow's `tuple/group_deps`, which give no gradient
/// of an op on before all of them are there. Nothing that is computed needs them, and with them gradients of weights
/// cannot be left for later. Complexity: O(n + m).
template <named_workload Workload>
workload without_barriers(const Workload& step) {
  workload_builder b;
  weft::copy_ops(
    b, step, [&](op_id v) { return step.resident_bytes(v); }, [&](tensor_id t) { return step.bytes(t); },
    [&](tensor_id t, op_id reader) { // but those into barriers
      return step.bytes(t) > 0 || step.type(reader) != "NoOp" || !step.name(reader).ends_with("/group_deps") ||
             !is_gradient(step, reader);
    });
  return std::move(b).build();
}

/// The passes of a step whose ops that are done for each micro-batch, `repeated`, are on stages, `stage[v]`, and on
/// devices, `where[v]`; several for a stage whose ops are split among devices. A **forward** pass is what needs nothing
/// of later stages; of what does, the **backward** pass is what earlier stages need, and that for **weights** the rest.
/// Names tell gradients that need nothing of later stages, as on the last one, and the parts of those of a division or
/// a product that follow from the forward pass alone: these are not made before they are wanted. Whole backward passes
/// have the gradients of weights in them.
///
/// A pass of several devices is an op on each. Where what they send each other goes one way only, such as from a host
/// that reads the input to an accelerator, the op of the one waits for that of the other, and takes what is left of the
/// pass then, or the time in which it computes, if that is longer. Where it goes both ways, as between ranks that split
/// ops, neither op waits, and each takes the time until its last op has ended.
///
/// `run(ops, where, origin)` simulates the ops of a pass, copies of `origin` (`none`: takes no time) in the order of
/// the step, by themselves and returns a `pass_run`. A pass takes the memory of what it makes for others, as separate
/// tensors, and what else is alive at its worst moment as a tensor that nobody reads.
///
/// Throws `value_error` for vectors of other sizes, and `cycle_error` if passes wait for each other: if the stages are
/// not in the order of the model. Complexity: O(n log n + m), and the runs.
template <named_workload Workload, class Run>
staged_step make_staged_step(const Workload& step, const std::vector<bool>& repeated,
                             const std::vector<std::uint32_t>& stage, const placement& where, Run run,
                             backward_passes how = backward_passes::split) {
  const auto n = step.num_ops();
  if (repeated.size() != n || stage.size() != n || where.size() != n) {
    throw value_error("make_staged_step", "it needs a stage and a device for each of " + std::to_string(n) + " ops");
  }
  auto passes = detail::passes_of(step, repeated, stage);
  for (auto& x : passes) {
    x = how == backward_passes::whole && x == pass::weights ? pass::backward : x;
  }
  struct group {
    std::vector<op_id> ops = {};
    std::map<device_id, op_id> made = {}; // by device
  };
  std::map<std::pair<std::uint32_t, pass>, group> groups;
  staged_step s;
  for (const op_id v : ids(n)) {
    if (repeated[v]) {
      groups[{stage[v], passes[v]}].ops.push_back(v);
      s.num_stages = std::max(s.num_stages, stage[v] + 1);
      s.trains = s.trains || passes[v] != pass::forward;
    }
  }

  workload_builder b;
  const auto add = [&](op o, device_id at, double seconds, op_id origin) {
    const op_id made = b.add_op(std::move(o));
    s.where.push_back(at);
    s.repeated.push_back(origin == none);
    s.stage.push_back(none);
    s.pass.push_back(pass::forward);
    s.seconds.push_back(seconds);
    s.sent_within.push_back(0);
    s.origin.push_back(origin);
    return made;
  };
  std::vector<op_id> node(n, none);
  std::vector<op_id> first(step.num_groups(), none);
  for (const op_id v : ids(n)) {
    if (repeated[v]) {
      continue;
    }
    node[v] = add(op_of(step, v), where[v], std::numeric_limits<double>::quiet_NaN(), v);
    if (const auto g = step.group(v); g != none) {
      first[g] == none ? void(first[g] = node[v]) : b.colocate(first[g], node[v]);
    }
  }
  const auto is_in = [&](op_id v, const std::pair<std::uint32_t, pass>& key) {
    return repeated[v] && stage[v] == key.first && passes[v] == key.second;
  };
  std::vector<byte_count> extra; // by op of the result: what it holds while it runs, but for what it makes
  for (auto& [key, g] : groups) {
    // By themselves: the ops, and on each device one that reads what others need.
    workload_builder alone;
    placement at;
    std::vector<op_id> from;
    std::map<op_id, op_id> copy;
    struct share {
      double work = 0;
      byte_count resident = 0;
      kind_set kinds = kind_set::all();
      byte_count made = 0;
      op_id reader = none;
    };
    std::map<device_id, share> of_device;
    for (const op_id v : g.ops) {
      op o = op_of(step, v);
      o.resident_bytes = 0;
      copy[v] = alone.add_op(std::move(o));
      at.push_back(where[v]);
      from.push_back(v);
      auto& here = of_device[where[v]];
      here.work += step.work(v);
      here.resident += step.resident_bytes(v);
      here.kinds = here.kinds & step.kinds(v);
    }
    for (auto& [d, here] : of_device) {
      here.reader = alone.add_op({.name = "end", .type = "NoOp"});
      at.push_back(d);
      from.push_back(none);
    }
    std::vector<device_id> devices;
    std::for_each(of_device.begin(), of_device.end(), [&](const auto& d) { devices.push_back(d.first); });
    detail::pass_devices links{devices};
    for (const op_id v : g.ops) {
      auto& here = of_device[where[v]];
      for (const tensor_id t : step.outputs(v)) {
        const auto output = static_cast<std::uint32_t>(t - *step.outputs(v).begin());
        alone.add_output(copy[v], step.bytes(t));
        bool leaves = false; // what is added up to what is there already does not stay
        for (const op_id c : step.consumers(t)) {
          if (!is_in(c, key)) {
            leaves = leaves || repeated[c];
            continue;
          }
          alone.add_edge(copy[v], copy[c], output);
          if (where[c] != where[v]) {
            links.add(where[v], where[c]);
          }
        }
        if (leaves) {
          alone.add_edge(copy[v], here.reader, output);
          here.made += step.bytes(t);
        }
      }
    }
    const pass_run found = run(std::move(alone).build(), at, from);
    const auto one_way = links.one_way();
    for (const auto& [d, here] : of_device) {
      auto name = "stage_" + std::to_string(key.first) + "/" + to_string(key.second);
      name += of_device.size() == 1 ? "" : "/device_" + std::to_string(d);
      const op_id made = add({.work = here.work,
                              .resident_bytes = here.resident,
                              .kinds = here.kinds,
                              .name = std::move(name),
                              .type = key.second == pass::forward    ? "ForwardPass"
                                      : key.second == pass::backward ? "BackwardPass"
                                                                     : "WeightsPass"},
                             d, detail::seconds_after_others(found, one_way, d), none);
      s.stage[made] = key.first;
      s.pass[made] = key.second;
      s.sent_within[made] = found.bytes_sent / static_cast<double>(of_device.size());
      extra.resize(made + 1, 0);
      extra[made] = found.peak[d] - std::min(found.peak[d], here.made);
      g.made[d] = made;
    }
    for (const auto& [before, after] : one_way) {
      b.add_control_edge(g.made.at(before), g.made.at(after));
    }
    for (const op_id v : g.ops) {
      node[v] = g.made.at(where[v]);
    }
  }

  // What is read by the same ops is one tensor, but for what is added up over micro-batches.
  std::map<std::pair<op_id, std::vector<op_id>>, byte_count> sent;
  for (const op_id v : graph::topological_order(step)) {
    for (const tensor_id t : step.outputs(v)) {
      std::vector<op_id> readers;
      bool is_added_up = false;
      for (const op_id c : step.consumers(t)) {
        const bool within = repeated[v] && repeated[c] && stage[v] == stage[c] && passes[v] == passes[c];
        if (!within) {
          readers.push_back(node[c]);
        }
        is_added_up = is_added_up || (repeated[v] && !repeated[c]);
      }
      std::sort(readers.begin(), readers.end());
      readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
      if (repeated[v] && !is_added_up) {
        if (!readers.empty()) {
          sent[{node[v], std::move(readers)}] += step.bytes(t);
        }
        continue;
      }
      const auto output = b.add_output(node[v], step.bytes(t));
      for (const op_id c : readers) {
        b.add_edge(node[v], c, output);
      }
    }
  }
  for (const auto& [key, bytes] : sent) {
    const auto output = b.add_output(key.first, bytes);
    for (const op_id c : key.second) {
      b.add_edge(key.first, c, output);
    }
  }
  for (op_id v = 0; v < extra.size(); ++v) {
    if (extra[v] > 0) {
      b.add_output(v, extra[v]);
    }
  }
  s.graph = std::move(b).build();
  return s;
}

/// Seconds in which what a pass makes for ops that are there once, such as gradients, is added to that of the
/// micro-batches before; `sum(bytes, device)` gives those of a tensor. Complexity: that of the op's edges.
template <class Sum>
double seconds_of_sums(const staged_step& s, op_id v, Sum sum) {
  double seconds = 0;
  for (const tensor_id t : s.graph.outputs(v)) {
    const auto& readers = s.graph.consumers(t);
    if (s.graph.bytes(t) > 0 && std::any_of(readers.begin(), readers.end(), [&](op_id c) { return !s.repeated[c]; })) {
      seconds += sum(s.graph.bytes(t), s.where[v]);
    }
  }
  return seconds;
}

/// The pipeline of such a step, for the search for an order. `transfer(bytes, from, to)` gives seconds, and `capacity`
/// the bytes of each device of the platform, of which what is there once is taken off; of devices that share a stage
/// the one counts that has room for the fewest micro-batches. `sum(bytes, device)` gives the seconds in which a
/// micro-batch's gradient is added to those before it, in place (`micro_batch_sums`); they are part of the pass that
/// makes it. Device d of the pipeline has the stages for which `device_of[stage]` is d. What waits to be sent or was
/// received early is not counted, nor what only leads past a stage.
/// Complexity: O(n log n + m).
template <class Transfer, class Sum>
pipeline_problem pipeline_of(const staged_step& s, std::uint32_t micro_batches,
                             const std::vector<std::uint32_t>& device_of, const std::vector<byte_count>& capacity,
                             Transfer transfer, Sum sum) {
  const auto& w = s.graph;
  pipeline_problem p{.stages = std::vector<pipeline_stage>(s.num_stages),
                     .capacity = {},
                     .micro_batches = micro_batches,
                     .trains = s.trains};
  std::uint32_t devices = 0;
  for (std::uint32_t i = 0; i < s.num_stages; ++i) {
    p.stages[i].device = device_of[i];
    devices = std::max(devices, device_of[i] + 1);
  }
  std::vector<byte_count> once(capacity.size(), 0);              // by device of the platform
  std::map<std::pair<std::uint32_t, device_id>, pipeline_stage> shares; // of a stage
  std::map<std::pair<op_id, device_id>, double> sends;           // seconds
  std::vector<bool> is_late(w.num_ops(), false);                 // waits for micro-batches
  const auto order = graph::topological_order(w);
  for (const op_id v : order) {
    for (const tensor_id t : w.inputs(v)) {
      is_late[v] = is_late[v] || (!s.repeated[v] && (is_late[w.producer(t)] || s.repeated[w.producer(t)]));
    }
  }
  std::vector<double> ends(w.num_ops(), 0); // by op: of a pass, from its start on
  for (const op_id v : order) {
    once[s.where[v]] += w.resident_bytes(v);
    if (s.repeated[v]) {
      // Of the first micro-batch there are no sums.
      const double sums = seconds_of_sums(s, v, sum) * (micro_batches - 1) / micro_batches;
      double start = 0; // after other devices of the pass
      for (const tensor_id t : w.inputs(v)) {
        const op_id u = w.producer(t);
        const bool is_within = s.repeated[u] && s.stage[u] == s.stage[v] && s.pass[u] == s.pass[v];
        start = is_within ? std::max(start, ends[u]) : start;
      }
      ends[v] = start + s.seconds[v] + sums;
      auto& c = p.stages[s.stage[v]][s.pass[v]];
      c.seconds = std::max(c.seconds, ends[v]);
    }
    for (const tensor_id t : w.outputs(v)) {
      std::map<device_id, std::map<std::uint32_t, std::pair<parallel::pass, parallel::pass>>> there; // by stage
      bool is_added_up = false, lasts = false; // while micro-batches are worked on
      for (const op_id c : w.consumers(t)) {
        lasts = lasts || s.repeated[c] || is_late[c];
        if (!s.repeated[c]) {
          is_added_up = true;
          continue;
        }
        const auto [at, is_new] = there[s.where[c]].try_emplace(s.stage[c], s.pass[c], s.pass[c]);
        at->second.first = std::min(at->second.first, s.pass[c]);
        at->second.second = std::max(at->second.second, s.pass[c]);
      }
      if (!s.repeated[v]) {
        for (const auto& [d, use] : there) {
          once[d] += is_late[v] || d == s.where[v] ? 0 : w.bytes(t);
        }
        once[s.where[v]] += is_late[v] || !lasts ? 0 : w.bytes(t);
        continue;
      }
      once[s.where[v]] += is_added_up ? w.bytes(t) : 0;
      if (is_added_up && there.empty()) {
        continue;
      }
      auto& here = there[s.where[v]]; // made here
      const auto [own, is_new] = here.try_emplace(s.stage[v], s.pass[v], s.pass[v]);
      own->second.first = s.pass[v];
      own->second.second = std::max(own->second.second, s.pass[v]);
      for (const auto& [d, use] : there) {
        for (const auto& [stage, passes] : use) {
          auto& share = shares[{stage, d}];
          share[passes.first].taken += w.bytes(t);
          share[passes.second].freed += w.bytes(t);
          const bool leads_on = s.pass[v] == pass::forward ? stage == s.stage[v] + 1 : stage + 1 == s.stage[v];
          if (d != s.where[v] && leads_on) {
            sends[{v, d}] += transfer(w.bytes(t), s.where[v], d);
          }
        }
      }
    }
  }
  for (const auto& [key, seconds] : sends) {
    auto& c = p.stages[s.stage[key.first]][s.pass[key.first]];
    c.send_seconds = std::max(c.send_seconds, seconds);
  }
  std::vector<byte_count> most(s.num_stages, 0);
  for (const auto& [key, share] : shares) {
    if (const byte_count peak = share.peak(); peak > most[key.first]) {
      most[key.first] = peak;
      for (std::size_t x = 0; x < num_passes; ++x) {
        p.stages[key.first].cost[x].taken = share.cost[x].taken;
        p.stages[key.first].cost[x].freed = share.cost[x].freed;
      }
    }
  }
  constexpr auto unlimited = std::numeric_limits<byte_count>::max();
  p.capacity.assign(devices, unlimited);
  for (const auto& [key, share] : shares) { // as if each held as much as the one that holds most
    const auto [stage, d] = key;
    const byte_count peak = share.peak(), left = capacity[d] - std::min(capacity[d], once[d]);
    const double scaled = peak == 0 ? 0 : static_cast<double>(left) / static_cast<double>(peak) *
                                            static_cast<double>(most[stage]);
    const byte_count room = peak == most[stage]                                    ? left
                            : peak == 0 || scaled >= static_cast<double>(unlimited) ? unlimited
                                                                                   : static_cast<byte_count>(scaled);
    p.capacity[device_of[stage]] = std::min(p.capacity[device_of[stage]], room);
  }
  return p;
}

namespace detail {

/// The ops in an order that follows the graph, of those that may come next the one with the smallest key first.
template <class Workload>
std::vector<op_id> order_by_key(const Workload& w, const std::vector<std::uint64_t>& key) {
  std::priority_queue<std::pair<std::uint64_t, op_id>, std::vector<std::pair<std::uint64_t, op_id>>, std::greater<>>
    ready;
  std::vector<std::size_t> waits(w.num_ops(), 0);
  for (const op_id v : ids(w.num_ops())) {
    waits[v] = w.inputs(v).size();
    if (waits[v] == 0) {
      ready.emplace(key[v], v);
    }
  }
  std::vector<op_id> order;
  order.reserve(w.num_ops());
  while (!ready.empty()) {
    const op_id v = ready.top().second;
    ready.pop();
    order.push_back(v);
    for (const tensor_id t : w.outputs(v)) {
      for (const op_id c : w.consumers(t)) {
        if (--waits[c] == 0) {
          ready.emplace(key[c], c);
        }
      }
    }
  }
  return order;
}

} // namespace detail

/// The turn of each op of `made`, the micro-batches of a staged step: parameters and other ops that no micro-batch is
/// needed for, then the passes as in `order`, each with the sums of what it adds to, then the rest.
///
/// Throws `value_error` if `order` does not run. Complexity: O((n + steps) log n + m).
inline std::vector<std::uint64_t> turns_of(const staged_step& s, const parallel_workload& made,
                                           const pipeline_problem& p, const pipeline_order& order) {
  std::vector<std::pair<double, pipeline_step>> steps; // as they start, after those that they wait for
  detail::pipeline_runner runner{p};
  if (!runner.run(order, [&](std::uint32_t d, std::size_t i, double start, bool) {
        steps.emplace_back(start, order[d][i]);
      })) {
    throw value_error("turns_of", "the order of passes does not run to its end");
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::pair<std::pair<std::uint32_t, parallel::pass>, std::uint32_t>, std::uint64_t> turn;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& x = steps[i].second;
    turn[{{x.stage, x.pass}, x.micro_batch}] = i + 1;
  }
  std::vector<std::uint64_t> turns(made.graph.num_ops(), 0);
  for (const op_id v : graph::topological_order(made.graph)) {
    const op_id from = made.origin[v];
    if (from != none && s.repeated[from]) {
      const auto at = turn.find({{s.stage[from], s.pass[from]}, made.replica[v]});
      turns[v] = at == turn.end() ? 0 : at->second;
      continue;
    }
    for (const tensor_id t : made.graph.inputs(v)) { // a sum right after what it adds, others after the last
      turns[v] = std::max(turns[v], turns[made.graph.producer(t)]);
    }
    if (from != none && turns[v] > 0) {
      turns[v] = steps.size() + 1;
    }
  }
  return turns;
}

/// The order of a plan in which ops take their turns, as far as the graph allows. Complexity: O(n log n + m).
inline weft::order order_by_turns(const workload& w, const std::vector<std::uint64_t>& turns) {
  weft::order found;
  found.reserve(w.num_ops());
  for (const op_id v : detail::order_by_key(w, turns)) {
    found.push_back(step::run(v));
  }
  return found;
}

} // namespace weft::parallel
