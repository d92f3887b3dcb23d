// SPDX-License-Identifier: BSL-1.0
/// The number of random problems that a test tries.
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

/// Whether there are as many as it takes to say how often something happens.
constexpr bool are_all_rounds = rounds(10) == 10;

} // namespace weft::test
