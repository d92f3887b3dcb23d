// SPDX-License-Identifier: BSL-1.0
/// Results and options of the search for variants.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/budget.hpp"
#include "weft/shard/variant_problem.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace weft::shard {

/// The outcome of a search.
enum class status : std::uint8_t {
  found,      ///< there is a choice
  infeasible, ///< it is proven that there is none
  unknown,    ///< the budget was used up before either
};

/// How far a cost is above a bound, by `gap_above`: 0.02 means at most 2 % more than the least.
inline double gap_of(std::int64_t cost, std::int64_t bound) {
  return gap_above(static_cast<double>(bound), static_cast<double>(cost));
}

/// What a search has found so far.
struct state {
  double seconds = 0;
  std::uint64_t moves = 0;
  std::int64_t cost = never; ///< of the best choice; `never` without one
  std::int64_t bound = 0;    ///< proven
  std::int64_t peak = 0;     ///< bytes of the best choice at the worst moment
};

/// A choice of a variant for every op, and what is known of all choices.
struct result {
  /// A part of the search: how often it was tried, and how often it improved the best choice.
  struct attempt {
    std::string_view method;
    std::uint64_t tries = 0;
    std::uint64_t successes = 0;
    friend bool operator==(const attempt&, const attempt&) = default;
  };

  shard::status status = shard::status::unknown;
  std::vector<std::uint32_t> choice; ///< a variant for each op; empty unless found
  std::int64_t cost = never;         ///< of the choice
  std::int64_t bound = 0;            ///< proven: no choice costs less; `never` if there is none
  std::int64_t peak = 0;             ///< bytes of the choice at the worst moment
  std::uint64_t moves = 0;           ///< spent of the budget
  std::vector<attempt> tried;

  bool has_choice() const { return status == shard::status::found; }
  bool is_optimal() const { return has_choice() && cost == bound; }
  /// How far the cost is above the bound (`gap_of`); infinite without a choice.
  double gap() const { return has_choice() ? gap_of(cost, bound) : std::numeric_limits<double>::infinity(); }
};

/// What a search may spend, and how.
struct options {
  weft::budget budget = {};     ///< a move is a neighbourhood that is searched, or a sweep of messages
  std::function<void(const state&)> on_state = {}; ///< called for each better choice or bound, on the calling thread
  unsigned jobs = 1;            ///< threads; the result does not depend on them, unless the budget is in seconds
  std::uint64_t seed = 1;
  double enumerated = 26;       ///< up to 2 to this combinations that reductions leave are searched completely
  /// The search ends after so many rounds without a better choice or a bound that is closer by a thousandth.
  std::uint32_t patience = 400;
};

} // namespace weft::shard
