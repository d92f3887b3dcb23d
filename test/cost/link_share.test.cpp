// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/link_share.hpp"

#include "weft/cost/linear.hpp"
#include "weft/io/json_platform.hpp"
#include "weft/platform/identical.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/devices_needed.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <utility>

namespace cost_link_share_test {

using namespace weft;

constexpr double share = cost::typical_link_share;

TEST_CASE("typical links: peak rates are reached in part, and rates that are reached as a whole") {
  const auto peak = presets::dgx_a100();
  const auto typical = cost::with_typical_links(peak);
  CHECK(peak.link_share() == 1);
  CHECK(typical.link_share() == share);
  for (const device_id a : ids(peak.num_devices())) {
    for (const device_id b : ids(peak.num_devices())) {
      if (a != b) {
        CHECK(typical.bandwidth(a, b) == share * peak.bandwidth(a, b));
        CHECK(typical.latency(a, b) == peak.latency(a, b));
      }
    }
  }
  for (const link_id l : ids(peak.num_links())) {
    CHECK(typical.link_at(l).bandwidth == share * peak.link_at(l).bandwidth);
  }
  for (const auto& p : {presets::make("paper_like_10"), presets::identical(4)}) {
    const auto same = cost::with_typical_links(p);
    CHECK(same.link_share() == 1);
    CHECK(same.bandwidth(0, 1) == p.bandwidth(0, 1));
  }
}

TEST_CASE("typical links: a transfer takes as long by the costs as on each simulated network") {
  workload_builder b;
  const auto from = b.add_op({.bytes = 300'000'000});
  b.add_edge(from, b.add_op({}));
  const workload w = std::move(b).build();
  const auto p = cost::with_typical_links(presets::dgx_a100());
  const problem sent{w, p};
  const plan x{.placement = {1, 2}};
  const double seconds = sent.send_time(0, 1, 2) + sent.transfer_time(0, 1, 2);
  CHECK(sent.transfer_time(0, 1, 2) == doctest::Approx(5e-6 + 1e-3 / share));
  CHECK(simulator{sent, schedule::fifo{}}.run(x).makespan == doctest::Approx(seconds));
  for (const auto how : {contention_model::fair, contention_model::port}) {
    CHECK(simulator{sent, schedule::fifo{}, simulate::any_network{.model = how}}.run(x).makespan ==
          doctest::Approx(seconds));
  }
}

TEST_CASE("platform: the share of links stays where other things change, and is not written to files") {
  const auto p = presets::dgx_a100().with_link_share(0.5);
  CHECK(p.changed([](device& d) { d.speed *= 2; }).link_share() == 0.5);
  CHECK(p.with(number_format::fp16).link_share() == 0.5);
  CHECK(solve::with_devices_like(p, 1, 12).link_share() == 0.5);
  CHECK(p.with_link_share(1).bandwidth(1, 2) == 300e9);
  CHECK(p.links()(1, 2).bandwidth == 300e9);
  std::stringstream file;
  io::write_platform_json(file, p);
  CHECK(io::read_platform_json(file).bandwidth(1, 2) == 300e9);
  CHECK_THROWS_AS(p.with_link_share(0), value_error);
  CHECK_THROWS_AS(p.with_link_share(1.5), value_error);
}

} // namespace cost_link_share_test
