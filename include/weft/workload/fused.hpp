// SPDX-License-Identifier: BSL-1.0
/// Chains of ops that compilers run as one kernel.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/components.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// A workload whose ops do what one or more ops of another one do.
struct fused_workload {
  workload graph;
  std::vector<op_id> into; ///< by op of the other workload: the op that does its work
};

namespace detail {

/// By op the only one that reads what it makes; `none` if nobody does, or several do.
template <class Workload>
std::vector<op_id> only_readers(const Workload& w) {
  std::vector<op_id> only(w.num_ops(), none);
  for (const op_id u : ids(w.num_ops())) {
    bool is_first = true;
    for (const tensor_id t : w.outputs(u)) {
      for (const op_id c : w.consumers(t)) {
        only[u] = is_first || only[u] == c ? c : none;
        is_first = false;
      }
    }
  }
  return only;
}

} // namespace detail

/// The same model with ops that go on element by element with what an op makes in one op with that: a bias and a ReLU
/// after a convolution, the ops of a GELU. Such an op reads the result of the op before, which no other op reads and
/// which is no result of the model (`returned`, ascending), and is as large as its other inputs or larger. What it
/// needs besides, the op of both reads; what was handed on between them is in no memory. The op of all has the name and
/// the type of the first of them, so that it is as efficient as that, and the work of all.
/// Nothing joins what has no inputs, is a view, or has a type that nobody knows, nor ops that may not run on the same
/// devices, with what they are colocated with. The colocation groups of the ops of a chain are one.
/// Source: as XLA's fusion into producers and the epilogues of cuDNN and cuBLAS. Complexity: O((n + m) log n).
template <named_workload Workload>
fused_workload fused(const Workload& w, std::span<const op_id> returned = {}) {
  const auto n = w.num_ops();
  std::vector<op_id> first(n), last(n); // of the chain that an op is in; `last` by its first
  const auto only_reader = detail::only_readers(w);
  graph::disjoint_sets together{n}; // of what runs on one device …
  std::vector<kind_set> kinds(n);   // … on these, by representative
  std::vector<op_id> member(w.num_groups(), none);
  const auto unite = [&](op_id a, op_id b) {
    const auto common = kinds[together.find(a)] & kinds[together.find(b)];
    together.unite(a, b);
    kinds[together.find(a)] = common;
  };
  for (const op_id v : ids(n)) {
    kinds[v] = w.kinds(v);
    if (const auto g = w.group(v); g != none) {
      member[g] = member[g] == none ? v : member[g];
      unite(member[g], v);
    }
  }
  for (const op_id v : graph::topological_order(w)) {
    first[v] = last[v] = v;
    const auto inputs = w.inputs(v);
    if (inputs.empty() || !ops::is_elementwise(w.type(v), inputs.size())) {
      continue;
    }
    byte_count largest = 1; // what has no elements is no input of this kind
    for (const tensor_id t : inputs) {
      largest = std::max(largest, w.bytes(t));
    }
    const auto joined = std::find_if(inputs.begin(), inputs.end(), [&](tensor_id t) {
      const op_id u = w.producer(t);
      constexpr auto view = ops::device_use::view;
      const bool is_kernel = !w.inputs(u).empty() && ops::use_of(w.type(u)).value_or(view) != view;
      return w.bytes(t) == largest && is_kernel && only_reader[u] == v &&
             !std::binary_search(returned.begin(), returned.end(), u) &&
             !(role_of(w, u) == op_role::parameter_gradient && is_update(w, v)) && // which replicas add up between them
             !(kinds[together.find(u)] & kinds[together.find(v)]).empty();
    });
    if (joined == inputs.end()) {
      continue;
    }
    const op_id u = w.producer(*joined);
    first[v] = first[u];
    last[first[u]] = v;
    unite(u, v);
  }

  std::vector<double> work(n, 0); // by the first
  std::vector<byte_count> resident(n, 0);
  std::vector<kind_set> own_kinds(n, kind_set::all());
  for (const op_id v : ids(n)) {
    work[first[v]] += w.work(v);
    resident[first[v]] += w.resident_bytes(v);
    own_kinds[first[v]] = own_kinds[first[v]] & w.kinds(v);
  }
  fused_workload made{.graph = {}, .into = std::vector<op_id>(n, none)};
  workload_builder b;
  for (const op_id v : ids(n)) {
    if (first[v] == v) {
      op o = op_of(w, v);
      o.work = work[v];
      o.resident_bytes = resident[v];
      o.kinds = own_kinds[v];
      made.into[v] = b.add_op(std::move(o));
    }
  }
  for (const op_id v : ids(n)) {
    made.into[v] = made.into[first[v]];
  }
  for (const op_id v : ids(n)) {
    if (const auto g = w.group(v); g != none && made.into[member[g]] != made.into[v]) {
      b.colocate(made.into[member[g]], made.into[v]);
    }
  }
  const auto add_outputs = [&](op_id v) {
    for (const tensor_id t : w.outputs(v)) {
      std::vector<op_id> readers;
      for (const op_id c : w.consumers(t)) {
        readers.push_back(made.into[c]);
      }
      sort_unique(readers);
      if (!readers.empty() && readers.front() == made.into[v]) {
        continue; // handed on within the op: no other op reads it
      }
      const auto output = b.add_output(made.into[v], w.bytes(t));
      for (const op_id c : readers) {
        b.add_edge(made.into[v], c, output);
      }
    }
  };
  for (const op_id v : ids(n)) { // what the last op of a chain makes is the first output
    if (last[first[v]] == v) {
      add_outputs(v);
    }
  }
  for (const op_id v : ids(n)) {
    if (last[first[v]] != v) {
      add_outputs(v);
    }
  }
  made.graph = std::move(b).build();
  return made;
}

} // namespace weft
