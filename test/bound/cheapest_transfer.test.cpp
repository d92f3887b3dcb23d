// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/cheapest_transfer.hpp"

#include "weft/cost/compose.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace bound_cheapest_transfer_test {

using platform_type = weft::platform<weft::link_matrix>;

/// Inherits link_transfers, but hides one of its functions.
struct slower : weft::cost::linear {
  template <class W, class P>
  constexpr double transfer_time(const W& w, weft::tensor_id t, const P& p, weft::device_id from,
                                 weft::device_id to) const {
    return weft::cost::linear::transfer_time(w, t, p, from, to) / 10;
  }
};

/// The same without a template.
struct constant : weft::cost::linear {
  constexpr double transfer_time(const weft::workload&, weft::tensor_id, const platform_type&, weft::device_id,
                                 weft::device_id) const {
    return 3;
  }
};

weft::workload two_tensors() {
  weft::workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 0});
  b.add_output(u, 12);
  return std::move(b).build();
}

/// Fast link from 0 to 1, one with little latency from 1 to 2; device 2 sends in the least time.
platform_type three_devices() {
  weft::link_matrix links{3, {.latency = 10, .bandwidth = 1}};
  links.set(0, 1, {.latency = 5, .bandwidth = 6});
  links.set(1, 2, {.latency = 2, .bandwidth = 3});
  return {{{.speed = 1}, {.speed = 2}, {.speed = 4}}, links, 4};
}

TEST_CASE("cheapest_transfers: over links, least constant part plus bytes at the best bandwidth") {
  const auto w = two_tensors();
  const auto p = three_devices();
  // Send plus latency: 4 + 5 from 0 to 1, 2 + 2 from 1 to 2, 1 + 10 from 2.
  CHECK(weft::bound::cheapest_transfers(weft::problem{w, p}) == std::vector{4.0, 4.0 + 12 / 6.0});
}

TEST_CASE("cheapest_transfers: other models are asked for every pair") {
  const auto w = two_tensors();
  const auto p = three_devices();
  const auto found = weft::bound::cheapest_transfers(weft::problem{w, p, slower{}});
  REQUIRE(found.size() == 2);
  CHECK(found[0] == doctest::Approx(1 + 1.0));           // from 2
  CHECK(found[1] == doctest::Approx(2 + (2 + 4) / 10.0)); // from 1 to 2
  CHECK(weft::bound::cheapest_transfers(weft::problem{w, p, constant{}}) == std::vector{4.0, 4.0});
}

TEST_CASE("cheapest_transfers: with one device, nothing can be sent") {
  const auto w = two_tensors();
  const weft::platform<weft::uniform_links> one{{{}}, {{.latency = 5}}};
  CHECK(weft::bound::cheapest_transfers(weft::problem{w, one}) ==
        std::vector(2, std::numeric_limits<double>::infinity()));
}

} // namespace bound_cheapest_transfer_test
