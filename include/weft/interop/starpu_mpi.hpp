// SPDX-License-Identifier: BSL-1.0
/// Runs a plan by StarPU on several nodes: each device is a worker of a rank of MPI, and StarPU-MPI sends the tensors.
#pragma once

#include "weft/core/error.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/execute/ongoing_run.hpp"
#include "weft/interop/starpu/detail/tensor_exchange.hpp"
#include "weft/interop/starpu/session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <starpu_mpi.h>

namespace weft::starpu {

/// StarPU on all ranks of MPI: initialises both, or StarPU alone where the program has initialised MPI, and ends what
/// it has initialised. One at a time, on every rank. StarPU-MPI has a thread of its own, which takes a core if there
/// are more than one: MPI must allow MPI_THREAD_SERIALIZED, and more where the program itself calls MPI meanwhile.
class mpi_session {
public:
  mpi_session(int& argc, char**& argv, const session_options& options = {}) {
    int begun = 0;
    MPI_Initialized(&begun);
    int level = MPI_THREAD_MULTIPLE;
    if (begun != 0) {
      MPI_Query_thread(&level);
    }
    if (level < MPI_THREAD_SERIALIZED) {
      throw error("starpu: StarPU-MPI calls MPI from a thread of its own; initialise MPI with MPI_THREAD_SERIALIZED");
    }
    starpu_conf conf = session::configuration(options);
    if (const int failed = starpu_mpi_init_conf(&argc, &argv, begun == 0 ? 1 : 0, MPI_COMM_WORLD, &conf); failed != 0) {
      throw error("starpu: starpu_mpi_init_conf failed with " + std::to_string(failed));
    }
    local_.emplace(running{});
  }
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;
  ~mpi_session() {
    local_.reset();
    starpu_mpi_shutdown();
  }

  int rank() const { return starpu_mpi_world_rank(); }
  int size() const { return starpu_mpi_world_size(); }
  /// StarPU on this rank.
  session& local() { return *local_; }

  /// Numbers for so many messages, the same on all ranks if all ask in the same order.
  std::int64_t take_tags(std::size_t count) { return std::exchange(tag_, tag_ + static_cast<std::int64_t>(count)); }

private:
  std::optional<session> local_;
  std::int64_t tag_ = 1;
};

/// The mapping of a plan's devices to ranks and their workers.
struct distributed_options {
  /// The rank of each device. Empty: as many devices on each rank, the first ones on rank 0.
  std::vector<int> ranks = {};
};

/// Executes a plan on the ranks of MPI: all of them insert the same tasks (`starpu_mpi_task_insert`), each of which
/// runs on the rank of its device (`STARPU_EXECUTE_ON_NODE`), bound to a worker there (`STARPU_EXECUTE_ON_WORKER`) and
/// to its place in the plan's order (`STARPU_WORKER_ORDER`). Tensors belong to the rank that makes them; StarPU-MPI
/// sends each once to every rank that reads it.
/// ```
/// weft::starpu::mpi_session starpu{argc, argv};
/// weft::starpu::distributed_executor run{starpu, program};
/// weft::execute::memory memory{program, run.devices()}; // of this rank
/// auto report = run(kernel, memory);                     // on all ranks
/// ```
/// Tensors that devices send each other are data handles, also between devices of one rank. One that was not made,
/// because its op threw or the run was to end, says so to whoever reads it, by a byte behind its own. So nobody waits
/// for what does not come: ops that lack an input pass, and every rank learns, at the end, which op of which rank ended
/// the run. Ranks that lack nothing run on until then.
class distributed_executor {
public:
  /// To be called on all ranks with the same program and options. Throws `value_error` if a rank has too few workers.
  distributed_executor(mpi_session& s, execute::program p, const distributed_options& options = {})
      : session_{&s}, program_{std::move(p)}, exchange_{program_}, ranks_{ranks_of(s, program_, options)} {
    std::vector<std::size_t> on_rank(static_cast<std::size_t>(s.size()), 0);
    for (device_id d = 0; d < program_.num_devices(); ++d) {
      place_on_rank_.push_back(on_rank[static_cast<std::size_t>(ranks_[d])]++);
      if (ranks_[d] == s.rank()) {
        devices_.push_back(d);
      }
    }
    workers_ = s.local().workers_for(devices_.size());
    for (const op_id v : program_.sequence()) {
      if (is_here(v)) {
        ++count_[worker(v)];
      }
    }
  }

