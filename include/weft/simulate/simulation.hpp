// SPDX-License-Identifier: BSL-1.0
/// The summary of a run.
#pragma once

#include "weft/core/ids.hpp"

#include <cstdint>

namespace weft {

/// The result of a simulated run.
struct simulation {
  double makespan = 0;           ///< seconds until the last op or transfer ended; infinite if ops never ran
  byte_count transfer_bytes = 0; ///< Σ over transfers of the tensor's size
  std::uint64_t num_events = 0;  ///< completions of ops and of sends, and arrivals
  bool complete = true;          ///< false if a static order contradicts the graph, so that ops never ran
};

} // namespace weft
