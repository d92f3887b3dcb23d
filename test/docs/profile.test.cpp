// SPDX-License-Identifier: BSL-1.0
// Keeping a profile, as docs/choose_threads.md shows it.
#include "weft/all.hpp"
#include "weft/concurrency.hpp"
#include "weft/execute.hpp"
#include "weft/io/json_profile.hpp"

#include <doctest/doctest.h>

#include <iostream>
#include <sstream>
#include <vector>

namespace docs_profile_test {

TEST_CASE("docs: a profile is kept and used again") {
  weft::workload_builder b;
  b.add_op({.work = 1e6, .type = "Filter"});
  const weft::workload workload = std::move(b).build();
  const weft::machine here{.name = "a machine of eight cores", .cores_per_socket = 8};
  const weft::concurrency::op_classes classes{workload};
  weft::concurrency::profiler learn{classes, here.cores()};
  std::stringstream file;

  // [save]
  weft::concurrency::profile kept;
  while (!learn.done()) {
    for (const weft::op_id v : weft::ids(workload.num_ops())) {
      const weft::team t = learn.team_for(v);
      const double seconds = 1e-3 / t.threads; // measured
      learn.record(v, t, seconds);
      kept.record({here.name, classes.key(classes.class_of(v)), t.threads, t.affinity}, seconds);
    }
  }
  weft::io::write_profile_json(file, kept);
  // [save]

  // [load]
  const auto known = weft::io::read_profile_json(file);
  if (const auto warning = known.warning_for(here.name); !warning.empty()) {
    std::cerr << warning << '\n';
  }
  std::vector<weft::concurrency::sampled_curve> curves;
  for (weft::concurrency::class_id c = 0; c < classes.num_classes(); ++c) {
    curves.push_back(known.curve(here.name, classes.key(c)).value()); // throws if it was never measured here
  }
  const weft::concurrency::time_table times{
    classes, here.cores(), [&](weft::concurrency::class_id c, weft::team t) { return curves[c](t); }};
  // [load]

  CHECK(known == kept);
  CHECK(times.seconds(0, {8}) == doctest::Approx(learn.times().seconds(0, {8})));
  CHECK_FALSE(known.warning_for("another machine").empty());
}

} // namespace docs_profile_test
