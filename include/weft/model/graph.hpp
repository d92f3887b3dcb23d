// SPDX-License-Identifier: BSL-1.0
/// The graph of a model as a file or a program says it: ops with attributes, tensors with shapes, types and roles.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/ops/call.hpp"
#include "weft/ops/element_type.hpp"
#include "weft/platform/kinds.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The role of a tensor in a model.
enum class tensor_role : std::uint8_t {
  computed,
  input,     ///< given anew for each run
  parameter, ///< trained, or given with the model
  state,     ///< survives a run and is replaced by it, such as the averages of a normalisation
  constant
};

/// The relation of an op's outputs to the storage of its first input.
enum class storage_form : std::uint8_t {
  own,
  view,  ///< they show it in another form
  copy,  ///< the same numbers in a storage of their own: of a parameter, one more form of it
  writes ///< the first output is that storage with new numbers
};

/// The graph of a model. Ops are added after those that make their inputs, or these are announced before; their ids are
/// 0, 1, 2, …, and so are those of tensors, an op's outputs side by side. A tensor that no op makes is an input, a
/// parameter, a state or a constant; an op that makes one of the last three is a variable, which holds it, unless what
/// it makes is known before the model runs.
/// ```
/// weft::model_graph g;
/// const auto x = g.add_tensor({.dims = {32, 784}, .role = weft::tensor_role::input});
/// const auto w = g.add_tensor({.dims = {784, 10}, .role = weft::tensor_role::parameter, .name = "w"});
/// const auto y = g.add_op({.type = "MatMul", .name = "y", .inputs = {x, w}}, {{.dims = {32, 10}}});
/// const weft::workload ops = weft::lower(g).graph;
/// ```
class model_graph {
public:
  using extents = ops::call::extents;
  static constexpr byte_count by_shape = ~byte_count{0};
  static constexpr double by_type = -1;

  /// A tensor to be added.
  struct tensor {
    extents dims = {};
    ops::element_type element = ops::elements::float32;
    tensor_role role = tensor_role::computed;
    std::string name = {};
    byte_count bytes = by_shape; ///< in memory
    tensor_id storage = none;    ///< the tensor that it shows; `none`: as its op's `storage_form` says
  };
  /// An op to be added. Its attributes are those of `ops::call`.
  struct op {
    std::string type = {};
    std::string name = {};
    std::vector<tensor_id> inputs = {}; ///< `none`: absent
    std::map<std::string, std::vector<std::int64_t>, std::less<>> numbers = {};
    std::map<std::string, std::string, std::less<>> texts = {};
    double work = by_type; ///< FLOP; `by_type`: those of the catalogue of ops
    byte_count resident_bytes = 0;    ///< that it holds itself, such as a variable what it is of
    kind_set kinds = kind_set::all(); ///< where it may run
    storage_form form = storage_form::own;
    bool is_known = false; ///< what it makes is known before the model runs: parameters of parameters, or sizes
    std::vector<tensor_id> captured = {}; ///< what graphs inside of it read, beside its inputs
    std::vector<op_id> after = {};        ///< ops that are done before it starts, beside those whose results it reads
    op_role role = op_role::by_name;      ///< in a training step
  };

