// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/kinds.hpp"

#include <doctest/doctest.h>

namespace platform_kinds_test {

using namespace weft;
using enum device_kind;

static_assert((kind_set{cpu} | gpu).contains(gpu));
static_assert(!(kind_set{cpu} | gpu).contains(fpga));
static_assert(((kind_set{cpu} | gpu) & (kind_set{gpu} | tpu)) == kind_set{gpu});
static_assert((kind_set{cpu} & gpu).empty() && kind_set{}.empty() && !kind_set::all().empty());
static_assert(kind_set::all().is_all() && kind_set::all().contains(static_cast<device_kind>(63)));
static_assert(kind_set{cpu}.is_subset_of(kind_set::all()) && !kind_set::all().is_subset_of(cpu));
static_assert(kind_set::from_bits(5).bits() == 5 && kind_set::from_bits(5) == (kind_set{cpu} | tpu));

TEST_CASE("kinds: every kind has a name, and the name finds the kind") {
  for (unsigned i = 0; i < 64; ++i) {
    const auto kind = static_cast<device_kind>(i);
    const auto found = parse_device_kind(to_string(kind));
    REQUIRE(found.has_value());
    CHECK(*found == kind);
  }
  CHECK(to_string(cpu) == "cpu");
  CHECK(to_string(dsp) == "dsp");
  CHECK(to_string(static_cast<device_kind>(9)) == "kind9");
}

TEST_CASE("kinds: names are found in any case, and unknown ones are not") {
  CHECK(parse_device_kind("GPU") == gpu);
  CHECK(parse_device_kind("Tpu") == tpu);
  CHECK(parse_device_kind("KIND63") == static_cast<device_kind>(63));
  CHECK_FALSE(parse_device_kind("kind64").has_value());
  CHECK_FALSE(parse_device_kind("").has_value());
  CHECK_FALSE(parse_device_kind("gpu ").has_value());
}

TEST_CASE("kinds: a set names its members") {
  CHECK(to_string(kind_set::all()) == "any");
  CHECK(to_string(kind_set{}) == "none");
  CHECK(to_string(kind_set{fpga} | cpu) == "cpu|fpga");
}

} // namespace platform_kinds_test
