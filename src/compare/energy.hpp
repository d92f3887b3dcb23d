// SPDX-License-Identifier: BSL-1.0
/// Plans that take little energy, and what they take.
#pragma once

#include "setting.hpp"

#include "weft/bound/lower_bound.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/solve/best_result.hpp"

namespace comparison {

/// Whether the platform says what power its devices draw.
bool draws_power(const problem& p);
/// The joules of a run.
weft::score energy_of(const problem& p, const weft::trace& run);
/// A bound on the joules of all plans, none of which has a makespan below `makespan`.
weft::lower_bound bound_of_energy(const problem& p, const weft::lower_bound& makespan);

/// Judges plans by the joules of their runs, in the plan's order and without contention.
weft::any_evaluator<problem> energy_judge(const problem& p);
/// `weft::solve::best`; value and bound of the result are joules.
weft::solve::best_result best_energy(const problem& p, weft::contention_model contention,
                                     const weft::solve::best_options& how);

} // namespace comparison
