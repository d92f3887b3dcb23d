// SPDX-License-Identifier: BSL-1.0
// throughput::best of instances.
#include "weft/throughput/best.hpp"

template weft::outcome<weft::throughput::best_result> weft::throughput::best::search(const weft::instance&,
                                                                                     weft::rng&) const;
