// SPDX-License-Identifier: BSL-1.0
// All other heuristics of the registry of WEFT_COMPILED_PROBLEM, which the build defines.
#include "weft/compiled.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<WEFT_COMPILED_PROBLEM>::add_placement_rules();
template void registry<WEFT_COMPILED_PROBLEM>::add_clusterings();
template void registry<WEFT_COMPILED_PROBLEM>::add_memory_constrained();

} // namespace weft
