// SPDX-License-Identifier: BSL-1.0
/// Runs a plan on the ranks of MPI: every rank is a device, or several.
#pragma once

#include "weft/core/error.hpp"
#include "weft/execute/copies.hpp"
#include "weft/execute/crew.hpp"
#include "weft/execute/data_kernel.hpp"
#include "weft/execute/interpret.hpp"
#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/interop/mpi/clock_offsets.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/detail/introduction.hpp"
#include "weft/interop/mpi/detail/message_routes.hpp"
#include "weft/interop/mpi/detail/run_control.hpp"
#include "weft/interop/mpi/detail/run_record.hpp"
#include "weft/interop/mpi/run_report.hpp"
#include "weft/interop/mpi/shared_cores.hpp"
#include "weft/interop/mpi/waiting.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::mpi {

/// Executes a program on all ranks of a communicator. Device d is rank d, or the rank that `ranks[d]` says; a rank with
/// several devices has a thread for each, of which the caller's is one. Tensors go between ranks by non-blocking
/// messages of MPI and between the devices of one rank through its memory. Every tensor has the same bytes as if one
/// thread had run all ops.
/// ```
/// weft::mpi::session mpi{argc, argv};
/// const weft::execute::program program{workload, plan}; // the same on every rank
/// weft::mpi::executor run{weft::mpi::communicator{}, program};
/// weft::execute::memory memory{program, run.devices()};
/// const auto report = run(kernel, memory, {.seconds = 60, .record = true});
/// ```
/// **Progress.** Receives and sends begin where the program says and never wait. A rank that waits asks MPI for its
/// message again and again, and each time MPI moves all messages of the rank; so does a look between two ops, every 10
/// µs at most. While a kernel runs, MPI moves what it can by itself. The program's order cannot deadlock, however
/// little MPI keeps of messages that nobody is ready for (see `execute::program`). `waiting::in_mpi` waits in MPI
/// instead.
///
/// **Ends.** A kernel that throws, a deadline or a stop token on any rank ends the run on all ranks, which agree on
/// what they report; no op starts after a rank has heard of it. Messages that are then still to come are sent empty, so
/// that nothing of one run is left for the next. If the process of a rank ends, those on its host that wait or are
/// between two ops notice within 0.1 s and tell the others, and every run throws `lost_rank_error`; with
/// `waiting::in_mpi` only those between two ops do, and deadlines and stop tokens are looked at only there.
///
/// Memory: a request of MPI and 9 bytes per message of the program, 16 more in a run that records. One run at a time.
/// After the first run, running again allocates nothing here; what MPI does is its own affair.
class executor {
public:
  /// Collective. Makes a copy of the communicator. The program must outlive the executor, and be the same on all
  /// ranks, which is checked. Throws `value_error`, on all ranks, if it is not, if `ranks` has no rank for a device, if
  /// one rank has several devices but MPI may not be called by all threads (`threads::multiple`) or ranks are to wait
  /// inside of it, or if there are more messages between two ranks than MPI has tags.
  executor(const communicator& all, const execute::program& p, std::vector<int> ranks = {},
           waiting how = waiting::polling)
      : program_{&p}, ranks_{all.handle()}, rank_of_{std::move(ranks)}, copies_{p.messages().size()} {
    if (rank_of_.empty()) {
      rank_of_.resize(p.num_devices());
      std::iota(rank_of_.begin(), rank_of_.end(), 0);
    }
    std::string wrong = wrong_map();
    if (wrong.empty()) {
      for (device_id d = 0; d < p.num_devices(); ++d) {
        if (rank_of_[d] == ranks_.rank()) {
          devices_.push_back(d);
        }
      }
      routes_ = detail::message_routes(p, rank_of_, ranks_.rank());
      wrong = wrong_here(how);
    }
    auto processes = detail::introduce(ranks_, p.fingerprint(), rank_of_, how, wrong);
    const std::uint32_t polls_before_yield = is_crowded(processes) ? 64 : 20'000;
    control_ = std::make_unique<detail::run_control>(
      ranks_, ranks_.max_tag(), detail::peer_watch{std::move(processes), ranks_.rank()}, polls_before_yield,
      how);
    requests_.assign(p.messages().size(), MPI_REQUEST_NULL);
    next_.resize(devices_.size());
    crew_ = std::make_unique<execute::crew>(devices_.empty() ? 0u : static_cast<std::uint32_t>(devices_.size() - 1));
  }

