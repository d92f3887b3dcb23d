// SPDX-License-Identifier: BSL-1.0
/// Termination of a run on all ranks: who stops it, and the agreement on how it ended.
#pragma once

#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/detail/peer_watch.hpp"
#include "weft/interop/mpi/run_report.hpp"
#include "weft/interop/mpi/waiting.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weft::mpi::detail {

/// What a rank says when it has come to the end of a run.
struct rank_outcome {
  std::size_t num_finished = 0;
  bool is_complete = true; ///< its program came to its end
  bool may_call = false;   ///< it may still call for an end, until all have voted
  bool records = false;
  execute::run_status status = execute::run_status::finished; ///< why this rank ended the run; finished if it did not
  op_id failed = none;
  std::string what = {};
};

/// What all ranks have agreed on.
struct agreement {
  bool is_complete = true; ///< all programs came to their ends, and no message is under way
  bool records = false;    ///< a rank does
  std::size_t num_finished = 0;
  execute::run_status status = execute::run_status::finished;
  op_id failed = none;
  int rank = -1;
  std::string what = {};
};

/// Every rank has a receive posted all the time, with a tag of its own. A rank that must end a run **calls**: it sends
/// a few bytes to every other one. All look at their receive between ops and while they wait.
///
/// Then they **agree**, in every run, since nobody knows that a run is over before all are done. They add up who came
/// to its program's end. If not all did, or one might have called while it waited for that sum, they tell each other
/// why, and how many calls there were, so that each rank takes all of those that are for it before the next run. The
/// call of a run that somebody has already begun may be taken for one of this run: then one of this run is left for the
/// next, in which there is a call anyway.
///
/// All of that is polled, never waited for inside of MPI, so that a rank that is gone is noticed; unless
/// `waiting::in_mpi` is asked for.
class run_control {
public:
  /// All messages of the communicator with this tag are its own; the communicator must outlive it. Who has asked so
  /// many times for what it waits for gives way to other threads from then on.
  run_control(const communicator& all, int tag, peer_watch peers, std::uint32_t polls_before_yield, waiting how)
      : comm_{all}, tag_{tag}, peers_{std::move(peers)}, polls_before_yield_{polls_before_yield},
        waits_inside_{how == waiting::in_mpi}, calls_(static_cast<std::size_t>(comm_.size()), MPI_REQUEST_NULL),
        losses_{calls_}, stated_(static_cast<std::size_t>(comm_.size())) {
    listen();
  }
  ~run_control() {
    if (!session::is_over()) {
      if (hears_ != MPI_REQUEST_NULL) {
        MPI_Cancel(&hears_);
        MPI_Wait(&hears_, MPI_STATUS_IGNORE);
      }
      for (auto* requests : {&calls_, &losses_}) { // of a run that could not be ended
        for (auto& c : *requests) {
          if (c != MPI_REQUEST_NULL) {
            MPI_Request_free(&c);
          }
        }
      }
    }
  }
  run_control(const run_control&) = delete;
  run_control& operator=(const run_control&) = delete;

  /// Tells all other ranks to end the run. Once per run and rank, by any thread.
  void call() {
    has_called_ = true;
    tell(nobody_, calls_);
  }

  /// Whether another rank has called, or is gone. What all pending messages of this rank need to get on happens in
  /// here, too. May be asked by several threads at the same time.
  bool is_called() {
    if (!busy_.test_and_set(std::memory_order_acquire)) {
      int is_here = 0;
      const int code = MPI_Test(&hears_, &is_here, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS && is_here != 0) {
        hear();
      }
      busy_.clear(std::memory_order_release);
      check(code, "MPI_Test");
    }
    return has_heard();
  }

