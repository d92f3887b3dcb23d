// SPDX-License-Identifier: BSL-1.0
/// Small problems for the tests of bounds: random ones, and their optimal makespans by trying everything.
#pragma once

#include "weft/core/random.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

namespace weft_test {

/// Compute times from a table that it owns; transfers over links.
struct random_costs : weft::cost::link_transfers {
  std::vector<double> seconds; ///< ops x devices
  std::size_t num_devices = 1;

  template <class W, class P>
  double compute_time(const W&, weft::op_id v, const P&, weft::device_id d) const {
    return seconds[v * num_devices + d];
  }
};

/// A random problem in parts, so that it can be built again with changes.
struct small_problem {
  struct edge {
    weft::op_id from, to;
  };
  std::vector<weft::byte_count> bytes;        ///< per op
  std::vector<weft::kind_set> kinds;          ///< per op
  std::vector<edge> edges;
  std::vector<edge> colocated;
  std::vector<double> seconds;                ///< ops x devices
  std::vector<weft::device> devices;
  weft::link links;
  double send_work = 0;

  std::size_t num_ops() const { return bytes.size(); }

  weft::workload workload() const {
    weft::workload_builder b;
    for (weft::op_id v = 0; v < num_ops(); ++v) {
      b.add_op({.work = 1, .bytes = bytes[v], .kinds = kinds[v]});
    }
    for (const auto& [u, v] : edges) {
      b.add_edge(u, v);
    }
    for (const auto& [u, v] : colocated) {
      b.colocate(u, v);
    }
    return std::move(b).build();
  }
  weft::platform<weft::uniform_links> platform() const { return {devices, {links}, send_work}; }
  random_costs costs() const { return {{}, seconds, devices.size()}; }

  /// Calls use(problem).
  template <class Use>
  auto with(Use use) const {
    const auto w = workload();
    const auto platform_ = platform();
    return use(weft::problem{w, platform_, costs()});
  }
};

/// At most 5 ops on 2 or 3 devices with kinds, groups, slots, sends and unrelated or linear costs.
inline small_problem random_problem(weft::rng& random) {
  small_problem s;
  const std::size_t n = 2 + random.below(4);
  const std::size_t num_devices = 2 + random.below(2);
  const bool linear = random.below(2) == 0;
  for (std::size_t d = 0; d < num_devices; ++d) {
    s.devices.push_back({.kind = d == 0 ? weft::device_kind::cpu : weft::device_kind::gpu,
                         .speed = 1.0 + random.below(3),
                         .slots = 1 + (random.below(4) == 0 ? 1u : 0u)});
  }
  s.links = {.latency = 0.5 * random.below(3), .bandwidth = 1.0 + random.below(4)};
  s.send_work = random.below(2);
  for (std::size_t v = 0; v < n; ++v) {
    s.bytes.push_back(random.below(8));
    s.kinds.push_back(random.below(4) == 0   ? weft::kind_set{weft::device_kind::cpu}
                      : random.below(4) == 0 ? weft::kind_set{weft::device_kind::gpu}
                                             : weft::kind_set::all());
    const double work = random.below(9);
    for (std::size_t d = 0; d < num_devices; ++d) {
      s.seconds.push_back(linear ? work / s.devices[d].speed : random.below(9));
    }
    for (std::size_t u = 0; u < v; ++u) {
      if (random.below(5) < 2) {
        s.edges.push_back({static_cast<weft::op_id>(u), static_cast<weft::op_id>(v)});
      }
      if (random.below(6) == 0 && s.kinds[u] == s.kinds[v]) {
        s.colocated.push_back({static_cast<weft::op_id>(u), static_cast<weft::op_id>(v)});
      }
    }
  }
  return s;
}

/// The least makespan of a placement over all orders of ops and sends on the devices: each prefix of each order is
/// tried, every op or send as early as it can.
template <class Problem>
class exhaustive_scheduler {
public:
  exhaustive_scheduler(const Problem& p, const std::vector<weft::device_id>& where, double known)
      : p_{p}, where_{where}, best_{known}, ready_(p.num_ops(), 0), waiting_(p.num_ops(), 0) {
    for (const weft::device_id d : weft::ids(p.num_devices())) {
      slots_.emplace_back(p.platform().slots(d), 0.0);
    }
    for (const weft::op_id v : weft::ids(p.num_ops())) {
      waiting_[v] = p.workload().inputs(v).size();
      if (waiting_[v] == 0) {
        open_.push_back({v, weft::none, 0, 0});
      }
    }
  }