  /// Those of this rank, for its memory; ascending.
  std::span<const device_id> devices() const { return devices_; }
  int rank_of(device_id d) const { return rank_of_[d]; }
  const execute::program& program() const { return *program_; }

  /// Runs every op once, each on its rank, and returns when no rank does anything of it any more. Collective. Options
  /// may differ between ranks: the first deadline and any stop token end the run, and one that records gets all to hand
  /// over what they have. Throws `lost_rank_error`, and `call_error` where MPI fails after the last op.
  template <must_be::data_kernel Kernel>
  run_report operator()(Kernel&& kernel, execute::memory& memory, const execute::run_options& options = {}) {
    if (is_running_.test_and_set(std::memory_order_acquire)) {
      throw error("mpi::executor: it is running already; a kernel cannot run the executor that runs it");
    }
    struct release {
      std::atomic_flag& flag;
      ~release() { flag.clear(std::memory_order_release); }
    } at_end{is_running_};
    control_->throw_if_lost();
    run_state state{options, memory, *control_};
    begin(state);
    auto work = [&](std::uint32_t i) { follow(i, kernel, state); };
    if (!devices_.empty() && !state.is_over()) {
      crew_->run(crew_->size(), work);
    }
    return conclude(state);
  }

private:
  /// The state that the threads of this rank share in a run.
  struct run_state {
    run_state(const execute::run_options& o, const execute::memory& m, detail::run_control& c)
        : options{o}, memory{m}, control{c}, can_stop{o.stop.stop_possible()},
          deadline{o.seconds < std::numeric_limits<double>::infinity() ? begin + o.seconds
                                                                       : std::numeric_limits<double>::infinity()} {}

    const execute::run_options& options;
    const execute::memory& memory;
    detail::run_control& control;
    const double begin = MPI_Wtime();
    const bool can_stop;
    const double deadline;
    std::atomic<bool> over{false};
    std::atomic<bool> claimed{false}; ///< somebody writes why
    std::atomic<std::size_t> num_finished{0}, num_complete{0};
    bool memory_fits = true;
    execute::run_status status = execute::run_status::finished;
    op_id failed = none;
    std::exception_ptr exception = {};

    /// Whether the options may end the run.
    bool can_end() const { return can_stop || deadline < std::numeric_limits<double>::infinity(); }
    bool is_over() const { return over.load(std::memory_order_relaxed); }
    void end(execute::run_status why, op_id v = none, std::exception_ptr thrown = {}) {
      if (!claimed.exchange(true, std::memory_order_relaxed)) {
        status = why;
        failed = v;
        exception = std::move(thrown);
        control.call();
      }
      over.store(true, std::memory_order_relaxed);
    }
    /// Looks at the stop token and the deadline; at `now`.
    void look_at_options(double now) {
      if (can_stop && options.stop.stop_requested()) {
        end(execute::run_status::cancelled);
      } else if (now >= deadline) {
        end(execute::run_status::timed_out);
      }
    }
    void look_at_others(int times) {
      for (; times > 0 && !is_over(); --times) {
        if (control.is_called()) {
          over.store(true, std::memory_order_relaxed);
        }
      }
    }
  };

  /// The channel for the messages of one device in a run.
  class channel {
  public:
    channel(executor& x, run_state& s) : x_{x}, s_{s}, reads_clock_{s.options.record || s.can_end()} {}

