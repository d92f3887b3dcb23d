// SPDX-License-Identifier: BSL-1.0
/// Source, destination and tag of each of a program's messages.
#pragma once

#include "weft/execute/program.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::mpi::detail {

/// What one rank knows of each message of a program.
struct message_route {
  int peer = -1; ///< the rank at its other end, which may be this one; -1 if the message is none of this rank's
  int tag = 0;
};

/// Tags count the messages from one rank to another, over all their devices, from 0: of two messages that may be under
/// way between the same ranks, each has its own.
inline std::vector<message_route> message_routes(const execute::program& p, std::span<const int> rank_of, int me) {
  std::vector<message_route> routes(p.messages().size());
  std::vector<int> sent(rank_of.empty() ? 0 : static_cast<std::size_t>(std::ranges::max(rank_of)) + 1, 0);
  auto received = sent;
  for (const auto m : ids(routes.size())) {
    const int from = rank_of[p.messages()[m].from], to = rank_of[p.messages()[m].to];
    if (from == me) {
      routes[m] = {to, sent[static_cast<std::size_t>(to)]++};
    } else if (to == me) {
      routes[m] = {from, received[static_cast<std::size_t>(from)]++};
    }
  }
  return routes;
}

} // namespace weft::mpi::detail
