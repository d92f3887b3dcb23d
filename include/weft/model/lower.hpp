// SPDX-License-Identifier: BSL-1.0
/// Makes the workload of a model's graph: what to place, with bytes and FLOP, of what the model says.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/traced_workload.hpp"
#include "weft/ops/catalogue.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace weft {

struct lowering_options {
  double unknown_flop_per_element = 1; ///< per element of the first output, of ops that the catalogue does not know
};

/// The workload of a graph. Its ops are those of the graph, with their ids.
struct lowered_graph {
  workload graph;
  std::vector<named_parameter> parameters = {}; ///< those with names, where they are held
  std::vector<op_id> unknown = {}; ///< ops whose FLOP were guessed
  std::size_t num_unread = 0;      ///< parameters that are nowhere, since no op reads, shows or replaces them
};

namespace detail {

/// Lowers a graph op by op.
class graph_lowering {
public:
  graph_lowering(const model_graph& g, const lowering_options& o)
      : g_{g}, options_{o}, values_(g.num_tensors()), histories_(g.num_tensors()) {}

  lowered_graph operator()() && {
    for (const tensor_id t : ids(g_.num_tensors())) {
      if (is_parameter(t)) {
        values_[t] = ops_.add_parameter(g_.bytes(t), g_.name(t));
      }
    }
    for (const op_id v : ids(g_.num_ops())) { // which may be read by ops before it
      for (const tensor_id t : g_.outputs(v)) {
        values_[t] = {v, t - *g_.outputs(v).begin(), g_[v].is_known ? values_[g_.storage(t)].parameter : none};
      }
    }
    for (const op_id v : ids(g_.num_ops())) {
      g_[v].is_known ? add_known(v) : add(v);
    }
    for (const op_id v : ids(g_.num_ops())) {
      order(v);
    }
    for (const auto& [old, by] : g_.replacements()) {
      if (values_[old].parameter != none && values_[by].op != none) {
        ops_.keep(values_[old].parameter, values_[by].op);
      }
    }
    for (const auto& [a, b] : g_.colocated()) {
      ops_.colocate(a, b);
    }
    const auto unread = ops_.num_unread();
    auto parameters = ops_.named_parameters();
    return {std::move(ops_).build(), std::move(parameters), std::move(unknown_), unread};
  }

private:
  /// The last op that wrote into a storage, and those that read it since then.
  struct history {
    op_id last = none;
    std::vector<op_id> readers = {};
  };

  /// True for what is resident where it is read: what no op makes, or what one makes of parameters alone in a storage
  /// of its own.
  bool is_parameter(tensor_id t) const {
    const op_id from = g_.producer(t);
    const bool is_held = from == none ? g_.role(t) != tensor_role::input : g_[from].is_known;
    return is_held && g_.role(t) != tensor_role::computed && g_.storage(t) == t;
  }

  /// An op that a host runs before the model: it waits for nothing else and takes no time. Sizes need no parameters: a
  /// shape is known without the tensor.
  void add_known(op_id v) {
    const auto& o = g_[v];
    const auto& made = g_.outputs(v);
    const bool makes_sizes = !made.empty() && g_.role(*made.begin()) == tensor_role::computed;
    std::vector<traced_value> reads;
    for (const auto* list : {&o.inputs, &o.captured}) {
      for (const tensor_id t : *list) {
        const op_id from = t != none ? g_.producer(t) : op_id{none};
        if (from != none && g_[from].is_known && (!makes_sizes || g_.role(t) == tensor_role::computed)) {
          reads.push_back({from, values_[t].output, none});
        }
      }
    }
    (void)ops_.add_view(op_of(v, 0), reads);
    for (std::size_t k = 0; k < g_.outputs(v).size(); ++k) {
      ops_.add_output(v, 0);
    }
  }

  op op_of(op_id v, double work) const {
    const auto& o = g_[v];
    return {.work = work, .resident_bytes = o.resident_bytes, .kinds = o.kinds, .name = o.name, .type = o.type,
            .role = o.role};
  }

  void add(op_id v) {
    const auto& o = g_[v];
    std::vector<traced_value> reads;
    for (const auto* list : {&o.inputs, &o.captured}) {
      for (const tensor_id t : *list) {
        if (t != none) {
          reads.push_back(values_[t]);
        }
      }
    }
    const bool is_form = o.form == storage_form::view || o.form == storage_form::copy;
    const auto parameter = is_form && reads.size() == 1 ? reads.front().parameter : std::uint32_t{none};
    auto made = op_of(v, parameter != none ? 0 : work_of(v));
    if (parameter != none) {
      (void)ops_.add_view(std::move(made), reads.front());
    } else {
      (void)ops_.add_op(std::move(made), reads);
    }
    for (const tensor_id t : g_.outputs(v)) {
      values_[t] = parameter != none ? ops_.add_output_of(v, parameter) : ops_.add_output(v, g_.bytes(t));
    }
  }

  double work_of(op_id v) {
    const auto& o = g_[v];
    if (o.work != model_graph::by_type) {
      return o.work;
    }
    const auto call = call_of(g_, v);
    const auto* facts = ops::find_by_name(o.type);
    if (facts != nullptr && facts->flop != nullptr) {
      return facts->flop(call);
    }
    if (call.has_output()) {
      unknown_.push_back(v);
    }
    return options_.unknown_flop_per_element * call.out();
  }

  /// Writes into a storage come after all that read it before, and reads after them.
  void order(op_id v) {
    const auto& o = g_[v];
    std::vector<op_id> before = o.after, read;
    for (const auto* list : {&o.inputs, &o.captured}) {
      for (const tensor_id t : *list) {
        if (t == none) {
          continue;
        }
        read.push_back(g_.producer(t));
        auto& w = histories_[g_.storage(t)];
        if (w.last != none) {
          before.push_back(w.last);
        }
        if (w.readers.empty() || w.readers.back() != v) {
          w.readers.push_back(v);
        }
      }
    }
    const auto& made = g_.outputs(v);
    if (o.form == storage_form::writes && !made.empty()) {
      auto& w = histories_[g_.storage(*made.begin())];
      before.insert(before.end(), w.readers.begin(), w.readers.end());
      w = {v, {}};
    }
    sort_unique(before);
    sort_unique(read);
    for (const op_id first : before) {
      if (first != v && !std::binary_search(read.begin(), read.end(), first)) {
        ops_.add_order(first, v);
      }
    }
  }

  const model_graph& g_;
  const lowering_options& options_;
  traced_workload ops_;
  std::vector<traced_value> values_;  // by tensor
  std::vector<history> histories_;    // by storage
  std::vector<op_id> unknown_;
};

} // namespace detail

/// The workload of a graph. Parameters, states and constants are resident with the ops that read them, see
/// `traced_workload`; ops that only show one are colocated with their reader. Ops that write into the storage of a
/// tensor come after those that read it before, and before those that read it then. Ops keep their roles. Throws
/// `value_error` if an op keeps more than 2^62 bytes. Complexity: O(n + m log d).
inline lowered_graph lower(const model_graph& g, const lowering_options& o = {}) {
  return detail::graph_lowering{g, o}();
}

} // namespace weft
