// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/pytorch.hpp>

int main() { return weft::pytorch::reader{}.recognises("PK\x03\x04") ? 0 : 1; }
