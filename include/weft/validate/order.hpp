// SPDX-License-Identifier: BSL-1.0
/// Checks a whole plan: its placement, and that its order, if it has one, can be carried out.
#pragma once

#include "weft/validate/placement.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft {

namespace detail {

/// The check of one order over a complete placement. What can start is a node: op v is node v, the sends that occupy
/// a compute queue follow.
template <class Problem>
struct order_checker {
  using kind = violation::kind;
  struct node {
    std::uint32_t step = none;          ///< its position in the order
    device_id device = none;
    std::uint32_t waits_for = 0;        ///< how many edges enter
    std::vector<std::uint32_t> leads_to = {};
  };

  const Problem& p;
  const plan& decided;
  std::vector<violation> found;
  std::vector<tensor_and_device> required = required_transfers(p, decided.placement);
  std::vector<std::uint32_t> send_node = std::vector<std::uint32_t>(required.size(), none); ///< per required transfer
  std::vector<node> nodes = std::vector<node>(p.num_ops(), node{});
  std::vector<std::uint32_t> by_step = {};  ///< the nodes in the order of their steps

  /// Where t to d is in `required`, or its size.
  constexpr std::size_t find(tensor_id t, device_id d) const {
    const tensor_and_device key{t, d};
    const auto at = std::lower_bound(required.begin(), required.end(), key);
    return at != required.end() && *at == key ? static_cast<std::size_t>(at - required.begin()) : required.size();
  }

  /// Each step names something that exists, once, and no op is left out.
  constexpr void read_steps() {
    std::vector<std::uint8_t> listed(required.size(), 0);
    for (std::uint32_t i = 0; i < decided.order.size(); ++i) {
      const step& s = decided.order[i];
      const auto report = [&](kind what) {
        found.push_back({.what = what, .op = s.op, .tensor = s.tensor, .device = s.to});
      };
      const auto& w = p.workload();
      if (s.op >= p.num_ops() || (s.is_send() && (s.tensor >= p.num_tensors() || w.producer(s.tensor) != s.op))) {
        report(kind::order_bad_step);
      } else if (!s.is_send()) {
        if (nodes[s.op].step != none) {
          report(kind::order_repeats_op);
        } else {
          nodes[s.op].step = i;
          nodes[s.op].device = decided.placement[s.op];
        }
      } else if (const auto k = find(s.tensor, s.to); k == required.size()) {
        report(kind::order_bad_step);
      } else if (listed[k]) {
        report(kind::order_repeats_send);
      } else {
        listed[k] = 1;
        if (p.send_time(s.tensor, decided.placement[s.op], s.to) > 0) {
          send_node[k] = static_cast<std::uint32_t>(nodes.size());
          nodes.push_back({.step = i, .device = decided.placement[s.op]});
        }
      }
    }
    for (const op_id v : ids(p.num_ops())) {
      if (nodes[v].step == none) {
        found.push_back({.what = kind::order_misses_op, .op = v});
      }
    }
  }

  /// The node that must be over before input t is on the way to v, as far as the order is concerned.
  constexpr std::uint32_t source(tensor_id t, op_id v) const {
    const auto k = find(t, decided.placement[v]); // not found: t is local
    return k != required.size() && send_node[k] != none ? send_node[k] : p.workload().producer(t);
  }

  constexpr void add_edge(std::uint32_t from, std::uint32_t to) {
    nodes[from].leads_to.push_back(to);
    ++nodes[to].waits_for;
  }

  /// Ops wait for their inputs, sends for their producers, and each step for the one ahead of it on its device.
  constexpr void link_steps() {
    for (const op_id v : ids(p.num_ops())) {
      for (const tensor_id t : p.workload().inputs(v)) {
        add_edge(source(t, v), v);
      }
    }
    for (std::size_t k = 0; k < required.size(); ++k) {
      if (send_node[k] != none) {
        add_edge(p.workload().producer(required[k].first), send_node[k]);
      }
    }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      by_step.push_back(i);
    }
    std::sort(by_step.begin(), by_step.end(),
              [&](std::uint32_t a, std::uint32_t b) { return nodes[a].step < nodes[b].step; });
    std::vector<std::uint32_t> last(p.num_devices(), none);
    for (const std::uint32_t i : by_step) {
      if (auto& end = last[nodes[i].device]; end != none) {
        add_edge(std::exchange(end, i), i);
      } else {
        end = i;
      }
    }
  }

  /// Starts whatever can start; if something is left, says what the first device that is stuck waits for.
  constexpr void check_progress() {
    std::vector<std::uint8_t> started(nodes.size(), 0);
    std::vector<std::uint32_t> free;
    for (const std::uint32_t i : by_step) {
      if (nodes[i].waits_for == 0) {
        free.push_back(i);
      }
    }
    for (std::size_t next = 0; next < free.size(); ++next) {
      started[free[next]] = 1;
      for (const std::uint32_t i : nodes[free[next]].leads_to) {
        if (--nodes[i].waits_for == 0) {
          free.push_back(i);
        }
      }
    }
    // The earliest step that never starts is next on its device, so it must wait for an input.
    const auto stuck = std::find_if(by_step.begin(), by_step.end(), [&](std::uint32_t i) { return !started[i]; });
    if (stuck == by_step.end()) {
      return;
    }
    const step& s = decided.order[nodes[*stuck].step];
    violation x{.what = kind::deadlock, .op = s.op, .other = s.op, .tensor = s.tensor, .device = nodes[*stuck].device};
    if (!s.is_send()) {
      for (const tensor_id t : p.workload().inputs(s.op)) {
        x.other = started[source(t, s.op)] ? x.other : p.workload().producer(t);
      }
    }
    found.push_back(x);
  }
};

} // namespace detail

/// Everything that is wrong with a plan; empty if the placement keeps all rules and the order is empty or has every
/// op exactly once, each send at most once and only sends that the placement causes, and does not deadlock when each
/// device takes its steps strictly in this order. A device with several slots may start a step before the one ahead
/// of it has finished, not before it has started. A listed send that takes no time is no item of the compute queue
/// and holds nobody up. Complexity: O((n + m) log (n + m)).
template <class W, class P, class C>
constexpr std::vector<violation> validate(const problem<W, P, C>& p, const plan& decided,
                                          memory_rule rule = memory_rule::reserved) {
  auto found = validate(p, decided.placement, rule);
  if (decided.order.empty() || !detail::is_complete(found)) {
    return found;
  }
  const auto of_placement = found.size();
  detail::order_checker<problem<W, P, C>> check{p, decided, std::move(found)};
  check.read_steps();
  if (check.found.size() == of_placement) {
    check.link_steps();
    check.check_progress();
  }
  return std::move(check.found);
}

} // namespace weft
