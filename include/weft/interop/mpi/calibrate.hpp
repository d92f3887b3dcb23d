// SPDX-License-Identifier: BSL-1.0
/// Measures how the ranks of a program are connected, as a platform.
#pragma once

#include "weft/interop/mpi/calibration.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/detail/calibrator.hpp"
#include "weft/platform/platform.hpp"

#include <string>

namespace weft::mpi {

namespace detail {

/// Says nothing.
struct silent {
  void operator()(const std::string&) const {}
};

} // namespace detail

/// Measures latencies and bandwidths between ranks, and what they share, as a platform: rank r is device r, and is on
/// every rank what that rank says in `mine`. Collective; every rank returns the same.
///
/// Ranks of a host are a group, and so are hosts whose latencies tell them apart from others (`levels_by_distance`). On
/// each level some pairs of ranks send messages of several sizes to and fro, one pair at a time; latency and
/// bandwidth are the medians of what fits them (`fit_link`). Then several transfers run at once: all that leave a rank
/// or a group, all that enter it, and all that pass through it. Where they get less together than each would alone,
/// they share a link of what they got (`tree_network`). Directions of a link are measured apart.
///
/// Times vary with what else runs on hosts and network: measure with ranks placed and bound as the program's will be.
/// `progress` is called on rank 0 with a line before each measurement. Throws `call_error` when MPI fails, and
/// `value_error` for options that make no sense.
template <class Progress = detail::silent>
calibration calibrate(const communicator& all, const device& mine = {}, const calibration_options& options = {},
                      Progress progress = {}) {
  return detail::calibrator<Progress>{all, options, progress}.run(mine);
}

} // namespace weft::mpi
