// SPDX-License-Identifier: BSL-1.0
/// Runs a plan: every worker runs its ops in the plan's order, and waits only where an input comes from another worker.
#pragma once

#include "weft/core/error.hpp"
#include "weft/execute/copies.hpp"
#include "weft/execute/crew.hpp"
#include "weft/execute/interpret.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/execute/ongoing_run.hpp"

#include <algorithm>
#include <atomic>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Executes a plan on one thread per device ("worker"), with the least overhead that we know how to get: no locks, no
/// allocation and no atomic read-modify-write per op. Each worker publishes how far it is in its own sequence, by one
/// store, and only after ops that other workers wait for; an op with inputs from other workers waits until these are
/// far enough. Waits that an earlier wait of the same worker implies are left out when the executor is made.
///
/// An op of worker w runs after all ops of w before it in the plan's order. The sends of a plan are skipped: workers
/// share memory. Runs of one executor from several threads, or from inside one of its own kernels, do not wait for each
/// other: the one that finds the workers taken runs all ops by itself on its thread, so nothing can deadlock.
/// ```
/// weft::static_executor run{workload, result.plan};
/// auto report = run([&](weft::op_id v) { kernels[v](); });
/// ```
/// Memory: 12 bytes per op, at most 8 per edge, 1 per message. The workload is not needed after construction.
/// ```
/// const weft::execute::program program{workload, result.plan}; // with data: each device in a memory of its own
/// weft::static_executor run{program};
/// weft::execute::memory memory{program};
/// auto report = run([&](weft::op_id v, const weft::execute::op_buffers& b) { … }, memory);
/// ```
class static_executor {
public:
  /// Sequences come from the plan's order, or from a topological order where it has none. Device d is worker d.
  /// Throws `value_error` if the plan does not fit the workload, `constraint_error` if its order contradicts the graph.
  /// Complexity: O((n + m) log(n + m)), as for a program.
  template <must_be::dataflow_workload W>
  static_executor(const W& w, const plan& p) : static_executor(execute::program{w, p}) {}

  /// Of a program, which is not needed after construction.
  explicit static_executor(const execute::program& p)
      : order_{p.sequence().begin(), p.sequence().end()}, fingerprint_{p.fingerprint()}, copies_{p.messages().size()} {
    pack(p);
    progress_ = std::make_unique<worker_progress[]>(workers_.size());
    crew_ = std::make_unique<execute::crew>(workers_.empty() ? 0u
                                                                     : static_cast<std::uint32_t>(workers_.size() - 1));
  }

  std::size_t num_ops() const { return order_.size(); }
  /// Workers with ops, each a thread; the first is the thread that calls.
  std::size_t num_workers() const { return workers_.size(); }

  /// Runs every op once and returns when nothing runs any more. Complexity: O(n + waits).
  template <class Kernel>
    requires(!data_kernel<Kernel> || op_kernel<Kernel>) && must_be::op_kernel<Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::run_options& options = {}) {
    const claim mine{taken_};
    execute::ongoing_run state{options, num_ops()};
    if (!mine) {
      run_alone(kernel, state);
    } else if (!workers_.empty()) {
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        progress_[i].done.store(0, std::memory_order_relaxed);
      }
      const bool clocked = options.record || options.seconds < std::numeric_limits<double>::infinity();
      auto work = [&](std::uint32_t i) {
        clocked                        ? follow<true, true>(i, kernel, state)
        : options.stop.stop_possible() ? follow<false, true>(i, kernel, state)
                                       : follow<false, false>(i, kernel, state);
      };
      crew_->run(crew_->size(), work);
    }
    return state.conclude();
  }

  /// The same with each device in a memory of its own: kernels are given the memory of their op's tensors, and tensors
  /// are copied from device to device as the program says. A recorded trace has these transfers, too. Two runs at once
  /// need two memories. Throws `value_error` if the memory is of another program or lacks a device.
  template <std::same_as<execute::memory> Memory, must_be::data_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const Memory& memory, const execute::run_options& options = {}) {
    const execute::program& p = memory.program();
    if (p.fingerprint() != fingerprint_) {
      throw value_error("the memory", "was made for another program than the executor");
    }
    for (const worker& x : workers_) {
      if (!memory.has(x.device)) {
        throw value_error("the memory", "lacks device " + std::to_string(x.device) + "; make it for all devices");
      }
      memory.release_all(x.device);
    }
    auto bound = [&](op_id v) { kernel(v, memory.of(v)); };
    const claim mine{taken_};
    execute::ongoing_run state{options, num_ops()};
    if (options.record) {
      state.expect_transfers(p.messages().size());
    }
    if (!mine) {
      run_alone(bound, state, memory);
    } else if (!workers_.empty()) {
      copies_.reset();
      auto work = [&](std::uint32_t i) {
        execute::detail::backoff b;
        channel through{memory, copies_, state, [&](std::uint32_t m) {
                          for (b = {}; !copies_.is_done(m); b.wait()) {
                            if (state.must_end()) {
                              return false;
                            }
                          }
                          return true;
                        }};
        std::size_t next = 0;
        const op_runner<decltype(bound)> run{bound, workers_[i].device, state};
        execute::interpret(p, workers_[i].device, memory, through, run, next);
      };
      crew_->run(crew_->size(), work);
    }
    return state.conclude();
  }