    void post(std::uint32_t m, std::span<std::byte> bytes) {
      if (x_.is_local(m)) {
        if (x_.copies_.post(m)) {
          copy(m);
        }
        return;
      }
      x_.begin_receive(m, bytes);
      if (s_.options.record) {
        pending_.push_back(m);
      }
    }
    void send(std::uint32_t m, std::span<const std::byte> bytes) {
      if (s_.options.record) {
        x_.record_.sent(m, MPI_Wtime());
      }
      if (!x_.is_local(m)) {
        x_.begin_send(m, bytes);
      } else if (x_.copies_.send(m)) {
        copy(m);
      }
    }
    bool wait(std::uint32_t m) {
      const bool inside = s_.control.waits_inside() && !x_.is_local(m);
      if (inside && s_.control.has_heard()) { // of this run, before it began here: nobody would wake this rank
        s_.over.store(true, std::memory_order_relaxed);
        return false;
      }
      for (std::uint32_t n = 1; inside ? !s_.control.wait_inside(x_.requests_[m]) : !is_done(m); ++n) {
        if ((inside || n % 16 == 0) && !go_on()) {
          return false;
        }
        s_.control.give_way(n);
      }
      if (s_.options.record && x_.rank_of_[x_.program_->messages()[m].to] == x_.ranks_.rank()) {
        x_.record_.arrived(m, MPI_Wtime());
      }
      return true;
    }

    /// Whether another op may start. Ops that take less than the clock are counted instead: up to 16 of them start
    /// before this looks at it, and at anything else, again.
    bool may_start() {
      if (!reads_clock_ && --uncounted_ > 0) {
        return !s_.is_over();
      }
      now_ = MPI_Wtime();
      s_.look_at_options(now_);
      if (now_ - looked_ > between_looks) {
        s_.look_at_others(now_ - looked_ > 1e-3 ? 16 : 1); // MPI may take one message a time; some have come by now
        looked_ = now_;
        counted_ = 1;
        look_at_processes();
      } else if (counted_ < 16) {
        counted_ *= 2;
      }
      uncounted_ = counted_;
      if (s_.options.record) {
        note_arrivals();
      }
      return !s_.is_over();
    }
    double now() const { return now_; }

  private:
    static constexpr double between_looks = 10e-6;

    void copy(std::uint32_t m) {
      execute::copies::copy(s_.memory, x_.program_->messages()[m]);
      if (s_.options.record) {
        x_.record_.arrived(m, MPI_Wtime());
      }
      x_.copies_.finish(m);
    }

    bool is_done(std::uint32_t m) {
      if (x_.is_local(m)) {
        return x_.copies_.is_done(m);
      }
      int done = 0;
      if (const int code = MPI_Test(&x_.requests_[m], &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) {
        throw call_error{"MPI_Test of a message to or from rank " + std::to_string(x_.routes_[m].peer), code};
      }
      return done != 0;
    }

    /// Whether to wait any longer.
    bool go_on() {
      now_ = MPI_Wtime();
      s_.look_at_options(now_);
      s_.look_at_others(1);
      look_at_processes();
      return !s_.is_over();
    }

    void look_at_processes() {
      if (now_ - looked_at_processes_ > detail::run_control::between_looks) {
        looked_at_processes_ = now_;
        if (!s_.control.all_there()) {
          s_.over.store(true, std::memory_order_relaxed);
        }
      }
    }

    void note_arrivals() {
      std::erase_if(pending_, [this](std::uint32_t m) {
        if (!is_done(m)) {
          return false;
        }
        x_.record_.arrived(m, now_);
        return true;
      });
    }

    executor& x_;
    run_state& s_;
    bool reads_clock_; ///< before each op
    int counted_ = 1;
    int uncounted_ = 0;
    double now_ = 0;
    double looked_ = 0;
    double looked_at_processes_ = s_.begin;
    std::vector<std::uint32_t> pending_; // receives, when it records
  };

  bool is_local(std::uint32_t m) const { return routes_[m].peer == ranks_.rank(); }

  void begin_receive(std::uint32_t m, std::span<std::byte> bytes) {
    requests_[m] = ranks_.begin_receive(bytes, routes_[m].peer, routes_[m].tag);
  }
  void begin_send(std::uint32_t m, std::span<const std::byte> bytes) {
    requests_[m] = ranks_.begin_send(bytes, routes_[m].peer, routes_[m].tag);
  }

