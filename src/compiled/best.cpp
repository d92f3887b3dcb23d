// SPDX-License-Identifier: BSL-1.0
// solve::best and solve::least_memory of instances.
#include "weft/solve/best.hpp"
#include "weft/solve/least_memory.hpp"

namespace weft::solve::detail {

template best_result best_alone(any_evaluator<instance>, const instance&, const best_options&);
template best_result best_on_network(any_evaluator<instance>, const instance&, const on_network<instance>&,
                                     const best_options&);
template std::optional<outcome<plan>> booked<partition::heft>(const instance&, const simulate::any_network&, rng&,
                                                              workspace&);
template std::optional<outcome<plan>> booked<partition::peft>(const instance&, const simulate::any_network&, rng&,
                                                              workspace&);
template plan in_path_order(const instance&, const simulate::any_network&, const plan&);
template best_result best_of(const instance&, const instance&, const schedule::static_order&, const tensor_numbers&,
                             const best_options&);
template best_result best_of(const instance&, const instance&, const on_any_network&, const tensor_numbers&,
                             const best_options&);

template best_result least_memory_of(const instance&, const best_options&);

} // namespace weft::solve::detail
