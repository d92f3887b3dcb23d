// SPDX-License-Identifier: BSL-1.0
// throughput::best of WEFT_COMPILED_PROBLEM, which the build defines.
#include "weft/compiled.hpp"
#include "weft/throughput/best.hpp"

template weft::outcome<weft::throughput::best_result>
weft::throughput::best::operator()(const WEFT_COMPILED_PROBLEM&, weft::rng&) const;
