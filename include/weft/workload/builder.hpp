// SPDX-License-Identifier: BSL-1.0
/// Builds a `workload` op by op and checks everything that goes into it.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/numbering.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/components.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/detail/collective_types.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The description of an op, in the order in which most people know it.
struct op {
  double work = 0;                           ///< work units (FLOP), finite, not negative
  std::optional<byte_count> bytes = {};      ///< size of its first output tensor; without it the op has no output yet
  byte_count resident_bytes = 0;             ///< parameters and state that stay on its device
  kind_set kinds = kind_set::all();          ///< where it may run
  std::string name = {};
  std::string type = {};
  std::uint32_t slots = 1;                   ///< how many slots of its device it takes at once, such as cores of a node
  output_memory memory = output_memory::own; ///< of its first output
  op_role role = op_role::by_name;           ///< in a training step
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
  static constexpr byte_count max_total_bytes = weft::max_total_bytes;

  /// Adds an op and returns its id: 0, 1, 2, …
  /// Throws `value_error` if a number is negative, not finite or too large.
  op_id add_op(op o) {
    const auto v = static_cast<op_id>(checked_count(num_ops() + 1, "workload", "ops") - 1);
    if (!(o.work >= 0 && o.work <= std::numeric_limits<double>::max())) {
      throw value_error(where(v, o.name) + ": work", "must be finite and not negative");
    }
    if (o.kinds.empty()) {
      throw constraint_error({v}, where(v, o.name) + ": allows no device kind at all");
    }
    check_bytes(o.resident_bytes, [&] { return where(v, o.name) + ": resident_bytes"; });
    if (o.slots == 0) {
      throw value_error(where(v, o.name) + ": slots", "must be at least 1");
    }
    if (o.bytes) {
      check_bytes(*o.bytes, [&] { return where(v, o.name) + ": bytes"; });
      add_tensor(v, *o.bytes);
    }
    outputs_.push_back(
      {o.bytes ? static_cast<std::uint32_t>(columns_.bytes_.size() - 1) : none, o.bytes ? 1u : 0u, none});
    const auto role = o.role != op_role::by_name ? o.role : role_by_name(o.type, o.name);
    if (role != op_role::forward) {
      columns_.roles_.resize(v, static_cast<std::uint8_t>(op_role::forward));
      columns_.roles_.push_back(static_cast<std::uint8_t>(role));
    }
    if (!o.name.empty()) {
      names_.resize(v);
      names_.push_back(std::move(o.name));
    }
    if (!o.type.empty()) {
      types_.resize(v, none);
      types_.push_back(type_names_.number(std::move(o.type)));
    }
    if (o.slots > 1) {
      columns_.slots_.resize(v, 1);
      columns_.slots_.push_back(o.slots);
    }
    if (o.memory != output_memory::own) {
      columns_.output_memory_.resize(v, output_memory::own);
      columns_.output_memory_.push_back(o.memory);
    }
    columns_.resident_bytes_.push_back(o.resident_bytes);
    columns_.kinds_.push_back(o.kinds);
    columns_.work_.push_back(o.work);
    return v;
  }

  /// Adds a further output tensor to v and returns its number among v's outputs (0 for the first).
  std::uint32_t add_output(op_id v, byte_count bytes) {
    check_op(v, "add_output");
    check_bytes(bytes, [&] { return where(v) + ": output " + std::to_string(outputs_[v].count); });
    add_tensor(v, bytes);
    return outputs_[v].count++;
  }

  /// `consumer` reads output number `output` of `producer`.
  void add_edge(op_id producer, op_id consumer, std::uint32_t output = 0) {
    check_op(producer, "add_edge");
    check_op(consumer, "add_edge");
    if (output >= outputs_[producer].count) {
      throw dangling_id_error("edge " + where(producer) + " -> " + where(consumer),
                              "the producer has no output " + std::to_string(output) +
                                ": give it `bytes` or call add_output first");
    }
    edges_.push_back({producer, output, consumer});
  }

  /// More that stays on the device of an op. Throws `value_error` if that is too large.
  void add_resident(op_id v, byte_count bytes) {
    check_op(v, "add_resident");
    auto& sum = columns_.resident_bytes_[v];
    for (const auto checked : {bytes, sum + bytes}) {
      check_bytes(checked, [&] { return where(v) + ": resident_bytes"; });
    }
    sum += bytes;
  }

  /// `after` starts only when `before` is done, but gets nothing from it. All control edges of an op share one
  /// tensor of zero bytes, made on first use.
  void add_control_edge(op_id before, op_id after) {
    check_op(before, "add_control_edge");
    check_op(after, "add_control_edge");
    if (outputs_[before].control == none) {
      outputs_[before].control = add_output(before, 0);
    }
    edges_.push_back({before, outputs_[before].control, after});
  }

  /// a and b, and everything colocated with either, run on one device.
  void colocate(op_id a, op_id b) {
    check_op(a, "colocate");
    check_op(b, "colocate");
    colocations_.emplace_back(a, b);
  }

