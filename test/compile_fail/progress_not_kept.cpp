// SPDX-License-Identifier: BSL-1.0
// expect: weft: on_progress keeps its callable, and this one cannot be copied
#include "weft/core/budget.hpp"

struct listener {
  listener() = default;
  listener(const listener&) = delete;
  void operator()(const weft::progress&) const {}
};

weft::budget spend(const listener& one) {
#ifdef WEFT_COMPILE_FAIL
  return {.moves = 1, .on_progress = one};
#else
  return {.moves = 1, .on_progress = [&one](const weft::progress& x) { one(x); }};
#endif
}
