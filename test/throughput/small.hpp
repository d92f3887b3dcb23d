// SPDX-License-Identifier: BSL-1.0
/// Random small problems for the throughput tests, and their optima found by trying everything. Shares nothing with
/// the library's solvers; periods are computed from the definition, device by device.
#pragma once

#include "weft/core/random.hpp"
#include "weft/cost/staged.hpp"
#include "weft/plan/plan.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace weft_test {

struct small_options {
  std::uint32_t max_ops = 7;
  std::uint32_t max_devices = 3;
  bool limits = true;     ///< kinds, groups and memory
  bool training = false;  ///< some ops are backward ones, after all forward ones
};

/// Ops and devices; costs either staged, or linear over unequal links with sends.
struct small {
  weft::workload ops;
  weft::platform<> devices;
  weft::cost::staged::columns times;

  using staged_problem = weft::problem<weft::workload, weft::platform<>, weft::cost::staged>;
  using linear_problem = weft::problem<weft::workload, weft::platform<>>;
  staged_problem staged() const { return {ops, devices, weft::cost::staged{times}}; }
  linear_problem linear() const { return {ops, devices}; }
};

inline small random_small(weft::rng& random, small_options o = {}) {
  using namespace weft;
  const std::uint32_t n = random.below(o.max_ops + 1);
  const std::uint32_t k = 1 + random.below(o.max_devices);
  workload_builder b;
  const bool limits = o.limits && random.below(2) == 0;
  const std::uint32_t forward = o.training ? (n + 1) / 2 : n;
  for (op_id v = 0; v < n; ++v) {
    op x{.work = static_cast<double>(random.below(8)), .resident_bytes = random.below(5)};
    if (random.below(6) != 0) { // else it has no output
      x.bytes = random.below(3) == 0 ? 0 : random.below(9);
    }
    if (limits && random.below(5) == 0) {
      x.kinds = device_kind::cpu;
    }
    x.type = v < forward ? "forward" : "backward";
    b.add_op(x);
    if (x.bytes && random.below(5) == 0) {
      b.add_output(v, random.below(4));
    }
    for (op_id u = 0; u < v; ++u) {
      if (b[u].bytes && random.below(3) == 0) {
        b.add_edge(u, v);
      }
    }
  }
  for (op_id v = forward; v < n; ++v) {
    if (random.below(4) != 0) {
      b.colocate(v, n - 1 - v);
    }
  }
  if (limits && n > 2 && random.below(2) == 0) {
    b.colocate(random.below(n), random.below(n));
  }
  std::vector<device> devices;
  const bool memory = limits && random.below(2) == 0;
  const auto capacity = static_cast<byte_count>(10 + random.below(40));
  for (device_id d = 0; d < k; ++d) {
    device x{.kind = random.below(3) == 0 ? device_kind::cpu : device_kind::fpga,
             .speed = 1.0 + random.below(2), .slots = random.below(4) == 0 ? 2u : 1u};
    if (memory && x.kind != device_kind::cpu) {
      x.memory_capacity = capacity;
    }
    devices.push_back(x);
  }
  link_matrix links{k};
  for (device_id d = 0; d < k; ++d) {
    for (device_id e = 0; e < k; ++e) {
      links.set(d, e, {.latency = 0.25 * random.below(3), .bandwidth = 1.0 + random.below(4)});
    }
  }
  small s{std::move(b).build(), {std::move(devices), std::move(links), 0.5 * random.below(3)}, {}};
  for (op_id v = 0; v < n; ++v) {
    s.times.host.push_back(0.25 * random.below(60));
    s.times.accelerator.push_back(0.25 * random.below(20));
  }
  for (tensor_id t = 0; t < s.ops.num_tensors(); ++t) {
    s.times.transfer.push_back(random.below(4) == 0 ? 0 : 0.25 * random.below(12));
  }
  return s;
}

