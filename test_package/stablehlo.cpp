// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/stablehlo.hpp>

int main() { return weft::stablehlo::reader{.batch = 2}.batch == 2 ? 0 : 1; }
