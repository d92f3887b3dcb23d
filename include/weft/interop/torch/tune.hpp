// SPDX-License-Identifier: BSL-1.0
/// Programs of PyTorch's ops with the number of threads that suits each op on this machine.
#pragma once

#include "weft/execute/tuning.hpp"
#include "weft/interop/openmp.hpp"
#include "weft/interop/torch/program.hpp"
#include "weft/interop/torch/session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <omp.h>

namespace weft::torch {

/// A program with its tensors, and the fastest way to run it that was found on this machine. Runs begin with the
/// program's parameters, whatever tuning did to them.
/// ```
/// auto step = weft::torch::tune(weft::torch::read_program("step.pt2"));
/// for (const auto& batch : batches) {
///   const at::Tensor loss = step.run({batch.x, batch.y}).front();
/// }
/// ```
class tuned_program {
public:
  using tuning = execute::tuned<session, execute::openmp_crew>;

  /// Tunes. Without a machine in the options, all hardware threads that OpenMP may use are its cores. Throws
  /// `value_error` for an input without an example value, and `error` with the op's name for what an op refuses.
  explicit tuned_program(torch::program p, execute::tuning_options o = {})
      : program_{std::make_unique<torch::program>(std::move(p))}, session_{std::make_unique<session>(*program_)},
        tuning_{tuned(*session_, with_machine(std::move(o)))} {
    session_->restart();
  }

  /// A run with these inputs, or, without any, with those of the run before, at first the examples. Returns the
  /// program's results: of a training step the loss. Throws `value_error` for an input of another shape or type.
  std::vector<at::Tensor> run(std::vector<at::Tensor> inputs = {}) {
    if (!inputs.empty() && inputs.size() != program_->inputs.size()) {
      throw value_error("inputs", std::to_string(inputs.size()) + " are given, and the program has " +
                                    std::to_string(program_->inputs.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      session_->set_input(i, std::move(inputs[i]));
    }
    const keep_threads same;
    (*tuning_)().rethrow();
    return session_->results();
  }

  /// Parameters, buffers and constants by their place in `program().state`.
  session& values() { return *session_; }
  const torch::program& program() const { return *program_; }
  /// What was found, and other settings to compare with.
  tuning& found() { return *tuning_; }

private:
  /// The caller's number of OpenMP threads is what it was, for ops of its own.
  struct keep_threads {
    int before = omp_get_max_threads();
    keep_threads() = default;
    keep_threads(const keep_threads&) = delete;
    keep_threads& operator=(const keep_threads&) = delete;
    ~keep_threads() { omp_set_num_threads(before); }
  };
  static std::unique_ptr<tuning> tuned(session& s, execute::tuning_options o) {
    const keep_threads same;
    return std::make_unique<tuning>(s, std::move(o));
  }
  static execute::tuning_options with_machine(execute::tuning_options o) {
    if (o.here == machine{}) {
      const auto cores = static_cast<std::uint32_t>(std::max(omp_get_num_procs(), 1));
      o.here = {.name = std::to_string(cores) + " cores", .cores_per_socket = cores, .dispatch_seconds = 1e-6};
    }
    return o;
  }

  std::unique_ptr<torch::program> program_;
  std::unique_ptr<session> session_;
  std::unique_ptr<tuning> tuning_;
};

/// Finds how to run a program the fastest on this machine: `tuned_program`. Takes as long as some 50 runs.
inline tuned_program tune(program p, execute::tuning_options o = {}) {
  return tuned_program{std::move(p), std::move(o)};
}

} // namespace weft::torch