  void begin(run_state& s) {
    std::fill(next_.begin(), next_.end(), std::size_t{0});
    record_.begin(*program_, s.options.record);
    std::string wrong;
    if (s.memory.program().fingerprint() != program_->fingerprint()) {
      wrong = "the memory belongs to another program";
    }
    for (const device_id d : devices_) {
      if (wrong.empty() && !s.memory.has(d)) {
        wrong = "the memory lacks device " + std::to_string(d) + "; make it for executor.devices()";
      }
    }
    if (!wrong.empty()) {
      s.memory_fits = false;
      s.end(execute::run_status::failed, none, std::make_exception_ptr(value_error("mpi::executor", wrong)));
      return;
    }
    for (const device_id d : devices_) {
      s.memory.release_all(d);
    }
    if (devices_.size() > 1) {
      copies_.reset();
    }
  }

  /// What the thread of this rank's i-th device does in a run.
  template <class Kernel>
  void follow(std::uint32_t i, Kernel& kernel, run_state& s) {
    channel c{*this, s};
    std::size_t count = 0;
    const auto run_op = [&](op_id v) {
      if (!c.may_start()) {
        return false;
      }
      const double start = c.now();
      bool fine = true;
      try {
        kernel(v, s.memory.of(v));
        ++count;
      } catch (...) {
        s.end(execute::run_status::failed, v, std::current_exception());
        fine = false;
      }
      if (s.options.record) {
        record_.op(v, start, MPI_Wtime());
      }
      return fine;
    };
    try {
      if (execute::interpret(*program_, devices_[i], s.memory, c, run_op, next_[i])) {
        s.num_complete.fetch_add(1, std::memory_order_relaxed);
      }
    } catch (...) {
      s.end(execute::run_status::failed, none, std::current_exception());
    }
    s.num_finished.fetch_add(count, std::memory_order_relaxed);
  }

  run_report conclude(run_state& s) {
    control_->throw_if_lost();
    detail::rank_outcome mine{.num_finished = s.num_finished.load(std::memory_order_relaxed),
                              .is_complete = s.memory_fits &&
                                             s.num_complete.load(std::memory_order_relaxed) == devices_.size(),
                              .may_call = s.can_end(),
                              .records = s.options.record,
                              .status = s.status,
                              .failed = s.failed,
                              .what = what(s.exception)};
    const auto all = control_->agree(mine, [&s](detail::rank_outcome& o) { // a rank that is done may still be stopped
      s.look_at_options(MPI_Wtime());
      o.status = s.status;
    });
    if (!all.is_complete) {
      drain(s);
    }
    run_report report;
    report.num_finished = all.num_finished;
    if (all.num_finished < program_->num_ops() || all.status == execute::run_status::failed) {
      report.status = all.status;
      report.failed = all.failed;
      report.rank = all.rank;
      report.message = message_of(all);
    }
    if (report.status == execute::run_status::failed) {
      report.exception = all.rank == ranks_.rank()
                           ? s.exception
                           : std::make_exception_ptr(remote_error{report.message, all.rank, all.failed});
    }
    if (all.records) {
      gather(s, report);
    }
    report.seconds = MPI_Wtime() - s.begin;
    return report;
  }

  /// Plays the messages of a run that was ended to their ends: those that were not sent are sent empty, and received.
  /// The contents of buffers after such a run mean nothing, so they may take what comes.
  void drain(run_state& s) {
    std::vector<std::vector<std::byte>> elsewhere; // where the memory is not this program's
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (const instruction& x : program_->of(devices_[i]).subspan(next_[i])) {
        if (x.what == instruction::kind::receive && !is_local(x.id)) {
          const message& m = program_->messages()[x.id];
          if (s.memory_fits) {
            s.memory.take(m.target);
            begin_receive(x.id, s.memory.bytes(m.target));
          } else {
            begin_receive(x.id, elsewhere.emplace_back(m.bytes));
          }
        } else if (x.what == instruction::kind::send && !is_local(x.id)) {
          begin_send(x.id, {});
        }
      }
    }
    for (auto& r : requests_) {
      if (r != MPI_REQUEST_NULL) {
        control_->wait(r);
      }
    }
  }

  void gather(const run_state& s, run_report& report) {
    auto before = std::exchange(clocks_, clock_offsets(ranks_, 16));
    if (before.empty()) {
      before = clocks_;
    }
    const auto me = static_cast<std::size_t>(ranks_.rank());
    const common_time time{before[me], clocks_[me]};
    const auto begins = ranks_.all_gather(time(s.begin));
    report.trace = record_.gather(ranks_, *program_, time, *std::min_element(begins.begin(), begins.end()));
    for (std::size_t r = 0; r < clocks_.size(); ++r) {
      report.clock_bound = std::max(report.clock_bound, common_time{before[r], clocks_[r]}.bound());
    }
  }

