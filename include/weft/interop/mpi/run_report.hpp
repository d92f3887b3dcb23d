// SPDX-License-Identifier: BSL-1.0
/// The report of a run on several ranks, and its exceptions.
#pragma once

#include "weft/core/error.hpp"
#include "weft/execute/run_report.hpp"

#include <string>

namespace weft::mpi {

/// The report of a run on all ranks: status, `num_finished`, `failed`, `rank` and `message` are the same
/// everywhere. `exception` is, on the rank where an op threw, what it threw, and a `remote_error` elsewhere.
///
/// With `record`, times are seconds from when the first rank began, by the clock of rank 0. Rank 0's trace has
/// everything: every op with its device, and every transfer from its send to when the receiving rank noticed that it
/// was there. The other ranks' have what was done on them.
struct run_report : execute::run_report {
  int rank = -1;            ///< that ended the run early, or -1
  std::string message = {}; ///< one line that says why the run ended early; empty if it finished
  double clock_bound = 0;   ///< in a record, the times of different ranks are not farther apart than this, in seconds
};

/// Another rank's kernel threw; `what()` is what its exception said, and where.
struct remote_error : error {
  remote_error(const std::string& message, int by, op_id v) : error{message}, rank{by}, op{v} {}
  int rank;
  op_id op; ///< or none, if it was no kernel that threw
};

/// The process of a rank has ended, and with it the run and what MPI can do for the ranks that are left: they can save
/// what they have and end. Leaving the scope of the `session` ends them all.
struct lost_rank_error : error {
  lost_rank_error(const std::string& name, int which)
      : error{name + " is gone: it was killed or it crashed; the run cannot go on, and no other can begin"},
        rank{which} {}
  int rank;
};

} // namespace weft::mpi
