// SPDX-License-Identifier: BSL-1.0
/// A network's training step on several devices, each with memory of its own: what executors of programs run.
#pragma once

#include "kernels/networks.hpp"

#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"

#include <limits>
#include <vector>

namespace kernels {

/// The program of a training step by a plan. Its losses can be read after a run.
inline weft::execute::program program_of(const training_net& net, const weft::plan& p) {
  return {net.step.graph, p, {.keep = net.losses}};
}
/// The same in the order of a simulated run.
inline weft::execute::program program_of(const training_net& net, const weft::plan& p, const weft::trace& t) {
  return {net.step.graph, p, t, {.keep = net.losses}};
}

/// Memory and kernels for the devices of a program that are here, all or those of one process; a data kernel. Each op
/// runs on one thread, so results are the same on any number of devices.
/// ```
/// const auto program = kernels::program_of(net, plan);
/// kernels::placed_step step{net, program};
/// run(step, step.memory());
/// step.losses();
/// ```
class placed_step {
public:
  /// `net` and `program` must outlive it. Throws what `bound_step` throws.
  placed_step(const training_net& net, const weft::execute::program& program)
      : placed_step{net, program, weft::ids(program.num_devices())} {}

  template <class Devices>
  placed_step(const training_net& net, const weft::execute::program& program, const Devices& devices,
              const weft::execute::memory_options& options = {})
      : net_{&net}, memory_{program, devices, options}, step_{*net.net, net.step, memory_, net.start} {
    for (const auto v : weft::ids(program.num_ops())) {
      if (step_.has(v)) {
        step_.prepare(v, 1);
      }
    }
  }
  placed_step(const placed_step&) = delete;
  placed_step& operator=(const placed_step&) = delete;

  void operator()(weft::op_id v, const weft::execute::op_buffers&) const { step_.run(v, 1); }

  weft::execute::memory& memory() { return memory_; }
  const weft::execute::memory& memory() const { return memory_; }
  /// Back to where training starts.
  void reset() { step_.reset(); }

  /// Those of the last run, in the net's order; not a number where they were computed elsewhere.
  std::vector<float> losses() const {
    std::vector<float> all;
    for (const auto t : net_->losses) {
      const auto values = step_.values(t);
      all.push_back(values.empty() ? std::numeric_limits<float>::quiet_NaN() : values[0]);
    }
    return all;
  }

  const bound_step& step() const { return step_; }

private:
  const training_net* net_;
  weft::execute::memory memory_;
  bound_step step_;
};

} // namespace kernels
