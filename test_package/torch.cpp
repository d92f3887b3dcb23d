// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/torch.hpp>

int main() {
  try {
    return weft::torch::program_of("no program", "step.pt2").calls.empty() ? 1 : 2;
  } catch (const weft::error&) { // it says what is wrong with the file
    return 0;
  }
}
