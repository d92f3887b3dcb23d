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

/// Sets of ops that run on one device: those of colocation groups at first.
class ops_together {
public:
  template <class Workload>
  explicit ops_together(const Workload& w) : sets_{w.num_ops()} {
    std::vector<op_id> member(w.num_groups(), none);
    for (const op_id v : ids(w.num_ops())) {
      kinds_.push_back(w.kinds(v));
      if (const auto g = w.group(v); g != none) {
        member[g] = member[g] == none ? v : member[g];
        unite(member[g], v);
      }
    }
  }
  /// The kinds of devices that both may run on, with all that is together with them.
  kind_set common(op_id a, op_id b) { return kinds_[sets_.find(a)] & kinds_[sets_.find(b)]; }
  void unite(op_id a, op_id b) {
    const auto kinds = common(a, b);
    sets_.unite(a, b);
    kinds_[sets_.find(a)] = kinds;
  }

private:
  graph::disjoint_sets sets_;
  std::vector<kind_set> kinds_; // by representative
};

/// Chains of ops that run as one.
struct op_chains {
  std::vector<op_id> first; ///< by op: that of its chain
  std::vector<op_id> last;  ///< by the first op of a chain
};

template <class Workload>
op_chains find_chains(const Workload& w, std::span<const op_id> returned) {
  const auto n = w.num_ops();
  op_chains found{std::vector<op_id>(n), std::vector<op_id>(n)};
  const auto only_reader = only_readers(w);
  ops_together together{w};
  for (const op_id v : graph::topological_order(w)) {
    found.first[v] = found.last[v] = v;
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
             !together.common(u, v).empty();
    });
    if (joined != inputs.end()) {
      const op_id u = w.producer(*joined);
      found.first[v] = found.first[u];
      found.last[found.first[u]] = v;
      together.unite(u, v);
    }
  }
  return found;
}

/// Adds an op for each chain, without outputs. Returns by op the one that does its work.
template <class Workload>
std::vector<op_id> add_chains(const Workload& w, const op_chains& chains, workload_builder& b) {
  const auto n = w.num_ops();
  std::vector<op> joined(n); // by the first
  for (const op_id v : ids(n)) {
    auto& o = joined[chains.first[v]];
    o.work += w.work(v);
    o.resident_bytes += w.resident_bytes(v);
    o.kinds = o.kinds & w.kinds(v);
  }
  std::vector<op_id> into(n, none);
  for (const op_id v : ids(n)) {
    if (chains.first[v] == v) {
      op o = op_of(w, v);
      o.work = joined[v].work;
      o.resident_bytes = joined[v].resident_bytes;
      o.kinds = joined[v].kinds;
      into[v] = b.add_op(std::move(o));
    }
  }
  std::vector<op_id> member(w.num_groups(), none);
  for (const op_id v : ids(n)) {
    into[v] = into[chains.first[v]];
    if (const auto g = w.group(v); g != none) {
      member[g] = member[g] == none ? into[v] : member[g];
      member[g] != into[v] ? b.colocate(member[g], into[v]) : void();
    }
  }
  return into;
}

/// Adds the outputs of an op that are not handed on within its chain, with their readers.
template <class Workload>
void add_outputs(const Workload& w, op_id v, const std::vector<op_id>& into, workload_builder& b) {
  for (const tensor_id t : w.outputs(v)) {
    std::vector<op_id> readers;
    for (const op_id c : w.consumers(t)) {
      readers.push_back(into[c]);
    }
    sort_unique(readers);
    if (!readers.empty() && readers.front() == into[v]) {
      continue; // no other op reads it
    }
    const auto output = b.add_output(into[v], w.bytes(t));
    for (const op_id c : readers) {
      b.add_edge(into[v], c, output);
    }
  }
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
  const auto chains = detail::find_chains(w, returned);
  workload_builder b;
  fused_workload made{.graph = {}, .into = detail::add_chains(w, chains, b)};
  for (const bool of_last : {true, false}) { // what the last op of a chain makes is the first output
    for (const op_id v : ids(w.num_ops())) {
      if ((chains.last[chains.first[v]] == v) == of_last) {
        detail::add_outputs(w, v, made.into, b);
      }
    }
  }
  made.graph = std::move(b).build();
  return made;
}

} // namespace weft
