// SPDX-License-Identifier: BSL-1.0
// expect: weft: stop is a pointer to a std::stop_token, .* pass its address, as in .stop = &token
#include "weft/core/budget.hpp"

#include <stop_token>

#ifdef WEFT_COMPILE_FAIL
weft::budget of(const std::stop_token& token) { return {.moves = 1, .stop = token}; }
#else
weft::budget of(const std::stop_token& token) { return {.moves = 1, .stop = &token}; }
#endif
