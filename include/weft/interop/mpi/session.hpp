// SPDX-License-Identifier: BSL-1.0
/// MPI from its initialisation to its end.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/mpi/call_error.hpp"

#include <exception>
#include <string>

#include <mpi.h>

namespace weft::mpi {

/// The threads of a process that may call MPI.
enum class threads : int {
  single = MPI_THREAD_SINGLE,         ///< there is one thread
  funneled = MPI_THREAD_FUNNELED,     ///< the one that made the session
  serialized = MPI_THREAD_SERIALIZED, ///< any, one at a time
  multiple = MPI_THREAD_MULTIPLE,     ///< any, at the same time
};

/// Initialises MPI, and finalises it at its end; where the program has initialised it already, it does neither. One per
/// process, on every rank.
/// ```
/// int main(int argc, char** argv) {
///   weft::mpi::session mpi{argc, argv};
///   const weft::mpi::communicator world;
///   …
/// }
/// ```
/// Finalising waits for all ranks. So when an exception leaves the scope of a session, others may wait for this rank
/// and it for them: the session then ends all ranks with `MPI_Abort`. Catch inside to say why.
class session {
public:
  /// Throws `error` if MPI cannot be called from as many threads.
  explicit session(threads wanted = threads::single) : session{nullptr, nullptr, wanted} {}
  session(int& argc, char**& argv, threads wanted = threads::single) : session{&argc, &argv, wanted} {}
  ~session() {
    if (!owns_ || is_over()) {
      return;
    }
    if (std::uncaught_exceptions() > exceptions_) {
      end_all_ranks(1);
    }
    MPI_Finalize();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Ends all ranks of the program, whatever they are doing; does not return. `status` is what the program returns.
  static void end_all_ranks(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

  /// Whether MPI was finalised, so that nothing of it may be called.
  static bool is_over() {
    int over = 0;
    MPI_Finalized(&over);
    return over != 0;
  }

private:
  session(int* argc, char*** argv, threads wanted) {
    int begun = 0;
    MPI_Initialized(&begun);
    int level = MPI_THREAD_SINGLE;
    if (begun != 0) {
      if (is_over()) {
        throw error("mpi: MPI was finalised, and cannot be initialised again");
      }
      check(MPI_Query_thread(&level), "MPI_Query_thread");
    } else {
      check(MPI_Init_thread(argc, argv, static_cast<int>(wanted), &level), "MPI_Init_thread");
      owns_ = true;
    }
    if (level < static_cast<int>(wanted)) {
      if (owns_) {
        MPI_Finalize();
      }
      throw error("mpi: MPI may be called by " + name_of(level) + ", but the program wants " +
                  name_of(static_cast<int>(wanted)) +
                  (begun != 0 ? "; ask MPI_Init_thread for that" : "; this MPI was built without that"));
    }
  }

  static std::string name_of(int level) {
    return level == MPI_THREAD_SINGLE       ? "the only thread (MPI_THREAD_SINGLE)"
           : level == MPI_THREAD_FUNNELED   ? "the main thread (MPI_THREAD_FUNNELED)"
           : level == MPI_THREAD_SERIALIZED ? "one thread at a time (MPI_THREAD_SERIALIZED)"
                                            : "all threads at once (MPI_THREAD_MULTIPLE)";
  }

  bool owns_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

} // namespace weft::mpi
