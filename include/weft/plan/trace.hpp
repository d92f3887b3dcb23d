// SPDX-License-Identifier: BSL-1.0
/// A trace: the recorded times of ops and transfers in a simulated or a real run.
#pragma once

#include "weft/core/ids.hpp"

#include <vector>

namespace weft {

/// One op that ran; times in seconds from the start of the run.
struct op_record {
  device_id device = none;
  double start = 0;
  double finish = 0;
  std::uint32_t threads = 1; ///< of its team
  friend constexpr bool operator==(const op_record&, const op_record&) = default;
};

/// One tensor that moved. The send occupies the sender's compute queue in `[send_start, send_finish)`, the transfer
/// the link in `[start, arrival)`. A transfer without a send has `send_start == send_finish`, the moment from which
/// it could begin.
struct transfer_record {
  tensor_id tensor = none;
  device_id from = none;
  device_id to = none;
  double send_start = 0;
  double send_finish = 0;
  double start = 0;
  double arrival = 0;
  friend constexpr bool operator==(const transfer_record&, const transfer_record&) = default;
};

/// The record of one run: every op (by op id) and every transfer (in no particular order).
struct trace {
  std::vector<op_record> ops = {};
  std::vector<transfer_record> transfers = {};
  double makespan = 0; ///< when the last op or transfer ended
  friend constexpr bool operator==(const trace&, const trace&) = default;
};

} // namespace weft
