// SPDX-License-Identifier: BSL-1.0
/// A network's training step with memory for its tensors and a kernel for each of its ops.
#pragma once

#include "kernels/factory.hpp"
#include "kernels/initial_values.hpp"
#include "kernels/step_memory.hpp"
#include "kernels/variable_order.hpp"

#include "weft/execute/memory.hpp"

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace kernels {

namespace detail {

inline std::string shape_text(const extents& dims) {
  std::string text = "[";
  for (const auto d : dims) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  }
  return text + "]";
}

} // namespace detail

/// Binds the ops of a workload that a network was built to. Ops without a path between them may run at the same time
/// in different threads.
/// ```
/// kernels::bound_step step{net, built, {.seed = 7}};
/// for (const weft::op_id v : weft::ids(built.graph.num_ops())) {
///   step.prepare(v, 2);
/// }
/// for (const weft::op_id v : weft::graph::topological_order(built.graph)) {
///   step.run(v, 2);
/// }
/// step.values(loss)[0];
/// ```
/// A step has buffers of its own, in which a tensor that only renames another one shares its memory, or the memory of a
/// program, in which every tensor has its place on every device that uses it: then such ops, constants and inputs copy
/// whenever they run, and variables are what their ops keep.
class bound_step {
public:
  /// Allocates all tensors and sets what variables, inputs and constants hold. Throws `unsupported_op` for ops
  /// without a kernel and constants of unknown value, and `weft::error` if an op may update a variable while another
  /// one still reads it (see `with_ordered_updates`). `net` and `built` must outlive it. Ops that take one core less
  /// than `worth_sharing` seconds, roughly, run on one thread whatever they are given.
  bound_step(const weft::nn::network& net, const weft::nn::built_workload& built, starting_point start = {},
             double worth_sharing = default_worth_sharing)
      : bound_step{net, built, std::optional<step_memory>{}, std::move(start), worth_sharing} {}

  /// In the memory of a program made from `built` and a plan, which must outlive it, too. Of devices that are not
  /// there, no op is bound. Throws `weft::error` also if the plan tears a variable from an op that updates it, and if a
  /// tensor takes other memory than its kernels need.
  bound_step(const weft::nn::network& net, const weft::nn::built_workload& built, const weft::execute::memory& memory,
             starting_point start = {}, double worth_sharing = default_worth_sharing)
      : bound_step{net, built, std::optional{memory_of_program(built, memory)}, std::move(start), worth_sharing} {}

  /// In a part of a program's memory, such as that of a micro-batch. Throws the same.
  bound_step(const weft::nn::network& net, const weft::nn::built_workload& built, step_memory memory,
             starting_point start = {}, double worth_sharing = default_worth_sharing)
      : bound_step{net, built, std::optional{std::move(memory)}, std::move(start), worth_sharing} {}

  /// Whether the op is bound: its device is here.
  bool has(weft::op_id v) const { return !memory_ || memory_->binds(v); }

  /// Type and shapes of an op: ops with the same key cost the same. Precondition: `has(v)`.
  std::string key(weft::op_id v) const {
    const auto& op = net_op(v);
    std::string text = op.type;
    for (const auto& x : op.inputs) {
      text += " " + detail::shape_text(x.dims());
    }
    text += " ->";
    for (const auto& y : op.outputs) {
      text += " " + detail::shape_text(y.dims);
    }
    if (op.type.starts_with("Apply") || op.type.starts_with("Assign")) { // references do not show the size
      text += " " + std::to_string(calls_[v].in[0].size());
    }
    return text;
  }

  /// Whether running the op does nothing: variables, waiting, and, in buffers of its own, constants, inputs and other
  /// views of the same memory.
  bool is_empty(weft::op_id v) const {
    const auto& type = net_op(v).type;
    return type == "VariableV2" || type == "NoOp" || (!memory_ && (is_alias(type) || is_given(type)));
  }

  /// Makes the kernel for that many threads, unless it is there. Different ops may be prepared at the same time.
  /// Precondition: `has(v)`.
  void prepare(weft::op_id v, unsigned threads) {
    auto& made = kernels_[v];
    if (made.size() <= threads) {
      made.resize(threads + 1);
    }
    if (!made[threads].body && !is_empty(v)) {
      made[threads] = is_alias(net_op(v).type) || is_given(net_op(v).type)
                        ? kernel{1, copy_out(v)}
                        : make_kernel(calls_[v], threads, worth_sharing_);
    }
  }

