// SPDX-License-Identifier: BSL-1.0
/// Replicas of a training step, each with its part of the batch: what executors run of `weft::parallel::data_parallel`.
#pragma once

#include "kernels/networks.hpp"
#include "kernels/parts_of_batch.hpp"

#include "weft/execute/data_kernel.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/data_parallel.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace kernels {

/// A data kernel for the replicas that are here. Replicas compute in memory of their own; a bucket's chunks are in that
/// of the program. Losses and gradients are means over a part, so the sums of gradients are divided by the number of
/// replicas. Each op runs on one thread.
class replicated_step {
public:
  /// `part` is the step of a replica. Both must outlive it, and updates must not be sharded. `replicas`: those here.
  template <class Replicas>
  replicated_step(const training_net& part, const weft::parallel::replicated_workload& made, const Replicas& replicas)
      : part_{&part}, made_{&made}, count_{made.buckets.empty() ? 1 : made.buckets[0].pack.size()} {
    find_chunks();
    for (const auto r : replicas) {
      if (steps_.size() <= r) {
        steps_.resize(r + 1);
      }
      steps_[r] = std::make_unique<bound_step>(part.bind());
      for (const auto v : weft::ids(part.step.graph.num_ops())) {
        steps_[r]->prepare(v, 1);
      }
    }
  }

  /// Gives replica r its part of the inputs of `whole`, a step with `batch` examples (`take_part_of_inputs`).
  void take_inputs(std::size_t r, const training_net& whole_net, const bound_step& whole, std::size_t batch) {
    take_part_of_inputs(whole_net, whole, batch, *part_, *steps_[r], r, count_);
  }

  void operator()(weft::op_id v, const weft::execute::op_buffers& buffers) const {
    const auto r = made_->replica[v];
    if (made_->origin[v] != weft::none) {
      steps_[r]->run(made_->origin[v], 1);
    } else if (const auto b = bucket_of_[v]; made_->graph.type(v) == "PackBucket") {
      pack(made_->buckets[b], *steps_[r], buffers);
    } else if (b != weft::none) {
      unpack(made_->buckets[b], v, *steps_[r], buffers);
    } else {
      add_up(buffers);
    }
  }

  /// Those of a replica's last run.
  std::vector<float> losses(std::size_t r) const {
    std::vector<float> all;
    for (const auto t : part_->losses) {
      all.push_back(steps_[r]->values(t)[0]);
    }
    return all;
  }
  std::size_t num_replicas() const { return count_; }

private:
  /// The number of each chunk in its bucket, and the bucket of what packs and unpacks.
  void find_chunks() {
    const auto& w = made_->graph;
    chunk_.assign(w.num_tensors(), 0);
    bucket_of_.assign(w.num_ops(), weft::none);
    for (std::uint32_t b = 0; b < made_->buckets.size(); ++b) {
      for (std::size_t r = 0; r < count_; ++r) {
        bucket_of_[made_->buckets[b].pack[r]] = bucket_of_[made_->buckets[b].unpack[r]] = b;
      }
    }
    for (const auto v : weft::graph::topological_order(w)) {
      if (made_->origin[v] == weft::none) {
        std::uint32_t k = 0;
        for (const auto t : w.outputs(v)) {
          chunk_[t] = bucket_of_[v] != weft::none ? k++ : chunk_[w.inputs(v)[0]];
        }
      }
    }
  }

  static void pack(const weft::parallel::gradient_bucket& b, const bound_step& step,
                   const weft::execute::op_buffers& buffers) {
    std::vector<float> all;
    for (const auto t : b.gradients) {
      const auto values = step.values(t);
      all.insert(all.end(), values.begin(), values.end());
    }
    const auto* from = reinterpret_cast<const std::byte*>(all.data());
    for (const auto to : buffers.outputs) {
      std::memcpy(to.data(), from, to.size());
      from += to.size();
    }
  }

  void unpack(const weft::parallel::gradient_bucket& b, weft::op_id v, bound_step& step,
              const weft::execute::op_buffers& buffers) const {
    std::vector<std::span<const std::byte>> chunks(buffers.inputs.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      chunks[chunk_[made_->graph.inputs(v)[i]]] = buffers.inputs[i];
    }
    std::vector<float> all(b.bytes / sizeof(float));
    auto* to = reinterpret_cast<std::byte*>(all.data());
    for (const auto from : chunks) {
      std::memcpy(to, from.data(), from.size());
      to += from.size();
    }
    const float* next = all.data();
    for (const auto t : b.gradients) {
      for (auto& x : step.values(t)) {
        x = *next++ / static_cast<float>(count_);
      }
    }
  }

  const training_net* part_;
  const weft::parallel::replicated_workload* made_;
  std::size_t count_;
  std::vector<std::unique_ptr<bound_step>> steps_; ///< by replica
  std::vector<std::uint32_t> chunk_;     ///< by tensor of the parallel workload
  std::vector<std::uint32_t> bucket_of_; ///< by op of it
};

} // namespace kernels
