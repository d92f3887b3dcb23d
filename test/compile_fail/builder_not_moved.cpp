// SPDX-License-Identifier: BSL-1.0
// expect: weft: build\(\) takes everything out of the builder
#include "weft/workload/builder.hpp"

#include <utility>

weft::workload build(weft::workload_builder b) {
#ifdef WEFT_COMPILE_FAIL
  return b.build();
#else
  return std::move(b).build();
#endif
}
