// SPDX-License-Identifier: BSL-1.0
/// The types of problems whose solvers are in the library weft::compiled, so that programs need not compile them again.
#pragma once

#include "weft/cost/tabulated.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/workload.hpp"

/// A program that links the CMake target weft::compiled, which defines `WEFT_COMPILED_LINEAR` and so on, does not
/// compile `solve::best`, `registry` and `throughput::best` for these types: the headers declare them `extern
/// template`, and the library has them. Other types are compiled as ever.
namespace weft::compiled {

using linear = problem<workload, platform<>>;
using tabulated = problem<workload, platform<>, cost::tabulated>;

} // namespace weft::compiled
