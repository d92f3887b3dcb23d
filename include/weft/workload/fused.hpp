// SPDX-License-Identifier: BSL-1.0
/// Chains of ops that compilers run as one kernel.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/op_catalogue.hpp"
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

/// The same model with ops that go on element by element with what an op makes in one op with that: a bias and a ReLU
/// after a convolution, the ops of a GELU. Such an op reads the result of the op before, which no other op reads and
/// which is no result of the model (`returned`, ascending), and is as large as its other inputs or larger. What it
/// needs besides, the op of both reads; what was handed on between them is in no memory. The op of all has the name and
/// the type of the first of them, so that it is as efficient as that, and the work of all.
/// Nothing joins what has no inputs, is a view, or has a type that nobody knows, nor an op that may not run on the same
/// devices.
/// Source: as XLA's fusion into producers and the epilogues of cuDNN and cuBLAS. Complexity: O((n + m) log n).
template <named_workload Workload>
fused_workload fused(const Workload& w, std::span<const op_id> returned = {}) {
  const auto n = w.num_ops();
  std::vector<op_id> first(n), last(n); // of the chain that an op is in; `last` by its first
  std::vector<kind_set> kinds(n);       // by the first
  const auto is_only_reader = [&](op_id v, op_id u) {
    const auto outputs = w.outputs(u);
    return std::all_of(outputs.begin(), outputs.end(), [&](tensor_id t) {
      const auto readers = w.consumers(t);
      return std::all_of(readers.begin(), readers.end(), [&](op_id c) { return c == v; });
    });
  };
  for (const op_id v : graph::topological_order(w)) {
    first[v] = last[v] = v;
    kinds[v] = w.kinds(v);
    const auto inputs = w.inputs(v);
    if (!facts_of(w.type(v)).in_place || inputs.empty()) {
      continue;
    }
    byte_count largest = 1; // what has no elements is no input of this kind
    for (const tensor_id t : inputs) {
      largest = std::max(largest, w.bytes(t));
    }
    const auto joined = std::find_if(inputs.begin(), inputs.end(), [&](tensor_id t) {
      const op_id u = w.producer(t);
      const bool is_kernel = !w.inputs(u).empty() && use_of(w.type(u)).value_or(op_use::view) != op_use::view;
      return w.bytes(t) == largest && is_kernel && is_only_reader(v, u) &&
             !std::binary_search(returned.begin(), returned.end(), u) && !(kinds[first[u]] & kinds[v]).empty();
    });
    if (joined == inputs.end()) {
      continue;
    }
    const op_id head = first[w.producer(*joined)];
    first[v] = head;
    last[head] = v;
    kinds[head] = kinds[head] & kinds[v];
  }

  std::vector<double> work(n, 0); // by the first
  std::vector<byte_count> resident(n, 0);
  for (const op_id v : ids(n)) {
    work[first[v]] += w.work(v);
    resident[first[v]] += w.resident_bytes(v);
  }
  fused_workload made{.graph = {}, .into = std::vector<op_id>(n, none)};
  workload_builder b;
  for (const op_id v : ids(n)) {
    if (first[v] == v) {
      op o = op_of(w, v);
      o.work = work[v];
      o.resident_bytes = resident[v];
      o.kinds = kinds[v];
      made.into[v] = b.add_op(std::move(o));
    }
  }
  std::vector<op_id> member(w.num_groups(), none); // of the result
  for (const op_id v : ids(n)) {
    made.into[v] = made.into[first[v]];
    if (const auto g = w.group(v); g != none) {
      if (member[g] != none && member[g] != made.into[v]) {
        b.colocate(member[g], made.into[v]);
      }
      member[g] = made.into[v];
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
