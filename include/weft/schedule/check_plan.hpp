// SPDX-License-Identifier: BSL-1.0
/// Preconditions of plans: checks that a plan belongs to a problem, made once, where a stage hands it over.
#pragma once

#include "weft/core/error.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace weft {

namespace detail {

/// The error messages for the plan of a stage, such as `partitioner`; made only when something is wrong.
template <class Problem>
struct plan_errors {
  const Problem& p;
  const char* name;
  std::size_t number;

  std::string stage() const { return number == 0 ? name : name + (" " + std::to_string(number)); }
  [[noreturn]] void wrong_size(const placement& where) const {
    throw value_error(stage(), "it places " + std::to_string(where.size()) + " ops, and the workload has " +
                               std::to_string(p.num_ops()));
  }
  [[noreturn]] void no_device(op_id v, device_id d) const {
    throw dangling_id_error(stage(), d == none ? p.describe_op(v) + " has no device"
                                             : p.describe_op(v) + " is on device " + std::to_string(d) +
                                                 ", and there are only " + std::to_string(p.num_devices()) +
                                                 " devices, from 0");
  }
  [[noreturn]] void wrong_kind(op_id v, device_id d) const {
    throw constraint_error({v}, stage() + ": " + p.describe_op(v) + " is on " + p.describe_device(d) +
                                  " (" + to_string(p.platform().kind(d)) +
                                  "), but it and its group allow only " + to_string(p.kinds(p.component(v))));
  }
  [[noreturn]] void apart(op_id u, op_id v, const placement& where) const {
    throw constraint_error({u, v}, stage() + ": " + p.describe_op(u) + " and " + p.describe_op(v) +
                                     " are of one colocation group, but on devices " + std::to_string(where[u]) +
                                     " and " + std::to_string(where[v]));
  }
  [[noreturn]] void foreign_op(op_id v) const {
    throw dangling_id_error(stage(), "its order has op " + std::to_string(v) + ", and the workload has only " +
                                     std::to_string(p.num_ops()) + " ops, from 0");
  }
  [[noreturn]] void foreign_send(const step& s) const {
    throw dangling_id_error(stage(), "its order sends tensor " + std::to_string(s.tensor) + " of op " +
                                     std::to_string(s.op) + " to device " + std::to_string(s.to) +
                                     ", and there is no such transfer");
  }
  [[noreturn]] void repeated_send(const step& s) const {
    throw value_error(stage(), "its order sends tensor " + std::to_string(s.tensor) + " to " + p.describe_device(s.to) +
                                 " twice");
  }
  [[noreturn]] void repeated(op_id v) const {
    throw value_error(stage(), "its order has " + p.describe_op(v) + " twice");
  }
  [[noreturn]] void missing(op_id v) const {
    throw value_error(stage(), "its order lacks " + p.describe_op(v) + "; it has to have every op once, or be empty");
  }
};

} // namespace detail

/// Throws `value_error` unless every op is placed, `dangling_id_error` unless that is on a device that exists; the
/// error names the stage, and its number unless that is 0. Complexity: O(n), without a look at the workload.
template <class Problem>
constexpr void check_placement(const Problem& p, const placement& where, const char* stage, std::size_t number = 0) {
  const detail::plan_errors<Problem> wrong{p, stage, number};
  if (where.size() != p.num_ops()) {
    wrong.wrong_size(where);
  }
  const std::size_t k = p.num_devices();
  for (std::size_t v = 0; v < where.size(); ++v) {
    if (where[v] >= k) [[unlikely]] {
      wrong.no_device(static_cast<op_id>(v), where[v]);
    }
  }
}

/// Throws unless a decided order has every op once and otherwise sends of tensors that exist to devices that exist:
/// `dangling_id_error`, `value_error`. `marks` has a byte per op and is overwritten. Complexity: O(n).
template <class Problem>
constexpr void check_order(const Problem& p, const order& steps, std::span<std::uint8_t> marks, const char* stage,
                       std::size_t number = 0) {
  if (steps.empty()) {
    return;
  }
  const detail::plan_errors<Problem> wrong{p, stage, number};
  for (auto& seen : marks) {
    seen = 0;
  }
  for (const step& s : steps) {
    if (s.op >= p.num_ops()) [[unlikely]] {
      wrong.foreign_op(s.op);
    }
    if (!s.is_send()) {
      if (marks[s.op] != 0) [[unlikely]] {
        wrong.repeated(s.op);
      }
      marks[s.op] = 1;
    } else if (s.tensor >= p.num_tensors() || s.to >= p.num_devices() ||
               static_cast<op_id>(p.workload().producer(s.tensor)) != s.op) [[unlikely]] {
      wrong.foreign_send(s);
    }
  }
  for (std::size_t v = 0; v < marks.size(); ++v) {
    if (marks[v] == 0) [[unlikely]] {
      wrong.missing(static_cast<op_id>(v));
    }
  }
}

/// Throws unless a plan that a stage made is one of the problem: its placement and order as above, and every op on a
/// device of a kind that it allows, together with its group (`constraint_error`). Whether memory suffices, and whether
/// the order can be followed, a run or `validate` finds out. `marks` has a byte per op and is overwritten.
template <class Problem>
constexpr void check_plan(const Problem& p, const plan& decided, std::span<std::uint8_t> marks, const char* stage,
                       std::size_t number = 0) {
  check_placement(p, decided.placement, stage, number);
  const detail::plan_errors<Problem> wrong{p, stage, number};
  const auto& where = decided.placement;
  for (component_id c = 0; c < p.num_components(); ++c) {
    const auto members = p.members(c);
    const device_id d = where[members.front()];
    if (!p.kinds(c).contains(p.platform().kind(d))) [[unlikely]] {
      wrong.wrong_kind(members.front(), d);
    }
    for (const op_id v : members) {
      if (where[v] != d) [[unlikely]] {
        wrong.apart(members.front(), v, where);
      }
    }
  }
  check_order(p, decided.order, marks, stage, number);
}

} // namespace weft