  /// Runs the op on the calling thread and its OpenMP team of up to that many threads, for which it has been prepared.
  /// Sets the calling thread's team size. Allocates nothing itself.
  void run(weft::op_id v, unsigned threads) const {
    WEFT_ASSERT(threads < kernels_[v].size() && (is_empty(v) || kernels_[v][threads].body));
    const auto& k = kernels_[v][threads];
    if (k.body) {
      omp_set_num_threads(static_cast<int>(k.team));
      k.body();
    }
  }

  /// How many of that many threads the op really uses: all or one.
  unsigned team(weft::op_id v, unsigned threads) const { return kernels_[v][threads].team; }

  /// Sets variables and the optimiser's state, inputs and constants back to where they started from.
  void reset() {
    for (const auto& call : calls_) {
      if (is_given(call.type())) {
        set_initial_values(call, start_);
      }
    }
  }

  /// What a tensor of the workload holds; empty for one that only orders ops or is made elsewhere. In a program's
  /// memory, only what the program keeps is there for good.
  std::span<const float> values(weft::tensor_id t) const { return operand_of(t).values(); }
  /// The same, to be changed between steps.
  std::span<float> values(weft::tensor_id t) { return operand_of(t).values(); }

  /// What a tensor of the network holds. Throws `weft::error` if its op is not part of the step.
  std::span<float> values(const weft::nn::tensor& t) { return input(t).values(); }

  const weft::workload& graph() const { return built_->graph; }

private:
  bound_step(const weft::nn::network& net, const weft::nn::built_workload& built, std::optional<step_memory> memory,
             starting_point start, double worth_sharing)
      : net_{&net}, built_{&built}, memory_{std::move(memory)}, start_{std::move(start)},
        worth_sharing_{worth_sharing},
        calls_(built.graph.num_ops()), kernels_(built.graph.num_ops()) {
    check_update_order();
    for (const auto v : weft::ids(calls_.size())) {
      number_of_[built.origin[v]] = v;
    }
    for (const auto v : weft::ids(net.num_ops())) {
      by_name_[net[v].op.name] = v;
    }
    for (const auto v : weft::ids(calls_.size())) {
      calls_[v].net = net_;
      calls_[v].op = built_->origin[v];
      if (has(v)) {
        bind(v);
      }
    }
    reset();
  }

  static step_memory memory_of_program(const weft::nn::built_workload& built, const weft::execute::memory& memory) {
    const auto& p = memory.program();
    if (p.num_ops() != built.graph.num_ops() || p.num_tensors() != built.graph.num_tensors()) {
      throw weft::error("the memory belongs to the program of another step");
    }
    return {built.graph, memory};
  }

  weft::device_id device(weft::op_id v) const { return memory_->device(v); }

  const weft::nn::op_spec& net_op(weft::op_id v) const { return (*net_)[built_->origin[v]].op; }

  void check_update_order() const {
    const auto missing = missing_orders(*net_, *built_);
    if (!missing.empty()) {
      throw weft::error("op '" + net_op(missing[0].after).name + "' may overwrite what '" +
                        net_op(missing[0].before).name + "' still reads; build the step with_ordered_updates");
    }
  }

  operand operand_of(weft::tensor_id t) const {
    const auto v = graph().producer(t);
    const auto output = t - first_output(v);
    return output < calls_[v].out.size() ? calls_[v].out[output] : operand{{0}, nullptr};
  }

  weft::tensor_id first_output(weft::op_id v) const { return *graph().outputs(v).begin(); }

  /// The network's op to whose gradient this op belongs, by its name: `gradients/<name>_grad/…`.
  weft::op_id forward_of(const std::string& name) const {
    const auto begin = name.find('/'), end = name.rfind("_grad/");
    if (!name.starts_with("gradients") || begin == std::string::npos || end == std::string::npos || end <= begin) {
      return weft::none;
    }
    const auto found = by_name_.find(name.substr(begin + 1, end - begin - 1));
    return found == by_name_.end() ? weft::none : found->second;
  }

