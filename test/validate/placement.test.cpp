// SPDX-License-Identifier: BSL-1.0
#include "scene.hpp"

#include "weft/validate/placement.hpp"

#include <doctest/doctest.h>

namespace validate_placement_test {

using kind = weft::violation::kind;
using weft_test::scene;

TEST_CASE("validate placement: one that keeps all rules") {
  const scene s;
  CHECK(validate(s.p, s.where).empty());
}

TEST_CASE("validate placement: wrong number of entries") {
  const scene s;
  CHECK(validate(s.p, weft::placement{0, 1}) ==
        std::vector{weft::violation{.what = kind::wrong_size, .expected = 5, .actual = 2}});
  CHECK(weft_test::kinds_of(validate(s.p, weft::placement{0, 1, 0, 1, 0, 0})) == std::vector{kind::wrong_size});
}

TEST_CASE("validate placement: each op on a device that exists") {
  scene s;
  s.where[scene::c] = weft::none;
  s.where[scene::e] = 2;
  CHECK(validate(s.p, s.where) == std::vector{weft::violation{.what = kind::unplaced, .op = scene::c},
                                              weft::violation{.what = kind::bad_device, .op = scene::e, .device = 2}});
}

TEST_CASE("validate placement: kinds and colocation") {
  scene s;
  s.where[scene::d] = 0;
  CHECK(validate(s.p, s.where) ==
        std::vector{weft::violation{.what = kind::kind_not_allowed, .op = scene::d, .device = 0},
                    weft::violation{.what = kind::colocation_broken, .op = scene::d, .other = scene::b, .device = 0}});
}

TEST_CASE("validate placement: demand is resident bytes, outputs and inputs, on each device") {
  // Device 0: a 100 + 8, c 2 + 8, e 8 = 126. Device 1: b 10 + 4 + 8, d 4 + 2 = 28.
  const scene s;
  const auto limited = [&](weft::byte_count first, weft::byte_count second) {
    auto devices = s.platform.devices();
    devices[0].memory_capacity = first;
    devices[1].memory_capacity = second;
    const weft::platform<weft::uniform_links> small{devices, s.platform.links(), 1};
    return validate(weft::problem{s.w, small}, s.where);
  };
  CHECK(limited(126, 28).empty());
  CHECK(limited(125, 28) ==
        std::vector{weft::violation{.what = kind::capacity_exceeded, .device = 0, .expected = 125, .actual = 126}});
  CHECK(limited(126, 27) ==
        std::vector{weft::violation{.what = kind::capacity_exceeded, .device = 1, .expected = 27, .actual = 28}});
}

} // namespace validate_placement_test
