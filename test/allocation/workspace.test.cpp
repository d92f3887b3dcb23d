// SPDX-License-Identifier: BSL-1.0
#include "support/counting_allocator.hpp"

#include "weft/core/workspace.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace allocation_workspace_test {

using weft::test::allocation_counter;

const void* volatile seen = nullptr; // a compiler may leave out an allocation that nobody looks at

TEST_CASE("the counter sees allocations of every form") {
  const allocation_counter counter;
  const auto one = std::make_unique<int>(1);
  seen = one.get();
  CHECK(counter.count() == 1);
  const auto many = std::make_unique<int[]>(100);
  seen = many.get();
  CHECK(counter.count() == 2);
  struct alignas(64) line {
    char bytes[64];
  };
  const auto aligned = std::make_unique<line>();
  seen = aligned.get();
  CHECK(counter.count() == 3);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned.get()) % 64 == 0);
}

TEST_CASE("a warm workspace lends without allocating") {
  weft::workspace scratch;
  const auto use = [&scratch](std::size_t n) {
    auto a = scratch.take<double>(n);
    auto b = scratch.take<double>(n / 2);
    auto c = scratch.take<std::uint32_t>(n, 7u);
    return a[0] + b[0] + c[n - 1];
  };
  (void)use(1000);
  const allocation_counter counter;
  double sum = 0;
  for (std::size_t n = 2; n <= 1000; ++n) {
    sum += use(n);
  }
  CHECK(sum == 7 * 999);
  CHECK(counter.count() == 0);
}

} // namespace allocation_workspace_test
