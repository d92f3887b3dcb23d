// SPDX-License-Identifier: BSL-1.0
/// A neural network under construction, and the workload it becomes.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/sort.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/nn/detail/name_table.hpp"
#include "weft/workload/nn/detail/scoped_value.hpp"
#include "weft/workload/nn/kernels.hpp"
#include "weft/workload/nn/shape.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::nn {

class network;

/// A handle to one output of one op of a network, valid while the network lives at its place. A default-made one
/// stands for "no tensor" and is skipped among an op's inputs.
class tensor {
public:
  tensor() = default;
  tensor(network& net, op_id op, std::uint32_t output) : net_{&net}, op_{op}, output_{output} {}

  explicit operator bool() const { return net_ != nullptr; }
  network& net() const { return *net_; }
  op_id op() const { return op_; }
  std::uint32_t output() const { return output_; }
  inline const tensor_type& type() const;
  const extents& dims() const { return type().dims; }
  std::uint64_t elements() const { return element_count(dims()); }
  byte_count bytes() const { return elements() * type().element_bytes; }
  friend bool operator==(const tensor&, const tensor&) = default;

private:
  network* net_ = nullptr;
  op_id op_ = none;
  std::uint32_t output_ = 0;
};

/// The arguments of the function that makes the gradient of an op.
struct gradient_call {
  network& net;
  op_id op;                        ///< the forward op
  std::span<const tensor> dy;      ///< per output of the op the gradient that arrived there, or no tensor
  const std::vector<bool>& wanted; ///< per input whether anyone needs its gradient
  inline const tensor& input(std::size_t i = 0) const;
  inline tensor output(std::uint32_t i = 0) const;
};

/// Adds the ops of a gradient to the network and returns one tensor per input of the forward op; no tensor (or a
/// shorter list) where an input has no gradient. Its results for inputs whose gradients are not wanted are ignored.
using gradient_function = std::function<std::vector<tensor>(const gradient_call&)>;

/// The arithmetic of an op that its type and shapes leave open; costs do not depend on it.
struct op_attributes {
  double scale = 1;    ///< by which scores are multiplied before they are masked, and their gradient at last
  bool causal = false; ///< a query asks no later keys
  bool drops = false;  ///< a random part is zeroed
};

/// An op to be added to a network.
struct op_spec {
  std::string type;
  std::vector<tensor> inputs = {};
  std::vector<tensor_type> outputs = {};
  double work = 0;                 ///< FLOP
  gradient_function gradient = {}; ///< without one, gradients stop here
  std::string name = {};           ///< inside the current scope; the type if empty
  kind_set kinds = kind_set::all();
  byte_count resident_bytes = 0;
  std::string axes = {}; ///< the index expression of types whose attributes matter, see ops/axes.hpp
  op_attributes attributes = {};
};

/// A parameter or other state that survives the step.
struct variable {
  op_id op = none;   ///< the VariableV2 op that holds it
  tensor ref = {};   ///< a reference to it, for ops that update it in place
  tensor value = {}; ///< what `read` gives
  bool trainable = true;
};

/// The way in which layers become ops.
struct network_options {
  /// Add also the small ops that TensorFlow puts around the arithmetic (constants for axes and shapes,
  /// BroadcastGradientArgs, Sum and Reshape of every broadcast, tuple barriers around gradients). Without them an op
  /// has a quarter of the company, and gradients that nobody needs are not computed. For separate kernels only.
  bool bookkeeping = true;
  /// Off for inference: layers drop nothing and normalise with the averages that training left.
  bool training = true;
  kernel_set kernels = kernel_set::separate;
  attention_kernels attention = attention_kernels::separate; ///< for kernels that are not separate
};

/// A workload made of a network's ops, and per op of the workload the network's op that it came from, ascending. So
/// `net[b.origin[v]]` has the inputs, shapes and names of op v of `b.graph`.
struct built_workload {
  workload graph;
  std::vector<op_id> origin;
};

/// A dataflow graph of ops with shapes, built front to back: an op's inputs exist before it.
/// Ops are named like TensorFlow's: by scope and type, with `_1`, `_2`, … when a name is taken.
/// Use the functions of nn/ops.hpp, nn/conv.hpp and nn/layers.hpp to add ops, or `add` for your own.
class network {
public:
  explicit network(network_options options = {}) : options_{options} {}
  network(const network&) = delete; // tensors point to it
  network& operator=(const network&) = delete;

  /// Everything the network knows about one op.
  struct node {
    op_spec op;
    std::vector<op_id> control_inputs;
  };

