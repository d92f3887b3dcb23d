// SPDX-License-Identifier: BSL-1.0
/// StarPU's performance models, learned from earlier runs, as a cost model.
#pragma once

#include "weft/concurrency/op_classes.hpp"
#include "weft/core/error.hpp"
#include "weft/core/random.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/cost/linear.hpp"
#include "weft/interop/starpu/session.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <starpu.h>

namespace weft::starpu {

/// The choice of StarPU's performance models.
struct performance_options {
  /// A model is called by the prefix and the op's type; StarPU keeps it in a file of that name in STARPU_HOME.
  std::string prefix = "weft_";
  /// `STARPU_HISTORY_BASED`: the mean of what ops of the same class took. `STARPU_REGRESSION_BASED` and
  /// `STARPU_NL_REGRESSION_BASED`: a curve over the bytes that ops of a type read and write.
  starpu_perfmodel_type type = STARPU_HISTORY_BASED;
};

/// A performance model of StarPU for each type of op in a workload. StarPU loads it from its files when it is first
/// asked, an executor that is given these lets it learn from its runs, and StarPU writes it to its files when it ends.
///
/// StarPU tells no time before it has seen ten runs of a class (STARPU_CALIBRATE_MINIMUM), and begins anew where times
/// differ from their mean by more than half of it (STARPU_HISTORY_MAX_ERROR). It learns from the runs of models that
/// are new to it or know too little, and from all if the session calibrates.
class performance_models {
public:
  /// Complexity: O((n + m) log classes).
  template <must_be::dataflow_workload W>
  performance_models(session& s, const W& w, const performance_options& options = {})
      : performance_models{s, w, concurrency::op_classes{w}, options} {}

  /// With classes of your own: their types name the models.
  template <must_be::dataflow_workload W>
  performance_models(session& s, const W& w, const concurrency::op_classes& classes,
                     const performance_options& options = {}) {
    std::vector<starpu_codelet*> by_type;
    for (const concurrency::type_id t : ids(classes.num_types())) {
      by_type.push_back(&s.codelet(options.prefix + file_name(classes.type_name(t)), options.type));
    }
    ops_.resize(classes.num_ops());
    for (const op_id v : ids(ops_.size())) {
      const auto c = classes.class_of(v);
      std::size_t bytes = 0;
      for (const auto t : w.inputs(v)) {
        bytes += static_cast<std::size_t>(w.bytes(t));
      }
      for (const auto t : w.outputs(v)) {
        bytes += static_cast<std::size_t>(w.bytes(t));
      }
      ops_[v] = {by_type[classes.type(c)], {.op = v, .footprint = hash(classes.key(c)), .size = bytes}};
    }
  }

  std::size_t num_ops() const { return ops_.size(); }
  /// The name of an op's model.
  const char* symbol(op_id v) const { return ops_[v].codelet->model->symbol; }

  /// The seconds that StarPU expects an op to take on a worker; NaN if it does not know yet.
  double seconds(op_id v, int worker) const {
    const unasked_task task{ops_[v]};
    const double microseconds = starpu_task_expected_length(task.get(), arch_of(worker), 0);
    return microseconds * 1e-6;
  }

  /// Tells StarPU how long an op took on a worker, as if it had seen that itself: times from a profile, for StarPU's
  /// own schedulers.
  void add(op_id v, int worker, double seconds) const {
    if (!(seconds >= 0 && seconds < 1e300)) {
      throw value_error("op " + std::to_string(v), "took no finite number of seconds");
    }
    const unasked_task task{ops_[v]};
    starpu_perfmodel_update_history(ops_[v].codelet->model, task.get(), arch_of(worker),
                                    static_cast<unsigned>(worker), 0, seconds * 1e6);
  }

  /// For executors: what a task of the op runs, and knows.
  starpu_codelet& codelet(op_id v) const { return *ops_[v].codelet; }
  const detail::op_call& call_of(op_id v) const { return ops_[v].call; }

private:
  struct modelled_op {
    starpu_codelet* codelet = nullptr;
    detail::op_call call = {};
  };

