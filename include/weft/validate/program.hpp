// SPDX-License-Identifier: BSL-1.0
/// Checks the programs of devices that exchange messages: that they cannot deadlock, and that they compute a placement.
#pragma once

#include "weft/plan/instruction.hpp"
#include "weft/plan/plan.hpp"
#include "weft/validate/violation.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

/// A list of instructions per device, and the messages that they name; `execute::program` is one.
template <class P>
concept device_programs = requires(const P& p, device_id d) {
  { p.num_devices() } -> std::convertible_to<std::size_t>;
  { p.of(d)[0] } -> std::convertible_to<const instruction&>;
  { p.of(d).size() } -> std::convertible_to<std::size_t>;
  { p.messages()[0] } -> std::convertible_to<const message&>;
  { p.messages().size() } -> std::convertible_to<std::size_t>;
};

/// Runs the programs as a network without any memory of its own would, where a sender waits until the receiver is
/// ready: if they come to their ends, they do so on every network and with any times, since what has become possible
/// stays possible. Otherwise the violations (`program_deadlock`) are of devices that wait for each other in a circle,
/// in its order, or of one that waits for a message that its other side never begins. Precondition: the messages exist.
/// Complexity: O(instructions + messages).
template <device_programs P>
std::vector<violation> find_deadlock(const P& p) {
  using kind = instruction::kind;
  const std::size_t num_devices = p.num_devices();
  std::vector<std::size_t> at(num_devices, 0);
  std::vector<std::uint8_t> is_sent(p.messages().size(), 0), is_posted(p.messages().size(), 0);
  const auto is_over = [&](std::uint32_t m) { return is_sent[m] != 0 && is_posted[m] != 0; };
  std::vector<device_id> to_try;
  for (device_id d = 0; d < num_devices; ++d) {
    to_try.push_back(d);
  }
  while (!to_try.empty()) {
    const device_id d = to_try.back();
    to_try.pop_back();
    for (; at[d] < p.of(d).size(); ++at[d]) {
      const instruction i = p.of(d)[at[d]];
      if (i.what == kind::send || i.what == kind::receive) {
        const message& m = p.messages()[i.id];
        (i.what == kind::send ? is_sent : is_posted)[i.id] = 1;
        const device_id other = i.what == kind::send ? m.to : m.from;
        if (other < num_devices && other != d && is_over(i.id)) {
          to_try.push_back(other);
        }
      } else if (i.what == kind::wait && !is_over(i.id)) {
        break;
      }
    }
  }

  const auto is_stuck = [&](device_id d) { return d < num_devices && at[d] < p.of(d).size(); };
  const auto missing = [&](device_id d) { // who has not begun what the device waits for, and what that is
    const auto m = p.of(d)[at[d]].id;
    const bool lacks_send = is_sent[m] == 0;
    return std::pair{lacks_send ? p.messages()[m].from : p.messages()[m].to,
                     instruction{lacks_send ? kind::send : kind::receive, m}};
  };
  std::vector<violation> found;
  std::vector<device_id> path;
  for (device_id d = 0; d < num_devices; ++d) {
    if (!is_stuck(d)) {
      continue;
    }
    auto circle = path.end();
    for (device_id x = d; is_stuck(x) && circle == path.end();) {
      path.push_back(x);
      x = missing(x).first;
      circle = std::find(path.begin(), path.end(), x);
    }
    for (auto x = circle == path.end() ? path.end() - 1 : circle; x != path.end(); ++x) {
      const auto [other, needed] = missing(*x);
      std::size_t there = 0;
      while (other < num_devices && there < p.of(other).size() && p.of(other)[there] != needed) {
        ++there;
      }
      found.push_back({.what = violation::kind::program_deadlock,
                       .other = other,
                       .tensor = p.messages()[needed.id].tensor,
                       .device = *x,
                       .expected = static_cast<double>(there),
                       .actual = static_cast<double>(at[*x])});
    }
    break; // whoever else is stuck waits for these, or is another story
  }
  return found;
}

