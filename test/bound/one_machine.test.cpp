// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/detail/one_machine.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

namespace bound_one_machine_test {

using weft::bound::detail::job;
using weft::bound::detail::one_machine;

/// max over all sets of jobs of min head + Σ time + min tail.
double over_all_sets(const weft::buffer<job>& jobs) {
  double most = 0;
  for (unsigned set = 1; set < 1u << jobs.size(); ++set) {
    job sum{1e9, 0, 1e9};
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (set >> i & 1) {
        sum = {std::min(sum.head, jobs[i].head), sum.time + jobs[i].time, std::min(sum.tail, jobs[i].tail)};
      }
    }
    most = std::max(most, sum.head + sum.time + sum.tail);
  }
  return most;
}

TEST_CASE("one_machine: Carlier's example") { // Carlier 1982, 7 jobs; 49 preemptively, 50 without
  const job example[] = {{10, 5, 7}, {13, 6, 26}, {11, 7, 24}, {20, 4, 21}, {30, 3, 8}, {0, 6, 17}, {30, 2, 0}};
  weft::buffer<job> jobs;
  jobs.assign(std::begin(example), std::end(example));
  CHECK(one_machine{}(jobs) == 49);
}

TEST_CASE("one_machine: the best set of jobs, on random ones") {
  weft::rng random{1};
  one_machine machine;
  for (int round = 0; round < 300; ++round) {
    weft::buffer<job> jobs(1 + random.below(8), job{});
    for (auto& j : jobs) {
      j = {static_cast<double>(random.below(20)), static_cast<double>(random.below(8)),
           static_cast<double>(random.below(20))};
    }
    CHECK(machine(jobs) == doctest::Approx(over_all_sets(jobs)));
  }
}

} // namespace bound_one_machine_test
