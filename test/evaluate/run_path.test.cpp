// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/run_path.hpp"

#include "support/small_problem.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/heft.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace plan_run_path_test {

using namespace weft;
using what = path_step::kind;
using why = path_step::cause;

template <class Problem, class Contention = simulate::no_contention>
trace run_of(const Problem& p, const placement& where) {
  trace run;
  simulator<Problem, schedule::path_completion_time, Contention>{p}.run({where}, simulate::recorder{run});
  return run;
}

/// From 0 to the end without a hole that is not called idle.
void check_chain(const std::vector<path_step>& path, const trace& run) {
  REQUIRE(!path.empty());
  double now = 0;
  for (const auto& s : path) {
    CHECK(s.start == doctest::Approx(now + s.idle).epsilon(1e-12));
    CHECK(s.idle == 0); // a greedy simulator never waits for nothing
    now = s.finish;
  }
  CHECK(path.front().after == why::start);
  CHECK(now == run.makespan);
}

TEST_CASE("path_of_run: data, sends and transfers of the diamond") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const auto run = run_of(p, {0, 0, 1, 1});
  const auto path = path_of_run(p, run);
  check_chain(path, run);
  CHECK(path.back().what == what::op);
  CHECK(path.back().index == 3);
  CHECK(path.front().index == 0);
  CHECK(std::count_if(path.begin(), path.end(), [](const auto& s) { return s.what == what::transfer; }) == 1);
}

TEST_CASE("path_of_run: one device only: ops wait for data where they can, else for the device") {
  const auto w = test::diamond();
  const platform machine{std::vector<device>(1), uniform_links{}};
  const problem p{w, machine};
  const auto run = run_of(p, {0, 0, 0, 0});
  const auto path = path_of_run(p, run);
  check_chain(path, run);
  REQUIRE(path.size() == 4);
  CHECK(std::count_if(path.begin(), path.end(), [](const auto& s) { return s.after == why::device; }) == 1);
  CHECK(path[1].after == why::data);
  CHECK(path[2].after == why::device); // both need a only, and one had to wait
}

TEST_CASE("path_of_run: nothing, ops without length, and gaps of measured runs") {
  workload_builder b;
  const platform machine{std::vector<device>(1), uniform_links{}};
  const auto empty = std::move(b).build();
  CHECK(path_of_run(problem{empty, machine}, trace{}).empty());

  workload_builder zeros;
  for (int i = 0; i < 4; ++i) {
    zeros.add_op({.work = 0, .bytes = 1});
  }
  zeros.add_edge(3, 0); // not in the order of ids
  zeros.add_edge(0, 2);
  const auto w = std::move(zeros).build();
  const problem p{w, machine};
  const auto run = run_of(p, {0, 0, 0, 0});
  const auto path = path_of_run(p, run);
  CHECK(!path.empty());
  CHECK(path.size() <= 4);

  trace measured;
  measured.ops = {{0, 3, 4}, {0, 0.5, 1}, {0, 4.25, 6}, {0, 1, 2}};
  measured.makespan = 6;
  const auto late = path_of_run(p, measured);
  REQUIRE(late.size() == 4);
  CHECK(late[0] == path_step{what::op, 1, 0.5, 1, why::start, 0.5});
  CHECK(late[1] == path_step{what::op, 3, 1, 2, why::device, 0});
  CHECK(late[2] == path_step{what::op, 0, 3, 4, why::data, 1});
  CHECK(late[3] == path_step{what::op, 2, 4.25, 6, why::data, 0.25});
}

TEST_CASE("path_of_run: transfers wait for ports") {
  workload_builder b; // two tensors leave one device for another
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = i < 2 ? 1.0 : 0.5, .bytes = 100});
  }
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>(3), link_matrix{3, {0, 10}}};
  const problem p{w, machine};
  const auto run = run_of<decltype(p), simulate::port_contention>(p, {0, 0, 1, 2});
  const auto path = path_of_run(p, run);
  check_chain(path, run);
  CHECK(std::any_of(path.begin(), path.end(), [](const auto& s) { return s.after == why::link; }));
}

TEST_CASE("path_of_run: random runs have no holes") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto w = generate::layered_sized(300, 12, 2, seed);
    const auto machine = test::three_devices();
    const problem p{w, machine};
    placement where(p.num_ops());
    rng random{seed};
    for (auto& d : where) {
      d = static_cast<device_id>(random() % 3);
    }
    const auto run = run_of(p, where);
    check_chain(path_of_run(p, run), run);
    const auto shared = run_of<decltype(p), simulate::port_contention>(p, where);
    check_chain(path_of_run(p, shared), shared);
  }
}

TEST_CASE("path_of_run: an op without length that waited for another one without length, by the order of its device") {
  workload_builder b; // 0 has to wait for 2, which its device takes first; 2 waits for 1, which is elsewhere
  b.add_op({.work = 0});
  b.add_op({.work = 3, .bytes = 10});
  b.add_op({.work = 0});
  b.add_op({.work = 1});
  b.add_edge(1, 2);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>(2), link_matrix{2, {1, 10}}};
  const problem p{w, machine};
  trace run;
  run.ops = {{0, 5, 5}, {1, 0, 3}, {0, 5, 5}, {0, 5, 6}};
  run.transfers = {{0, 1, 0, 3, 3, 3, 5}};
  run.makespan = 6;
  const auto path = path_of_run(p, run);
  check_chain(path, run);
  CHECK(path.size() >= 4);
}

} // namespace plan_run_path_test
