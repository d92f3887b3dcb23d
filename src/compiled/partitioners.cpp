// SPDX-License-Identifier: BSL-1.0
// All other heuristics of the registry of instances.
#include "weft/instance.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<instance>::add_placement_rules();
template void registry<instance>::add_clusterings();
template void registry<instance>::add_memory_constrained();

} // namespace weft