  /// Makes room for that many edges, which saves memory while a large workload is built.
  void reserve_edges(std::size_t count) { edges_.reserve(count); }
  /// The same for ops, tensors and edges. A control tensor, made on an op's first control edge, counts as well.
  void reserve(std::size_t ops, std::size_t tensors, std::size_t edges) {
    columns_.work_.reserve(ops);
    columns_.resident_bytes_.reserve(ops);
    columns_.kinds_.reserve(ops);
    outputs_.reserve(ops);
    columns_.producer_.reserve(tensors);
    columns_.bytes_.reserve(tensors);
    edges_.reserve(edges);
  }

  std::size_t num_ops() const { return columns_.work_.size(); }
  /// The op that was added as v.
  op operator[](op_id v) const {
    op o{.work = columns_.work_[v], .resident_bytes = columns_.resident_bytes_[v], .kinds = columns_.kinds_[v]};
    if (outputs_[v].first != none) {
      o.bytes = columns_.bytes_[outputs_[v].first];
    }
    o.name = name(v);
    if (v < types_.size() && types_[v] != none) {
      o.type = type_names_[types_[v]];
    }
    o.slots = v < columns_.slots_.size() ? columns_.slots_[v] : 1;
    o.memory = v < columns_.output_memory_.size() ? columns_.output_memory_[v] : output_memory::own;
    o.role = v < columns_.roles_.size() ? op_role{columns_.roles_[v]} : op_role::forward;
    return o;
  }
  /// The device kinds that v may run on, without a copy of the rest.
  kind_set kinds(op_id v) const { return columns_.kinds_[v]; }

  /// Checks the whole and packs it; groups are numbered by their smallest member.
  /// Throws `duplicate_edge_error`, `cycle_error`, `constraint_error` (a group without a common kind), `value_error`
  /// (totals that overflow). Complexity: O(n + m log d).
  workload build() && {
    workload w = std::move(columns_);
    w.work_.shrink_to_fit();
    w.resident_bytes_.shrink_to_fit();
    w.kinds_.shrink_to_fit();
    if (!w.slots_.empty()) {
      w.slots_.resize(w.num_ops(), 1);
    }
    if (!w.roles_.empty()) {
      w.roles_.resize(w.num_ops(), static_cast<std::uint8_t>(op_role::forward));
    }
    pack_tensors(w);
    pack_edges(w);
    check_totals(w);
    check_acyclic(w);
    pack_groups(w, w.num_ops());
    if (!w.output_memory_.empty()) {
      w.output_memory_.resize(w.num_ops(), output_memory::own);
      w.share_memory();
    }
    pack_names(w); // last, since errors tell them
    return w;
  }
  template <class Builder = workload_builder>
  workload build() & {
    static_assert(sizeof(Builder) == 0,
                  "weft: build() takes everything out of the builder: std::move(builder).build()");
    return {};
  }

private:
  struct outputs_of_op {
    std::uint32_t first;   // where the tensor that came with the op is, or `none`
    std::uint32_t count;
    std::uint32_t control; // number of the output for control edges, or `none`
  };
  struct pending_edge {
    op_id producer;
    std::uint32_t output;
    op_id consumer;
  };

  struct colocation {
    op_id a;
    op_id b;
  };

  std::string name(op_id v) const { return v < names_.size() ? names_[v] : std::string{}; }
  static std::string where(op_id v, const std::string& name) {
    return "op " + std::to_string(v) + (name.empty() ? "" : " '" + name + "'");
  }
  std::string where(op_id v) const { return where(v, name(v)); }

  void check_op(op_id v, const char* call) const {
    if (v >= num_ops()) {
      throw dangling_id_error(call, "there is no op " + detail::missing_id(v) + ": the workload has " +
                                      detail::only_ops(num_ops()));
    }
  }

  /// `where()` is not said before it is needed.
  template <class Where>
  static void check_bytes(byte_count bytes, const Where& where) {
    if (bytes > max_total_bytes) {
      throw value_error(where(), std::to_string(bytes) + " bytes is too large (was a negative number converted?)");
    }
  }

  void add_tensor(op_id v, byte_count bytes) {
    (void)checked_count(columns_.bytes_.size() + 1, "workload", "tensors");
    columns_.producer_.push_back(v); // not grouped by producer yet
    columns_.bytes_.push_back(bytes);
  }

  void pack_tensors(workload& w) {
    const auto n = w.num_ops();
    w.first_output_.assign(n + 1, 0);
    for (std::size_t v = 0; v < n; ++v) {
      w.first_output_[v + 1] = w.first_output_[v] + outputs_[v].count;
    }
    outputs_ = {};
    if (std::is_sorted(w.producer_.begin(), w.producer_.end())) {
      w.producer_.shrink_to_fit();
      w.bytes_.shrink_to_fit();
      return;
    }
    auto next = w.first_output_;
    const auto producer = std::exchange(w.producer_, std::vector<op_id>(w.producer_.size()));
    const auto bytes = std::exchange(w.bytes_, std::vector<byte_count>(w.bytes_.size()));
    for (std::size_t t = 0; t < producer.size(); ++t) { // an op's outputs were added in their order
      const auto at = next[producer[t]]++;
      w.producer_[at] = producer[t];
      w.bytes_[at] = bytes[t];
    }
  }

