// SPDX-License-Identifier: BSL-1.0
#include "weft/core/readable.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace core_readable_test {

using namespace weft;

TEST_CASE("readable_bytes: three digits and a binary unit") {
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(999) == "999 B");
  CHECK(readable_bytes(1000) == "0.98 KiB");
  CHECK(readable_bytes(1536) == "1.50 KiB");
  CHECK(readable_bytes(12288) == "12.0 KiB");
  CHECK(readable_bytes(byte_count{640} << 30) == "640 GiB");
  CHECK(readable_bytes(81920ull << 20) == "80.0 GiB");
  CHECK(readable_bytes(200ull << 40) == "200 TiB");
  CHECK(readable_bytes(std::numeric_limits<byte_count>::max()) == "16.0 EiB");
}

TEST_CASE("readable_number: significant digits only") {
  CHECK(readable_number(0) == "0");
  CHECK(readable_number(0.0641) == "0.0641");
  CHECK(readable_number(1234567) == "1.23457e+06");
  CHECK(readable_number(1e-7) == "1e-07");
  CHECK(readable_number(0.0641, 2) == "0.064");
}

} // namespace core_readable_test
