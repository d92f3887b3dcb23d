// SPDX-License-Identifier: BSL-1.0
// The entry point of libFuzzer for one reader, WEFT_FUZZ_READER; see README.md.
#include "fuzz/readers.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::test::fuzz::WEFT_FUZZ_READER({reinterpret_cast<const char*>(data), size});
  return 0;
}