  static std::string what(const std::exception_ptr& e) {
    try {
      if (e) {
        std::rethrow_exception(e);
      }
    } catch (const std::exception& x) {
      return x.what();
    } catch (...) {
      return "an exception that is not a std::exception";
    }
    return {};
  }

  static std::string message_of(const detail::agreement& a) {
    const auto by = "rank " + std::to_string(a.rank);
    switch (a.status) {
    case execute::run_status::finished: break;
    case execute::run_status::failed:
      return (a.failed == none ? by : "op " + std::to_string(a.failed) + " on " + by) + ": " + a.what;
    case execute::run_status::cancelled: return "cancelled by " + by;
    case execute::run_status::timed_out: return "the deadline has passed on " + by;
    }
    return {};
  }

  std::string wrong_map() const {
    const auto devices = program_->num_devices();
    if (rank_of_.size() < devices) {
      return "gives the ranks of " + std::to_string(rank_of_.size()) + " devices; the program has " +
             std::to_string(devices);
    }
    for (std::size_t d = 0; d < rank_of_.size(); ++d) {
      if (rank_of_[d] < 0 || rank_of_[d] >= ranks_.size()) {
        return "has no rank " + std::to_string(rank_of_[d]) + " for device " + std::to_string(d) + ", only " +
               std::to_string(ranks_.size()) + (ranks_.size() == 1 ? " rank" : " ranks") +
               "; start more of them, or say the rank of each device";
      }
    }
    return {};
  }

  std::string wrong_here(waiting how) const {
    int level = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    if (devices_.size() > 1 && how == waiting::in_mpi) {
      return "has " + std::to_string(devices_.size()) +
             " devices, whose threads cannot all wait inside of MPI; let them poll: weft::mpi::waiting::polling";
    }
    if (devices_.size() > 1 && level < MPI_THREAD_MULTIPLE) {
      return "has " + std::to_string(devices_.size()) +
             " devices, each a thread that calls MPI; initialise MPI for that: weft::mpi::session mpi{argc, argv, "
             "weft::mpi::threads::multiple}";
    }
    for (const int most = ranks_.max_tag() - 1; const auto& r : routes_) {
      if (r.tag > most) {
        return "exchanges more messages with rank " + std::to_string(r.peer) + " than this MPI has tags for, " +
               std::to_string(most);
      }
    }
    return {};
  }

  /// Whether the devices of this host cannot all have a core, so that who waits should give way at once. Collective.
  bool is_crowded(std::span<const detail::peer_watch::process> all) const {
    const auto mine = allowed_cores();
    const auto by_rank = ranks_.all_gather(std::span<const int>{mine});
    std::vector<std::string> hosts;
    std::vector<std::vector<int>> cores;
    for (const int r : rank_of_) {
      hosts.push_back(all[static_cast<std::size_t>(r)].host);
      cores.push_back(by_rank[static_cast<std::size_t>(r)]);
    }
    const auto crowded = crowded_hosts(hosts, cores);
    return std::any_of(crowded.begin(), crowded.end(), [&](const crowded_host& h) {
      return h.name == all[static_cast<std::size_t>(ranks_.rank())].host;
    });
  }

  const execute::program* program_;
  communicator ranks_;       // for the messages of this executor alone
  std::vector<int> rank_of_; // by device
  std::vector<device_id> devices_;
  std::vector<detail::message_route> routes_; // by message
  std::unique_ptr<detail::run_control> control_;
  std::vector<MPI_Request> requests_; // by message
  std::vector<std::size_t> next_;     // by device of this rank, the instruction that it has come to
  execute::copies copies_;            // between devices of this rank
  std::unique_ptr<execute::crew> crew_;
  detail::run_record record_;
  std::vector<clock_offset> clocks_; // by rank
  std::atomic_flag is_running_ = ATOMIC_FLAG_INIT;
};

} // namespace weft::mpi
