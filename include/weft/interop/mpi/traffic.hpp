// SPDX-License-Identifier: BSL-1.0
/// Messages that are sent to be timed: to and fro between two ranks, and from many to many at once.
#pragma once

#include "weft/core/random.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/rank_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

namespace weft::mpi {

/// The seconds of a transfer one way: half of each of some round trips between two ranks, after one that does not
/// count. Collective; every rank learns the times. Ranks that do not take part wait for those.
inline std::vector<double> ping_pong(const communicator& all, std::uint32_t a, std::uint32_t b, std::size_t bytes,
                                     int trips) {
  constexpr int tag = 1;
  const int one = static_cast<int>(a), other = static_cast<int>(b);
  std::vector<double> seconds;
  if (all.rank() == one || all.rank() == other) {
    std::vector<std::byte> data(bytes);
    for (int trip = 0; trip <= trips; ++trip) {
      const double begin = MPI_Wtime();
      if (all.rank() == one) {
        all.send(data, other, tag);
        all.receive(data, other, tag);
        seconds.push_back((MPI_Wtime() - begin) / 2);
      } else {
        all.receive(data, one, tag);
        all.send(data, one, tag);
      }
    }
  }
  if (all.rank() == one) {
    seconds.erase(seconds.begin());
  }
  all.broadcast(seconds, one);
  return seconds;
}

/// A transfer from one rank to another.
struct flow {
  std::uint32_t from;
  std::uint32_t to;
  friend constexpr bool operator==(const flow&, const flow&) = default;
};

/// The seconds that flows take which begin at once, each of as many bytes, until the last one has ended. Collective.
inline double seconds_at_once(const communicator& all, std::span<const flow> flows, std::size_t bytes) {
  constexpr int tag = 2;
  const auto me = static_cast<std::uint32_t>(all.rank());
  const std::vector<std::byte> sent(bytes); // by all flows from here
  std::vector<std::vector<std::byte>> received;
  std::vector<MPI_Request> requests;
  for (const flow& f : flows) {
    if (f.to == me) {
      received.emplace_back(bytes);
      requests.push_back(all.begin_receive(received.back(), static_cast<int>(f.from), tag));
    }
  }
  all.barrier();
  const double begin = MPI_Wtime();
  for (const flow& f : flows) {
    if (f.from == me) {
      requests.push_back(all.begin_send(sent, static_cast<int>(f.to), tag));
    }
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  const auto seconds = all.all_gather(MPI_Wtime() - begin);
  return *std::max_element(seconds.begin(), seconds.end());
}

/// At most `most` of the numbers 0 to n - 1, evenly over them.
inline std::vector<std::uint32_t> spread(std::size_t n, std::size_t most) {
  const std::size_t count = std::min(n, most);
  std::vector<std::uint32_t> chosen(count);
  for (std::size_t i = 0; i < count; ++i) {
    chosen[i] = static_cast<std::uint32_t>(i * n / count);
  }
  return chosen;
}

/// At most `most` pairs of ranks whose smallest group is of the level, drawn if there are more.
inline std::vector<flow> pairs_of_level(const rank_tree& tree, std::size_t level, std::size_t most, rng& random) {
  std::vector<flow> pairs;
  const auto n = static_cast<std::uint32_t>(tree.num_ranks());
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      if (tree.level_of(a, b) == level) {
        pairs.push_back({a, b});
      }
    }
  }
  for (std::size_t i = 0; i < most && i + 1 < pairs.size(); ++i) {
    std::swap(pairs[i], pairs[i + random.below(static_cast<std::uint32_t>(pairs.size() - i))]);
  }
  pairs.resize(std::min(pairs.size(), most));
  return pairs;
}

/// Flows that have the way out of a group (or into it) in common, and as little else as possible: from its ranks to
/// other ranks of the next larger group, in turn to each part of that. Of a single rank to or from eight others at
/// most; else no rank has two. Empty if the group is all.
inline std::vector<flow> port_flows(const rank_tree& tree, std::size_t level, std::uint32_t group, bool out,
                                    std::size_t most) {
  const auto members = tree.members(level, group);
  std::vector<std::uint32_t> others;
  for (std::size_t above = level + 1; above < tree.num_levels() && others.empty(); ++above) {
    std::vector<std::pair<std::size_t, std::uint32_t>> by_turn; // how many of its part came before
    std::vector<std::size_t> before(tree.num_groups(above - 1), 0);
    for (const auto r : tree.members(above, tree.group_of(above, members.front()))) {
      if (tree.group_of(level, r) != group) {
        by_turn.emplace_back(before[tree.group_of(above - 1, r)]++, r);
      }
    }
    std::sort(by_turn.begin(), by_turn.end());
    for (const auto& [turn, r] : by_turn) {
      others.push_back(r);
    }
  }
  std::vector<flow> flows;
  const std::size_t count = std::min(others.size(), level == 0 ? std::size_t{8} : members.size());
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    const auto mine = members[level == 0 ? 0 : i];
    flows.push_back(out ? flow{mine, others[i]} : flow{others[i], mine});
  }
  return flows;
}

/// Flows through a group: each of its ranks sends to one of the next part of the group, the last part to the first.
/// Empty if the group has one part.
inline std::vector<flow> inside_flows(const rank_tree& tree, std::size_t level, std::uint32_t group, std::size_t most) {
  std::vector<std::vector<std::uint32_t>> parts;
  std::vector<std::uint32_t> seen;
  for (const auto r : tree.members(level, group)) {
    const auto part = tree.group_of(level - 1, r);
    if (std::find(seen.begin(), seen.end(), part) == seen.end()) {
      seen.push_back(part);
      parts.push_back(tree.members(level - 1, part));
    }
  }
  std::vector<flow> all, flows;
  for (std::size_t p = 0; parts.size() > 1 && p < parts.size(); ++p) {
    const auto& next = parts[(p + 1) % parts.size()];
    for (std::size_t i = 0; i < std::min(parts[p].size(), next.size()); ++i) {
      all.push_back({parts[p][i], next[i]});
    }
  }
  for (const auto i : spread(all.size(), most)) {
    flows.push_back(all[i]);
  }
  return flows;
}

} // namespace weft::mpi
