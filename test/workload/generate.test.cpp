// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/generate.hpp"

#include "summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace workload_generate_test {

using namespace weft;

bool plausible(double count, double expected) {
  return std::abs(count - expected) < 5 * std::sqrt(expected) + 1;
}

/// How many groups have how many members.
std::map<std::size_t, double> groups_by_size(const workload& w) {
  std::vector<std::size_t> size(w.num_groups(), 0);
  for (const op_id v : ids(w.num_ops())) {
    if (w.group(v) != none) {
      ++size[w.group(v)];
    }
  }
  std::map<std::size_t, double> counts;
  for (const auto s : size) {
    counts[s] += 1;
  }
  return counts;
}

TEST_CASE("layered: amounts fill their intervals") {
  const auto w = generate::layered({}, 1);
  CHECK(w.num_tensors() == w.num_ops());
  double least = 1e9, most = 0, sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    least = std::min(least, w.work(v));
    most = std::max(most, w.work(v));
    sum += w.work(v);
    CHECK(w.bytes(v) >= 1);
    CHECK(w.bytes(v) <= 100);
    CHECK(w.resident_bytes(v) >= 1);
    CHECK(w.resident_bytes(v) <= 100);
  }
  CHECK(least == 1);
  CHECK(most == 100);
  CHECK(sum / static_cast<double>(w.num_ops()) == doctest::Approx(50.5).epsilon(0.05));

  const auto fixed = generate::layered(
    {.min_work = 7, .max_work = 7, .min_bytes = 0, .max_bytes = 0, .min_resident_bytes = 5, .max_resident_bytes = 5});
  CHECK(test::total_work(fixed) == 7 * static_cast<double>(fixed.num_ops()));
  CHECK(test::total_tensor_bytes(fixed) == 0);
  CHECK(test::total_resident_bytes(fixed) == 5 * fixed.num_ops());
}

TEST_CASE("layered: device constraints follow their probabilities") {
  const generate::layered_dag_options o{
    .shape = {.num_ops = 20'000}, .cpu_only_probability = 0.02, .gpu_only_probability = 0.1};
  const auto w = generate::layered(o, 2);
  double cpu = 0, gpu = 0;
  for (const op_id v : ids(w.num_ops())) {
    cpu += w.kinds(v) == kind_set{device_kind::cpu} ? 1 : 0;
    gpu += w.kinds(v) == kind_set{device_kind::gpu} ? 1 : 0;
  }
  CHECK(plausible(cpu, 400));
  CHECK(plausible(gpu, 2000));
}

TEST_CASE("layered: the number of colocation groups halves with their size, on average") {
  std::map<std::size_t, double> counts;
  constexpr int runs = 60;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const auto w = generate::layered({.shape = {.num_ops = 4000, .in_degree = 0.5}}, seed);
    for (const auto& [size, count] : groups_by_size(w)) {
      counts[size] += count / runs;
    }
  }
  // n/5 · U · 2^-i; rounding down costs half a group
  for (std::size_t size = 2; size <= 5; ++size) {
    CAPTURE(size);
    const double expected = 4000.0 / 5 * 0.5 * std::pow(2, -static_cast<double>(size)) - 0.5;
    CHECK(counts[size] == doctest::Approx(expected).epsilon(0.3));
  }
  CHECK(counts.rbegin()->first <= 9); // 800 · 2^-10 < 1
  CHECK(counts.begin()->first == 2);
  CHECK(generate::layered({.colocation_share = 0}).num_groups() == 0);
}

TEST_CASE("layered: colocated ops allow a common kind even when most ops are constrained") {
  const auto w = generate::layered({.cpu_only_probability = 0.5, .gpu_only_probability = 0.5, .colocation_share = 1},
                                   3); // build() would throw
  CHECK(w.num_groups() > 100);
}

TEST_CASE("layered: acyclic, with as many edges as its structure has arcs") {
  const generate::layered_dag_options o{};
  rng random{4};
  const auto structure = generate::layered_structure(o.shape, random);
  const auto w = generate::layered(o, 4);
  CHECK(w.num_ops() == structure.num_ops());
  CHECK(w.num_edges() == structure.arcs.size());
  CHECK(graph::topological_order(w).size() == w.num_ops());
}

TEST_CASE("layered: a seed decides the workload, on every platform") {
  const auto fingerprint = [](std::uint64_t seed) { return test::fingerprint(generate::layered({}, seed)); };
  CHECK(fingerprint(5) == fingerprint(5));
  CHECK(fingerprint(5) != fingerprint(6));
  CHECK(fingerprint(5) == 2'121'524'450'066'179'291u);
}

TEST_CASE("layered_sized: the size, width and in-degree asked for") {
  const auto w = generate::layered_sized(10'000, 50, 4, 1);
  CHECK(w.num_ops() == 10'000);
  CHECK(plausible(static_cast<double>(w.num_edges()), 4 * (10'000 - 50)));
  CHECK(test::fingerprint(w) != test::fingerprint(generate::layered_sized(10'000, 50, 4, 2)));
  CHECK(generate::layered_sized(7, 100, 4).num_edges() == 0); // one level only
}

TEST_CASE("layered: options that make no sense are errors") {
  CHECK_THROWS_WITH_AS(generate::layered({.min_work = 2, .max_work = 1}),
                       "generator option min_work, max_work: the smaller comes first", value_error);
  CHECK_THROWS_AS(generate::layered({.min_bytes = 2, .max_bytes = 1}), value_error);
  CHECK_THROWS_AS(generate::layered({.min_resident_bytes = 200}), value_error);
  CHECK_THROWS_AS(generate::layered({.cpu_only_probability = 0.6, .gpu_only_probability = 0.6}), value_error);
  CHECK_THROWS_AS(generate::layered({.colocation_share = 2}), value_error);
}

} // namespace workload_generate_test
