// SPDX-License-Identifier: BSL-1.0
// The entry point of libFuzzer for one reader, WEFT_FUZZ_READER of WEFT_FUZZ_HEADER; see README.md.
#include WEFT_FUZZ_HEADER

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::test::fuzz::WEFT_FUZZ_READER({reinterpret_cast<const char*>(data), size});
  return 0;
}
