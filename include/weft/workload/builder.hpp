// SPDX-License-Identifier: BSL-1.0
/// Builds a `workload` op by op and checks everything that goes into it.
#pragma once

#include "weft/graph/components.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// What an op is, in the order in which most people know it.
struct op {
  double work = 0;                           ///< work units (FLOP), finite, not negative
  std::optional<byte_count> bytes = {};      ///< size of its first output tensor; without it the op has no output yet
  byte_count resident_bytes = 0;             ///< parameters and state that stay on its device
  kind_set kinds = kind_set::all();          ///< where it may run
  std::string name = {};
  std::string type = {};
};

/// Collects ops, tensors, edges and colocations in any order, then checks and packs them.
/// ```
/// workload_builder b;
/// const auto x = b.add_op({.work = 2e6, .bytes = 4096, .name = "x"});
/// const auto y = b.add_op({.work = 1e6, .name = "y"});
/// b.add_edge(x, y);
/// const workload w = std::move(b).build();
/// ```
class workload_builder {
public:
  /// The largest total of work units or bytes: sums up to it stay exact enough and cannot overflow.
  static constexpr byte_count max_total_bytes = std::numeric_limits<byte_count>::max() / 4;

  /// Adds an op and returns its id: 0, 1, 2, …
  /// Throws `value_error` if a number is negative, not finite or too large.
  op_id add_op(op o) {
    const auto v = static_cast<op_id>(ops_.size());
    if (!(o.work >= 0 && o.work <= std::numeric_limits<double>::max())) {
      throw value_error(where(v, o.name) + ": work", "must be finite and not negative");
    }
    if (o.kinds.empty()) {
      throw constraint_error({v}, where(v, o.name) + ": allows no device kind at all");
    }
    check_bytes(where(v, o.name) + ": resident_bytes", o.resident_bytes);
    if (o.bytes) {
      check_bytes(where(v, o.name) + ": bytes", *o.bytes);
      tensors_.push_back({v, *o.bytes});
    }
    num_outputs_.push_back(o.bytes ? 1u : 0u);
    control_output_.push_back(none);
    ops_.push_back(std::move(o));
    return v;
  }

  /// Adds a further output tensor to v and returns its number among v's outputs (0 for the first).
  std::uint32_t add_output(op_id v, byte_count bytes) {
    check_op(v, "add_output");
    check_bytes(where(v) + ": output " + std::to_string(num_outputs_[v]), bytes);
    tensors_.push_back({v, bytes});
    return num_outputs_[v]++;
  }

  /// `consumer` reads output number `output` of `producer`.
  void add_edge(op_id producer, op_id consumer, std::uint32_t output = 0) {
    check_op(producer, "add_edge");
    check_op(consumer, "add_edge");
    if (output >= num_outputs_[producer]) {
      throw dangling_id_error("edge " + where(producer) + " -> " + where(consumer),
                              "the producer has no output " + std::to_string(output) +
                                ": give it `bytes` or call add_output first");
    }
    edges_.push_back({producer, output, consumer});
  }

  /// `after` starts only when `before` is done, but gets nothing from it. All control edges of an op share one
  /// tensor of zero bytes, made on first use.
  void add_control_edge(op_id before, op_id after) {
    check_op(before, "add_control_edge");
    check_op(after, "add_control_edge");
    if (control_output_[before] == none) {
      control_output_[before] = add_output(before, 0);
    }
    edges_.push_back({before, control_output_[before], after});
  }

  /// a and b, and everything colocated with either, run on one device.
  void colocate(op_id a, op_id b) {
    check_op(a, "colocate");
    check_op(b, "colocate");
    colocations_.emplace_back(a, b);
  }

  std::size_t num_ops() const { return ops_.size(); }
  const op& operator[](op_id v) const { return ops_[v]; }

