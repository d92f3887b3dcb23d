// SPDX-License-Identifier: BSL-1.0
// solve::best of WEFT_COMPILED_PROBLEM, which the build defines, on networks that are chosen at run time.
#include "weft/compiled.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/solve/best.hpp"

template weft::solve::best_result
weft::solve::best(const WEFT_COMPILED_PROBLEM&,
                  const weft::simulate::under<weft::schedule::static_order, weft::simulate::any_network>&,
                  const weft::solve::best_options&);
