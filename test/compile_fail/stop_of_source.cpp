// SPDX-License-Identifier: BSL-1.0
// expect: weft: stop is a pointer to a std::stop_token, not a std::stop_source
#include "weft/core/budget.hpp"

#include <stop_token>

#ifdef WEFT_COMPILE_FAIL
void stop(weft::budget& b, const std::stop_source& source, const std::stop_token&) { b.stop = source; }
#else
void stop(weft::budget& b, const std::stop_source&, const std::stop_token& token) { b.stop = &token; }
#endif
