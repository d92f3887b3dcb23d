// SPDX-License-Identifier: BSL-1.0
/// A cost table of ops on ranks, from times measured there.
#pragma once

#include "weft/concurrency/profile.hpp"
#include "weft/core/error.hpp"
#include "weft/interop/mpi/communicator.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft::mpi {

/// The seconds of each op on each rank, as `cost::table` takes them: `seconds[op * ranks + rank]`. `runs[v]` are the
/// times that op v took on the calling rank, of which the median counts; empty if it was not measured here. A rank that
/// did not measure an op takes the median of the others' times, as much longer or shorter as it takes for the ops that
/// it did measure. Collective; every rank gives as many ops and gets the same table. Throws `value_error` if an op was
/// measured nowhere, or took no time. Complexity: O(ops × ranks).
inline std::vector<double> op_times(const communicator& all, std::span<const std::vector<double>> runs) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> mine;
  for (const auto& times : runs) {
    mine.push_back(times.empty() ? unknown : concurrency::median(times));
  }
  const auto by_rank = all.all_gather(std::span<const double>{mine});
  const std::size_t ranks = by_rank.size(), ops = runs.size();
  for (std::size_t r = 0; r < ranks; ++r) {
    if (by_rank[r].size() != ops) {
      throw value_error("op times", "rank " + std::to_string(r) + " has those of " + std::to_string(by_rank[r].size()) +
                                      " ops, this one of " + std::to_string(ops) + "; all must run the same graph");
    }
  }
  std::vector<double> usual; // of each op, over the ranks that measured it
  for (std::size_t v = 0; v < ops; ++v) {
    std::vector<double> known;
    for (const auto& times : by_rank) {
      if (!std::isnan(times[v])) {
        known.push_back(times[v]);
      }
    }
    if (known.empty()) {
      throw value_error("op times: op " + std::to_string(v), "was measured on no rank; run it on one at least");
    }
    usual.push_back(concurrency::median(std::move(known)));
    if (!(usual.back() > 0 && std::isfinite(usual.back()))) {
      throw value_error("op times: op " + std::to_string(v), "a measured time must be positive and finite");
    }
  }
  std::vector<double> table(ops * ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<double> ratios;
    for (std::size_t v = 0; v < ops; ++v) {
      if (!std::isnan(by_rank[r][v])) {
        ratios.push_back(by_rank[r][v] / usual[v]);
      }
    }
    const double slowness = ratios.empty() ? 1 : concurrency::median(std::move(ratios));
    for (std::size_t v = 0; v < ops; ++v) {
      table[v * ranks + r] = std::isnan(by_rank[r][v]) ? usual[v] * slowness : by_rank[r][v];
    }
  }
  return table;
}

} // namespace weft::mpi