  /// Adds an op and returns its id. Throws `value_error` for extents of zero. Precondition: the inputs are tensors of
  /// this network.
  op_id add(op_spec o) {
    const auto v = static_cast<op_id>(nodes_.size());
    o.name = names_.unique(scope_ + (o.name.empty() ? o.type : o.name));
    std::erase_if(o.inputs, [](const tensor& t) { return !t; });
    for (const auto& t : o.inputs) {
      WEFT_ASSERT(&t.net() == this);
    }
    for (const auto& t : o.outputs) {
      (void)element_count(t.dims);
    }
    nodes_.push_back({std::move(o), {}});
    for (const op_id before : after_) {
      add_control(before, v);
    }
    return v;
  }
  /// Adds an op and returns its first output.
  tensor add_tensor(op_spec o) { return {*this, add(std::move(o)), 0}; }

  /// A small constant that TensorFlow makes for an axis, a shape or a scalar; no tensor without bookkeeping.
  tensor constant(std::string name, extents dims = {}) {
    return bookkeeping() ? data("Const", std::move(name), {std::move(dims), 4}) : tensor{};
  }
  /// A tensor without inputs that the computation needs, such as zeros for an initial state.
  tensor data(std::string type, std::string name, tensor_type shape) {
    return add_tensor({.type = std::move(type), .outputs = {std::move(shape)}, .name = std::move(name)});
  }

  /// The op that feeds a batch: it has one output per entry. It runs on a CPU, or with kernels that are not separate
  /// where its readers do, since frameworks copy a batch while the step before it runs.
  std::vector<tensor> input_pipeline(std::vector<tensor_type> shapes, std::string name = "input") {
    const auto count = static_cast<std::uint32_t>(shapes.size());
    const op_id v = add(
      {.type = "IteratorGetNext",
       .outputs = std::move(shapes),
       .name = std::move(name),
       .kinds = kernels() == kernel_set::separate ? kind_set{device_kind::cpu} : kind_set::all()});
    std::vector<tensor> outputs;
    for (std::uint32_t i = 0; i < count; ++i) {
      outputs.push_back({*this, v, i});
    }
    return outputs;
  }

  /// A float32 variable: an op that holds it (resident bytes) and gives a reference of 8 bytes, and, colocated with
  /// it, an op `read` that gives the value. While `reuse_variables` is in force, the variable that has this name in
  /// the current scope; throws `value_error` if there is none of these extents.
  variable add_variable(const std::string& name, const extents& dims, bool trainable = true) {
    if (reuse_) {
      return existing_variable(scope_ + name, dims);
    }
    variable x{.trainable = trainable};
    x.op = add_state(name, element_count(dims) * 4);
    x.ref = tensor{*this, x.op, 0};
    x.value = add_tensor({.type = "Identity",
                          .inputs = {x.ref},
                          .outputs = {{dims}},
                          .gradient = nullptr,
                          .name = nodes_[x.op].op.name.substr(scope_.size()) + "/read"});
    colocate(x.op, x.value.op());
    variables_.push_back(x);
    return x;
  }
  /// The value of such a variable.
  tensor make_variable(const std::string& name, const extents& dims, bool trainable = true) {
    return add_variable(name, dims, trainable).value;
  }
  /// A VariableV2 op alone.
  op_id add_state(const std::string& name, byte_count bytes) {
    return add({.type = "VariableV2", .outputs = {{{2}, 4}}, .name = name, .resident_bytes = bytes});
  }

  /// `after` waits for `before`.
  void add_control(op_id before, op_id after) { nodes_[after].control_inputs.push_back(before); }
  /// a and b run on one device.
  void colocate(op_id a, op_id b) { colocations_.emplace_back(a, b); }
  /// v belongs to the training step although the loss does not depend on it, e.g. updates of moving averages.
  void add_update(op_id v) { updates_.push_back(v); }

  /// While the result lives, ops that are added have names that begin with the scope's; scopes nest.
  detail::scoped_value<std::string> scope(const std::string& name) { return {scope_, scope_ + name + "/"}; }
  /// While the result lives, ops that are added wait for these.
  detail::scoped_value<std::vector<op_id>> after(std::vector<op_id> ops) { return {after_, std::move(ops)}; }
  /// While the result lives, variables are looked up by their names instead of made, so that a layer that is applied
  /// again shares its parameters. Source: TensorFlow 1.x, `tf.variable_scope(reuse=True)`.
  detail::scoped_value<bool> reuse_variables() { return {reuse_, true}; }

  /// The name, with a number if it is taken in the current scope; from now on it is taken.
  std::string fresh_name(const std::string& name) { return names_.unique(scope_ + name).substr(scope_.size()); }