private:
  /// One op in the sequence of a worker. Waits are stored in the order in which the worker meets them.
  struct entry {
    op_id op = none;
    std::uint32_t num_waits : 31 = 0;
    std::uint32_t publishes : 1 = 0; ///< another worker waits for it
  };
  /// "Worker `worker` has done `count` of its ops."
  struct milestone {
    std::uint32_t worker = 0;
    std::uint32_t count = 0;
  };
  struct worker {
    device_id device = none;
    std::vector<entry> entries = {};
    std::vector<milestone> waits = {};
  };
  struct alignas(64) worker_progress {
    std::atomic<std::uint32_t> done{0};
  };

  /// The workers, for one run; false if another one has them.
  class claim {
  public:
    explicit claim(std::atomic_flag& f) : flag_{f.test_and_set(std::memory_order_acquire) ? nullptr : &f} {}
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    ~claim() {
      if (flag_ != nullptr) {
        flag_->clear(std::memory_order_release);
      }
    }
    explicit operator bool() const { return flag_ != nullptr; }

  private:
    std::atomic_flag* flag_;
  };

  /// Turns a program into what threads that share memory need of it: the ops of each worker, and the waits that no
  /// earlier wait of the same worker implies.
  void pack(const execute::program& p) {
    std::vector<std::uint32_t> worker_of(p.num_devices(), none);
    std::vector<std::uint32_t> position(p.num_ops(), 0);
    std::vector<op_id> producer(p.num_tensors(), none);
    for (device_id d = 0; d < p.num_devices(); ++d) {
      for (const instruction& i : p.of(d)) {
        if (i.what == instruction::kind::run) {
          if (worker_of[d] == none) {
            worker_of[d] = static_cast<std::uint32_t>(workers_.size());
            workers_.push_back({.device = d});
          }
          auto& entries = workers_[worker_of[d]].entries;
          position[i.id] = static_cast<std::uint32_t>(entries.size());
          entries.push_back({.op = i.id});
          for (const auto t : p.outputs(i.id)) {
            producer[t] = i.id;
          }
        }
      }
    }
    std::vector<std::uint32_t> known(workers_.size()), needed(workers_.size(), 0), touched;
    for (worker& mine : workers_) {
      std::fill(known.begin(), known.end(), 0u); // how far it knows the others to be
      for (const instruction& i : p.of(mine.device)) {
        if (i.what == instruction::kind::wait && p.messages()[i.id].to == mine.device) {
          const message& m = p.messages()[i.id];
          const auto b = worker_of[m.from];
          const auto count = position[producer[m.tensor]] + 1;
          if (count > std::max(known[b], needed[b])) {
            if (needed[b] == 0) {
              touched.push_back(b);
            }
            needed[b] = count;
          }
        } else if (i.what == instruction::kind::run) {
          for (const auto b : touched) {
            mine.waits.push_back({b, needed[b]});
            ++mine.entries[position[i.id]].num_waits;
            workers_[b].entries[needed[b] - 1].publishes = 1;
            known[b] = std::exchange(needed[b], 0u);
          }
          touched.clear();
        }
      }
    }
  }

  /// What worker i does in a run. Without a clock to read and a token to ask, ops pay for neither.
  template <bool Clocked, bool Stoppable, class Kernel>
  void follow(std::uint32_t i, Kernel& kernel, execute::ongoing_run& state) {
    const worker& mine = workers_[i];
    auto& done = progress_[i].done;
    const auto stop = Stoppable ? state.options().stop : std::stop_token{}; // for the compiler, in a register
    const milestone* wait = mine.waits.data();
    std::uint32_t count = 0;
    for (const entry& e : mine.entries) {
      for (const milestone* const last = wait + e.num_waits; wait != last; ++wait) {
        if (!reach(*wait, state)) {
          state.add_finished(count);
          return;
        }
      }
      if (Stoppable && stop.stop_requested()) {
        state.end(execute::run_status::cancelled);
      }
      if (state.is_over() || !run_op<Clocked>(e.op, mine.device, kernel, state)) {
        break;
      }
      ++count;
      if (e.publishes) {
        done.store(count, std::memory_order_release);
      }
    }
    state.add_finished(count);
  }

  /// Waits for another worker; false if the run ends first.
  bool reach(const milestone& m, execute::ongoing_run& state) {
    const auto& done = progress_[m.worker].done;
    execute::detail::backoff b;
    while (done.load(std::memory_order_acquire) < m.count) {
      if (state.must_end()) {
        return false;
      }
      b.wait();
    }
    return true;
  }

  /// False if the run must end.
  template <bool Clocked, class Kernel>
  static bool run_op(op_id v, device_id d, Kernel& kernel, execute::ongoing_run& state) {
    return state.run_op<Clocked>(v, d, [&] { execute::call_kernel(kernel, v, team{}); });
  }

  /// Computes one op of a program after another; counts them.
  template <class Kernel>
  struct op_runner {
    Kernel& kernel;
    device_id device;
    execute::ongoing_run& state;

    bool operator()(op_id v) const {
      if (state.must_end() || !run_op<true>(v, device, kernel, state)) {
        return false;
      }
      state.add_finished(1);
      return true;
    }
  };

  /// The channel for the messages of one device. `wait` waits for one.
  template <class Wait>
  struct channel {
    const execute::memory& memory;
    execute::copies& states;
    execute::ongoing_run& state;
    Wait wait;

    void post(std::uint32_t m, std::span<std::byte>) {
      if (states.post(m)) {
        copy(m);
      }
    }
    void send(std::uint32_t m, std::span<const std::byte>) {
      if (states.send(m)) {
        copy(m);
      }
    }
    void copy(std::uint32_t m) {
      const message& x = memory.program().messages()[m];
      const double start = state.options().record ? state.now() : 0;
      execute::copies::copy(memory, x);
      if (state.options().record) {
        state.transfer(m) = {x.tensor, x.from, x.to, start, start, start, state.now()};
      }
      states.finish(m);
    }
  };
  template <class Wait>
  channel(const execute::memory&, execute::copies&, execute::ongoing_run&, Wait) -> channel<Wait>;

  template <class Kernel>
  void run_alone(Kernel& kernel, execute::ongoing_run& state) {
    const op_runner<Kernel> run{kernel, workers_.empty() ? 0 : workers_.front().device, state};
    for (const op_id v : order_) {
      if (!run(v)) {
        break;
      }
    }
  }

  /// All devices by turns: each as far as it comes before it would have to wait.
  template <class Kernel>
  void run_alone(Kernel& kernel, execute::ongoing_run& state, const execute::memory& memory) {
    const execute::program& p = memory.program();
    execute::copies states{p.messages().size()};
    channel through{memory, states, state, [&](std::uint32_t m) { return states.is_done(m); }};
    std::vector<std::size_t> next(p.num_devices(), 0);
    for (bool all_done = false; !all_done && !state.must_end();) {
      all_done = true;
      for (const worker& x : workers_) {
        all_done = execute::interpret(p, x.device, memory, through, op_runner<Kernel>{kernel, x.device, state},
                                      next[x.device]) && all_done;
      }
    }
  }

  std::vector<op_id> order_; // one that is topological and that all workers' sequences agree with
  std::vector<worker> workers_;
  std::unique_ptr<worker_progress[]> progress_; // by worker
  std::unique_ptr<execute::crew> crew_;
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
  std::uint64_t fingerprint_ = 0; // of the program
  execute::copies copies_;
};

} // namespace weft