  const execute::program& program() const { return program_; }
  /// The devices of this rank; their workers, by StarPU's numbers, in the same order.
  std::span<const device_id> devices() const { return devices_; }
  std::span<const int> workers() const { return workers_; }
  int rank_of(device_id d) const { return ranks_[d]; }

  /// Runs every op once, on all ranks, each of which calls this with a memory of its devices, and returns when nothing
  /// runs any more on any. Status, failed op and number of ops are of all ranks, the trace of this one. Ranks where
  /// nothing was thrown get an `error` that tells the rank, the op and what it threw.
  template <must_be::data_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::memory& memory,
                                 const execute::run_options& options = {}) {
    detail::memory_cursors cursors{memory, program_, devices_};
    execute::ongoing_run state{options, program_.num_ops()};
    context<Kernel> shared{*this, kernel, memory, cursors, state, {}};
    std::vector<detail::op_call> calls(program_.num_ops());
    std::vector<starpu_data_handle_t> tensors(program_.num_tensors(), nullptr);
    const auto first_tag = session_->take_tags(program_.num_tensors());
    for (const tensor_id t : ids(program_.num_tensors())) {
      if (exchange_.is_sent(t)) {
        starpu_variable_data_register(&tensors[t], -1, 0, bytes(t) + 1);
        starpu_mpi_data_register(tensors[t], first_tag + t, ranks_[program_.buffers()[t].device]);
      }
    }
    session::orders next = session_->local().take_orders(count_);
    for (const op_id v : program_.sequence()) {
      calls[v] = {.run = run_op<Kernel>, .context = &shared, .op = v};
      insert(calls[v], tensors, next);
      release_after(v, tensors);
    }
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    return exchange(state);
  }

private:
  template <class Kernel>
  struct context {
    const distributed_executor& self;
    Kernel& kernel;
    const execute::memory& memory;
    detail::memory_cursors& cursors;
    execute::ongoing_run& state;
    std::atomic<bool> lacks_input;
  };
  /// The outcome of a run on a rank, as it is sent.
  struct rank_end {
    execute::run_status status = execute::run_status::finished;
    op_id failed = none;
    std::uint64_t num_finished = 0;
    std::array<char, 512> what = {};
  };

  static std::vector<int> ranks_of(const mpi_session& s, const execute::program& p,
                                   const distributed_options& options) {
    const auto n = p.num_devices();
    const auto size = static_cast<std::size_t>(s.size());
    std::vector<int> ranks = options.ranks;
    if (ranks.empty()) {
      for (std::size_t d = 0; d < n; ++d) {
        ranks.push_back(static_cast<int>(d * size / n));
      }
    }
    if (ranks.size() < n) {
      throw value_error("distributed_options.ranks", "has " + std::to_string(ranks.size()) + " ranks for " +
                                                       std::to_string(n) + " devices");
    }
    for (const int r : ranks) {
      if (r < 0 || r >= s.size()) {
        throw value_error("distributed_options.ranks", "names rank " + std::to_string(r) + " of " +
                                                         std::to_string(s.size()));
      }
    }
    return ranks;
  }

  std::size_t bytes(tensor_id t) const { return program_.buffers()[t].bytes; }
  int rank(op_id v) const { return ranks_[program_.device(v)]; }
  bool is_here(op_id v) const { return rank(v) == session_->rank(); }
  /// Of an op of this rank.
  std::size_t worker(op_id v) const { return static_cast<std::size_t>(workers_[place_on_rank_[program_.device(v)]]); }

  void insert(detail::op_call& call, std::span<const starpu_data_handle_t> tensors, session::orders& next) {
    const op_id v = call.op;
    std::vector<starpu_data_descr> buffers;
    for (const auto m : exchange_.incoming(v)) {
      buffers.push_back({tensors[program_.messages()[m].tensor], STARPU_R});
    }
    for (const tensor_id t : exchange_.outgoing(v)) {
      buffers.push_back({tensors[t], STARPU_W});
    }
    const bool here = is_here(v);
    const int on = here ? static_cast<int>(worker(v)) : 0;
    const unsigned order = here ? next[worker(v)]++ : 1;
    [[maybe_unused]] const int failed = starpu_mpi_task_insert(
      MPI_COMM_WORLD, &session_->local().codelet(), STARPU_EXECUTE_ON_NODE, rank(v), STARPU_EXECUTE_ON_WORKER, on,
      STARPU_WORKER_ORDER, order, STARPU_CL_ARGS_NFREE, &call, sizeof call, STARPU_DATA_MODE_ARRAY, buffers.data(),
      static_cast<int>(buffers.size()), 0);
    WEFT_ASSERT(failed == 0);
  }

