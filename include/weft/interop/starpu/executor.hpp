// SPDX-License-Identifier: BSL-1.0
/// Runs a plan by StarPU: each device is a worker, each op a task, each tensor a data handle.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/execute/run_state.hpp"
#include "weft/interop/starpu/performance.hpp"
#include "weft/interop/starpu/session.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <starpu.h>

namespace weft::starpu {

/// How a plan's devices become StarPU's workers.
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
/// With a memory, tensors are data handles of StarPU, which allocates them when their op runs and frees them after the
/// last one that reads them. Only what is to stay is in the memory: what ops keep, and the tensors that the program
/// keeps. Tensors of zero bytes, and without a memory all of them, are dependencies between tasks.
///
/// When a run ends early (an exception, a deadline, a cancel), the remaining tasks pass and do nothing. Several runs at
/// a time share the workers, one after another. What StarPU spends per task is in docs/starpu.md.
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
        workers_{s.workers_for(program_.num_devices(), options.workers)} {
    if (models_ != nullptr && models_->num_ops() != program_.num_ops()) {
      throw value_error("executor_options.models", "are of " + std::to_string(models_->num_ops()) +
                                                     " ops, the plan of " + std::to_string(program_.num_ops()));
    }
    bind_tensors();
    find_waits(all_waits_, [](byte_count) { return true; });
    find_waits(empty_waits_, [](byte_count bytes) { return bytes == 0; });
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

  /// The same, and kernels are given the memory of their op's tensors. Two runs at once need two memories. Throws
  /// `value_error` if the memory is of another program or lacks a device.
  template <std::same_as<execute::memory> Memory, must_be::data_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const Memory& memory, const execute::run_options& options = {}) {
    check(memory);
    std::vector<spans> scratch(starpu_worker_get_count());
    for (auto& s : scratch) {
      s.inputs.reserve(most_tensors_);
      s.outputs.reserve(most_tensors_);
    }
    auto call = [&](op_id v, void** buffers) {
      auto& s = scratch[static_cast<std::size_t>(starpu_worker_get_id())];
      fill(s, v, buffers);
      kernel(v, execute::op_buffers{s.inputs, s.outputs, memory.resident(v)});
    };
    handles tensors{program_.num_tensors()};
    register_tensors(tensors, memory);
    return run(call, options, empty_waits_, tensors.all);
  }

private:
  /// Ops that each op waits for, of other workers: op v's are `op[first[v]]` to `op[first[v + 1]]`.
  struct wait_lists {
    std::vector<std::uint32_t> first = {};
    std::vector<op_id> op = {};
    std::span<const op_id> of(op_id v) const { return std::span{op}.subspan(first[v], first[v + 1] - first[v]); }
  };
  struct spans {
    std::vector<std::span<const std::byte>> inputs;
    std::vector<std::span<std::byte>> outputs;
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
  tensor_id tensor(std::uint32_t b) const { return program_.buffers()[b].tensor; }
  byte_count bytes(tensor_id t) const { return program_.buffers()[t].bytes; }
  /// The program keeps it: its memory is never freed.
  bool is_kept(tensor_id t) const {
    const execute::buffer& b = program_.buffers()[t];
    return b.end == program_.of(b.device).size();
  }