  void pack_edges(workload& w) {
    (void)checked_count(edges_.size(), "workload", "edges");
    const auto num_tensors = w.num_tensors();
    w.first_consumer_.assign(num_tensors + 1, 0);
    w.first_input_.assign(w.num_ops() + 1, 0);
    for (const auto& [producer, output, consumer] : edges_) {
      ++w.first_consumer_[w.first_output_[producer] + output + 1];
      ++w.first_input_[consumer + 1];
    }
    for (std::size_t t = 0; t < num_tensors; ++t) {
      w.first_consumer_[t + 1] += w.first_consumer_[t];
    }
    for (std::size_t v = 0; v < w.num_ops(); ++v) {
      w.first_input_[v + 1] += w.first_input_[v];
    }
    w.consumers_.resize(edges_.size());
    auto next = w.first_consumer_;
    for (const auto& [producer, output, consumer] : edges_) {
      w.consumers_[next[w.first_output_[producer] + output]++] = consumer;
    }
    edges_ = {}; // the largest of what is pending
    w.inputs_.resize(w.consumers_.size());
    next = w.first_input_;
    for (const tensor_id t : ids(num_tensors)) { // ascending tensors, so each op's inputs come out ascending
      const auto first = w.consumers_.begin() + static_cast<std::ptrdiff_t>(w.first_consumer_[t]);
      const auto last = w.consumers_.begin() + static_cast<std::ptrdiff_t>(w.first_consumer_[t + 1]);
      weft::sort(w.consumers_.data() + w.first_consumer_[t], w.consumers_.data() + w.first_consumer_[t + 1]);
      if (const auto twice = std::adjacent_find(first, last); twice != last) {
        throw duplicate_edge_error(w.producer_[t], *twice, where(w.producer_[t]) + " -> " + where(*twice));
      }
      for (auto c = first; c != last; ++c) {
        w.inputs_[next[*c]++] = t;
      }
    }
  }

  /// Types ascending, "" among them if some op has none; no columns where no op has a name or a type.
  void pack_names(workload& w) {
    if (!names_.empty()) {
      names_.resize(w.num_ops());
      w.names_ = std::move(names_);
    }
    if (types_.empty()) {
      return;
    }
    types_.resize(w.num_ops(), none);
    if (std::find(types_.begin(), types_.end(), none) != types_.end()) {
      const std::uint32_t untyped = type_names_.number("");
      std::replace(types_.begin(), types_.end(), none, untyped);
    }
    buffer<std::uint32_t> by_name;
    for (std::uint32_t i = 0; i < type_names_.size(); ++i) {
      by_name.push_back(i);
    }
    weft::sort(by_name, [&](std::uint32_t a, std::uint32_t b) { return type_names_[a] < type_names_[b]; });
    std::vector<std::uint32_t> position(by_name.size());
    for (std::uint32_t i = 0; i < by_name.size(); ++i) {
      position[by_name[i]] = i;
      w.type_names_.push_back(type_names_[by_name[i]]);
    }
    for (std::uint32_t& type : types_) {
      type = position[type];
    }
    w.types_ = std::move(types_);
    find_messages(w);
  }

  /// Marks the outputs of ops whose types say that they are messages.
  static void find_messages(workload& w) {
    buffer<std::uint8_t> makes_messages;
    bool some = false;
    for (const auto& type : w.type_names_) {
      makes_messages.push_back(detail::makes_messages(type));
      some = some || makes_messages.back() != 0;
    }
    if (some) {
      for (const tensor_id t : ids(w.num_tensors())) {
        w.messages_.push_back(makes_messages[w.types_[w.producer_[t]]]);
      }
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
    buffer<kind_set> allowed(n, kind_set::all());
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

  [[noreturn]] void report_incompatible(const workload& w, graph::disjoint_sets& sets, op_id root) const {
    std::vector<op_id> members;
    std::string names;
    for (const op_id v : ids(w.num_ops())) {
      if (sets.find(v) == root) {
        members.push_back(v);
        if (!w.kinds_[v].is_all()) {
          names += (names.empty() ? "" : ", ") + where(v) + " (" + to_string(w.kinds_[v]) + ")";
        }
      }
    }
    throw constraint_error(std::move(members), "colocated ops allow no common device kind: " + names);
  }

  workload columns_; // work, resident bytes and kinds, as they will stay
  buffer<outputs_of_op> outputs_;
  std::vector<std::string> names_;                     // up to the last op with a name
  std::vector<std::uint32_t> types_;                   // up to the last op with a type; `none` for ops without
  numbering<std::string> type_names_;                  // in the order in which types came
  buffer<pending_edge> edges_;
  buffer<colocation> colocations_;
};

} // namespace weft