  /// Frees tensors that no later op reads on all ranks, as soon as the tasks that read them are done.
  void release_after(op_id v, std::span<starpu_data_handle_t> tensors) const {
    const auto release = [&](tensor_id t) {
      if (exchange_.last_user(t) == v && tensors[t] != nullptr) {
        starpu_mpi_cache_flush(MPI_COMM_WORLD, tensors[t]);
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

  template <class Kernel>
  static void run_op(void* argument, op_id v, void** buffers) {
    auto& run = *static_cast<context<Kernel>*>(argument);
    const auto& p = run.self.program_;
    const auto& e = run.self.exchange_;
    const auto next = [&] { return reinterpret_cast<std::byte*>(STARPU_VARIABLE_GET_PTR(*buffers++)); };
    if (!run.lacks_input.load(std::memory_order_relaxed)) {
      run.cursors.advance_to(v);
    }
    for (const auto m : e.incoming(v)) {
      const message& x = p.messages()[m];
      const std::byte* const from = next();
      if (from[x.bytes] != made) {
        run.lacks_input.store(true, std::memory_order_relaxed);
      } else if (x.bytes > 0 && !run.lacks_input.load(std::memory_order_relaxed)) {
        std::memcpy(run.memory.bytes(x.target).data(), from, x.bytes);
      }
    }
    const bool fine = !run.lacks_input.load(std::memory_order_relaxed) && !run.state.must_end() &&
                      run.state.run_op(v, p.device(v), [&] { run.kernel(v, run.memory.of(v)); });
    run.state.add_finished(fine ? 1 : 0);
    for (const tensor_id t : e.outgoing(v)) {
      std::byte* const to = next();
      if (const auto from = run.memory.tensor(t); fine && !from.empty()) {
        std::memcpy(to, from.data(), from.size());
      }
      to[run.self.bytes(t)] = fine ? made : std::byte{0};
    }
  }

  /// All ranks tell each other how the run ended on them.
  execute::run_report exchange(execute::ongoing_run& state) {
    execute::run_report report = state.conclude();
    std::vector<rank_end> ends(static_cast<std::size_t>(session_->size()));
    auto& mine = ends[static_cast<std::size_t>(session_->rank())];
    mine.status = report.status;
    mine.failed = report.failed;
    mine.num_finished = report.num_finished;
    const std::string what = text_of(report.exception);
    std::copy_n(what.begin(), std::min(what.size(), mine.what.size() - 1), mine.what.begin());

    const auto first_tag = session_->take_tags(ends.size());
    std::vector<starpu_data_handle_t> handles(ends.size(), nullptr);
    for (std::size_t r = 0; r < ends.size(); ++r) {
      starpu_variable_data_register(&handles[r], STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&ends[r]),
                                    sizeof ends[r]);
      starpu_mpi_data_register(handles[r], first_tag + static_cast<std::int64_t>(r), static_cast<int>(r));
      starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, handles[r]);
    }
    for (const auto h : handles) {
      starpu_data_unregister(h); // waits for what comes
    }
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);

    report.num_finished = 0;
    for (std::size_t r = 0; r < ends.size(); ++r) {
      const rank_end& e = ends[r];
      report.num_finished += e.num_finished;
      if (e.status == execute::run_status::failed && report.failed == none) {
        report.failed = e.failed;
        report.exception = std::make_exception_ptr(
          error("rank " + std::to_string(r) + ": op " + std::to_string(e.failed) + ": " + e.what.data()));
      }
    }
    using enum execute::run_status;
    for (const auto status : {failed, cancelled, timed_out, finished}) {
      if (std::ranges::any_of(ends, [&](const rank_end& e) { return e.status == status; })) {
        report.status = status;
        break;
      }
    }
    if (report.num_finished == program_.num_ops()) {
      report.status = finished;
    }
    return report;
  }

  static std::string text_of(const std::exception_ptr& thrown) {
    if (!thrown) {
      return {};
    }
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "threw something that is not a std::exception";
    }
  }

  static constexpr std::byte made{1};

  mpi_session* session_;
  execute::program program_;
  detail::tensor_exchange exchange_;
  std::vector<int> ranks_;                 // by device
  std::vector<std::size_t> place_on_rank_; // by device, how many of its rank come before it
  std::vector<device_id> devices_;         // of this rank
  std::vector<int> workers_;               // of these
  session::orders count_ = {}; // ops of this rank by worker
};

} // namespace weft::starpu
