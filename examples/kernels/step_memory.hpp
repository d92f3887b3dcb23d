// SPDX-License-Identifier: BSL-1.0
/// A step's place in the memory of a program, which may run several of the same ops.
#pragma once

#include "weft/execute/memory.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/parallel_workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernels {

/// The memory that a program has for the ops of a step: the whole program, or one micro-batch of it, which shares
/// parameters and updates with the others.
class step_memory {
public:
  /// Of a program that was made of the step itself, which must outlive it, as the memory must.
  step_memory(const weft::workload& step, const weft::execute::memory& memory)
      : memory_{&memory}, made_{&step}, tensor_{}, op_(step.num_ops()), binds_(step.num_ops(), true) {
    for (const auto v : weft::ids(step.num_ops())) {
      op_[v] = v;
    }
    tensor_.assign(weft::ids(step.num_tensors()).begin(), weft::ids(step.num_tensors()).end());
  }

  /// Of micro-batch k of a program that was made of `made` (`weft::parallel::micro_batched`). All must outlive it. What
  /// micro-batches share belongs to the first one.
  step_memory(const weft::workload& step, const weft::parallel::parallel_workload& made,
              const weft::execute::memory& memory, std::uint32_t k)
      : memory_{&memory}, made_{&made.graph}, tensor_(made.graph.num_tensors(), weft::none),
        op_(step.num_ops(), weft::none), binds_(step.num_ops(), false) {
    for (const auto v : weft::graph::topological_order(made.graph)) {
      const auto from = made.origin[v];
      if (from != weft::none && (made.replica[v] == k || (made.replica[v] == 0 && op_[from] == weft::none))) {
        op_[from] = v;
        binds_[from] = made.replica[v] == k;
      }
      for (const auto t : made.graph.outputs(v)) { // a sum stands for what it is a sum of
        tensor_[t] = from == weft::none
                       ? tensor_[made.graph.inputs(v)[0]]
                       : *step.outputs(from).begin() + (t - *made.graph.outputs(v).begin());
      }
    }
  }

  const weft::execute::memory& program_memory() const { return *memory_; }
  /// True if the step is to bind the op: it is one of its own, and its device is here.
  bool binds(weft::op_id v) const { return binds_[v] && memory_->has(device(v)); }
  weft::device_id device(weft::op_id v) const { return memory_->program().device(op_[v]); }
  std::span<std::byte> resident(weft::op_id v) const { return memory_->resident(op_[v]); }
  std::span<const std::span<std::byte>> outputs(weft::op_id v) const { return memory_->of(op_[v]).outputs; }

  /// The bytes of tensor t that op v of the step reads. Precondition: it reads it.
  std::span<const std::byte> input(weft::op_id v, weft::tensor_id t) const {
    const auto inputs = made_->inputs(op_[v]);
    const auto at = std::find_if(inputs.begin(), inputs.end(), [&](auto x) { return tensor_[x] == t; });
    return memory_->of(op_[v]).inputs[static_cast<std::size_t>(at - inputs.begin())];
  }

private:
  const weft::execute::memory* memory_;
  const weft::workload* made_;
  std::vector<weft::tensor_id> tensor_; ///< by tensor of the program's workload: that of the step
  std::vector<weft::op_id> op_;         ///< by op of the step: that of the program's workload
  std::vector<bool> binds_;             ///< by op of the step
};

} // namespace kernels
