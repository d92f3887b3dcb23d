// SPDX-License-Identifier: BSL-1.0
/// Offsets for buffers within a capacity, or in as little memory as possible: dynamic storage allocation, exactly.
#pragma once

#include "weft/allocate/allocation.hpp"
#include "weft/allocate/detail/skyline_search.hpp"
#include "weft/allocate/lay_out.hpp"
#include "weft/allocate/lifetime.hpp"
#include "weft/core/budget.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace weft::allocate {

/// The default budget of a search, in nodes: some seconds for a few hundred buffers.
inline constexpr budget default_budget{.moves = 1'000'000};

namespace detail {

/// The search for n buffers keeps up to n records per section; with more than so many the first descent would take too
/// much time and memory.
inline constexpr std::size_t max_records = std::size_t{1} << 21;
inline constexpr std::size_t max_pairs = std::size_t{1} << 23; // of lifetimes that live at the same time

/// Searches for a capacity in turns that grow: restarts help, since a wrong choice near the bottom can cost any time.
class restarts {
public:
  explicit restarts(std::span<const lifetime> all)
      : search_{all}, nodes_{4 * static_cast<double>(std::max<std::size_t>(all.size(), 16))} {}

  const skyline_search& search() const { return search_; }

  /// So many runs.
  answer turn(byte_count capacity, int runs, budget_meter& meter) {
    for (; runs > 0 && !meter.exhausted(); --runs) {
      const auto found = search_.run(capacity, static_cast<std::uint64_t>(nodes_), meter);
      if (found != answer::unknown) {
        return found;
      }
      nodes_ *= 1.05;
    }
    return answer::unknown;
  }

private:
  skyline_search search_;
  double nodes_;
};

inline std::optional<restarts> restarts_for(std::span<const lifetime> all) {
  std::optional<restarts> made;
  std::size_t sections = 0, open = 0, alive = 0, pairs = 0;
  sweep(
    all,
    [&](std::uint32_t) {
      open = 1;
      pairs += alive++;
    },
    [&](std::uint32_t) {
      sections += open;
      open = 0;
      --alive;
    });
  if (sections * all.size() <= max_records && pairs <= max_pairs) {
    made.emplace(all);
  }
  return made;
}

} // namespace detail

/// Finds offsets with which all lifetimes end by a capacity, proves that there are none, or gives up within a budget of
/// search nodes or seconds. First `lay_out`, which takes no nodes, and then a complete search
/// (allocate/detail/skyline_search.hpp), unless lifetimes times the moments at which sets of them live are more than
/// 2²¹. Finding out is NP-complete (Garey, Johnson, SR2). The same input and budget of nodes give the same result.
/// Throws `value_error` as `require_valid` does. Complexity: that of `lay_out`; exponential without a budget.
inline allocation within(std::span<const lifetime> all, byte_count capacity, const budget& spend = default_budget) {
  allocation found = lay_out(all);
  if (found.bytes <= capacity) {
    return found;
  }
  allocation none_found{.outcome = fit::unknown, .bound = found.bound};
  auto searches = detail::restarts_for(all);
  budget_meter meter{spend};
  auto said = found.bound > capacity ? detail::answer::no : detail::answer::unknown;
  while (searches && said == detail::answer::unknown && !meter.exhausted()) {
    said = searches->turn(capacity, 1, meter);
  }
  none_found.nodes = found.nodes = meter.used();
  if (said == detail::answer::no) {
    none_found.outcome = fit::impossible;
    const auto next = searches ? searches->search().possible_height(capacity + 1) : capacity + 1;
    none_found.bound = std::max(none_found.bound, next);
  }
  if (said != detail::answer::yes) {
    return none_found;
  }
  searches->search().write_offsets(found.offsets);
  found.bytes = height(all, found.offsets);
  return found;
}

/// Finds offsets in as little memory as possible: `lay_out`, and from there on searches as `within` does them. It asks
/// for the bound, and if that is too hard, for what is half as far from what is known, and so on, in turns that grow. A
/// "no" raises the bound. `is_least()` of the result says whether the bound was met; a budget's `target` in bytes is
/// what is good enough. Without a limit of nodes or seconds it ends when the bound is met, which may take for ever.
/// Throws `value_error` as `require_valid` does.
inline allocation least(std::span<const lifetime> all, const budget& spend = default_budget) {
  constexpr int runs = 4;
  allocation best = lay_out(all);
  budget_meter meter{spend};
  bool good_enough = meter.improved(static_cast<double>(best.bytes)) || best.is_least();
  auto searches = good_enough ? std::nullopt : detail::restarts_for(all);
  if (!searches) {
    return best;
  }
  best.bound = std::min(best.bytes, searches->search().possible_height(best.bound));
  while (best.bound < best.bytes && !good_enough && !meter.exhausted()) {
    for (auto target = best.bound; target < best.bytes && !good_enough && !meter.exhausted();) {
      const auto said = searches->turn(target, runs, meter);
      if (said == detail::answer::yes) {
        searches->search().write_offsets(best.offsets);
        best.bytes = height(all, best.offsets);
        good_enough = meter.improved(static_cast<double>(best.bytes));
        target = best.bound;
      } else if (said == detail::answer::no) {
        target = best.bound = std::min(best.bytes, searches->search().possible_height(target + 1));
      } else {
        target += (best.bytes - target + 1) / 2;
      }
    }
  }
  best.nodes = meter.used();
  return best;
}

} // namespace weft::allocate
