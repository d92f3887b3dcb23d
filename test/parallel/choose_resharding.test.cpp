// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/choose_resharding.hpp"

#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace choose_resharding_test {

using namespace weft;
using parallel::resharding;

TEST_CASE("fastest_resharding: no ring is faster, and its times are those of its messages") {
  const auto machine = presets::dgx_h100();
  std::vector<device_id> gpus;
  for (const device_id d : ids(machine.num_devices())) {
    if (machine.kind(d) == device_kind::gpu) {
      gpus.push_back(d);
    }
  }
  for (const auto how : {contention_model::none, contention_model::fair}) {
    const parallel::fastest_resharding fastest{machine, gpus, how};
    const auto seconds = [&](const parallel::collective& c, byte_count bytes) {
      return parallel::collective_seconds(c, bytes, machine, gpus, how);
    };
    for (const auto what : {resharding::all_gather, resharding::reduce_scatter, resharding::all_reduce}) {
      for (const byte_count bytes : {1'000u, 16'000u, 1'000'000u, 400'000'000u}) {
        CAPTURE(parallel::to_string(what));
        CAPTURE(bytes);
        CHECK(fastest.seconds(what, bytes) ==
              doctest::Approx(seconds(fastest.messages(what, bytes), bytes)).epsilon(0.01));
        CHECK(fastest.seconds(what, bytes) <=
              seconds(parallel::ring(what, static_cast<std::uint32_t>(gpus.size())), bytes) * 1.001);
      }
    }
    const auto all_reduced = [&](byte_count bytes) { return fastest.messages(resharding::all_reduce, bytes); };
    CHECK(all_reduced(16'000).messages.size() < parallel::ring_all_reduce(8).messages.size()); // the latency counts
    CHECK(all_reduced(400'000'000).chunks == 8); // … and here the bytes
  }
}

} // namespace choose_resharding_test
