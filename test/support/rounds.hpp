// SPDX-License-Identifier: BSL-1.0
/// How many random problems a test tries.
#pragma once

namespace weft::test {

/// As many, or a tenth of them under sanitizers, where each takes many times as long.
constexpr int rounds(int many) {
#ifdef WEFT_SANITIZED
  return many / 10;
#else
  return many;
#endif
}

} // namespace weft::test
