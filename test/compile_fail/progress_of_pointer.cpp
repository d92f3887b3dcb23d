// SPDX-License-Identifier: BSL-1.0
// expect: weft: on_progress takes the callable itself, not a pointer to it
#include "weft/core/budget.hpp"

#include <functional>

#ifdef WEFT_COMPILE_FAIL
weft::budget of(const std::function<void(const weft::progress&)>& tell) { return {.on_progress = &tell}; }
#else
weft::budget of(const std::function<void(const weft::progress&)>& tell) { return {.on_progress = tell}; }
#endif
