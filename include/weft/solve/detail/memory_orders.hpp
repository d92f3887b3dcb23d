// SPDX-License-Identifier: BSL-1.0
/// Plans that only their order makes fit.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/random.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/refine/orders_within_memory.hpp"
#include "weft/solve/detail/fallbacks.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace weft::solve::detail {

/// Offers the best plans that are found with the placements `near`, with one that spreads the work, and with
/// everything on a single device. Without a plan, until `offer(plan)` says that one can be used, more orders are tried,
/// and other ways to spread the work, as `random` has them. `known()`: seconds that a plan has to be below.
template <class Problem, class Known, class Offer>
void try_orders(const Problem& p, const budget& spend, const buffer<placement>& near,
                bool has_plan, rng& random, Known known, Offer offer) {
  budget_meter meter{spend};
  std::uint64_t visits = 0; // of items; as many as there are ops are a move
  const std::function<bool(std::uint64_t)> pay = [&](std::uint64_t n) {
    for (visits += n; visits >= p.num_ops(); visits -= p.num_ops()) {
      if (!meter.spend()) {
        return false;
      }
    }
    return true;
  };
  refine::orders_within_memory<Problem> orders{p};
  buffer<placement> places;
  const auto add = [&](const outcome<placement>& where) {
    const bool is_new = where && std::find(places.begin(), places.end(), *where) == places.end();
    if (is_new) {
      places.push_back(*where);
    }
    return is_new;
  };
  add(single_device{}(p));
  add(balanced{}(p));
  for (const auto& where : near) {
    add(where);
  }
  std::vector<std::uint8_t> ended; // per placement: all orders were tried
  for (std::uint64_t max_choices = 1'000; !meter.exhausted(); max_choices *= 2) {
    ended.resize(places.size(), 0);
    for (std::size_t k = 0; k < places.size() && !meter.exhausted(); ++k) {
      if (ended[k] == 0) {
        const double below = known();
        if (orders.minimise(places[k], below, max_choices, pay) < below) {
          has_plan = offer({places[k], orders.best_order()}) || has_plan;
        }
        ended[k] = orders.ended() ? 1 : 0;
      }
    }
    if (has_plan || (!add(balanced{&random}(p)) && std::find(ended.begin(), ended.end(), 0) == ended.end())) {
      return;
    }
  }
}

} // namespace weft::solve::detail
