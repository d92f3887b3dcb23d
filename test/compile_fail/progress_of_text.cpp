// SPDX-License-Identifier: BSL-1.0
// expect: weft: on_progress takes what can be called with a const weft::progress&
#include "weft/platform/platform.hpp"
#include "weft/solve/best.hpp"
#include "weft/workload/workload.hpp"

#include <string>

#ifdef WEFT_COMPILE_FAIL
constexpr auto tell = [](const std::string&) {};
#else
constexpr auto tell = [](const weft::progress&) {};
#endif

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::solve::best(p, {.seconds = 1, .on_progress = tell}).makespan;
}
