// SPDX-License-Identifier: BSL-1.0
// The snippets of docs/exact.md.
#include "weft/io/stg.hpp"
#include "weft/problem.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace docs_exact_test {

TEST_CASE("docs: the optimum of a task graph on identical devices") {
  std::istringstream file{"4\n0 0 0\n1 3 1 0\n2 4 1 0\n3 5 1 0\n4 2 1 1\n5 0 3 2 3 4\n"};
  weft::rng random;
  weft::workspace scratch;
  // [identical]
  const auto w = weft::io::read_workload_stg(file); // or the path of a file
  const auto q = weft::presets::identical(2);
  const weft::problem p{w, q};
  const auto found = weft::refine::identical_devices{.budget = {.seconds = 0.8}}(p, random, scratch);
  weft::simulator<weft::problem<weft::workload, weft::platform<>>, weft::schedule::static_order> run{p};
  const bool optimal = run.run(found->plan).makespan == found->bound;
  // [identical]
  CHECK(optimal);
  CHECK(found->bound == 7);
}

TEST_CASE("docs: why nothing is shorter") {
  std::istringstream graph{"3\n0 0 0\n1 3 1 0\n2 4 1 0\n3 5 1 0\n4 0 3 1 2 3\n"};
  const auto w = weft::io::read_workload_stg(graph);
  const auto q = weft::presets::identical(2);
  const weft::problem p{w, q};
  weft::rng random;
  weft::workspace scratch;
  std::ostringstream file;
  // [proof]
  weft::refine::exact::parallel_proof proof;
  const auto found = weft::refine::identical_devices{.proof = &proof}(p, random, scratch);
  proof.write(file); // throws where times are not all multiples of a unit
  // [proof]
  CHECK(found->bound == 7);
  CHECK(file.str().find("\nbound 7\nby ") != std::string::npos);
}

} // namespace docs_exact_test
