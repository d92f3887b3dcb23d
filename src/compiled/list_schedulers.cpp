// SPDX-License-Identifier: BSL-1.0
// The list schedulers of the registry of WEFT_COMPILED_PROBLEM, which the build defines.
#include "weft/compiled.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<WEFT_COMPILED_PROBLEM>::add_list_schedulers();

} // namespace weft
