// SPDX-License-Identifier: BSL-1.0
/// Collectives as messages between ranks, and the time that they take on links that are all alike.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::parallel {

/// The algorithm of a collective.
enum class collective_algorithm : std::uint8_t {
  ring,         ///< each rank sends to the next one only, a chunk per step
  tree,         ///< binomial: the ranks that have something double with each step
  hierarchical, ///< rings within groups, such as nodes, and rings of the ranks with the same place in each
  direct,       ///< each rank sends a part to each other one, which adds up its own, and sends the sum to all
  one_shot,     ///< each rank sends all that it has to each other one
};

constexpr std::string_view to_string(collective_algorithm a) {
  switch (a) {
  case collective_algorithm::ring: return "ring";
  case collective_algorithm::tree: return "tree";
  case collective_algorithm::hierarchical: return "hierarchical";
  case collective_algorithm::direct: return "direct";
  case collective_algorithm::one_shot: break;
  }
  return "one-shot";
}

/// A message of a collective: what `from` has of a chunk, or had of it at first, goes to `to`, which adds it to its own
/// or takes it instead.
struct message {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunk = 0;
  bool adds = false;
  bool of_first = false; ///< sends what `from` had before the collective
  friend bool operator==(const message&, const message&) = default;
};

/// A collective among `ranks` ranks, each of which has a vector cut into `chunks` parts of equal size. A message sends
/// what the earlier ones in the list left at its sender; messages that do not depend on each other run at once.
struct collective {
  std::uint32_t ranks = 1;
  std::uint32_t chunks = 1;
  std::vector<message> messages = {};
  friend bool operator==(const collective&, const collective&) = default;
};

namespace detail {

/// In p − 1 steps, rank r of a ring sends chunk first + r − step, where `rank(r)` and `chunk(c)` say which those are.
template <class Rank, class Chunk>
void pass_around(collective& c, std::uint32_t p, std::uint32_t first, bool adds, Rank rank, Chunk chunk) {
  for (std::uint32_t step = 0; step + 1 < p; ++step) {
    for (std::uint32_t r = 0; r < p; ++r) {
      c.messages.push_back({rank(r), rank((r + 1) % p), chunk((first + r + p - step) % p), adds});
    }
  }
}

/// A message from each rank to each other one, of chunk `chunk(from, to)`.
template <class Chunk>
collective each_to_each(collective c, bool adds, Chunk chunk) {
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    for (std::uint32_t step = 1; step < c.ranks; ++step) {
      const std::uint32_t to = (r + step) % c.ranks;
      c.messages.push_back({r, to, chunk(r, to), adds});
    }
  }
  return c;
}

} // namespace detail

/// A reduce-scatter, after which rank r has the sum of all ranks' chunks r + 1 (the last one chunk 0).
inline collective ring_reduce_scatter(std::uint32_t p) {
  collective c{p, p};
  const auto same = [](std::uint32_t x) { return x; };
  detail::pass_around(c, p, 0, true, same, same);
  return c;
}

/// An all-gather: from rank r, which has chunk r + 1 (the last one chunk 0), all ranks get all chunks.
inline collective ring_all_gather(std::uint32_t p) {
  collective c{p, p};
  const auto same = [](std::uint32_t x) { return x; };
  detail::pass_around(c, p, 1, false, same, same);
  return c;
}

/// All ranks get the sums of all.
/// Source: Patarasuk and Yuan, *Bandwidth optimal all-reduce algorithms for clusters of workstations*, Journal of
/// Parallel and Distributed Computing 69(2), 2009.
inline collective ring_all_reduce(std::uint32_t p) {
  auto c = ring_reduce_scatter(p);
  const auto rest = ring_all_gather(p);
  c.messages.insert(c.messages.end(), rest.messages.begin(), rest.messages.end());
  return c;
}