  void bind_tensors() {
    producer_.assign(program_.num_tensors(), none);
    last_user_.assign(program_.num_tensors(), none);
    for (const op_id v : program_.sequence()) {
      for (const auto b : program_.inputs(v)) {
        last_user_[tensor(b)] = v;
      }
      for (const auto b : program_.outputs(v)) {
        producer_[b] = last_user_[b] = v;
      }
      most_tensors_ = std::max({most_tensors_, program_.inputs(v).size(), program_.outputs(v).size()});
      ++count_[worker(v)];
    }
  }

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
      session::orders needed = {};
      for (const auto b : program_.inputs(v)) {
        const op_id u = producer_[tensor(b)];
        if (counts(bytes(tensor(b))) && worker(u) != worker(v)) {
          needed[worker(u)] = std::max(needed[worker(u)], position[u] + 1);
        }
      }
      for (const auto b : program_.inputs(v)) {
        const op_id u = producer_[tensor(b)];
        auto& reached = known[worker(v)][worker(u)];
        if (worker(u) != worker(v) && needed[worker(u)] == position[u] + 1 && position[u] + 1 > reached) {
          reached = position[u] + 1;
          waits[v].push_back(u);
        }
      }
    }
    made.first.assign(1, 0);
    for (const auto& of_op : waits) {
      made.op.insert(made.op.end(), of_op.begin(), of_op.end());
      made.first.push_back(static_cast<std::uint32_t>(made.op.size()));
    }
  }

  void check(const execute::memory& memory) const {
    if (memory.program().fingerprint() != program_.fingerprint()) {
      throw value_error("the memory", "was made for another program than the executor");
    }
    for (const op_id v : program_.sequence()) {
      if (!memory.has(program_.device(v))) {
        throw value_error("the memory", "lacks device " + std::to_string(program_.device(v)) +
                                          "; make it for all devices");
      }
    }
  }

  void register_tensors(handles& tensors, const execute::memory& memory) const {
    for (const tensor_id t : ids(program_.num_tensors())) {
      if (bytes(t) == 0) {
        continue;
      }
      if (is_kept(t)) {
        memory.take(t);
        starpu_variable_data_register(&tensors.all[t], STARPU_MAIN_RAM,
                                      reinterpret_cast<std::uintptr_t>(memory.tensor(t).data()), bytes(t));
      } else {
        starpu_variable_data_register(&tensors.all[t], -1, 0, bytes(t));
      }
    }
  }

  /// What a kernel is given: StarPU has the buffers in the order in which `make_task` names them.
  void fill(spans& s, op_id v, void** buffers) const {
    s.inputs.clear();
    s.outputs.clear();
    const auto next = [&](tensor_id t) -> std::span<std::byte> {
      return bytes(t) == 0 ? std::span<std::byte>{}
                           : std::span{reinterpret_cast<std::byte*>(STARPU_VARIABLE_GET_PTR(*buffers++)), bytes(t)};
    };
    for (const auto b : program_.inputs(v)) {
      s.inputs.push_back(next(tensor(b)));
    }
    for (const auto b : program_.outputs(v)) {
      s.outputs.push_back(next(b));
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
    const auto inputs = program_.inputs(v), outputs = program_.outputs(v);
    const std::size_t most = inputs.size() + outputs.size();
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
    for (const auto b : inputs) {
      add(tensor(b), STARPU_R);
    }
    for (const auto b : outputs) {
      add(b, STARPU_W);
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
    execute::run_state state{options, num_ops()};
    struct context {
      Call& call;
      execute::run_state& state;
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

  /// StarPU frees what no later op reads, as soon as the tasks are done that do.
  void release_after(op_id v, std::span<starpu_data_handle_t> tensors) const {
    const auto release = [&](tensor_id t) {
      if (last_user_[t] == v && tensors[t] != nullptr && !is_kept(t)) {
        starpu_data_unregister_submit(std::exchange(tensors[t], nullptr));
      }
    };
    for (const auto b : program_.inputs(v)) {
      release(tensor(b));
    }
    for (const auto b : program_.outputs(v)) {
      release(b);
    }
  }

  session* session_;
  const performance_models* models_;
  execute::program program_;
  std::vector<int> workers_;     // by device
  std::vector<op_id> producer_;  // by tensor
  std::vector<op_id> last_user_; // by tensor, in the sequence
  std::size_t most_tensors_ = 0; // that an op reads or writes
  session::orders count_ = {};   // ops by worker
  wait_lists all_waits_;
  wait_lists empty_waits_; // for tensors that are no handles, since they have no bytes
};

} // namespace weft::starpu