  /// A task that is never submitted: the form of a question to StarPU.
  class unasked_task {
  public:
    explicit unasked_task(const modelled_op& op) : call_{op.call}, task_{starpu_task_create()} {
      task_->cl = op.codelet;
      task_->cl_arg = &call_;
    }
    unasked_task(const unasked_task&) = delete;
    unasked_task& operator=(const unasked_task&) = delete;
    ~unasked_task() { detail::discard(task_); }
    starpu_task* get() const { return task_; }

  private:
    detail::op_call call_;
    starpu_task* task_;
  };

  static starpu_perfmodel_arch* arch_of(int worker) {
    return starpu_worker_get_perf_archtype(worker, STARPU_NMAX_SCHED_CTXS);
  }

  static std::string file_name(std::string_view type) {
    std::string name;
    for (const char c : type) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
      name += plain ? c : '_';
    }
    return name;
  }

  static std::uint32_t hash(std::string_view text) {
    std::uint64_t h = text.size();
    for (const char c : text) {
      h = rng::mix(h ^ static_cast<unsigned char>(c));
    }
    return static_cast<std::uint32_t>(h);
  }

  std::vector<modelled_op> ops_;
};

/// StarPU's expectations as a cost model: ops by its performance models, transfers by what it measured of the buses.
/// Where it knows nothing of an op, `fallback` is asked. Made for one workload and one platform.
/// ```
/// const weft::problem p{w, q, weft::starpu::performance_cost{models, w, q, run.workers()}};
/// ```
class performance_cost {
public:
  /// `workers` has the worker of each device. Devices whose workers share a memory cost no transfers between them.
  template <class W, class P, class Fallback = cost::linear>
  performance_cost(const performance_models& models, const W& w, const P& p, std::span<const int> workers,
                   const Fallback& fallback = {})
      : table_{table_of(models, w, p, workers, fallback)} {}

  /// Of ops × devices, how many StarPU knew.
  std::size_t num_known() const { return table_->num_known; }

  template <class W, class P>
  double compute_time(const W&, op_id v, const P&, device_id d) const {
    return table_->seconds[v * table_->num_devices + d];
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return transfer_line(w, p, from, to)(static_cast<double>(w.bytes(t)));
  }
  template <class W, class P>
  cost::link_line transfer_line(const W&, const P&, device_id from, device_id to) const {
    return table_->lines[from * table_->num_devices + to];
  }

private:
  struct times {
    std::size_t num_devices = 0;
    std::size_t num_known = 0;
    std::vector<double> seconds = {};        // by op and device
    std::vector<cost::link_line> lines = {}; // by sender and receiver
  };

  template <class W, class P, class Fallback>
  static times table_of(const performance_models& models, const W& w, const P& p, std::span<const int> workers,
                        const Fallback& fallback) {
    times made;
    made.num_devices = static_cast<std::size_t>(p.num_devices());
    if (workers.size() != made.num_devices) {
      throw value_error("performance_cost", std::to_string(workers.size()) + " workers for " +
                                              std::to_string(made.num_devices) + " devices; give one per device");
    }
    if (models.num_ops() != static_cast<std::size_t>(w.num_ops())) {
      throw value_error("performance_cost", "the models are of " + std::to_string(models.num_ops()) +
                                              " ops, the workload has " + std::to_string(w.num_ops()));
    }
    for (const op_id v : ids(models.num_ops())) {
      for (const device_id d : ids(made.num_devices)) {
        const double expected = models.seconds(v, workers[d]);
        made.num_known += std::isnan(expected) ? 0u : 1u;
        made.seconds.push_back(std::isnan(expected) ? fallback.compute_time(w, v, p, d) : expected);
      }
    }
    for (const int from : workers) {
      for (const int to : workers) {
        const auto a = starpu_worker_get_memory_node(static_cast<unsigned>(from));
        const auto b = starpu_worker_get_memory_node(static_cast<unsigned>(to));
        made.lines.push_back(a == b ? cost::link_line{0, std::numeric_limits<double>::infinity()}
                                    : cost::link_line{starpu_transfer_latency(a, b) * 1e-6,
                                                      starpu_transfer_bandwidth(a, b) * 1e6});
      }
    }
    return made;
  }

  shared<times> table_;
};

} // namespace weft::starpu