/// Checks that programs compute a workload as it is placed: each op once, where it is placed, when its inputs are in
/// that device's memory; each message sent when its tensor is there, once, and received once; no memory freed while
/// something is still sent from it or received in it; no deadlock. Complexity: O(n + m + devices × tensors).
template <dataflow_workload W, device_programs P>
std::vector<violation> validate(const W& w, const placement& where, const P& p) {
  using kind = instruction::kind;
  enum state : std::uint8_t { absent, coming, present };
  std::vector<violation> found;
  bool is_readable = true;
  const auto report = [&](violation v) { found.push_back(v); };
  const std::size_t num_devices = p.num_devices(), num_messages = p.messages().size();
  std::vector<std::uint32_t> runs(w.num_ops(), 0), sends(num_messages, 0), receives(num_messages, 0);
  std::vector<state> tensors;
  std::vector<std::uint8_t> is_pending;
  std::vector<std::uint32_t> pending_of; // sends under way from each tensor
  for (device_id d = 0; d < num_devices; ++d) {
    tensors.assign(w.num_tensors(), absent);
    pending_of.assign(w.num_tensors(), 0);
    is_pending.assign(num_messages, 0);
    const auto misuse = [&](tensor_id t, std::size_t at) {
      report({.what = violation::kind::program_misuse, .tensor = t, .device = d, .actual = static_cast<double>(at)});
    };
    for (std::size_t at = 0; at < p.of(d).size(); ++at) {
      const instruction i = p.of(d)[at];
      if (i.what == kind::run) {
        if (i.id >= w.num_ops() || where[i.id] != d) {
          report({.what = violation::kind::op_on_wrong_device, .op = i.id, .device = d});
          continue;
        }
        ++runs[i.id];
        for (const tensor_id t : w.inputs(i.id)) {
          if (tensors[t] != present) {
            report({.what = violation::kind::program_input_missing, .op = i.id, .tensor = t, .device = d,
                    .actual = static_cast<double>(at)});
          }
        }
        for (const tensor_id t : w.outputs(i.id)) {
          tensors[t] = present;
        }
        continue;
      }
      if (i.what == kind::free) {
        const tensor_id t = i.id < w.num_tensors()                  ? i.id
                            : i.id - w.num_tensors() < num_messages ? p.messages()[i.id - w.num_tensors()].tensor
                                                                    : none;
        if (t == none || tensors[t] != present || pending_of[t] > 0) {
          misuse(t, at);
        }
        if (t != none) {
          tensors[t] = absent;
        }
        continue;
      }
      if (i.id >= num_messages) {
        misuse(none, at);
        is_readable = false;
        continue;
      }
      const message& m = p.messages()[i.id];
      if (i.what == kind::send) {
        ++sends[i.id];
        if (m.from != d || tensors[m.tensor] != present) {
          misuse(m.tensor, at);
        }
        is_pending[i.id] = 1;
        ++pending_of[m.tensor];
      } else if (i.what == kind::receive) {
        ++receives[i.id];
        if (m.to != d || tensors[m.tensor] != absent) {
          misuse(m.tensor, at);
        }
        tensors[m.tensor] = coming;
        is_pending[i.id] = 1;
      } else if (is_pending[i.id] == 0) {
        misuse(m.tensor, at); // waits for what it has not begun
      } else {
        is_pending[i.id] = 0;
        if (m.from == d) {
          --pending_of[m.tensor];
        } else {
          tensors[m.tensor] = present;
        }
      }
    }
    for (const auto m : ids(num_messages)) {
      if (is_pending[m] != 0) {
        misuse(p.messages()[m].tensor, p.of(d).size());
      }
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    if (runs[v] != 1) {
      report({.what = runs[v] == 0 ? violation::kind::order_misses_op : violation::kind::order_repeats_op, .op = v});
    }
  }
  for (const auto m : ids(num_messages)) {
    if (sends[m] != 1 || receives[m] != 1) {
      report({.what = violation::kind::program_message_unpaired, .other = p.messages()[m].from,
              .tensor = p.messages()[m].tensor, .device = p.messages()[m].to,
              .expected = static_cast<double>(sends[m]), .actual = static_cast<double>(receives[m])});
    }
  }
  if (is_readable) {
    const auto stuck = find_deadlock(p);
    found.insert(found.end(), stuck.begin(), stuck.end());
  }
  return found;
}

} // namespace weft