  /// Looks whether all processes are there; to be asked now and then. False if one is gone, which the others are told.
  bool all_there() {
    if (lost() < 0) {
      if (const int gone = peers_.ended(); gone >= 0 && lost_.exchange(gone, std::memory_order_relaxed) < 0) {
        gone_ = gone;
        tell(gone_, losses_);
      }
    }
    return lost() < 0;
  }
  int lost() const { return lost_.load(std::memory_order_relaxed); }
  void throw_if_lost() const {
    if (const int gone = lost(); gone >= 0) {
      throw lost_rank_error{peers_.name(gone), gone};
    }
  }

  /// Collective, when nothing of a run is done any more on this rank. `meanwhile()` is called while this rank waits for
  /// the others to come to their ends, and may call; it returns whether it did.
  template <class Meanwhile>
  agreement agree(rank_outcome mine, Meanwhile&& meanwhile) {
    enum : std::size_t { finished, incomplete, may_call, recording, size };
    auto& sum = sum_; // it may still be written to when a rank is lost
    sum = {static_cast<std::int64_t>(mine.num_finished), mine.is_complete ? 0 : 1, mine.may_call ? 1 : 0,
           mine.records ? 1 : 0};
    if (waits_inside_) {
      check(MPI_Allreduce(MPI_IN_PLACE, sum.data(), size, MPI_INT64_T, MPI_SUM, comm_.handle()), "MPI_Allreduce");
    } else {
      MPI_Request r = MPI_REQUEST_NULL;
      check(MPI_Iallreduce(MPI_IN_PLACE, sum.data(), size, MPI_INT64_T, MPI_SUM, comm_.handle(), &r), "MPI_Iallreduce");
      wait(r, [&] {
        if (mine.is_complete && !has_called_) {
          meanwhile(mine);
        }
        is_called();
      });
    }
    agreement all{.is_complete = sum[incomplete] == 0,
                  .records = sum[recording] > 0,
                  .num_finished = static_cast<std::size_t>(sum[finished])};
    if (sum[incomplete] + sum[may_call] > 0) {
      agree_on_reason(mine, all);
    }
    return all;
  }

