// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/tuning.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace docs_tuning_test {

// [step]
/// Rows of numbers, each made from those of the row before.
struct my_step {
  weft::workload ops;
  std::vector<std::vector<double>> rows;

  const weft::workload& graph() const { return ops; }
  std::string key(weft::op_id v) const { return std::to_string(rows[v].size()); } // equal ones cost the same
  void begin() {} // called before each step
  void run(weft::op_id v, weft::team t) { // called from any thread, when the inputs of v are there
    const auto part = [&](std::size_t i) {
      for (std::size_t k = i; k < rows[v].size(); k += t.threads) {
        rows[v][k] += 1;
      }
    };
    std::vector<std::jthread> others; // after what they use, which they end before
    for (std::uint32_t i = 1; i < t.threads; ++i) {
      others.emplace_back([&part, i] { part(i); });
    }
    part(0);
  }
};
// [step]

TEST_CASE("docs: a step of one's own is tuned") {
  weft::workload_builder b;
  for (int i = 0; i < 6; ++i) {
    b.add_op({.bytes = 8000});
  }
  b.add_edge(0, 3);
  b.add_edge(1, 3);
  my_step step{std::move(b).build(), std::vector<std::vector<double>>(6, std::vector<double>(1000))};
  const weft::machine here{.name = "here", .cores_per_socket = 2};
  // [tune]
  weft::execute::tuned best{step, {.here = here}}; // the machine, such as local_topology{}.describe()
  for (int i = 0; i < 100; ++i) {
    best().rethrow(); // a step, as it runs the fastest
  }
  const auto& chosen = best.settings()[best.chosen()];
  // [tune]
  CHECK(chosen.predicted.makespan >= 0);
  CHECK(step.rows[5][0] >= 100);
}

} // namespace docs_tuning_test
