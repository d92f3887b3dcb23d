// SPDX-License-Identifier: BSL-1.0
/// Five ops on two devices, and what ready policies make of them.
#pragma once

#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/concepts.hpp"
#include "weft/workload/builder.hpp"

#include <utility>
#include <vector>

namespace weft::test {

/// ```
///   a(2) ──8──► b(4) ─────► d(8)        a, c, e on device 0 (speed 1), b, d on device 1 (speed 2)
///     └──────► c(6) ──4──► d            links: 1 second + bytes / 4
///     └──────► e(3)
/// ```
struct five_ops {
  static constexpr op_id a = 0, b = 1, c = 2, d = 3, e = 4;
  static constexpr item_id send_a = 5, send_c = 6;

  static workload make() {
    workload_builder w;
    w.add_op({.work = 2, .bytes = 8});
    w.add_op({.work = 4, .bytes = 100});
    w.add_op({.work = 6, .bytes = 4});
    w.add_op({.work = 8});
    w.add_op({.work = 3});
    w.add_edge(a, b);
    w.add_edge(a, c);
    w.add_edge(a, e);
    w.add_edge(b, d);
    w.add_edge(c, d);
    return std::move(w).build();
  }

  explicit five_ops(double send_work) : q{{{.speed = 1}, {.speed = 2}}, {{.latency = 1, .bandwidth = 4}}, send_work} {}
  five_ops(const five_ops&) = delete;
  five_ops& operator=(const five_ops&) = delete;

  workload w = make();
  platform<uniform_links> q;
  problem<workload, platform<uniform_links>> p{w, q};
  placement where{0, 1, 0, 1, 0};
};

/// The keys of all items: ops, then sends.
template <class Policy, class Problem>
std::vector<double> keys_of(const Policy& policy, const Problem& p, const placement& where) {
  placed_flow flow{p};
  flow.assign(where);
  const order none_given;
  std::vector<double> keys(flow.num_items(), -1.0);
  policy.assign_keys(schedule::context<Problem>{flow, none_given}, keys);
  return keys;
}

} // namespace weft::test