  std::size_t num_ops() const { return nodes_.size(); }
  const node& operator[](op_id v) const { return nodes_[v]; }
  const std::vector<variable>& variables() const { return variables_; }
  const std::vector<op_id>& updates() const { return updates_; }
  /// Pairs of ops that run on one device.
  const std::vector<std::pair<op_id, op_id>>& colocations() const { return colocations_; }
  bool bookkeeping() const { return options_.bookkeeping && kernels() == kernel_set::separate; }
  bool training() const { return options_.training; }
  kernel_set kernels() const { return options_.kernels; }
  /// True if an attention is one op.
  bool fuses_attention() const {
    return kernels() != kernel_set::separate && options_.attention == attention_kernels::fused;
  }

  /// Marks what inference computes, and returns it.
  tensor output(const tensor& t) { return outputs_.emplace_back(t); }
  const std::vector<tensor>& outputs() const { return outputs_; }

  /// The number of trainable parameters.
  std::uint64_t num_parameters() const {
    std::uint64_t count = 0;
    for (const auto& x : variables_) {
      count += x.trainable ? x.value.elements() : 0;
    }
    return count;
  }

  /// The workload of all ops that `roots` depend on, in the order in which they were added; other ops are left out,
  /// as TensorFlow does with what a step does not fetch. Complexity: O(n + m log d).
  workload build(std::span<const op_id> roots) const { return build_with_origins(roots).graph; }

  /// The same, with the op of this network that each op of the workload came from.
  built_workload build_with_origins(std::span<const op_id> roots) const {
    auto kept = ancestors(roots);
    workload_builder b;
    std::vector<op_id> renumbered(nodes_.size(), none);
    for (const op_id v : kept) {
      renumbered[v] = add_to(b, v);
    }
    for (const op_id v : kept) {
      connect(b, v, renumbered);
    }
    for (const auto& [a, c] : colocations_) {
      if (renumbered[a] != none && renumbered[c] != none) {
        b.colocate(renumbered[a], renumbered[c]);
      }
    }
    return {std::move(b).build(), std::move(kept)};
  }

private:
  variable existing_variable(const std::string& name, const extents& dims) const {
    for (const auto& x : variables_) {
      if (nodes_[x.op].op.name == name && x.value.dims() == dims) {
        return x;
      }
    }
    throw value_error("variable '" + name + "'", "cannot be reused: there is none of that name and these extents");
  }

  /// The roots and all that they depend on, ascending.
  std::vector<op_id> ancestors(std::span<const op_id> roots) const {
    std::vector<bool> seen(nodes_.size(), false);
    std::vector<op_id> open(roots.begin(), roots.end());
    std::vector<op_id> found;
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      if (seen[v]) {
        continue;
      }
      seen[v] = true;
      found.push_back(v);
      for (const auto& t : nodes_[v].op.inputs) {
        open.push_back(t.op());
      }
      open.insert(open.end(), nodes_[v].control_inputs.begin(), nodes_[v].control_inputs.end());
    }
    weft::sort(found);
    return found;
  }

  op_id add_to(workload_builder& b, op_id v) const {
    const auto& o = nodes_[v].op;
    const op_id made =
      b.add_op({.work = o.work, .resident_bytes = o.resident_bytes, .kinds = o.kinds, .name = o.name, .type = o.type});
    for (const auto& t : o.outputs) {
      b.add_output(made, element_count(t.dims) * t.element_bytes);
    }
    return made;
  }

  void connect(workload_builder& b, op_id v, const std::vector<op_id>& renumbered) const {
    std::vector<std::pair<op_id, std::uint32_t>> read; // an op may name an input twice but receives it once
    for (const auto& t : nodes_[v].op.inputs) {
      read.emplace_back(t.op(), t.output());
    }
    sort_unique(read);
    for (const auto& [from, output] : read) {
      b.add_edge(renumbered[from], renumbered[v], output);
    }
    auto awaited = nodes_[v].control_inputs;
    sort_unique(awaited);
    for (const op_id from : awaited) {
      const bool implied = std::any_of(read.begin(), read.end(), [from](const auto& r) { return r.first == from; });
      if (!implied) {
        b.add_control_edge(renumbered[from], renumbered[v]);
      }
    }
  }

  network_options options_;
  std::deque<node> nodes_; // so that references to shapes outlive the adding of ops
  std::vector<variable> variables_;
  std::vector<op_id> updates_;
  std::vector<tensor> outputs_;
  std::vector<std::pair<op_id, op_id>> colocations_;
  detail::name_table names_;
  std::string scope_;
  std::vector<op_id> after_;
  bool reuse_ = false;
};

inline const tensor_type& tensor::type() const {
  return (*net_)[op_].op.outputs[output_];
}
inline const tensor& gradient_call::input(std::size_t i) const {
  return net[op].op.inputs[i];
}
inline tensor gradient_call::output(std::uint32_t i) const {
  return {net, op, i};
}

} // namespace weft::nn