  void bind(weft::op_id v) {
    const auto& op = net_op(v);
    auto& call = calls_[v];
    call.forward = forward_of(op.name);
    for (const auto& x : op.inputs) {
      call.in.push_back(!memory_ ? input(x) : placed_input(v, x));
    }
    for (const auto& y : op.outputs) {
      call.out.push_back(output(v, y.dims, call.out.size()));
    }
    if (op.type == "MaxPool") {
      call.kept = std::make_shared<buffer>(call.out[0].size());
    } else if (op.type == "MaxPoolGrad") {
      if (const auto forward = number_of_.at(op.inputs[2].op()); !memory_ || device(forward) == device(v)) {
        call.kept = calls_[forward].kept;
      }
    }
    if (!is_alias(op.type) && !is_given(op.type) && find_maker(op.type) == nullptr) {
      throw unsupported_op(call, "there is no kernel for this type");
    }
  }

  /// The op of the step that makes a tensor of the network.
  weft::op_id producer(const weft::nn::tensor& x) const {
    const auto found = number_of_.find(x.op());
    if (found == number_of_.end()) {
      throw weft::error("op '" + (*net_)[x.op()].op.name + "' is not part of the step");
    }
    return found->second;
  }

  operand input(const weft::nn::tensor& x) const {
    const auto v = producer(x);
    if (!has(v)) {
      throw weft::error("op '" + net_op(v).name + "' is on device " + std::to_string(device(v)) +
                        ", which is not here");
    }
    return calls_[v].out[x.output()];
  }

  /// Where an op finds a tensor on its device; a reference leads to the variable.
  operand placed_input(weft::op_id v, const weft::nn::tensor& x) const {
    const auto from = producer(x);
    if (net_op(from).type == "VariableV2") {
      if (device(from) != device(v)) {
        throw weft::error("op '" + net_op(v).name + "' on device " + std::to_string(device(v)) + " uses variable '" +
                          net_op(from).name + "' on device " + std::to_string(device(from)) +
                          "; a plan has to keep colocation groups together");
      }
      return variable(from);
    }
    const auto bytes = memory_->input(v, first_output(from) + x.output());
    return placed(v, x.dims(), {const_cast<std::byte*>(bytes.data()), bytes.size()}); // kernels only read their inputs
  }

  operand variable(weft::op_id v) const {
    return placed(v, {net_op(v).resident_bytes / sizeof(float)}, memory_->resident(v));
  }

  operand placed(weft::op_id v, extents dims, std::span<std::byte> bytes) const {
    operand x{std::move(dims), reinterpret_cast<float*>(bytes.data())};
    if (x.size() * sizeof(float) != bytes.size()) {
      throw unsupported_op(calls_[v], "a tensor " + detail::shape_text(x.dims) + " takes " +
                                        std::to_string(bytes.size()) + " bytes in the plan, its kernels need " +
                                        std::to_string(x.size() * sizeof(float)));
    }
    return x;
  }

  /// Where an op leaves an output. In a program's memory, what is given stays in a buffer of the step as well.
  operand output(weft::op_id v, const extents& dims, std::size_t i) {
    const auto& type = net_op(v).type;
    if (memory_ && type == "VariableV2") {
      return variable(v);
    }
    if (memory_) {
      const operand made = placed(v, dims, memory_->outputs(v)[i]);
      return is_given(type) ? allocate(v, dims) : made;
    }
    return is_alias(type) ? operand{dims, calls_[v].in[0].data} : allocate(v, dims);
  }

  /// Brings what is given, or the input under another name, to where the program wants it.
  std::function<void()> copy_out(weft::op_id v) const {
    const auto& call = calls_[v];
    const auto& from = is_alias(call.type()) ? call.in : call.out;
    return [from, to = memory_->outputs(v), count = net_op(v).outputs.size()] {
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(to[i].data(), from[i].data, to[i].size());
      }
    };
  }

  /// Memory for an output; for a variable's reference, of the variable.
  operand allocate(weft::op_id v, extents dims) {
    if (net_op(v).type == "VariableV2") {
      dims = {net_op(v).resident_bytes / sizeof(float)};
    }
    operand made{std::move(dims), nullptr};
    made.data = own_.emplace_back(made.size()).data();
    return made;
  }

  const weft::nn::network* net_;
  const weft::nn::built_workload* built_;
  std::optional<step_memory> memory_; // none: buffers of its own
  starting_point start_;
  double worth_sharing_;
  std::vector<op_call> calls_;
  std::vector<std::vector<kernel>> kernels_; // by op and threads
  std::vector<buffer> own_;
  std::unordered_map<weft::op_id, weft::op_id> number_of_; // in the workload, by the number in the network
  std::unordered_map<std::string, weft::op_id> by_name_;   // in the network
};

} // namespace kernels
