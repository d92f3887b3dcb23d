// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/narrower_numbers.hpp"

#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace solve_narrower_numbers_test {

using namespace weft;

constexpr storage_format in_16_bits{.tensor_bits = 16, .weight_bits = 16};

/// Tokens that only CPUs can feed, and four layers that hold 1000 bytes each and hand on 100.
workload four_layers() {
  workload_builder b;
  op_id last = b.add_op({.bytes = 8, .kinds = device_kind::cpu, .name = "tokens", .type = "Placeholder"});
  for (int i = 0; i < 4; ++i) {
    const op_id v = b.add_op(
      {.work = 1, .bytes = 100, .resident_bytes = 1000, .name = "layer." + std::to_string(i), .type = "Gemm"});
    b.add_edge(last, v);
    last = v;
  }
  return std::move(b).build();
}

std::optional<solve::narrower_numbers> asked(const placement& where, std::vector<byte_count> memory) {
  const auto w = four_layers();
  std::vector<device> devices{{.kind = device_kind::cpu}};
  for (const auto bytes : memory) {
    devices.push_back({.kind = device_kind::gpu, .speed = 100, .memory_capacity = bytes});
  }
  const platform<uniform_links> q{devices, uniform_links{0, 1e3}};
  const problem p{w, q};
  return solve::fits_in_narrower_numbers(p, where, in_16_bits);
}

TEST_CASE("narrower numbers: ops on CPUs that accelerators have no room for, and would have with half of the bits") {
  const placement spilled{0, 1, 1, 0, 0};
  const auto found = asked(spilled, {2500});
  REQUIRE(found);
  CHECK(found->ops_on_cpus == 2);
  CHECK(found->resident_on_cpus == 2000);
  CHECK(found->needed == 4200); // two tensors of 100 at a time
  CHECK(found->needed_then == 2100);
  CHECK(found->capacity == 2500);
  CHECK(asked(spilled, {2100}));
  CHECK(asked(spilled, {4199}));
  CHECK_FALSE(asked(spilled, {2099}));              // half is too much as well
  CHECK_FALSE(asked(spilled, {4200}));              // it fits as it is: the CPU is chosen for something else
  CHECK_FALSE(asked({0, 1, 1, 1, 1}, {2500}));      // tokens are where they have to be
  CHECK_FALSE(asked({0, 0, 0, 0, 0}, {}));          // no accelerator
  CHECK(asked({0, 1, 2, 0, 0}, {1500, 1000})->capacity == 2500);
  CHECK_FALSE(asked({0, 1, 2, 0, 0}, {std::numeric_limits<byte_count>::max(), 1000})); // without a limit
}

} // namespace solve_narrower_numbers_test