  /// Checks the whole and packs it; groups are numbered by their smallest member.
  /// Throws `duplicate_edge_error`, `cycle_error`, `constraint_error` (a group without a common kind), `value_error`
  /// (totals that overflow). Complexity: O(n + m log d).
  workload build() && {
    workload w;
    const auto n = ops_.size();
    pack_tensors(w);
    pack_edges(w);
    pack_ops(w);
    check_totals(w);
    check_acyclic(w);
    pack_groups(w, n);
    return w;
  }

private:
  struct pending_tensor {
    op_id producer;
    byte_count bytes;
  };
  struct pending_edge {
    op_id producer;
    std::uint32_t output;
    op_id consumer;
  };

  static std::string where(op_id v, const std::string& name) {
    return "op " + std::to_string(v) + (name.empty() ? "" : " '" + name + "'");
  }
  std::string where(op_id v) const { return where(v, ops_[v].name); }

  void check_op(op_id v, const char* call) const {
    if (v >= ops_.size()) {
      throw dangling_id_error(call, "there is no op " + std::to_string(v) + ", only 0 to " +
                                      std::to_string(ops_.size()) + " - 1");
    }
  }

  static void check_bytes(const std::string& where, byte_count bytes) {
    if (bytes > max_total_bytes) {
      throw value_error(where, std::to_string(bytes) + " bytes is too large (was a negative number converted?)");
    }
  }

  void pack_tensors(workload& w) {
    w.first_output_.assign(ops_.size() + 1, 0);
    for (std::size_t v = 0; v < ops_.size(); ++v) {
      w.first_output_[v + 1] = w.first_output_[v] + num_outputs_[v];
    }
    auto next = w.first_output_;
    w.producer_.resize(tensors_.size());
    w.bytes_.resize(tensors_.size());
    for (const auto& [producer, bytes] : tensors_) { // an op's outputs were added in their order
      w.producer_[next[producer]] = producer;
      w.bytes_[next[producer]++] = bytes;
    }
  }

