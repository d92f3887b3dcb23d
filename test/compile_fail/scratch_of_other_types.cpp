// SPDX-License-Identifier: BSL-1.0
// expect: weft: a workspace lends buffers of
#include "weft/core/workspace.hpp"

#ifdef WEFT_COMPILE_FAIL
using element = short;
#else
using element = double;
#endif

auto lent(weft::workspace& scratch) { return scratch.take<element>(3).size(); }
