// SPDX-License-Identifier: BSL-1.0
#include "simulate/random_problem.hpp"
#include "support/small_problem.hpp"

#include "weft/graph/longest_path.hpp"
#include "weft/partition/importance.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace partition_importance_test {

using namespace weft;
using numbers = std::vector<double>;

TEST_CASE("importance: the longest path through each op, in work units") {
  const workload w = test::diamond();
  const auto q = test::three_devices();
  const problem p{w, q};
  CHECK(partition::work_to_sink(p) == numbers{80, 60, 70, 40});
  CHECK(partition::work_from_source(p) == numbers{0, 10, 10, 40});
  CHECK(partition::importance(p) == numbers{80, 70, 80, 80});
}

TEST_CASE("importance: as the general longest paths") {
  rng random{3};
  for (int round = 0; round < 200; ++round) {
    const test::drawn s{random};
    const auto order = s.p.topological_order();
    const auto work = [&](op_id v) { return s.w.work(v); };
    CHECK(partition::work_to_sink(s.p) == graph::longest_to_sink(s.w, order, work));
    CHECK(partition::work_from_source(s.p) == graph::longest_from_source(s.w, order, work));
  }
}

TEST_CASE("random_ranks: a permutation of the ops that the seed decides") {
  const workload w = test::diamond();
  const auto q = test::three_devices();
  const problem p{w, q};
  workspace scratch;
  std::vector<std::vector<std::uint32_t>> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    rng random{seed};
    const auto rank = partition::random_ranks(p, random, scratch);
    std::vector<std::uint32_t> sorted(rank.begin(), rank.end());
    seen.push_back(sorted);
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<std::uint32_t>{0, 1, 2, 3});
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::unique(seen.begin(), seen.end()) - seen.begin() == 24); // all of them occur
}

} // namespace partition_importance_test
