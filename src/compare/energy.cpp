// SPDX-License-Identifier: BSL-1.0
#include "energy.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/energy.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/registry.hpp"
#include "weft/solve/standard_strategies.hpp"

#include <utility>

namespace comparison {
namespace {

constexpr weft::objective::energy joules;
constexpr weft::evaluation in_order{weft::schedule::static_order{}, joules};

struct by_name {
  std::string_view name;
  bool found = false;

  template <class Refiner>
  void add_refiner(std::string_view candidate, const Refiner&) {
    found = found || candidate == name;
  }
};

struct refinement {
  std::string_view name;
  const problem& p;
  const weft::budget& given;
  weft::rng& random;
  weft::plan plan;

  template <class Refiner>
  void add_refiner(std::string_view candidate, const Refiner& refiner) {
    if (candidate == name) {
      plan = weft::refine::improve(p, std::move(plan), weft::with_budget(refiner, given), in_order, random).plan;
    }
  }
};

} // namespace

bool draws_power(const problem& p) { return joules.draws_power(p); }

weft::score energy_of(const problem& p, const weft::trace& run) { return joules.score(p, run); }

weft::lower_bound bound_of_energy(const problem& p, const weft::lower_bound& makespan) {
  return {joules.bound(p, makespan), makespan.which};
}

weft::solve::best_result best_energy(const problem& p, weft::contention_model contention,
                                     const weft::solve::best_options& how) {
  if (contention == weft::contention_model::none) {
    return weft::solve::best(p, in_order, how);
  }
  const weft::simulate::under on_network{weft::schedule::static_order{}, weft::simulate::any_network{contention}};
  return weft::solve::best(p, weft::evaluation{on_network, joules}, how);
}

bool refines_energy(std::string_view refiner) {
  by_name search{refiner};
  weft::standard_strategies::refiners(search);
  return search.found;
}

weft::plan refine_energy(std::string_view refiner, const problem& p, weft::plan start, const weft::budget& given,
                         weft::rng& random) {
  refinement of{refiner, p, given, random, std::move(start)};
  weft::standard_strategies::refiners(of);
  return std::move(of.plan);
}

} // namespace comparison
