// SPDX-License-Identifier: BSL-1.0
#include "weft/refine/exact/parallel_proof.hpp"

#include "weft/platform/identical.hpp"
#include "weft/problem.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace weft {
namespace parallel_proof_test {

refine::exact::parallel_proof prove(const std::vector<double>& times, std::uint32_t machines) {
  workload_builder b;
  for (const double t : times) {
    b.add_op({.work = t});
  }
  const auto w = std::move(b).build();
  const auto q = presets::identical(machines);
  const problem p{w, q};
  refine::exact::parallel_proof proof;
  rng random{1};
  workspace scratch;
  const auto found = refine::identical_devices{.proof = &proof}(p, random, scratch);
  REQUIRE(found.has_value());
  CHECK(found->bound == proof.bound);
  return proof;
}

std::string text_of(const refine::exact::parallel_proof& proof) {
  std::ostringstream out;
  proof.write(out);
  return out.str();
}

TEST_CASE("parallel_proof: work that fills the machines needs no search") {
  CHECK(text_of(prove({1, 1, 1, 3}, 2)) == "weft proof 1: jobs on identical machines\nmachines 2\nunit 1\nmakespan 3\n"
                                           "starts 0 1 2 0\nbound 3\nby windows\n");
}

TEST_CASE("parallel_proof: the walk of a search that found nothing") {
  // 86 for three machines: 29 by work, but no sums are 29, 29 and 28, nor 30, 28 and 28 and so on.
  const auto proof = prove({9, 5, 19, 13, 19, 8, 13}, 3);
  CHECK(proof.makespan == 31);
  CHECK(proof.bound == 31);
  CHECK(proof.refuted == 30);
  REQUIRE(!proof.walk.empty());
  CHECK(std::count(proof.walk.begin(), proof.walk.end(), none) * 2 == static_cast<std::ptrdiff_t>(proof.walk.size()));
  const auto text = text_of(proof);
  CHECK(text.find("\nbound 31\nby search ") != std::string::npos);
}

TEST_CASE("parallel_proof: none where sums are rounded") {
  const auto proof = prove({0.1, 0.7, 1.0 / 3}, 2);
  CHECK(proof.unit == 0);
  CHECK_THROWS_WITH_AS(text_of(proof),
                       "no proof: times are not all multiples of a unit, so their sums are rounded", error);
}

} // namespace parallel_proof_test
} // namespace weft
