// SPDX-License-Identifier: BSL-1.0
// The ready policies and the registry itself, of instances.
#include "weft/instance.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<instance>::add_standard_policies();
template registry<instance> registry<instance>::standard();

} // namespace weft
