// SPDX-License-Identifier: BSL-1.0
/// Waiting strategies of ranks: polling, or blocking inside MPI.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>

namespace weft::mpi {

/// The way in which a rank waits for a message.
enum class waiting : std::uint8_t {
  /// It asks again and again: a deadline, a stop token or the end of another rank's process is noticed while it waits.
  polling,
  /// Inside of MPI, which may put it to sleep, and in which a simulator such as SMPI lets time pass. Deadlines and stop
  /// tokens are looked at between ops only, and that a rank is gone is noticed by those that are between ops. All ranks
  /// must do it, and have one device each at most.
  in_mpi,
};

} // namespace weft::mpi
