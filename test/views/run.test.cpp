// SPDX-License-Identifier: BSL-1.0
#include "weft/views/run.hpp"

#include "support/small_problem.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/heft.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/algorithm/is_sorted.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

namespace views_run_test {

using namespace weft;
using views::interval;

static_assert(ranges::random_access_range<views::kept<op_id>> && ranges::sized_range<views::kept<op_id>>);
static_assert(std::ranges::random_access_range<views::kept<op_id>> && std::ranges::view<views::kept<op_id>>);
static_assert(ranges::random_access_range<views::gaps_view> && ranges::sized_range<views::gaps_view>);
static_assert(std::ranges::random_access_range<views::gaps_view> && std::ranges::view<views::gaps_view>);
static_assert(!std::is_constructible_v<views::timeline, trace>);

/// Device 0: ops 2 (0 to 1), 0 (1 to 3), a send from 4 to 5, op 3 (8 to 9). Device 2: op 1 from 5 to 7, op 4 from 6 to
/// 8, as a team runs beside another. Device 1 only receives. The run ends with a transfer at 10.
trace small_run() {
  return {.ops = {{0, 1, 3}, {2, 5, 7}, {0, 0, 1}, {0, 8, 9}, {2, 6, 8}},
          .transfers = {{0, 0, 2, 4, 5, 5, 5.5}, {2, 0, 1, 9, 9, 9, 10}, {2, 0, 2, 3, 3, 3, 3.5}},
          .makespan = 10};
}

TEST_CASE("a timeline: ops, busy times and idle times of a device") {
  const trace run = small_run();
  const views::timeline line{run};
  CHECK(ranges::equal(line.ops(0), std::vector<op_id>{2, 0, 3}));
  CHECK(ranges::equal(line.ops(2), std::vector<op_id>{1, 4}));
  CHECK(ranges::equal(line.busy(0), std::vector<interval>{{0, 3}, {4, 5}, {8, 9}}));
  CHECK(ranges::equal(line.idle(0), std::vector<interval>{{3, 4}, {5, 8}, {9, 10}}));
  CHECK(ranges::equal(line.busy(2), std::vector<interval>{{5, 8}}));
  CHECK(ranges::equal(line.idle(2), std::vector<interval>{{0, 5}, {8, 10}}));
  for (const device_id d : {1u, 3u, none - 1}) { // of which the trace has nothing
    CHECK(line.ops(d).empty());
    CHECK(line.busy(d).empty());
    CHECK(ranges::equal(line.idle(d), std::vector<interval>{{0, 10}}));
  }
  CHECK(line.idle(0)[1] == interval{5, 8});
  CHECK(line.idle(0).size() == 3);
}

TEST_CASE("a timeline: transfers of a link, by start") {
  const trace run = small_run();
  const views::timeline line{run};
  CHECK(ranges::equal(line.transfers(0, 2), std::vector{run.transfers[2], run.transfers[0]}));
  CHECK(ranges::equal(line.transfers(0, 1), std::vector{run.transfers[1]}));
  CHECK(ranges::empty(line.transfers(2, 0)));
  CHECK(&line.transfers(0, 2)[1] == &run.transfers[0]); // refers to the trace
  CHECK(line.transfers(0, 2).size() == 2);
}

TEST_CASE("views of a timeline outlive it, in pipes of both libraries") {
  const trace run = small_run();
  const auto idle = views::timeline{run}.idle(0);
  CHECK(ranges::accumulate(idle | ranges::views::transform(&interval::length), 0.0) == 5);
  double waited = 0;
  for (const double x : idle | std::views::drop(1) | std::views::transform(&interval::length)) {
    waited += x;
  }
  CHECK(waited == 4);
  auto starts = views::timeline{run}.transfers(0, 2) | std::views::transform(&transfer_record::start);
  CHECK(std::ranges::equal(starts, std::vector<double>{3, 5}));
  CHECK(std::ranges::equal(views::timeline{run}.ops(0) | std::views::reverse, std::vector<op_id>{3, 0, 2}));
}

TEST_CASE("a timeline of an empty run, and of one that takes no time") {
  const trace nothing;
  CHECK(views::timeline{nothing}.ops(0).empty());
  CHECK(views::timeline{nothing}.idle(0).empty());
  const trace instant{.ops = {{0, 0, 0}}};
  CHECK(views::timeline{instant}.ops(0).size() == 1);
  CHECK(views::timeline{instant}.busy(0).empty());
  CHECK(views::timeline{instant}.idle(0).empty());
}

TEST_CASE("random runs: busy and idle make up the run, memory peaks where the validator says, the path ends it") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    rng random{seed};
    const workload w = generate::layered_sized(5 + 3 * seed, static_cast<std::uint32_t>(1 + seed % 7), 2, seed);
    const platform<> devices = test::three_devices();
    const problem p{w, devices};
    workspace scratch;
    const auto planned = partition::run(partition::heft{}, p, random, scratch);
    REQUIRE(planned);
    trace run;
    simulator<problem<workload, platform<>, cost::linear>, schedule::path_completion_time>{p}.run(
      {planned->plan.placement}, simulate::recorder{run});

    const views::timeline line{run};
    std::size_t ops = 0, transfers = 0;
    for (const device_id d : ids(3)) {
      ops += line.ops(d).size();
      for (const device_id to : ids(3)) {
        transfers += line.transfers(d, to).size();
        CHECK(ranges::is_sorted(line.transfers(d, to), {}, &transfer_record::start));
      }
      const auto total = [](auto&& intervals) {
        return ranges::accumulate(intervals | ranges::views::transform(&interval::length), 0.0);
      };
      CHECK(total(line.busy(d)) + total(line.idle(d)) == doctest::Approx(run.makespan));
      CHECK(ranges::is_sorted(line.ops(d), {}, [&](op_id v) { return run.ops[v].start; }));
    }
    CHECK(ops == w.num_ops());
    CHECK(transfers == run.transfers.size());

    const auto stays = views::stays(w, run);
    std::vector<byte_count> peak(3, 0);
    for (const auto& s : stays) { // memory grows only when a stay begins
      std::vector<byte_count> held(3, 0);
      for (const op_id v : ids(w.num_ops())) {
        held[planned->plan.placement[v]] += w.resident_bytes(v);
      }
      for (const auto& x : views::alive_at(stays, s.begin)) {
        held[x.device] += w.bytes(x.tensor);
      }
      for (const device_id d : ids(3)) {
        peak[d] = std::max(peak[d], held[d]);
      }
    }
    CHECK(peak == peak_memory_of(p, planned->plan.placement, run));

    const auto path = views::critical_path(p, run);
    REQUIRE(!path.empty());
    CHECK(path.back().finish == run.makespan);
    CHECK(path.front().start == 0);
    CHECK(ranges::equal(path, path_of_run(p, run)));
  }
}

} // namespace views_run_test
