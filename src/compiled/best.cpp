// SPDX-License-Identifier: BSL-1.0
// solve::best of WEFT_COMPILED_PROBLEM, which the build defines.
#include "weft/compiled.hpp"
#include "weft/solve/best.hpp"

template weft::solve::best_result weft::solve::best(const WEFT_COMPILED_PROBLEM&, const weft::solve::best_options&);