/// The two halves of an all-reduce: the messages after which the ranks of each group, which follow each other, have a
/// part of all sums each, and those that bring the parts of a group to all of its ranks.
struct all_reduce_halves {
  collective scatter = {}, gather = {};
  std::uint32_t group = 1;               ///< the ranks of one
  std::vector<std::uint32_t> owner = {}; ///< by chunk: the place in a group of the rank that has its sum in between

  bool owns(std::uint32_t rank, std::uint32_t chunk) const { return rank % group == owner[chunk]; }
};

/// The halves of an all-reduce in groups of so many ranks (0: of all). Throws `value_error` if groups do not divide the
/// ranks, or some rank has no part in between. Complexity: linear.
inline all_reduce_halves halves_of(const collective& all_reduce, std::uint32_t group = 0) {
  group = group == 0 ? all_reduce.ranks : group;
  if (all_reduce.ranks % group != 0) {
    throw value_error("all-reduce", std::to_string(all_reduce.ranks) + " ranks are not in groups of " +
                                      std::to_string(group) + "; give a number that divides them");
  }
  const auto& messages = all_reduce.messages;
  const auto is_first = [&](const message& m) { return m.adds || m.from / group != m.to / group; };
  const auto middle = std::find_if(messages.rbegin(), messages.rend(), is_first).base();
  all_reduce_halves made{.scatter = {all_reduce.ranks, all_reduce.chunks, {messages.begin(), middle}},
                         .gather = {all_reduce.ranks, all_reduce.chunks, {middle, messages.end()}},
                         .group = group,
                         .owner = std::vector<std::uint32_t>(all_reduce.chunks, none)};
  std::vector<bool> owns(group, false);
  for (const auto& m : made.gather.messages) {
    auto& owner = made.owner[m.chunk];
    owner = owner == none ? m.from % group : owner;
    owns[owner] = true;
  }
  if (std::find(owns.begin(), owns.end(), false) != owns.end()) {
    throw value_error("all-reduce", "after its additions some rank has no part, so that updates cannot be sharded; "
                                    "take a ring, or for groups rings within and between them");
  }
  return made;
}

/// Rank 0 gets the sum of all, which then goes to all, both along a binomial tree, in one chunk.
/// Source: Thakur, Rabenseifner, Gropp, *Optimization of collective communication operations in MPICH*, International
/// Journal of High Performance Computing Applications 19(1), 2005.
inline collective tree_all_reduce(std::uint32_t p) {
  collective c{p, 1};
  std::uint32_t reach = 1;
  for (; reach < p; reach *= 2) {
    for (std::uint32_t r = 0; r + reach < p; r += 2 * reach) {
      c.messages.push_back({r + reach, r, 0, true});
    }
  }
  while ((reach /= 2) > 0) {
    for (std::uint32_t r = 0; r + reach < p; r += 2 * reach) {
      c.messages.push_back({r, r + reach, 0, false});
    }
  }
  return c;
}

/// All ranks get the sums of all: a reduce-scatter within each of the groups, which are of `per_group` ranks that
/// follow each other; an all-reduce of each part between the groups; and an all-gather within them.
/// Source: Jia et al., *Highly Scalable Deep Learning Training System with Mixed-Precision*, 2018, section 3.3.
/// Precondition: `per_group` divides the number of ranks.
inline collective hierarchical_all_reduce(std::uint32_t p, std::uint32_t per_group) {
  WEFT_ASSERT(per_group > 0 && p % per_group == 0);
  const std::uint32_t groups = p / per_group;
  collective c{p, p}; // chunk k of a group's part j is number j · groups + k
  const auto within = [&](std::uint32_t first, bool adds) {
    for (std::uint32_t k = 0; k < groups; ++k) {
      for (std::uint32_t g = 0; g < groups; ++g) {
        detail::pass_around(
          c, per_group, first, adds, [&](std::uint32_t r) { return g * per_group + r; },
          [&](std::uint32_t part) { return part * groups + k; });
      }
    }
  };
  within(0, true);
  for (const bool adds : {true, false}) {
    for (std::uint32_t r = 0; r < per_group; ++r) { // which has part r + 1
      detail::pass_around(
        c, groups, adds ? 0 : 1, adds, [&](std::uint32_t g) { return g * per_group + r; },
        [&](std::uint32_t k) { return (r + 1) % per_group * groups + k; });
    }
  }
  within(1, false);
  return c;
}