  double best() {
    extend(0);
    return best_;
  }

private:
  struct item { ///< an op, or the send of an op's output
    weft::op_id op;
    weft::device_id to;
    double ready;
    double length; ///< of a send
  };

  void extend(double makespan) {
    if (makespan >= best_) {
      return;
    }
    if (open_.empty()) {
      best_ = makespan;
      return;
    }
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const auto saved = std::tuple{open_, ready_, waiting_, slots_};
      const item x = open_[i];
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      auto& slot = *std::min_element(slots_[where_[x.op]].begin(), slots_[where_[x.op]].end());
      const double start = std::max(slot, x.ready);
      if (x.to != weft::none) {
        slot = start + x.length;
        extend(std::max(makespan, arrive(x.op, x.to, slot)));
      } else {
        slot = start + p_.compute_time(x.op, where_[x.op]);
        extend(std::max(makespan, finish(x.op, slot)));
      }
      std::tie(open_, ready_, waiting_, slots_) = saved;
    }
  }

  double finish(weft::op_id u, double now) {
    double last = now;
    for (const weft::tensor_id t : p_.workload().outputs(u)) {
      release(t, where_[u], now);
      for (const weft::device_id d : weft::ids(p_.num_devices())) {
        const auto consumers = p_.workload().consumers(t);
        if (d == where_[u] || std::none_of(consumers.begin(), consumers.end(),
                                           [&](weft::op_id c) { return where_[c] == d; })) {
          continue;
        }
        if (const double send = p_.send_time(t, where_[u], d); send > 0) {
          open_.push_back({u, d, now, send});
        } else {
          last = std::max(last, arrive(u, d, now));
        }
      }
    }
    return last;
  }

  double arrive(weft::op_id u, weft::device_id d, double now) {
    const weft::tensor_id t = *p_.workload().outputs(u).begin(); // these ops have one output
    const double there = now + p_.transfer_time(t, where_[u], d);
    release(t, d, there);
    return there;
  }

  void release(weft::tensor_id t, weft::device_id d, double now) {
    for (const weft::op_id c : p_.workload().consumers(t)) {
      if (where_[c] == d) {
        ready_[c] = std::max(ready_[c], now);
        if (--waiting_[c] == 0) {
          open_.push_back({c, weft::none, ready_[c], 0});
        }
      }
    }
  }

  const Problem& p_;
  const std::vector<weft::device_id>& where_;
  double best_;
  std::vector<item> open_;
  std::vector<double> ready_;
  std::vector<std::size_t> waiting_;
  std::vector<std::vector<double>> slots_;
};

/// The optimal makespan; infinite if some op may run nowhere.
template <class Problem>
double least_makespan(const Problem& p) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<weft::device_id> where(p.num_ops(), 0);
  for (;;) {
    bool allowed = true;
    for (const weft::op_id v : weft::ids(p.num_ops())) {
      const auto c = p.component(v);
      allowed = allowed && p.allows(c, where[v]) && where[v] == where[p.members(c).front()];
    }
    if (allowed) {
      best = exhaustive_scheduler<Problem>{p, where, best}.best();
    }
    std::size_t v = 0;
    while (v < where.size() && ++where[v] == p.num_devices()) {
      where[v++] = 0;
    }
    if (v == where.size()) {
      return best;
    }
  }
}

} // namespace weft_test
