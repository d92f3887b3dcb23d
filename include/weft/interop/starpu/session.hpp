// SPDX-License-Identifier: BSL-1.0
/// StarPU from its initialisation to its end.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/starpu/detail/op_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <starpu.h>

namespace weft::starpu {

/// Options of StarPU's initialisation. Variables of the environment, such as STARPU_NCPU and STARPU_CALIBRATE, come
/// first.
struct session_options {
  int cpus = -1;          ///< workers that are cores of the processor; -1: as many as there are
  bool calibrate = false; ///< performance models go on learning when they know enough
};

/// StarPU has been initialised by the program, which also ends it. Then nobody else may number tasks: see `session`.
struct running {};

/// Initialises StarPU, and ends it. One at a time per process, and it must outlive whatever was made with it.
///
/// A worker of StarPU runs the tasks that have a `workerorder` in that order, from 1 and without gaps, and it counts on
/// for as long as StarPU runs. So everybody who numbers tasks must take the numbers from one place, which is this one.
/// ```
/// weft::starpu::session starpu{{.cpus = 2}};
/// ```
class session {
public:
  /// Only workers that are cores; accelerators are left alone. Throws `error` if StarPU cannot be initialised.
  explicit session(const session_options& options = {}) {
    if (starpu_is_initialized() != 0) {
      throw error("starpu: StarPU runs already; make one session, or say weft::starpu::running{}");
    }
    starpu_conf conf = configuration(options);
    if (const int failed = starpu_init(&conf); failed != 0) {
      throw error("starpu: starpu_init failed with " + std::to_string(failed) +
                  (failed == -ENODEV ? ": it has no worker; is STARPU_NCPU 0?" : ""));
    }
    owns_ = true;
    find_workers();
  }

  /// In a program that has initialised StarPU itself, and sets the `workerorder` of no task.
  explicit session(running) {
    if (starpu_is_initialized() == 0) {
      throw error("starpu: StarPU does not run; call starpu_init first, or make a session that does");
    }
    find_workers();
  }

  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    if (owns_) {
      starpu_shutdown();
    }
  }

  /// What StarPU is initialised with.
  static starpu_conf configuration(const session_options& options) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = options.cpus;
    conf.ncuda = conf.nopencl = 0;
    conf.calibrate = options.calibrate ? 1 : 0;
    conf.catch_signals = 0; // they are the program's
    return conf;
  }

  /// The workers that run on cores, by StarPU's numbers.
  std::span<const int> cpu_workers() const { return cpu_workers_; }

  /// A worker for each of `num_devices` devices: those that are given, or the first ones on cores. Throws `value_error`
  /// if there are too few, or if one is no worker on a core.
  std::vector<int> workers_for(std::size_t num_devices, std::span<const int> given = {}) const {
    const auto have = std::to_string(cpu_workers_.size());
    if (given.empty() && num_devices > cpu_workers_.size()) {
      throw value_error("the plan", "has " + std::to_string(num_devices) + " devices, and StarPU " + have +
                                      " CPU workers; set STARPU_NCPU, or say which devices share a worker");
    }
    if (!given.empty() && given.size() < num_devices) {
      throw value_error("executor_options.workers", "has " + std::to_string(given.size()) + " workers for " +
                                                      std::to_string(num_devices) + " devices");
    }
    for (const int w : given) {
      if (std::find(cpu_workers_.begin(), cpu_workers_.end(), w) == cpu_workers_.end()) {
        throw value_error("executor_options.workers", "names worker " + std::to_string(w) + ", which is not one of "
                                                                                            "the " +
                                                        have + " CPU workers; see session::cpu_workers()");
      }
    }
    const auto from = given.empty() ? std::span<const int>{cpu_workers_} : given;
    return {from.begin(), from.begin() + static_cast<std::ptrdiff_t>(num_devices)};
  }

  /// The `workerorder` of the first of so many tasks of each worker, which are all to be submitted, soon. `counts` and
  /// the result are by worker.
  using orders = std::array<unsigned, STARPU_NMAXWORKERS>;
  orders take_orders(const orders& counts) {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > UINT_MAX - next_order_[i]) {
        throw error("starpu: a worker of StarPU can be given " + std::to_string(UINT_MAX) +
                    " tasks in order; make a new session");
      }
    }
    const orders first = next_order_;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      next_order_[i] += counts[i];
    }
    return first;
  }

  /// The codelet of ops, with the performance model of this name; without one if it is empty. StarPU keeps it until it
  /// ends. Throws `value_error` if there is a model of that name and another type.
  starpu_codelet& codelet(const std::string& symbol = {}, starpu_perfmodel_type type = STARPU_HISTORY_BASED) {
    const std::lock_guard lock{mutex_};
    for (const auto& m : codelets_) {
      if (m->symbol == symbol) {
        if (m->model.type != type && !symbol.empty()) {
          throw value_error("the performance model '" + symbol + "'", "is there already, and of another type");
        }
        return m->codelet;
      }
    }
    auto& made = *codelets_.emplace_back(std::make_unique<named_codelet>());
    made.symbol = symbol;
    made.codelet = detail::codelet();
    if (!symbol.empty()) {
      made.model.type = type;
      made.model.symbol = made.symbol.c_str();
      made.model.footprint = detail::footprint_of;
      made.model.size_base = detail::size_of;
      made.codelet.model = &made.model;
      made.codelet.name = made.symbol.c_str();
    }
    return made.codelet;
  }

private:
  struct named_codelet {
    std::string symbol;
    starpu_perfmodel model = {};
    starpu_codelet codelet = {};
  };

  void find_workers() {
    next_order_.fill(1);
    cpu_workers_.resize(starpu_cpu_worker_get_count());
    cpu_workers_.resize(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, cpu_workers_.data(),
                                                      static_cast<unsigned>(cpu_workers_.size())));
  }

  bool owns_ = false;
  std::vector<int> cpu_workers_;
  std::mutex mutex_;
  orders next_order_ = {}; // by worker
  std::vector<std::unique_ptr<named_codelet>> codelets_;
};

} // namespace weft::starpu