/// The sizes of groups of ranks that follow each other for which `hierarchical_all_reduce` is worth a try, as
/// `bandwidth(r, s)` is larger within them than between them: from the first rank to those of its group than to others,
/// or between all neighbours of a group than between all neighbours of two. Complexity: O(ranks · divisors).
template <class Bandwidth>
std::vector<std::uint32_t> ranks_per_group(std::uint32_t ranks, Bandwidth bandwidth) {
  double fastest = 0; // from the first one
  for (std::uint32_t r = 1; r < ranks; ++r) {
    fastest = std::max(fastest, bandwidth(0u, r));
  }
  std::uint32_t near_first = 1;
  while (near_first < ranks && bandwidth(0u, near_first) > 0.9 * fastest) {
    ++near_first;
  }
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 2; size <= ranks / 2; ++size) {
    if (ranks % size != 0) {
      continue;
    }
    double within = std::numeric_limits<double>::infinity(), between = 0;
    for (std::uint32_t r = 1; r < ranks; ++r) {
      const double next = bandwidth(r - 1, r);
      if (r % size != 0) {
        within = std::min(within, next);
      } else {
        between = std::max(between, next);
      }
    }
    if (size == near_first || between < 0.9 * within) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

/// `ring_reduce_scatter` in one step, in which each rank sends to all others.
inline collective direct_reduce_scatter(std::uint32_t p) {
  return detail::each_to_each({p, p}, true, [p](std::uint32_t, std::uint32_t to) { return (to + 1) % p; });
}

/// `ring_all_gather` in one step, in which each rank sends to all others.
inline collective direct_all_gather(std::uint32_t p) {
  return detail::each_to_each({p, p}, false, [p](std::uint32_t from, std::uint32_t) { return (from + 1) % p; });
}

/// All ranks get the sums of all in two steps.
inline collective direct_all_reduce(std::uint32_t p) {
  auto c = direct_reduce_scatter(p);
  const auto rest = direct_all_gather(p);
  c.messages.insert(c.messages.end(), rest.messages.begin(), rest.messages.end());
  return c;
}

/// All ranks get the sums of all in one step, for which each sends all that it has to each other one.
inline collective one_shot_all_reduce(std::uint32_t p) {
  auto c = detail::each_to_each({p, 1}, true, [](std::uint32_t, std::uint32_t) { return 0u; });
  for (auto& m : c.messages) {
    m.of_first = true;
  }
  return c;
}

/// Each rank sends another piece to each other one: rank r has chunks r · p to r · p + p − 1, of which number k goes to
/// rank k.
inline collective all_to_all(std::uint32_t p) {
  return detail::each_to_each({p, p * p}, false, [p](std::uint32_t from, std::uint32_t to) { return from * p + to; });
}

/// The time of an all-reduce of so many bytes among p ranks whose links are all alike, without the time to add:
///   - ring: 2 (p − 1) (latency + bytes / p / bandwidth);
///   - tree: 2 ⌈log₂ p⌉ (latency + bytes / bandwidth).
/// The others depend on what is shared between the links of a rank. Sources: as for `ring_all_reduce` and
/// `tree_all_reduce`. Precondition: the algorithm is one of these two.
inline double all_reduce_seconds(collective_algorithm a, std::uint32_t p, double bytes, double latency,
                                 double bandwidth) {
  WEFT_ASSERT(a == collective_algorithm::ring || a == collective_algorithm::tree);
  if (a == collective_algorithm::ring) {
    return 2.0 * (p - 1) * (latency + bytes / p / bandwidth);
  }
  return 2.0 * std::bit_width(p - 1) * (latency + bytes / bandwidth);
}

} // namespace weft::parallel
