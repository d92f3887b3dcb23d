// SPDX-License-Identifier: BSL-1.0
#include "weft/core/workspace.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <span>

namespace core_workspace_test {

// That a warm workspace does not allocate is checked in test/allocation.

TEST_CASE("workspace: a buffer comes back filled, whatever was in it") {
  weft::workspace scratch;
  const double* address = nullptr;
  {
    auto a = scratch.take<double>(100, 1.5);
    CHECK(std::accumulate(a.begin(), a.end(), 0.0) == 150);
    a[7] = 9;
    address = &a[0];
  }
  auto b = scratch.take<double>(50);
  CHECK(&b[0] == address);
  CHECK(b.size() == 50);
  CHECK(std::accumulate(b.begin(), b.end(), 0.0) == 0);
}

TEST_CASE("workspace: buffers that live together are different") {
  weft::workspace scratch;
  auto a = scratch.take<std::uint32_t>(4, 1u);
  auto b = scratch.take<std::uint32_t>(4, 2u);
  CHECK(&a[0] != &b[0]);
  a[0] = 7;
  CHECK(b[0] == 2);
}

TEST_CASE("workspace: a buffer grows, clears and is seen as a span") {
  weft::workspace scratch;
  auto a = scratch.take<std::uint64_t>();
  CHECK(a.empty());
  a.push_back(3);
  a.push_back(4);
  const std::span<const std::uint64_t> seen = a;
  CHECK(seen.size() == 2);
  const std::span<std::uint64_t> changed = a;
  changed[1] = 5;
  CHECK(a[1] == 5);
  a.clear();
  CHECK(a.empty());
}

constexpr std::uint32_t at_compile_time() {
  weft::workspace scratch;
  std::uint32_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    auto a = scratch.take<std::uint32_t>(4, 2u);
    sum += a[3];
    a[3] = 100;
  }
  return sum;
}
static_assert(at_compile_time() == 6);

} // namespace core_workspace_test