  /// Completes a request while it looks after the other ranks. Throws `lost_rank_error`.
  template <class Poll>
  void wait(MPI_Request& r, Poll&& poll) {
    if (waits_inside_) {
      while (!wait_inside(r)) {
        throw_if_lost();
      }
      return;
    }
    double looked = MPI_Wtime();
    for (std::uint32_t n = 1;; ++n) {
      int done = 0;
      check(MPI_Test(&r, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) {
        return;
      }
      if (n % 16 == 0) {
        poll();
        give_way(n);
        if (const double now = MPI_Wtime(); now - looked > between_looks) {
          looked = now;
          all_there();
        }
        throw_if_lost();
      }
    }
  }
  void wait(MPI_Request& r) {
    wait(r, [] {});
  }

  bool waits_inside() const { return waits_inside_; }
  /// Whether a call has been heard already, maybe before this run began.
  bool has_heard() const { return num_heard_.load(std::memory_order_relaxed) > 0 || lost() >= 0; }
  /// Waits inside of MPI for a message or for a call; returns whether the message came. By one thread only.
  bool wait_inside(MPI_Request& r) {
    if (r == MPI_REQUEST_NULL) {
      return true;
    }
    std::array<MPI_Request, 2> either{r, hears_};
    int which = 0;
    const int code = MPI_Waitany(2, either.data(), &which, MPI_STATUS_IGNORE);
    r = either[0]; // also of a message that failed, which MPI has freed
    hears_ = either[1];
    check(code, "MPI_Waitany");
    if (which == 1) {
      hear();
    }
    return which != 1;
  }

  void give_way(std::uint32_t polls) const {
    if (polls > polls_before_yield_) {
      std::this_thread::yield();
    }
  }

  /// How often who waits asks whether all processes are there, in seconds.
  static constexpr double between_looks = 0.05;

private:
  struct statement {
    std::int32_t status;
    op_id failed;
    std::int32_t calls;
    std::int32_t length; ///< of what the exception said
  };

  void listen() {
    check(MPI_Irecv(&heard_, 1, MPI_INT, MPI_ANY_SOURCE, tag_, comm_.handle(), &hears_), "MPI_Irecv");
  }

  /// Takes the word that has come.
  void hear() {
    if (heard_ >= 0) {
      lost_.store(heard_, std::memory_order_relaxed);
    }
    num_heard_.fetch_add(1, std::memory_order_relaxed);
    listen();
  }

  /// Sends a word to all others that are there. An error is not looked at: a rank that cannot be reached is gone.
  void tell(const int& word, std::vector<MPI_Request>& requests) {
    for (int r = 0; r < comm_.size(); ++r) {
      if (r != comm_.rank() && r != word) {
        MPI_Isend(&word, 1, MPI_INT, r, tag_, comm_.handle(), &requests[static_cast<std::size_t>(r)]);
      }
    }
  }

  void agree_on_reason(const rank_outcome& mine, agreement& all) {
    const auto me = static_cast<std::size_t>(comm_.rank());
    stated_[me] = {static_cast<std::int32_t>(mine.status), mine.failed, has_called_ ? 1 : 0,
                   static_cast<std::int32_t>(mine.what.size())};
    MPI_Request r = MPI_REQUEST_NULL;
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, stated_.data(), sizeof(statement), MPI_BYTE, comm_.handle(), &r),
          "MPI_Iallgather");
    wait(r);
    int calls = has_called_ ? -1 : 0; // those for this rank
    for (const statement& s : stated_) {
      calls += s.calls;
    }
    for (double looked = MPI_Wtime(); num_heard_.load(std::memory_order_relaxed) < calls;) {
      if (waits_inside_) {
        check(MPI_Wait(&hears_, MPI_STATUS_IGNORE), "MPI_Wait");
        hear();
        continue;
      }
      is_called();
      std::this_thread::yield();
      if (const double now = MPI_Wtime(); now - looked > between_looks) {
        looked = now;
        all_there();
      }
      throw_if_lost();
    }
    num_heard_.fetch_sub(calls, std::memory_order_relaxed);
    if (has_called_) {
      for (auto& c : calls_) {
        wait(c);
      }
    }
    has_called_ = false;
    if (all.is_complete) {
      return; // the calls came too late to matter
    }
    decide(all);
    if (all.rank >= 0) {
      const auto who = static_cast<std::size_t>(all.rank);
      text_ = mine.what;
      text_.resize(static_cast<std::size_t>(stated_[who].length));
      check(MPI_Ibcast(text_.data(), stated_[who].length, MPI_CHAR, all.rank, comm_.handle(), &r), "MPI_Ibcast");
      wait(r);
      all.what = text_;
    }
  }

  /// The first rank on which something was thrown, or else the first one that called.
  void decide(agreement& all) const {
    for (std::size_t r = 0; r < stated_.size(); ++r) {
      using enum execute::run_status;
      const auto s = static_cast<execute::run_status>(stated_[r].status);
      if (s != finished && (all.rank < 0 || (s == failed && all.status != failed))) {
        all.status = s;
        all.failed = stated_[r].failed;
        all.rank = static_cast<int>(r);
      }
    }
  }

  const communicator& comm_;
  int tag_;
  peer_watch peers_;
  std::uint32_t polls_before_yield_;
  bool waits_inside_;
  std::array<std::int64_t, 4> sum_ = {};
  std::string text_;
  std::vector<MPI_Request> calls_, losses_; // by rank
  std::vector<statement> stated_;  // by rank
  MPI_Request hears_ = MPI_REQUEST_NULL;
  int heard_ = -1;
  const int nobody_ = -1;
  int gone_ = -1;
  bool has_called_ = false; // one thread writes it, and it is read when that is over
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::atomic<int> num_heard_{0};
  std::atomic<int> lost_{-1};
};

} // namespace weft::mpi::detail
