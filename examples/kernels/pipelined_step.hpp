// SPDX-License-Identifier: BSL-1.0
/// A training step in micro-batches on the stages of a pipeline: what executors run of `weft::parallel::micro_batched`.
#pragma once

#include "kernels/parts_of_batch.hpp"
#include "kernels/step_memory.hpp"

#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/one_forward_one_backward.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace kernels {

/// The losses of all micro-batches, by micro-batch and then in the net's order.
inline std::vector<weft::tensor_id> losses_of(const training_net& part,
                                              const weft::parallel::parallel_workload& made) {
  std::vector<weft::tensor_id> found;
  for (const auto v : weft::ids(made.graph.num_ops())) {
    const auto k = made.replica[v];
    for (std::size_t i = 0; i < part.losses.size(); ++i) {
      const auto t = part.losses[i];
      if (const auto from = part.step.graph.producer(t); made.origin[v] == from) {
        found.resize(std::max(found.size(), (k + 1) * part.losses.size()), weft::none);
        const auto output = t - *part.step.graph.outputs(from).begin();
        found[k * part.losses.size() + i] = *made.graph.outputs(v).begin() + output;
      }
    }
  }
  return found;
}

/// The program of `weft::parallel::micro_batched(part, other, …)` in the order of 1F1B on the devices of the stages.
/// Its losses can be read after a run.
inline weft::execute::program program_of(const training_net& part, const training_net& other,
                                         const weft::parallel::parallel_workload& made,
                                         std::span<const weft::device_id> stages) {
  const auto order = weft::parallel::one_forward_one_backward(made, part.step.graph, other.step.graph, stages);
  return {made.graph, weft::plan{made.where, order}, {.keep = losses_of(part, made)}};
}

/// A data kernel for the devices of a program of micro-batches that are here, with memory. Losses and gradients are
/// means over a micro-batch, so the sums of gradients are divided by the number of micro-batches. Each op runs on one
/// thread.
class pipelined_step {
public:
  /// `part` is the step of a micro-batch. All three must outlive it. Throws what `bound_step` throws.
  template <class Devices>
  pipelined_step(const training_net& part, const weft::parallel::parallel_workload& made,
                 const weft::execute::program& program, const Devices& devices)
      : part_{&part}, made_{&made}, memory_{program, devices} {
    count_ = made.replica.empty() ? 1 : *std::max_element(made.replica.begin(), made.replica.end()) + 1;
    for (std::uint32_t k = 0; k < count_; ++k) {
      const auto& built = part.step;
      steps_.push_back(
        std::make_unique<bound_step>(*part.net, built, step_memory{built.graph, made, memory_, k}, part.start));
      for (const auto v : weft::ids(built.graph.num_ops())) {
        if (steps_[k]->has(v)) {
          steps_[k]->prepare(v, 1);
        }
      }
    }
  }

  /// The inputs of all micro-batches, from those of a step with the whole batch of that many examples.
  void take_inputs(const training_net& whole_net, const bound_step& whole, std::size_t batch) {
    for (std::uint32_t k = 0; k < count_; ++k) {
      take_part_of_inputs(whole_net, whole, batch, *part_, *steps_[k], k, count_);
    }
  }

  void operator()(weft::op_id v, const weft::execute::op_buffers& buffers) const {
    if (made_->origin[v] != weft::none) {
      steps_[made_->replica[v]]->run(made_->origin[v], 1);
    } else {
      add_up(buffers, made_->replica[v] + 1 == count_ ? 1 / static_cast<float>(count_) : 1);
    }
  }

  weft::execute::memory& memory() { return memory_; }

  /// The means over the micro-batches of the last run, in the net's order; not a number where they were computed
  /// elsewhere.
  std::vector<float> losses() const {
    const auto each = part_->losses.size();
    std::vector<float> all;
    for (std::size_t i = 0; i < each; ++i) {
      double sum = 0;
      for (std::uint32_t k = 0; k < count_; ++k) {
        const auto values = steps_[k]->values(part_->losses[i]);
        sum += values.empty() ? std::numeric_limits<double>::quiet_NaN() : values[0];
      }
      all.push_back(static_cast<float>(sum / count_));
    }
    return all;
  }

private:
  const training_net* part_;
  const weft::parallel::parallel_workload* made_;
  weft::execute::memory memory_;
  std::uint32_t count_ = 1;
  std::vector<std::unique_ptr<bound_step>> steps_; ///< by micro-batch
};

} // namespace kernels
