// SPDX-License-Identifier: BSL-1.0
#include "weft/planner/short_search.hpp"
#include "weft/planner/tried_amounts.hpp"

#include "weft/core/random.hpp"
#include "weft/cost/linear.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace planner_tried_amounts_test {

using namespace weft;

TEST_CASE("largest_batch: the largest that fits, and the one with most examples per second") {
  rng random{3};
  for (int i = 0; i < 1000; ++i) {
    const auto limit = 1 + random.below(5000);
    const auto most = random.below(6000);
    int asked = 0;
    const auto x = planner::largest_batch(limit, [&](std::uint64_t batch) {
      ++asked;
      return batch <= most ? std::optional{static_cast<double>(batch + 10)} : std::nullopt;
    });
    CHECK(x.largest == std::min(most, limit - 1));
    CHECK(x.fastest == x.largest); // the more, the faster
    CHECK(x.largest_rate == x.most_rate);
    CHECK(asked <= 27);
  }
  const auto slower = planner::largest_batch(100, [](std::uint64_t batch) {
    return std::optional{static_cast<double>(batch * batch)};
  });
  CHECK(slower.largest == 99);
  CHECK(slower.fastest == 1);
}

TEST_CASE("fastest_rerun: nothing if that is enough, else the fastest of what is tried") {
  using enum recomputation;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  /// With `enough` blocks the step fits; each takes a second more, and attentions five.
  const auto judge = [](std::uint32_t enough, double attentions) {
    return [=](std::optional<recomputation> what, std::uint32_t blocks) {
      return what == attention ? solve::amount_verdict{attentions, true}
             : !what           ? solve::amount_verdict{enough == 0 ? 10 : infinity, enough == 0}
                               : solve::amount_verdict{blocks >= enough ? 10.0 + blocks : infinity, blocks >= enough};
    };
  };
  CHECK(!planner::fastest_rerun(12, true, judge(0, 5)).what); // attentions are not asked
  const auto some = planner::fastest_rerun(12, true, judge(3, 50));
  CHECK(some.what == blocks);
  CHECK(some.blocks == 3);
  CHECK(some.seconds == 13);
  CHECK(planner::fastest_rerun(12, true, judge(3, 12)).what == attention);
  CHECK(planner::fastest_rerun(12, false, judge(3, 12)).what == blocks);
  const auto all = planner::fastest_rerun(12, true, judge(13, infinity));
  CHECK(all.what == blocks); // nothing fits: as much as there is
  CHECK(all.blocks == 12);
  CHECK(all.seconds == infinity);
  CHECK(planner::fastest_rerun(0, true, judge(1, infinity)).what == attention);
  CHECK(!planner::fastest_rerun(0, false, judge(1, infinity)).what);
}

TEST_CASE("run_shortly: what fits on the accelerator does not spill, and what lacks memory says how much") {
  workload_builder b;
  for (int i = 0; i < 4; ++i) {
    const op_id v = b.add_op({.work = 10, .bytes = 10, .resident_bytes = 100});
    i > 0 ? b.add_edge(v - 1, v) : void();
  }
  const workload w = std::move(b).build();
  const auto judged = [&](byte_count of_card, byte_count of_host) {
    std::vector<device> devices{{.kind = device_kind::cpu, .speed = 1, .memory_capacity = of_host},
                                {.kind = device_kind::gpu, .speed = 10, .memory_capacity = of_card}};
    const platform<> p{std::move(devices), link_matrix{2, {}}};
    return planner::run_shortly(instance{w, p, cost::lowered{cost::linear{}, w, p}}, {});
  };
  const auto fits = judged(1000, 1000);
  CHECK(!fits.spills);
  CHECK(fits.seconds == 4);
  const auto spills = judged(300, 1000);
  CHECK(spills.spills);
  CHECK(spills.seconds > 4);
  CHECK(spills.counted(0.05) > spills.seconds); // devices that are unlike
  const auto lacks = judged(300, 50);
  CHECK(lacks.seconds == std::numeric_limits<double>::infinity());
  CHECK(lacks.lacks > 0);
}

} // namespace planner_tried_amounts_test
