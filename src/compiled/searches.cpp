// SPDX-License-Identifier: BSL-1.0
// The searches and refiners of the registry of instances.
#include "weft/instance.hpp"
#include "weft/solve/pareto.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<instance>::add_searches();
template void registry<instance>::add_standard_refiners();
template evaluated_plan solve::detail::annealed(const refine::simulated_annealing&, any_evaluator<instance>&,
                                                const plan&, rng&);

} // namespace weft
