// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/number_format.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

namespace number_format_test {

using namespace weft;

TEST_CASE("number formats: names and sizes") {
  for (const auto f : {number_format::fp32, number_format::bf16, number_format::fp16, number_format::fp8,
                       number_format::int8}) {
    CHECK(parse_number_format(to_string(f)) == f);
  }
  CHECK(!parse_number_format("fp64"));
  CHECK(parse_weight_format("int4-weights")->stored == 4.5); // GGUF's Q4_0: 18 bytes for 32 numbers
  CHECK(parse_weight_format("int8-weights")->stored == 8.5); // Q8_0: 34 bytes
  CHECK(!parse_weight_format("int4"));
  CHECK(bits_with_scale(4, 128, 32) == 4.25); // AWQ: a scale and a zero of 16 bits
  CHECK(bytes_of(number_format::fp32) == 4);
  CHECK(bytes_of(number_format::bf16) == 2);
  CHECK(bytes_of(number_format::int8) == 1);
}

TEST_CASE("number formats: what is not said is as fast as the next wider format") {
  constexpr narrow_speeds all{.half = 2, .fp8 = 4, .int8 = 5};
  CHECK(speed_with(number_format::fp32, 1, all) == 1);
  CHECK(speed_with(number_format::fp16, 1, all) == 2);
  CHECK(speed_with(number_format::fp8, 1, all) == 4);
  CHECK(speed_with(number_format::int8, 1, all) == 5);
  CHECK(speed_with(number_format::fp8, 1, {.half = 2}) == 2);
  CHECK(speed_with(number_format::int8, 1, {}) == 1);
}

TEST_CASE("number formats: a platform in half precision") {
  const auto single = presets::make("dgx_a100");
  const auto half = single.with(number_format::bf16);
  CHECK(half.speed(1) == 312e12);
  CHECK(half.speed(0) == single.speed(0)); // the processor has no more of it
  CHECK(half.memory_capacity(1) == single.memory_capacity(1));
  CHECK(half.name(1) == "gpu0");
  CHECK(single.with(number_format::fp8).speed(1) == 312e12); // an A100 has no FP8
}

} // namespace number_format_test
