// SPDX-License-Identifier: BSL-1.0
/// Clock offsets between ranks, so that their traces share one time axis.
#pragma once

#include "weft/interop/mpi/communicator.hpp"

#include <array>
#include <span>
#include <vector>

#include <mpi.h>

namespace weft::mpi {

/// The offset of a rank's clock from rank 0's, at some moment.
struct clock_offset {
  double seconds = 0; ///< to be added to the rank's time to have rank 0's
  double bound = 0;   ///< the truth is not farther than this from `seconds`
  double at = 0;      ///< when that was, by the rank's clock
};

/// The clock that MPI gives, in seconds.
struct wall_clock {
  double operator()() const { return MPI_Wtime(); }
};

/// The offset of every rank to rank 0, by rank; rank 0's is 0. Collective. Rank 0 asks one rank after the other for its
/// time, `trips` times. Its answer lies between question and answer by rank 0's clock, so the middle is wrong by
/// half the round trip at most; the quickest trip counts. `clock` returns seconds and may be any that does not go back
/// and whose rate is nearly that of real time, such as `std::chrono::steady_clock`. Source: Cristian, *Probabilistic
/// clock synchronization*, Distributed Computing 3, 1989.
template <class Clock = wall_clock>
std::vector<clock_offset> clock_offsets(const communicator& all, int trips = 64, Clock clock = {}) {
  constexpr int tag = 0;
  std::vector<clock_offset> offsets(static_cast<std::size_t>(all.size()));
  double theirs = 0;
  const auto theirs_bytes = std::as_writable_bytes(std::span{&theirs, 1});
  if (all.rank() == 0) {
    for (int r = 1; r < all.size(); ++r) {
      clock_offset& best = offsets[static_cast<std::size_t>(r)];
      for (int trip = 0; trip < trips; ++trip) {
        const double asked = clock();
        all.send({}, r, tag);
        all.receive(theirs_bytes, r, tag);
        const double answered = clock();
        if (const double bound = (answered - asked) / 2; trip == 0 || bound < best.bound) {
          best = {asked + bound - theirs, bound, theirs};
        }
      }
    }
  } else {
    for (int trip = 0; trip < trips; ++trip) {
      all.receive({}, 0, tag);
      theirs = clock();
      all.send(theirs_bytes, 0, tag);
    }
  }
  all.broadcast(offsets);
  return offsets;
}

/// From a rank's time to rank 0's, by offsets found before and after what was timed: between them the clocks drift
/// apart evenly.
class common_time {
public:
  explicit common_time(clock_offset only) : common_time{only, only} {}
  common_time(clock_offset before, clock_offset after) : before_{before}, after_{after} {}

  double operator()(double local) const { return local + before_.seconds + drift() * (local - before_.at); }
  /// By how many seconds per second rank 0's clock is faster.
  double drift() const {
    const double passed = after_.at - before_.at;
    return passed > 0 ? (after_.seconds - before_.seconds) / passed : 0;
  }
  /// A bound on the error at either end, and so between them.
  double bound() const { return before_.bound > after_.bound ? before_.bound : after_.bound; }

private:
  clock_offset before_;
  clock_offset after_;
};

} // namespace weft::mpi
