// SPDX-License-Identifier: BSL-1.0
#include "strategies.hpp"

namespace compare {

registry strategies() {
  return registry::standard();
}

weft::solve::best_result best_plan(const problem& p, const weft::solve::best_options& o) {
  return weft::solve::best(p, o);
}

} // namespace compare
