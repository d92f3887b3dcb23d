// SPDX-License-Identifier: BSL-1.0
/// Copies the ops of a workload into a builder, with other sizes.
#pragma once

#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Everything that a copy may keep, kept.
struct keep_all {
  template <class... Args>
  constexpr bool operator()(const Args&... /*of*/) const {
    return true;
  }
};

/// An op like v, but for its outputs.
template <dataflow_workload Workload>
constexpr op op_of(const Workload& w, op_id v) {
  op o{.work = w.work(v), .resident_bytes = w.resident_bytes(v), .kinds = w.kinds(v)};
  if constexpr (requires { std::string{w.name(v)}; }) {
    o.name = std::string{w.name(v)};
  }
  if constexpr (requires { std::string{w.type(v)}; }) {
    o.type = std::string{w.type(v)};
  }
  if constexpr (requires { o.slots = w.slots(v); }) {
    o.slots = w.slots(v);
  }
  if constexpr (requires { o.memory = w.output_memory(v); }) {
    o.memory = w.output_memory(v);
  }
  if constexpr (requires { o.role = w.role(v); }) {
    o.role = w.role(v);
  }
  return o;
}

/// Adds all ops of w to an empty builder: they keep their ids, tensors, edges, groups and names. `resident(v)` and
/// `bytes(t)` say what they take, `keeps_edge(t, reader)` and `keeps_group(v)` which edges and members of groups stay,
/// `work(v)`, if it is given, what they do. Complexity: O(n + m).
template <dataflow_workload Workload, class Resident, class Bytes, class Edges = keep_all, class Groups = keep_all,
          class Work = std::nullptr_t>
void copy_ops(workload_builder& b, const Workload& w, const Resident& resident, const Bytes& bytes,
              const Edges& keeps_edge = {}, const Groups& keeps_group = {},
              [[maybe_unused]] const Work& work = nullptr) {
  std::vector<op_id> first(static_cast<std::size_t>(w.num_groups()), none);
  std::vector<std::uint32_t> number(static_cast<std::size_t>(w.num_tensors())); // of each tensor among its op's outputs
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    op o = op_of(w, v);
    o.resident_bytes = resident(v);
    if constexpr (requires { work(v); }) {
      o.work = work(v);
    }
    b.add_op(std::move(o));
    for (const tensor_id t : w.outputs(v)) {
      number[t] = b.add_output(v, bytes(t));
    }
    if (const group_id g = w.group(v); g != none && keeps_group(v)) {
      first[g] == none ? void(first[g] = v) : b.colocate(first[g], v);
    }
  }
  for (const tensor_id t : ids(number.size())) {
    const op_id v = w.producer(t);
    for (const op_id reader : w.consumers(t)) {
      if (keeps_edge(t, reader)) {
        b.add_edge(v, reader, number[t]);
      }
    }
  }
}

} // namespace weft