  /// A tensor that no op makes. Throws `value_error` for one that is computed, has a negative extent, or more than 64
  /// extents or 2^62 bytes.
  tensor_id add_tensor(tensor t) {
    if (t.role == tensor_role::computed) {
      throw value_error("tensor '" + t.name + "'", "no op makes it; give it a role other than computed");
    }
    check(t);
    const tensor_id made = *announce(1).begin();
    put(std::move(t), none, made, none);
    return made;
  }
  /// The outputs of an op that is to be added, for others to read before it is; inputs without extents until then.
  id_range announce(std::size_t outputs) {
    const auto first = static_cast<tensor_id>(tensors_.size());
    const auto end = checked_count(tensors_.size() + outputs, "model graph", "tensors");
    tensors_.resize(end);
    for (tensor_id t = first; t < end; ++t) {
      tensors_[t].storage = t;
    }
    return {first, static_cast<tensor_id>(end)};
  }
  /// An op and its outputs. Throws `dangling_id_error` for inputs and ops that do not exist, and as `add_tensor`; then
  /// nothing has changed.
  op_id add_op(op o, std::span<const tensor> outputs) {
    check(o, outputs);
    return put(std::move(o), outputs, announce(outputs.size()));
  }
  /// An op whose outputs, as many, were announced.
  op_id add_op(op o, std::span<const tensor> outputs, id_range announced) {
    WEFT_ASSERT(announced.size() == outputs.size());
    check(o, outputs);
    return put(std::move(o), outputs, announced);
  }
  op_id add_op(op o, std::initializer_list<tensor> outputs) {
    return add_op(std::move(o), std::span{outputs.begin(), outputs.size()});
  }
  /// At the end of a run, `by` takes the place of a parameter or a state. Throws `dangling_id_error`.
  void replace(tensor_id old, tensor_id by) {
    check_tensor("a replacement", old);
    check_tensor("a replacement", by);
    replaced_.push_back({old, by});
  }

  /// `after` starts when `before` is done. Throws `dangling_id_error`.
  void order(op_id before, op_id after) {
    check_op("an order", before);
    check_op("an order", after);
    ops_[after].after.push_back(before);
  }
  /// a and b run on one device. Throws `dangling_id_error`.
  void colocate(op_id a, op_id b) {
    check_op("a colocation", a);
    check_op("a colocation", b);
    colocated_.push_back({a, b});
  }

  /// Gives a tensor other extents, as many, and as many times its bytes as it then has elements. Throws `value_error`
  /// as `add_tensor`.
  void set_dims(tensor_id t, extents dims) {
    auto& is = tensors_[t].is;
    const double before = elements(is.dims), after = elements(dims);
    auto made = is;
    made.dims = std::move(dims);
    made.bytes = by_shape;
    if (before > 0) {
      const double bytes = static_cast<double>(is.bytes) * (after / before);
      made.bytes = after == before ? is.bytes : static_cast<byte_count>(std::min(bytes + 0.5, 1e19));
    }
    check(made);
    made.bytes = bytes_of(made);
    is = std::move(made);
  }
  /// Gives an op a role in a training step.
  void set_role(op_id v, op_role role) { ops_[v].role = role; }
  /// Gives an op other FLOP, or `by_type`.
  void set_work(op_id v, double flop) { ops_[v].work = flop; }

  std::size_t num_ops() const { return ops_.size(); }
  std::size_t num_tensors() const { return tensors_.size(); }
  const op& operator[](op_id v) const { return ops_[v]; }
  /// The ids of an op's outputs.
  id_range outputs(op_id v) const { return outputs_[v]; }
  /// The op that makes a tensor, or `none`.
  op_id producer(tensor_id t) const { return tensors_[t].op; }
  tensor_role role(tensor_id t) const { return tensors_[t].is.role; }
  const std::string& name(tensor_id t) const { return tensors_[t].is.name; }
  const extents& dims(tensor_id t) const { return tensors_[t].is.dims; }
  ops::element_type element(tensor_id t) const { return tensors_[t].is.element; }
  byte_count bytes(tensor_id t) const { return tensors_[t].is.bytes; }
  /// The first tensor that is in the same storage.
  tensor_id storage(tensor_id t) const { return tensors_[t].storage; }

  struct replacement {
    tensor_id old, by;
  };
  const std::vector<replacement>& replacements() const { return replaced_; }

  struct pair {
    op_id a, b;
  };
  const std::vector<pair>& colocated() const { return colocated_; }

private:
  struct tensor_entry {
    tensor is = {};
    op_id op = none;
    tensor_id storage = none;
  };

