// SPDX-License-Identifier: BSL-1.0
// solve::best of instances on networks that are chosen at run time.
#include "weft/solve/best.hpp"

template weft::solve::best_result weft::solve::detail::best_as_is(const weft::instance&,
                                                                  const weft::solve::detail::on_any_network&,
                                                                  const weft::solve::best_options&);
