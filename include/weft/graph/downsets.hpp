// SPDX-License-Identifier: BSL-1.0
/// Downsets of a graph, among which contiguous splits are found.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::graph {

/// Downsets of a graph: sets of nodes that hold all predecessors of their members, from the empty one to the one of all
/// nodes, each after its subsets; and which nodes lead from one to the next.
struct downsets {
  struct step {
    std::uint32_t first = 0; ///< into `added`
    std::uint32_t count = 0;
    std::uint32_t to = 0; ///< the downset with these nodes
  };
  std::vector<std::uint32_t> added;
  std::vector<step> steps;               ///< by the downset that they start from
  std::vector<std::uint32_t> first_step{0};

  std::size_t size() const { return first_step.size(); }
  std::span<const step> from(std::size_t i) const {
    const std::size_t end = i + 1 < first_step.size() ? first_step[i + 1] : steps.size();
    return std::span{steps}.subspan(first_step[i], end - first_step[i]);
  }
};

/// The prefixes of a topological order, every `stride` nodes. Complexity: O(n).
inline downsets prefixes(std::span<const std::uint32_t> order, std::size_t stride) {
  downsets family;
  family.added.assign(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); i += stride) {
    const auto count = static_cast<std::uint32_t>(std::min(stride, order.size() - i));
    family.steps.push_back({static_cast<std::uint32_t>(i), count, static_cast<std::uint32_t>(family.size())});
    family.first_step.push_back(static_cast<std::uint32_t>(family.steps.size()));
  }
  return family;
}

/// All downsets of `g`, which has `size()` nodes and for each of them `predecessors(i)`, or nothing if there are more
/// than `most`. Complexity: O(downsets · n · log downsets).
template <class Graph>
std::optional<downsets> all_downsets(const Graph& g, std::size_t most) {
  using words = std::vector<std::uint64_t>;
  const auto contains = [](const words& s, std::uint32_t i) { return (s[i / 64] >> (i % 64)) & 1; };
  downsets family;
  family.first_step.clear();
  std::vector<words> layer{words(g.size() / 64 + 1, 0)}; // the downsets of one size, in the order of their numbers
  std::uint32_t numbered = 1;
  while (!layer.empty()) {
    std::map<words, std::uint32_t> next;
    std::vector<words> found;
    for (const words& s : layer) {
      family.first_step.push_back(static_cast<std::uint32_t>(family.steps.size()));
      for (std::uint32_t i = 0; i < g.size(); ++i) {
        if (contains(s, i) ||
            !std::ranges::all_of(g.predecessors(i), [&](std::uint32_t q) { return contains(s, q); })) {
          continue;
        }
        words larger = s;
        larger[i / 64] |= std::uint64_t{1} << (i % 64);
        const auto [at, is_new] = next.emplace(std::move(larger), numbered);
        if (is_new) {
          found.push_back(at->first);
          if (++numbered > most) {
            return std::nullopt;
          }
        }
        family.added.push_back(i);
        family.steps.push_back({static_cast<std::uint32_t>(family.added.size() - 1), 1, at->second});
      }
    }
    layer = std::move(found);
  }
  return family;
}

} // namespace weft::graph
