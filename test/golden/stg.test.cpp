// SPDX-License-Identifier: BSL-1.0
// The Standard Task Graph Set: published optima, and graphs whose optimum was open.
#include <doctest/doctest.h>

#ifdef WEFT_REFERENCE_DATA
#include "weft/io/stg.hpp"
#include "weft/problem.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>
#endif

namespace golden_stg_test {

#ifdef WEFT_REFERENCE_DATA
using namespace weft;

struct row {
  std::string file;
  std::uint32_t devices = 0;
  double low = 0;  ///< no schedule is shorter
  double high = 0; ///< of a schedule that is known; 0: none is published
};

std::vector<row> rows_of(const std::filesystem::path& path) {
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  std::vector<row> rows;
  while (std::getline(in, line)) {
    const auto fields = io::split(line, ',');
    const auto number = [&](std::size_t i) { return fields[i].empty() ? 0.0 : std::stod(std::string{fields[i]}); };
    rows.push_back({std::string{fields[0]}, static_cast<std::uint32_t>(number(1)), number(3), number(4)});
  }
  return rows;
}

TEST_CASE("golden: the optimum of every graph of the Standard Task Graph Set at hand is found and proven") {
  const std::filesystem::path root{WEFT_REFERENCE_DATA};
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  const auto rows = rows_of(root / "reference" / "stg.csv");
  CHECK(rows.size() == 492);
  int proven = 0;
  int published = 0;
  int open = 0;
  for (const auto& [file, devices, low, high] : rows) {
    CAPTURE(file);
    CAPTURE(devices);
    const auto w = io::read_workload_stg(root / "data" / "stg" / file);
    const auto q = presets::identical(devices);
    const problem p{w, q};
    rng random;
    workspace scratch;
    const auto found = refine::identical_devices{.budget = {.moves = 200'000}}(p, random, scratch);
    REQUIRE(found);
    simulator<problem<workload, platform<>>, schedule::static_order> sim{p};
    const auto run = sim.run(found->plan);
    REQUIRE(run.complete);
    CHECK(found->bound == run.makespan);
    proven += found->bound == run.makespan;
    if (high > 0) {
      CHECK(run.makespan >= low);
      CHECK(run.makespan <= high);
      published += low == high;
      open += low < high;
    }
  }
  CHECK(proven == 492);
  CHECK(published == 469);
  CHECK(open == 14);
}

#else
TEST_CASE("golden: the optimum of every graph of the Standard Task Graph Set at hand is found and proven") {
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
}
#endif

} // namespace golden_stg_test
