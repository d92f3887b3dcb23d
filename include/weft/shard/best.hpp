// SPDX-License-Identifier: BSL-1.0
/// The best choice of variants that weft can find, with a proven lower bound.
#pragma once

#include "weft/shard/detail/search.hpp"
#include "weft/shard/result.hpp"
#include "weft/shard/variant_model.hpp"
#include "weft/shard/variant_problem.hpp"

#include <concepts>

namespace weft::shard {

/// Chooses a variant for every op: the least sum of costs for which the bytes of live ops are at no moment more than
/// the limit. Costs and bytes are in the problem's units; the bound is exact, with no error of rounding.
///
/// Reduces the problem, enumerates what is left if that is little, and otherwise improves a choice and a bound in turns
/// until they meet, the budget ends, or nothing gets better for long. Says that there is no choice only where that is
/// proven. Deterministic for a seed on any number of threads, unless the budget is in seconds or the search is stopped.
/// Reports progress on the thread that calls. docs/sharding.md says how it works, and what it is based on.
///
/// Complexity: reductions O(d · entries) for a few rounds and d variants of an op; a sweep of messages is linear in the
/// entries that are left; a neighbourhood takes about a million steps as a rule, and some hundred million at most.
/// Memory: O(entries of distinct matrices + variants), about five times the bytes of these costs where reductions leave
/// all of them.
inline result best(const variant_problem& p, const options& o = {}) { return detail::search{p, o}.run(); }

/// The same for a user's own types.
template <class M>
  requires(!std::same_as<M, variant_problem>) && must_be::variant_model<M>
result best(const M& m, const options& o = {}) {
  return best(lower(m), o);
}

} // namespace weft::shard