  void pack_edges(workload& w) {
    if (edges_.size() >= none) {
      throw value_error("workload", "has more than 2^32 - 1 edges");
    }
    w.first_consumer_.assign(tensors_.size() + 1, 0);
    w.first_input_.assign(ops_.size() + 1, 0);
    for (const auto& [producer, output, consumer] : edges_) {
      ++w.first_consumer_[w.first_output_[producer] + output + 1];
      ++w.first_input_[consumer + 1];
    }
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      w.first_consumer_[t + 1] += w.first_consumer_[t];
    }
    for (std::size_t v = 0; v < ops_.size(); ++v) {
      w.first_input_[v + 1] += w.first_input_[v];
    }
    w.consumers_.resize(edges_.size());
    auto next = w.first_consumer_;
    for (const auto& [producer, output, consumer] : edges_) {
      w.consumers_[next[w.first_output_[producer] + output]++] = consumer;
    }
    w.inputs_.resize(edges_.size());
    next = w.first_input_;
    for (const tensor_id t : ids(tensors_.size())) { // ascending tensors, so each op's inputs come out ascending
      const auto first = w.consumers_.begin() + static_cast<std::ptrdiff_t>(w.first_consumer_[t]);
      const auto last = w.consumers_.begin() + static_cast<std::ptrdiff_t>(w.first_consumer_[t + 1]);
      std::sort(first, last);
      if (const auto twice = std::adjacent_find(first, last); twice != last) {
        throw duplicate_edge_error(w.producer_[t], *twice, where(w.producer_[t]) + " -> " + where(*twice));
      }
      for (auto c = first; c != last; ++c) {
        w.inputs_[next[*c]++] = t;
      }
    }
  }

  void pack_ops(workload& w) {
    const auto n = ops_.size();
    w.work_.reserve(n);
    w.resident_bytes_.reserve(n);
    w.kinds_.reserve(n);
    const bool named = std::any_of(ops_.begin(), ops_.end(), [](const op& o) { return !o.name.empty(); });
    const bool typed = std::any_of(ops_.begin(), ops_.end(), [](const op& o) { return !o.type.empty(); });
    for (auto& o : ops_) {
      w.work_.push_back(o.work);
      w.resident_bytes_.push_back(o.resident_bytes);
      w.kinds_.push_back(o.kinds);
      if (named) {
        w.names_.push_back(o.name);
      }
    }
    if (typed) {
      pack_types(w);
    }
  }

  void pack_types(workload& w) const {
    for (const auto& o : ops_) {
      w.type_names_.push_back(o.type);
    }
    std::sort(w.type_names_.begin(), w.type_names_.end());
    w.type_names_.erase(std::unique(w.type_names_.begin(), w.type_names_.end()), w.type_names_.end());
    for (const auto& o : ops_) {
      w.types_.push_back(static_cast<std::uint32_t>(
        std::lower_bound(w.type_names_.begin(), w.type_names_.end(), o.type) - w.type_names_.begin()));
    }
  }

  void check_totals(const workload& w) const {
    byte_count total = 0;
    double work = 0;
    const auto add = [&](byte_count bytes, std::size_t times) {
      if (times != 0 && bytes > (max_total_bytes - total) / times) {
        throw value_error("workload", "the bytes of all ops and tensors together overflow 2^62");
      }
      total += bytes * times;
    };
    for (const op_id v : ids(w.num_ops())) {
      add(w.resident_bytes(v), 1);
      work += w.work(v);
    }
    for (const tensor_id t : ids(w.num_tensors())) {
      add(w.bytes(t), 1 + w.consumers(t).size());
    }
    if (!(work <= std::numeric_limits<double>::max())) {
      throw value_error("workload", "the work of all ops together is not a finite number");
    }
  }

  void check_acyclic(const workload& w) const {
    try {
      (void)graph::topological_order(w);
    } catch (const cycle_error& e) {
      std::string names;
      for (const op_id v : e.ops) {
        names += where(v) + " -> ";
      }
      throw cycle_error(e.ops, names + where(e.ops.front()));
    }
  }

  void pack_groups(workload& w, std::size_t n) const {
    w.group_.assign(n, none);
    if (colocations_.empty()) {
      return;
    }
    graph::disjoint_sets sets{n};
    for (const auto& [a, b] : colocations_) {
      sets.unite(a, b);
    }
    std::vector<kind_set> allowed(n, kind_set::all());
    std::vector<std::uint32_t> size(n, 0);
    for (const op_id v : ids(n)) {
      const auto root = sets.find(v);
      ++size[root];
      allowed[root] = allowed[root] & w.kinds_[v];
    }
    std::uint32_t count = 0;
    for (const op_id v : ids(n)) {
      const auto root = sets.find(v);
      if (size[root] < 2) {
        continue;
      }
      if (root == v && allowed[root].empty()) {
        report_incompatible(w, sets, root);
      }
      w.group_[v] = root == v ? count++ : w.group_[root];
    }
    w.num_groups_ = count;
  }

  void report_incompatible(const workload& w, graph::disjoint_sets& sets, op_id root) const {
    std::vector<op_id> members;
    std::string names;
    for (const op_id v : ids(ops_.size())) {
      if (sets.find(v) == root) {
        members.push_back(v);
        if (!w.kinds_[v].is_all()) {
          names += (names.empty() ? "" : ", ") + where(v) + " (" + to_string(w.kinds_[v]) + ")";
        }
      }
    }
    throw constraint_error(std::move(members), "colocated ops allow no common device kind: " + names);
  }

  std::vector<op> ops_;
  std::vector<std::uint32_t> num_outputs_;
  std::vector<std::uint32_t> control_output_;
  std::vector<pending_tensor> tensors_;
  std::vector<pending_edge> edges_;
  std::vector<std::pair<op_id, op_id>> colocations_;
};

} // namespace weft
