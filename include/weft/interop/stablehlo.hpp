// SPDX-License-Identifier: BSL-1.0
/// StableHLO programs, as JAX prints them: reads them as workloads. Component `weft::stablehlo`.
#pragma once

#include "weft/interop/stablehlo/costs.hpp"  // IWYU pragma: export
#include "weft/interop/stablehlo/reader.hpp" // IWYU pragma: export
