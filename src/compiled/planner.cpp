// SPDX-License-Identifier: BSL-1.0
// The planner: what its headers declare where WEFT_COMPILED is defined.
#include "weft/planner/best.hpp"
#include "weft/planner/kinds/compare.hpp"
#include "weft/planner/kinds/placed.hpp"
#include "weft/planner/kinds/step_of_model.hpp"
#include "weft/planner/kinds/typical_roofline.hpp"
#include "weft/planner/share.hpp"
#include "weft/planner/steps_of.hpp"
#include "weft/planner/typical_costs.hpp"

#include <utility>

namespace weft::planner {

comparison share(const step_source& model, const model_step& whole, const platform<>& machine, const step_costs& costs,
                 const options& how) {
  return detail::share_in_ways(model, whole, machine, costs, how);
}

best_way best(const step_source& model, const model_step& whole, const platform<>& machine, const step_costs& costs,
              const options& how, const search_budget& budget) {
  return detail::best_of(model, whole, machine, costs, how, budget);
}

model_step step_of(model m, std::uint64_t batch, const step_settings& how) {
  return detail::step_of_model(std::move(m), batch, how);
}

step_costs typical_costs(const cost::typical_of& what) {
  return detail::rooflines_of(what);
}

} // namespace weft::planner
