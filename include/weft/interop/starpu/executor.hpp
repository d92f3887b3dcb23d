// SPDX-License-Identifier: BSL-1.0
/// Runs a plan by StarPU: each device is a worker, each op a task, each tensor that devices send a data handle.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/execute/ongoing_run.hpp"
#include "weft/interop/starpu/detail/tensor_exchange.hpp"
#include "weft/interop/starpu/performance.hpp"
#include "weft/interop/starpu/session.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <starpu.h>

namespace weft::starpu {

/// The mapping of a plan's devices to StarPU's workers.
struct executor_options {
  /// The worker of each device, by StarPU's numbers; devices may share one. Empty: the first CPU workers.
  std::vector<int> workers = {};
  /// Performance models that learn from the runs; must outlive the executor.
  const performance_models* models = nullptr;
};

/// Executes a plan as tasks of StarPU, each bound to the worker of its device (`execute_on_a_specific_worker`) and to
/// its place in the plan's order there (`workerorder`). So every worker runs its ops in the plan's order; those of
/// devices that share a worker are merged, one at a time.
/// ```
/// weft::starpu::session starpu;
/// weft::starpu::executor run{starpu, workload, result.plan};
/// auto report = run([&](weft::op_id v) { kernels[v](); });
/// ```
/// With a memory, each device has its own, as in `static_executor`, and kernels are given the same places in every run.
/// Tensors that devices send each other go by way of data handles of StarPU, which allocates them when they are made
/// and frees them after the last device has copied them. Tensors of zero bytes, and without a memory all of them, are
/// dependencies between tasks.
///
/// When a run ends early (an exception, a deadline, a cancel), the remaining tasks pass and do nothing. Several runs at
/// a time share the workers, one after another. StarPU's overhead per task is in docs/starpu.md.
class executor {
public:
  /// Throws `value_error` if the plan does not fit the workload or StarPU has too few workers, `constraint_error` if
  /// the plan's order contradicts the graph.
  template <class W>
    requires(!std::same_as<W, execute::program>) && must_be::dataflow_workload<W>
  executor(session& s, const W& w, const plan& p, const executor_options& options = {})
      : executor{s, execute::program{w, p}, options} {}

  /// Of a program, which is copied. Complexity: O(n + m) for n ops and m edges.
  executor(session& s, execute::program p, const executor_options& options = {})
      : session_{&s}, models_{options.models}, program_{std::move(p)},
        exchange_{program_}, workers_{s.workers_for(program_.num_devices(), options.workers)} {
    if (models_ != nullptr && models_->num_ops() != program_.num_ops()) {
      throw value_error("executor_options.models", "are of " + std::to_string(models_->num_ops()) +
                                                     " ops, the plan of " + std::to_string(program_.num_ops()));
    }
    for (const op_id v : program_.sequence()) {
      ++count_[worker(v)];
    }
    find_waits(all_waits_, [](const message&) { return true; });
    find_waits(empty_waits_, [](const message& m) { return m.bytes == 0; });
  }

  const execute::program& program() const { return program_; }
  std::size_t num_ops() const { return program_.num_ops(); }
  /// The worker of each device, by StarPU's numbers.
  std::span<const int> workers() const { return workers_; }

  /// Runs every op once and returns when nothing runs any more. Throws `error` when called from inside a task.
  template <class Kernel>
    requires(!data_kernel<Kernel> || op_kernel<Kernel>) && must_be::op_kernel<Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::run_options& options = {}) {
    auto call = [&](op_id v, void**) { execute::call_kernel(kernel, v, team{}); };
    return run(call, options, all_waits_, {});
  }

  /// The same with each device in a memory of its own: kernels are given the memory of their op's tensors. Two runs at
  /// once need two memories. Throws `value_error` if the memory is of another program or lacks a device.
  template <std::same_as<execute::memory> Memory, must_be::data_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const Memory& memory, const execute::run_options& options = {}) {
    detail::memory_cursors cursors{memory, program_, ids(program_.num_devices())};
    auto call = [&](op_id v, void** buffers) {
      cursors.advance_to(v);
      for (const auto m : exchange_.incoming(v)) {
        if (const auto to = memory.bytes(program_.messages()[m].target); !to.empty()) {
          std::memcpy(to.data(), reinterpret_cast<const std::byte*>(STARPU_VARIABLE_GET_PTR(*buffers++)), to.size());
        }
      }
      kernel(v, memory.of(v));
      for (const tensor_id t : exchange_.outgoing(v)) {
        if (const auto from = memory.tensor(t); !from.empty()) {
          std::memcpy(reinterpret_cast<std::byte*>(STARPU_VARIABLE_GET_PTR(*buffers++)), from.data(), from.size());
        }
      }
    };
    handles tensors{program_.num_tensors()};
    for (const tensor_id t : ids(program_.num_tensors())) {
      if (exchange_.is_sent(t) && bytes(t) > 0) {
        starpu_variable_data_register(&tensors.all[t], -1, 0, bytes(t));
      }
    }
    return run(call, options, empty_waits_, tensors.all);
  }