/// By the definition: a device's ops, what they need from elsewhere and what others need of theirs.
inline double naive_period(const small::staged_problem& p, const weft::placement& where) {
  double period = 0;
  for (weft::device_id d = 0; d < p.num_devices(); ++d) {
    double load = 0;
    std::set<weft::tensor_id> in;
    std::set<weft::tensor_id> out;
    for (weft::op_id v = 0; v < p.num_ops(); ++v) {
      load += where[v] == d ? p.compute_time(v, d) : 0;
      for (const weft::tensor_id t : p.workload().inputs(v)) {
        const weft::device_id from = where[p.workload().producer(t)];
        if (where[v] == d && from != d) {
          in.insert(t);
        }
        if (from == d && where[v] != d) {
          out.insert(t);
        }
      }
    }
    for (const auto& crossing : {in, out}) {
      for (const weft::tensor_id t : crossing) {
        load += p.platform().kind(d) == weft::device_kind::cpu ? 0 : p.cost().times().transfer[t];
      }
    }
    period = std::max(period, load / p.platform().slots(d));
  }
  return period;
}
inline double naive_period(const small::linear_problem& p, const weft::placement& where) {
  std::map<std::pair<weft::device_id, weft::device_id>, double> link;
  std::vector<double> load(p.num_devices(), 0.0);
  std::set<std::pair<weft::tensor_id, weft::device_id>> moved;
  for (weft::op_id v = 0; v < p.num_ops(); ++v) {
    load[where[v]] += p.compute_time(v, where[v]);
    for (const weft::tensor_id t : p.workload().inputs(v)) {
      const weft::device_id from = where[p.workload().producer(t)];
      if (from != where[v] && moved.emplace(t, where[v]).second) {
        load[from] += p.send_time(t, from, where[v]);
        link[{from, where[v]}] += p.transfer_time(t, from, where[v]);
      }
    }
  }
  double period = 0;
  for (weft::device_id d = 0; d < p.num_devices(); ++d) {
    period = std::max(period, load[d] / p.platform().slots(d));
  }
  for (const auto& [pair, seconds] : link) {
    period = std::max(period, seconds);
  }
  return period;
}

/// Whether the forward ops of the pieces hand data around in no circle.
template <class Problem>
bool is_contiguous(const Problem& p, const weft::placement& where) {
  const auto k = p.num_devices();
  std::vector<std::vector<bool>> reaches(k, std::vector<bool>(k, false));
  for (weft::op_id v = 0; v < p.num_ops(); ++v) {
    for (const weft::tensor_id t : p.workload().inputs(v)) {
      const weft::op_id u = p.workload().producer(t);
      if (p.workload().type(u) == "forward" && p.workload().type(v) == "forward") {
        reaches[where[u]][where[v]] = true;
      }
    }
  }
  for (std::size_t m = 0; m < k; ++m) {
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t b = 0; b < k; ++b) {
        reaches[a][b] = reaches[a][b] || (a != m && m != b && reaches[a][m] && reaches[m][b]);
      }
    }
  }
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (reaches[a][b] && reaches[b][a]) {
        return false;
      }
    }
  }
  return true;
}

/// Whether every component has a forward op.
template <class Problem>
bool has_no_orphans(const Problem& p) {
  for (weft::component_id c = 0; c < p.num_components(); ++c) {
    if (std::ranges::none_of(p.members(c), [&](weft::op_id v) { return p.workload().type(v) == "forward"; })) {
      return false;
    }
  }
  return true;
}

/// Calls `f(placement)` for each placement that kinds, groups and memory allow.
template <class Problem, class F>
void each_placement(const Problem& p, F f) {
  weft::placement where(p.num_ops(), weft::none);
  std::vector<weft::byte_count> used(p.num_devices(), 0);
  const auto place = [&](const auto& self, weft::component_id c) -> void {
    if (c == p.num_components()) {
      f(where);
      return;
    }
    for (weft::device_id d = 0; d < p.num_devices(); ++d) {
      if (p.allows(c, d) && used[d] + p.demand(c) <= p.platform().memory_capacity(d)) {
        used[d] += p.demand(c);
        for (const weft::op_id v : p.members(c)) {
          where[v] = d;
        }
        self(self, c + 1);
        used[d] -= p.demand(c);
      }
    }
  };
  place(place, 0);
}

/// The smallest periods of all placements, and of the contiguous ones; infinite if there is none.
struct optimum {
  double any = std::numeric_limits<double>::infinity();
  double contiguous = std::numeric_limits<double>::infinity();
};
template <class Problem>
optimum brute_force(const Problem& p) {
  optimum o;
  each_placement(p, [&](const weft::placement& where) {
    const double period = naive_period(p, where);
    o.any = std::min(o.any, period);
    if (period < o.contiguous && is_contiguous(p, where)) {
      o.contiguous = period;
    }
  });
  return o;
}

/// Whether a placement respects kinds, groups and memory.
template <class Problem>
bool is_allowed(const Problem& p, const weft::placement& where) {
  std::vector<weft::byte_count> used(p.num_devices(), 0);
  for (weft::component_id c = 0; c < p.num_components(); ++c) {
    const weft::device_id d = where[p.members(c).front()];
    for (const weft::op_id v : p.members(c)) {
      if (where[v] != d) {
        return false;
      }
    }
    used[d] += p.demand(c);
    if (!p.allows(c, d) || used[d] > p.platform().memory_capacity(d)) {
      return false;
    }
  }
  return true;
}

inline bool about(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)}); }

} // namespace weft_test
