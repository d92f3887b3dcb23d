// SPDX-License-Identifier: BSL-1.0
// The ready policies and the registry itself, of WEFT_COMPILED_PROBLEM, which the build defines.
#include "weft/compiled.hpp"
#include "weft/solve/registry.hpp"

namespace weft {

template void registry<WEFT_COMPILED_PROBLEM>::add_standard_policies();
template registry<WEFT_COMPILED_PROBLEM> registry<WEFT_COMPILED_PROBLEM>::standard();

} // namespace weft
