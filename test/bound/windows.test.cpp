// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "weft/bound/area.hpp"
#include "weft/bound/best.hpp"
#include "weft/bound/windows.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace bound_windows_test {

using weft_test::least_makespan;
using weft_test::random_problem;

/// Fork and join: one op of a second, `wide` of a second each, one of a second, on devices of these speeds.
double of_fork(std::size_t wide, const std::vector<double>& speeds) {
  weft::workload_builder b;
  b.add_op({.work = 1});
  for (weft::op_id v = 1; v <= wide; ++v) {
    b.add_op({.work = 1});
    b.add_control_edge(0, v);
  }
  const auto last = b.add_op({.work = 1});
  for (weft::op_id v = 1; v <= wide; ++v) {
    b.add_control_edge(v, last);
  }
  const auto w = std::move(b).build();
  std::vector<weft::device> devices;
  for (const double speed : speeds) {
    devices.push_back({.speed = speed});
  }
  const weft::platform<weft::uniform_links> q{std::move(devices), {}};
  return weft::bound::windows(weft::problem{w, q});
}

TEST_CASE("bound::windows: work between two narrow places") {
  // 1 + 8 / 4 + 1, where neither the path of 3 nor the area of 10 / 4 sees more.
  CHECK(of_fork(8, {1, 1, 1, 1}) == doctest::Approx(4));
  // In units of the fast device: 0.5 + 9 / 3 + 0.5.
  CHECK(of_fork(9, {2, 1}) == doctest::Approx(4));
  CHECK(of_fork(1, {1, 1}) == doctest::Approx(3));
}

TEST_CASE("bound::windows: never above the optimum") {
  weft::rng random{17};
  int above_others = 0;
  for (int round = 0; round < 1500; ++round) {
    CAPTURE(round);
    const auto s = random_problem(random);
    s.with([&](const auto& p) {
      const double best = least_makespan(p);
      CHECK(weft::bound::windows(p) <= best * (1 + 1e-12));
      CHECK(weft::bound::best(p).value <= best * (1 + 1e-12));
      above_others += weft::bound::windows(p) > 1e-9 + std::max({weft::bound::communication_path(p),
                                                                 weft::bound::area(p), weft::bound::group_load(p)});
    });
  }
  CHECK(above_others > 10);
}

TEST_CASE("bound::windows: the numbers of the ops do not decide which sets of devices are looked at") {
  using namespace weft;
  // Five sets of kinds; only the tpu has much to do, in a window between two narrow places.
  const auto cpu = kind_set{device_kind::cpu};
  const auto gpu = kind_set{device_kind::gpu};
  const auto dsp = kind_set{device_kind::dsp};
  const std::vector<kind_set> others{cpu, gpu, dsp, cpu | gpu, cpu | dsp, gpu | dsp};
  const platform<uniform_links> q{
    {{}, {.kind = device_kind::gpu}, {.kind = device_kind::dsp}, {.kind = device_kind::tpu, .slots = 2}}, {}};
  for (const bool first : {true, false}) {
    workload_builder b;
    const auto add_busy = [&] {
      const auto begin = b.add_op({.work = 5, .bytes = 0, .kinds = device_kind::tpu});
      const auto end = b.add_op({.work = 5, .kinds = device_kind::tpu});
      for (int i = 0; i < 3; ++i) {
        const auto v = b.add_op({.work = 10, .bytes = 0, .kinds = device_kind::tpu});
        b.add_edge(begin, v);
        b.add_edge(v, end);
      }
    };
    if (first) {
      add_busy();
    }
    for (const kind_set k : others) {
      b.add_op({.work = 1, .kinds = k});
    }
    if (!first) {
      add_busy();
    }
    const auto w = std::move(b).build();
    CHECK(bound::windows(problem{w, q}) == doctest::Approx(25));
  }
}

TEST_CASE("bound::windows: no ops, ops without work, ops that fit nowhere") {
  const weft::platform<weft::uniform_links> one{{{}}, {}};
  const weft::workload empty = weft::workload_builder{}.build();
  CHECK(weft::bound::windows(weft::problem{empty, one}) == 0);
  weft::workload_builder idle;
  idle.add_op({});
  const auto w = std::move(idle).build();
  CHECK(weft::bound::windows(weft::problem{w, one}) == 0);
  weft::workload_builder nowhere;
  nowhere.add_op({.work = 1, .kinds = weft::device_kind::tpu});
  const auto homeless = std::move(nowhere).build();
  CHECK(weft::bound::windows(weft::problem{homeless, one}) == std::numeric_limits<double>::infinity());
}

TEST_CASE("bound::best: rounded up to the unit of all times") {
  // Three ops of 2 s on two devices: 3 s of area, but nothing ends at an odd second.
  weft::workload_builder b;
  for (int v = 0; v < 3; ++v) {
    b.add_op({.work = 2, .bytes = 1});
  }
  const auto w = std::move(b).build();
  const weft::platform<weft::uniform_links> two{{{}, {}}, {{.latency = 0.3}}};
  CHECK(weft::bound::best(weft::problem{w, two}).value == 4);
  // With an edge, a transfer may shift things by 0.3 s.
  weft::workload_builder c;
  for (int v = 0; v < 4; ++v) {
    c.add_op({.work = v == 3 ? 0.0 : 2.0, .bytes = 1});
  }
  c.add_edge(2, 3);
  const auto joined = std::move(c).build();
  const weft::platform<weft::uniform_links> same{{{}, {}}, {{.latency = 0.3}}};
  CHECK(weft::bound::best(weft::problem{joined, same}).value < 4);
}

} // namespace bound_windows_test
