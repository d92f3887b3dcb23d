// SPDX-License-Identifier: BSL-1.0
// The list schedulers of the registry of instances.
#include "weft/instance.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<instance>::add_list_schedulers();

} // namespace weft
