// SPDX-License-Identifier: BSL-1.0
// expect: give the owner a name first
#include "weft/owning_problem.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

weft::owning_problem<weft::workload, weft::platform<>> some_problem();

auto ops() {
#ifdef WEFT_COMPILE_FAIL
  const auto& p = *some_problem();
#else
  const auto owned = some_problem();
  const auto& p = *owned;
#endif
  return p.num_ops();
}