  void check_tensor(const std::string& where, tensor_id t) const {
    if (t >= tensors_.size()) {
      throw dangling_id_error(where, "tensor " + std::to_string(t) + " does not exist");
    }
  }
  void check_op(const std::string& where, op_id v) const {
    if (v >= ops_.size()) {
      throw dangling_id_error(where, "op " + std::to_string(v) + " does not exist");
    }
  }
  void check(const op& o, std::span<const tensor> outputs) const {
    (void)checked_count(ops_.size() + 1, "model graph", "ops");
    for (const auto* list : {&o.inputs, &o.captured}) {
      for (const tensor_id t : *list) {
        if (t != none) {
          check_tensor("op '" + o.name + "'", t);
        }
      }
    }
    for (const op_id before : o.after) {
      check_op("op '" + o.name + "'", before);
    }
    for (const auto& t : outputs) {
      check(t);
    }
  }

  static double elements(const extents& dims) {
    double count = 1;
    for (const auto d : dims) {
      count *= static_cast<double>(d);
    }
    return count;
  }
  static byte_count bytes_of(const tensor& t) {
    return t.bytes != by_shape ? t.bytes : ops::tensor_bytes(t.dims, ops::elements::bits(t.element).value_or(32));
  }
  void check(const tensor& t) const {
    if (t.storage != none) {
      check_tensor("tensor '" + t.name + "'", t.storage);
    }
    const char* problem = nullptr;
    if (t.dims.size() > std::size_t{ops::max_axes}) {
      problem = "has more than 64 extents";
    } else if (std::any_of(t.dims.begin(), t.dims.end(), [](std::int64_t d) { return d < 0; })) {
      problem = "has a negative extent";
    } else if (bytes_of(t) > max_total_bytes) {
      problem = "has more than 2^62 bytes";
    }
    if (problem != nullptr) {
      throw value_error("tensor '" + t.name + "'", problem);
    }
  }
  op_id put(op o, std::span<const tensor> outputs, id_range made) {
    const auto v = static_cast<op_id>(ops_.size());
    const auto reads = std::find_if(o.inputs.begin(), o.inputs.end(), [](tensor_id t) { return t != none; });
    const bool shares = o.form == storage_form::view || o.form == storage_form::writes;
    const auto storage = shares && reads != o.inputs.end() ? tensors_[*reads].storage : tensor_id{none};
    auto at = made.begin();
    for (const auto& t : outputs) {
      put(t, v, *at++, storage);
    }
    ops_.push_back(std::move(o));
    outputs_.push_back(made);
    return v;
  }
  void put(tensor t, op_id by, tensor_id at, tensor_id storage) {
    t.bytes = bytes_of(t);
    storage = t.storage != none ? tensors_[t.storage].storage : storage != none ? storage : at;
    tensors_[at] = {std::move(t), by, storage};
  }

  std::vector<op> ops_;
  std::vector<id_range> outputs_; // by op
  std::vector<tensor_entry> tensors_;
  std::vector<replacement> replaced_;
  std::vector<pair> colocated_;
};

/// An op of a graph as the rules of the catalogue see it. It refers to the graph.
inline ops::call call_of(const model_graph& g, op_id v) {
  const auto& o = g[v];
  ops::call call{.type = o.type, .numbers = o.numbers, .texts = o.texts};
  for (const tensor_id t : o.inputs) {
    call.inputs.push_back(t != none ? std::optional{g.dims(t)} : std::nullopt);
  }
  for (const tensor_id t : g.outputs(v)) {
    call.outputs.push_back(g.dims(t));
  }
  return call;
}

/// True if ops of the graph change its parameters, as those of a training step do: they write into one, or make what
/// replaces it. Complexity: O(n).
inline bool changes_parameters(const model_graph& g) {
  const auto is_parameter = [&](tensor_id t) { return g.role(g.storage(t)) == tensor_role::parameter; };
  const auto writes = [&](op_id v) {
    const auto& made = g.outputs(v);
    return g[v].form == storage_form::writes && !made.empty() && is_parameter(*made.begin());
  };
  const auto all = ids(g.num_ops());
  return std::any_of(all.begin(), all.end(), writes) ||
         std::any_of(g.replacements().begin(), g.replacements().end(),
                     [&](const auto& r) { return is_parameter(r.old); });
}

} // namespace weft
