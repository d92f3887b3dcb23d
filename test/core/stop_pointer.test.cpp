// SPDX-License-Identifier: BSL-1.0
#include "weft/core/stop_pointer.hpp"

#include "weft/core/budget.hpp"

#include <doctest/doctest.h>

#include <stop_token>
#include <type_traits>

namespace {

using weft::stop_pointer;

constexpr weft::budget never_stopped{.moves = 3, .stop = nullptr};
static_assert(never_stopped.stop == nullptr && stop_pointer{} == nullptr);
static_assert(std::is_trivially_copyable_v<stop_pointer> && sizeof(stop_pointer) == sizeof(void*));

TEST_CASE("stop pointer: an address, or none") {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  weft::budget b{.stop = &token};
  CHECK(b.stop == &token);
  CHECK(b.stop != nullptr);
  CHECK_FALSE(b.stop->stop_requested());
  source.request_stop();
  CHECK(b.stop->stop_requested());
  const weft::budget copy{.stop = b.stop};
  CHECK(copy.stop == &token);
  b.stop = nullptr;
  CHECK(b.stop == nullptr);
}

} // namespace
