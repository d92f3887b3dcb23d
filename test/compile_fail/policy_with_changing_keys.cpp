// SPDX-License-Identifier: BSL-1.0
// expect: weft: operator\(\) or assign_keys of this ready policy is not const
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <span>

struct policy {
#ifdef WEFT_COMPILE_FAIL
  void assign_keys(const auto&, std::span<double> keys) { std::ranges::fill(keys, 0.0); }
#else
  void assign_keys(const auto&, std::span<double> keys) const { std::ranges::fill(keys, 0.0); }
#endif
};

auto solve(const weft::problem<weft::workload, weft::platform<>>& p) {
  return weft::pipeline(weft::partition::hash{}, policy{})(p).makespan;
}
