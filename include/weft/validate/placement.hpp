// SPDX-License-Identifier: BSL-1.0
/// Checks a placement against a problem, independently of everything that makes placements.
#pragma once

#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/validate/violation.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft {

namespace detail {

/// Whether every op is on a device that exists, so that further checks have something to work on.
constexpr bool is_complete(const std::vector<violation>& found) {
  return std::none_of(found.begin(), found.end(), [](const violation& x) {
    return x.what == violation::kind::wrong_size || x.what == violation::kind::unplaced ||
           x.what == violation::kind::bad_device;
  });
}

/// A tensor and a device that it must be sent to.
using tensor_and_device = std::pair<tensor_id, device_id>;

/// The transfers that a complete placement causes, ascending: each tensor to each device that has a consumer of it
/// and is not its producer's. Complexity: O(m log m).
template <class W, class P, class C>
constexpr std::vector<tensor_and_device> required_transfers(const problem<W, P, C>& p, const placement& where) {
  std::vector<tensor_and_device> required;
  for (const tensor_id t : ids(p.num_tensors())) {
    for (const op_id c : p.workload().consumers(t)) {
      if (where[c] != where[p.workload().producer(t)]) {
        required.emplace_back(t, where[c]);
      }
    }
  }
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  return required;
}

} // namespace detail

/// Everything that is wrong with a placement; empty if it keeps all rules: every op on a device that exists and is of
/// an allowed kind, colocation groups together, and on no device more demand (Σ over its ops of resident bytes +
/// outputs + inputs, [CP] §2) than memory; under `memory_rule::over_time` only not more resident bytes, as the rest
/// depends on the run (`validate_options::check_memory`). Complexity: O(n + m).
template <class W, class P, class C>
constexpr std::vector<violation> validate(const problem<W, P, C>& p, const placement& where,
                                          memory_rule rule = memory_rule::reserved) {
  using kind = violation::kind;
  const W& w = p.workload();
  std::vector<violation> found;
  if (where.size() != p.num_ops()) {
    found.push_back({.what = kind::wrong_size,
                     .expected = static_cast<double>(p.num_ops()),
                     .actual = static_cast<double>(where.size())});
    return found;
  }
  constexpr byte_count most = std::numeric_limits<byte_count>::max();
  std::vector<byte_count> demand(p.num_devices(), 0);
  std::vector<op_id> first_of_group(static_cast<std::size_t>(w.num_groups()), none);
  for (const op_id v : ids(p.num_ops())) {
    const device_id d = where[v];
    if (d == none) {
      found.push_back({.what = kind::unplaced, .op = v});
      continue;
    }
    if (d >= p.num_devices()) {
      found.push_back({.what = kind::bad_device, .op = v, .device = d});
      continue;
    }
    if (!w.kinds(v).contains(p.platform().kind(d))) {
      found.push_back({.what = kind::kind_not_allowed, .op = v, .device = d});
    }
    if (const group_id g = w.group(v); g != none) {
      if (first_of_group[g] == none) {
        first_of_group[g] = v;
      } else if (where[first_of_group[g]] != d) {
        found.push_back({.what = kind::colocation_broken, .op = v, .other = first_of_group[g], .device = d});
      }
    }
    const auto add = [&, m = p.memory_of(d)](byte_count bytes) {
      demand[m] = bytes > most - demand[m] ? most : demand[m] + bytes;
    };
    add(w.resident_bytes(v));
    if (rule == memory_rule::over_time) {
      continue;
    }
    for (const tensor_id t : w.outputs(v)) {
      add(w.bytes(t));
    }
    for (const tensor_id t : w.inputs(v)) {
      add(w.bytes(t));
    }
  }
  for (const device_id d : ids(p.num_devices())) {
    if (const auto capacity = p.capacity(d); demand[d] > capacity) {
      found.push_back({.what = kind::capacity_exceeded,
                       .device = d,
                       .expected = static_cast<double>(capacity),
                       .actual = static_cast<double>(demand[d])});
    }
  }
  return found;
}

} // namespace weft
