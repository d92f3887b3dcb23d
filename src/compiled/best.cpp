// SPDX-License-Identifier: BSL-1.0
// solve::best of instances, in the plan's order.
#include "weft/solve/best.hpp"

template weft::solve::best_result weft::solve::detail::best_as_is(const weft::instance&,
                                                                  const weft::schedule::static_order&,
                                                                  const weft::solve::best_options&);
