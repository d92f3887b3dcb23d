// SPDX-License-Identifier: BSL-1.0
// solve::best_on of WEFT_COMPILED_PROBLEM, which the build defines, on networks that are chosen at run time.
#include "weft/compiled.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/solve/best_on.hpp"

template weft::solve::best_result weft::solve::best_on(const weft::simulate::any_network&, const WEFT_COMPILED_PROBLEM&,
                                                       const weft::solve::best_options&);