private:
  /// Ops that each op waits for, of other workers: op v's are `op[first[v]]` to `op[first[v + 1]]`.
  struct wait_lists {
    std::vector<std::uint32_t> first = {};
    std::vector<op_id> op = {};
    std::span<const op_id> of(op_id v) const { return std::span{op}.subspan(first[v], first[v + 1] - first[v]); }
  };
  /// A run's handles by tensor; null where there is none, or where StarPU itself unregisters it.
  struct handles {
    explicit handles(std::size_t num_tensors) : all(num_tensors, nullptr) {}
    handles(const handles&) = delete;
    handles& operator=(const handles&) = delete;
    ~handles() {
      for (const auto h : all) {
        if (h != nullptr) {
          starpu_data_unregister(h);
        }
      }
    }
    std::vector<starpu_data_handle_t> all;
  };
  /// A run's tasks, until they are StarPU's.
  struct tasks {
    explicit tasks(std::size_t num_ops) : all(num_ops, nullptr) {}
    tasks(const tasks&) = delete;
    tasks& operator=(const tasks&) = delete;
    ~tasks() {
      for (const auto t : all) {
        if (t != nullptr) {
          detail::discard(t);
        }
      }
    }
    std::vector<starpu_task*> all;
  };

  std::size_t worker(op_id v) const { return static_cast<std::size_t>(workers_[program_.device(v)]); }
  byte_count bytes(tensor_id t) const { return program_.buffers()[t].bytes; }

  /// Which ops of other workers to wait for: of each worker the last one, and only if no earlier wait implies it.
  template <class Counts>
  void find_waits(wait_lists& made, Counts&& counts) const {
    std::vector<std::uint32_t> position(num_ops(), 0);
    session::orders next = {};
    for (const op_id v : program_.sequence()) {
      position[v] = next[worker(v)]++;
    }
    std::vector<std::vector<op_id>> waits(num_ops());
    std::vector<session::orders> known(STARPU_NMAXWORKERS, session::orders{}); // by worker, how far it knows others are
    for (const op_id v : program_.sequence()) {
      session::orders needed = {}; // by worker, one more than the last op to wait for
      std::vector<op_id> last(STARPU_NMAXWORKERS, none);
      for (const auto m : exchange_.incoming(v)) {
        const op_id u = exchange_.producer(program_.messages()[m].tensor);
        if (counts(program_.messages()[m]) && worker(u) != worker(v) && position[u] >= needed[worker(u)]) {
          needed[worker(u)] = position[u] + 1;
          last[worker(u)] = u;
        }
      }
      for (std::size_t other = 0; other < needed.size(); ++other) {
        auto& reached = known[worker(v)][other];
        if (needed[other] > reached) {
          reached = needed[other];
          waits[v].push_back(last[other]);
        }
      }
    }
    made.first.assign(1, 0);
    for (const auto& of_op : waits) {
      made.op.insert(made.op.end(), of_op.begin(), of_op.end());
      made.first.push_back(static_cast<std::uint32_t>(made.op.size()));
    }
  }

  starpu_task* make_task(detail::op_call& call, std::span<const starpu_data_handle_t> tensors) const {
    starpu_task* const task = starpu_task_create();
    task->cl = models_ != nullptr ? &models_->codelet(call.op) : &session_->codelet();
    task->cl_arg = &call;
    task->execute_on_a_specific_worker = 1;
    task->workerid = static_cast<unsigned>(worker(call.op));
    if (!tensors.empty()) {
      name_buffers(*task, call.op, tensors);
    }
    return task;
  }

  void name_buffers(starpu_task& task, op_id v, std::span<const starpu_data_handle_t> tensors) const {
    const std::size_t most = exchange_.incoming(v).size() + exchange_.outgoing(v).size();
    if (most > STARPU_NMAXBUFS) { // StarPU frees them with the task
      task.dyn_handles = static_cast<starpu_data_handle_t*>(std::calloc(most, sizeof *task.dyn_handles));
      task.dyn_modes = static_cast<starpu_data_access_mode*>(std::calloc(most, sizeof *task.dyn_modes));
      if (task.dyn_handles == nullptr || task.dyn_modes == nullptr) {
        detail::discard(&task);
        throw std::bad_alloc{};
      }
    }
    const auto add = [&](tensor_id t, starpu_data_access_mode mode) {
      if (tensors[t] != nullptr) {
        STARPU_TASK_SET_HANDLE(&task, tensors[t], task.nbuffers);
        STARPU_TASK_SET_MODE(&task, mode, task.nbuffers);
        ++task.nbuffers;
      }
    };
    for (const auto m : exchange_.incoming(v)) {
      add(program_.messages()[m].tensor, STARPU_R);
    }
    for (const tensor_id t : exchange_.outgoing(v)) {
      add(t, STARPU_W);
    }
  }

  /// Waits for the last op of each worker, so for all.
  starpu_task* make_end(std::span<starpu_task* const> all) const {
    std::vector<starpu_task*> last(STARPU_NMAXWORKERS, nullptr);
    for (const op_id v : program_.sequence()) {
      last[worker(v)] = all[v];
    }
    std::erase(last, nullptr);
    starpu_task* const end = starpu_task_create();
    end->detach = 0;
    starpu_task_declare_deps_array(end, static_cast<unsigned>(last.size()), last.data());
    return end;
  }

  template <class Call>
  execute::run_report run(Call& call, const execute::run_options& options, const wait_lists& waits,
                          std::span<starpu_data_handle_t> tensors) {
    if (starpu_worker_get_id() >= 0) {
      throw error("starpu::executor: called from inside a task, whose worker would wait for itself");
    }
    execute::ongoing_run state{options, num_ops()};
    struct context {
      Call& call;
      execute::ongoing_run& state;
      const execute::program& program;
    } shared{call, state, program_};
    const auto run_op = [](void* c, op_id v, void** buffers) {
      auto& [kernel, now, p] = *static_cast<context*>(c);
      if (!now.must_end() && now.run_op(v, p.device(v), [&] { kernel(v, buffers); })) {
        now.add_finished(1);
      }
    };
    std::vector<detail::op_call> calls(num_ops());
    tasks made{num_ops()};
    for (const op_id v : ids(num_ops())) {
      calls[v] = models_ != nullptr ? models_->call_of(v) : detail::op_call{.op = v};
      calls[v].run = run_op;
      calls[v].context = &shared;
      made.all[v] = make_task(calls[v], tensors);
    }
    if (num_ops() > 0) {
      submit(made, waits, tensors);
    }
    return state.conclude();
  }

  /// Hands all tasks to StarPU and waits for them. Nothing here throws: what has a number must be submitted.
  void submit(tasks& made, const wait_lists& waits, std::span<starpu_data_handle_t> tensors) {
    for (const op_id v : program_.sequence()) {
      std::vector<starpu_task*> before;
      for (const op_id u : waits.of(v)) {
        before.push_back(made.all[u]);
      }
      starpu_task_declare_deps_array(made.all[v], static_cast<unsigned>(before.size()), before.data());
    }
    starpu_task* const end = make_end(made.all);
    session::orders next = session_->take_orders(count_);
    for (const op_id v : program_.sequence()) {
      starpu_task* const task = std::exchange(made.all[v], nullptr);
      task->workerorder = next[worker(v)]++;
      succeed(starpu_task_submit(task));
      if (!tensors.empty()) {
        release_after(v, tensors);
      }
    }
    succeed(starpu_task_submit(end));
    succeed(starpu_task_wait(end));
  }

  /// For calls that fail only for tasks that no worker can run, or that nobody may wait for.
  static void succeed([[maybe_unused]] int failed) { WEFT_ASSERT(failed == 0); }

  /// StarPU frees what no later op has to do with, as soon as the tasks are done that have.
  void release_after(op_id v, std::span<starpu_data_handle_t> tensors) const {
    const auto release = [&](tensor_id t) {
      if (exchange_.last_user(t) == v && tensors[t] != nullptr) {
        starpu_data_unregister_submit(std::exchange(tensors[t], nullptr));
      }
    };
    for (const auto m : exchange_.incoming(v)) {
      release(program_.messages()[m].tensor);
    }
    for (const tensor_id t : exchange_.outgoing(v)) {
      release(t);
    }
  }

  session* session_;
  const performance_models* models_;
  execute::program program_;
  detail::tensor_exchange exchange_;
  std::vector<int> workers_;   // by device
  session::orders count_ = {}; // ops by worker
  wait_lists all_waits_;
  wait_lists empty_waits_; // for messages that are no handles, since they have no bytes
};

} // namespace weft::starpu
