// SPDX-License-Identifier: BSL-1.0
#include "energy.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/energy.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"

namespace comparison {
namespace {

constexpr weft::objective::energy joules;
constexpr weft::evaluation in_order{weft::schedule::static_order{}, joules};

} // namespace

bool draws_power(const problem& p) { return joules.draws_power(p); }

weft::score energy_of(const problem& p, const weft::trace& run) { return joules.score(p, run); }

weft::lower_bound bound_of_energy(const problem& p, const weft::lower_bound& makespan) {
  return {joules.bound(p, makespan), makespan.which};
}

weft::any_evaluator<problem> energy_judge(const problem& p) { return weft::any_evaluator<problem>{p, in_order}; }

weft::solve::best_result best_energy(const problem& p, weft::contention_model contention,
                                     const weft::solve::best_options& how) {
  if (contention == weft::contention_model::none) {
    return weft::solve::best(p, in_order, how);
  }
  const weft::simulate::under on_network{weft::schedule::static_order{}, weft::simulate::any_network{contention}};
  return weft::solve::best(p, weft::evaluation{on_network, joules}, how);
}

} // namespace comparison
