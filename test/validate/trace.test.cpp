// SPDX-License-Identifier: BSL-1.0
#include "scene.hpp"

#include "weft/concurrency/moldable.hpp"
#include "weft/validate/trace.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>
#include <vector>

namespace validate_trace_test {

using kind = weft::violation::kind;
using weft::violation;
using weft_test::scene;
using list = std::vector<violation>;

list check(const scene& s, weft::validate_options options = {}) { return validate(s.p, s.where, s.run, options); }
constexpr weft::validate_options ports{.contention = weft::contention_model::port};

TEST_CASE("validate trace: a run that keeps all rules") {
  const scene s;
  CHECK(check(s).empty());
  CHECK(check(s, ports).empty());
  CHECK(check(s, {.check_memory = true}).empty());
}

TEST_CASE("validate trace: starts with the placement") {
  scene s;
  s.where[scene::e] = weft::none;
  CHECK(check(s) == list{{.what = kind::unplaced, .op = scene::e}});
}

TEST_CASE("validate trace: every op has one record, on its device") {
  SUBCASE("too few") {
    scene s;
    s.run.ops.pop_back();
    CHECK(check(s) == list{{.what = kind::op_missing, .op = scene::e}});
  }
  SUBCASE("an empty one") {
    scene s;
    s.run.ops[scene::b] = {};
    CHECK(check(s) == list{{.what = kind::op_missing, .op = scene::b}});
  }
  SUBCASE("too many") {
    scene s;
    s.run.ops.push_back({0, 20, 21});
    CHECK(check(s) == list{{.what = kind::op_spurious, .op = 5}});
  }
  SUBCASE("elsewhere") {
    scene s;
    s.run.ops[scene::c].device = 1;
    CHECK(check(s) == list{{.what = kind::op_on_wrong_device, .op = scene::c, .device = 1}});
  }
}

TEST_CASE("validate trace: times are finite and not negative") {
  SUBCASE("of an op") {
    scene s;
    s.run.ops[scene::a] = {0, -1, 1};
    CHECK(check(s) == list{{.what = kind::bad_time, .op = scene::a, .device = 0, .actual = -1}});
  }
  SUBCASE("of a transfer") {
    scene s;
    s.run.transfers[1].arrival = std::numeric_limits<double>::infinity();
    const auto found = check(s);
    REQUIRE(found.size() == 1);
    CHECK(found[0].what == kind::bad_time);
    CHECK(found[0].tensor == scene::z);
  }
  SUBCASE("not a number") {
    scene s;
    s.run.ops[scene::d].finish = std::numeric_limits<double>::quiet_NaN();
    CHECK(weft_test::kinds_of(check(s)) == std::vector{kind::bad_time});
  }
}

TEST_CASE("validate trace: ops take their compute time") {
  scene s;
  s.run.ops[scene::e].finish = 10.5;
  CHECK(check(s) == list{{.what = kind::wrong_duration, .op = scene::e, .device = 0, .expected = 1, .actual = 0.5}});
}

TEST_CASE("validate trace: an op waits for its inputs") {
  SUBCASE("from its own device") {
    scene s; // e before a has finished, in the only gap: make one by moving everything back
    for (auto& r : s.run.ops) {
      r.start += 5;
      r.finish += 5;
    }
    for (auto& x : s.run.transfers) {
      x.send_start += 5;
      x.send_finish += 5;
      x.start += 5;
      x.arrival += 5;
    }
    s.run.makespan += 5;
    CHECK(check(s).empty());
    s.run.ops[scene::e] = {0, 1, 2};
    CHECK(check(s) == list{{.what = kind::input_not_ready, .op = scene::e, .other = scene::a, .tensor = scene::x,
                            .device = 0, .expected = 7, .actual = 1}});
  }
  SUBCASE("from another device") {
    scene s;
    s.run.ops[scene::b] = {1, 5.5, 7.5};
    CHECK(check(s) == list{{.what = kind::input_not_ready, .op = scene::b, .other = scene::a, .tensor = scene::x,
                            .device = 1, .expected = 6, .actual = 5.5}});
  }
}

TEST_CASE("validate trace: a device runs one thing per slot") {
  SUBCASE("two ops") {
    scene s;
    s.run.ops[scene::e] = {0, 4, 5};
    CHECK(check(s) == list{{.what = kind::device_overlap, .op = scene::e, .other = scene::c, .device = 0,
                            .expected = 9, .actual = 4}});
  }
  SUBCASE("an op and a send") {
    scene s;
    s.run.ops[scene::e] = {0, 9.5, 10.5};
    CHECK(check(s) == list{{.what = kind::device_overlap, .op = scene::e, .other = scene::c, .device = 0,
                            .expected = 10, .actual = 9.5}});
  }
  SUBCASE("a send and an op") {
    scene s;
    s.run.transfers[1] = {scene::z, 0, 1, 10.5, 11.5, 11.5, 13};
    s.run.ops[scene::d] = {1, 13, 14};
    s.run.makespan = 14;
    CHECK(check(s) == list{{.what = kind::device_overlap, .op = scene::c, .other = scene::e, .tensor = scene::z,
                            .device = 0, .expected = 11, .actual = 10.5}});
  }
  SUBCASE("as many as there are slots") {
    scene s;
    auto devices = s.platform.devices();
    devices[0].slots = 2;
    const weft::platform<weft::uniform_links> wide{devices, s.platform.links(), 1};
    const weft::problem p{s.w, wide};
    s.run.ops[scene::e] = {0, 3, 4};
    CHECK(validate(p, s.where, s.run).empty());
    s.run.ops[scene::e] = {0, 2.5, 3.5}; // with the send and, from 3 on, c: never more than two
    CHECK(validate(p, s.where, s.run).empty());
    devices[1].slots = 2;
    devices[0].slots = 1;
    const weft::platform<weft::uniform_links> other{devices, s.platform.links(), 1};
    CHECK(validate(weft::problem{s.w, other}, s.where, s.run).size() == 2); // e in the send, c in e
  }
}

TEST_CASE("validate trace: something that takes no time needs a free slot, too") {
  weft::workload_builder b;
  b.add_op({.work = 4});
  b.add_op({.work = 0});
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> one{{{}}, {}};
  const weft::problem p{w, one};
  const auto at = [&](double t) {
    return validate(p, {0, 0}, {.ops = {{0, 1, 5}, {0, t, t}}, .transfers = {}, .makespan = 5});
  };
  CHECK(at(0).empty());
  CHECK(at(1).empty());
  CHECK(at(5).empty());
  CHECK(at(2) == list{{.what = kind::device_overlap, .op = 1, .other = 0, .device = 0, .expected = 5, .actual = 2}});
}

TEST_CASE("validate trace: exactly the transfers that the placement causes") {
  SUBCASE("one is missing") {
    scene s;
    s.run.transfers.erase(s.run.transfers.begin());
    CHECK(check(s) == list{{.what = kind::transfer_missing, .op = scene::b, .tensor = scene::x, .device = 1}});
  }
  SUBCASE("one comes twice") {
    scene s;
    s.run.transfers.push_back(s.run.transfers[0]);
    CHECK(check(s) == list{{.what = kind::transfer_repeated, .op = scene::a, .tensor = scene::x, .device = 1}});
  }
  SUBCASE("one goes where nobody waits") {
    scene s;
    s.run.transfers.push_back({scene::y, 1, 0, 8, 8.5, 8.5, 10.5});
    CHECK(check(s) == list{{.what = kind::transfer_spurious, .tensor = scene::y, .device = 0}});
  }
  SUBCASE("one stays at home, one does not exist, one leaves the platform") {
    scene s;
    s.run.transfers.push_back({scene::x, 0, 0, 2, 3, 3, 6});
    s.run.transfers.push_back({9, 0, 1, 2, 3, 3, 6});
    s.run.transfers.push_back({scene::x, 0, 9, 2, 3, 3, 6});
    CHECK(weft_test::kinds_of(check(s)) == std::vector(3, kind::transfer_spurious));
  }
  SUBCASE("one comes from elsewhere") {
    scene s;
    s.run.transfers[0].from = 1;
    CHECK(check(s) ==
          list{{.what = kind::transfer_from_wrong_device, .op = scene::a, .tensor = scene::x, .device = 1}});
  }
}

TEST_CASE("validate trace: the times of a transfer") {
  const auto z = [](kind what, double expected, double actual) {
    return violation{.what = what, .op = scene::c, .tensor = scene::z, .device = 1, .expected = expected,
                     .actual = actual};
  };
  scene s;
  auto& x = s.run.transfers[1]; // z; d starts late enough below
  s.run.ops[scene::d] = {1, 20, 21};
  s.run.makespan = 21;
  SUBCASE("as before") { CHECK(check(s).empty()); }
  SUBCASE("before its producer has finished") {
    s.run.ops[scene::c] = {0, 3.5, 9.5}; // so that the send ends with e's start and begins too early
    s.run.ops[scene::e] = {0, 12, 13};
    x = {scene::z, 0, 1, 9.25, 10.25, 10.25, 11.75};
    const auto found = check(s);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == z(kind::transfer_before_producer, 9.5, 9.25));
    CHECK(found[1].what == kind::device_overlap); // a send from inside its producer is that as well
  }
  SUBCASE("long before") {
    x = {scene::z, 0, 1, 0, 1, 1, 2.5};
    s.run.ops[scene::a] = {0, 1, 3};
    s.run.transfers[0] = {scene::x, 0, 1, 3, 4, 4, 7};
    s.run.ops[scene::b] = {1, 7, 9};
    s.run.ops[scene::c] = {0, 4, 10};
    CHECK(check(s) == list{z(kind::transfer_before_producer, 10, 0)});
  }
  SUBCASE("a send of the wrong length") {
    x = {scene::z, 0, 1, 9, 9.5, 9.5, 11};
    CHECK(check(s) == list{z(kind::wrong_send_time, 1, 0.5)});
  }
  SUBCASE("a start before the send is over") {
    x = {scene::z, 0, 1, 9, 10, 9.5, 11};
    CHECK(check(s) == list{z(kind::wrong_transfer_start, 10, 9.5)});
    CHECK(check(s, ports) == list{z(kind::wrong_transfer_start, 10, 9.5)});
  }
  SUBCASE("a start after the send is over: only ports make it wait") {
    x = {scene::z, 0, 1, 9, 10, 10.5, 12};
    CHECK(check(s) == list{z(kind::wrong_transfer_start, 10, 10.5)});
    CHECK(check(s, ports) == list{z(kind::wrong_transfer_start, 10, 10.5)}); // but both are free
  }
  SUBCASE("a transfer of the wrong length") {
    x = {scene::z, 0, 1, 9, 10, 10, 11};
    CHECK(check(s) == list{z(kind::wrong_transfer_time, 1.5, 1)});
  }
}

/// Two ops on device 0, each with 4 bytes for a consumer on a device of its own; sending is free, a transfer takes 1 s.
struct fork_scene {
  static weft::workload make() {
    weft::workload_builder b;
    for (int i = 0; i < 2; ++i) {
      b.add_op({.work = 1, .bytes = 4});
    }
    for (weft::op_id i = 0; i < 2; ++i) {
      b.add_edge(i, b.add_op({.work = 1}));
    }
    return std::move(b).build();
  }
  weft::workload w = make();
  weft::platform<weft::uniform_links> platform{{{.slots = 2}, {.slots = 2}, {}}, {{.latency = 0, .bandwidth = 4}}};
  weft::problem<weft::workload, weft::platform<weft::uniform_links>> p{w, platform};
};

TEST_CASE("validate trace: a transfer without a send begins when its producer ends") {
  const fork_scene s;
  weft::trace run{.ops = {{0, 0, 1}, {0, 0, 1}, {1, 2, 3}, {2, 2, 3}},
                  .transfers = {{0, 0, 1, 1, 1, 1, 2}, {1, 0, 2, 1, 1, 1, 2}},
                  .makespan = 3};
  CHECK(validate(s.p, {0, 0, 1, 2}, run).empty());
  run.transfers[1] = {1, 0, 2, 1.5, 1.5, 1.5, 2.5};
  run.ops[3] = {2, 2.5, 3.5};
  run.makespan = 3.5;
  CHECK(validate(s.p, {0, 0, 1, 2}, run) == list{{.what = kind::wrong_transfer_start, .op = 1, .tensor = 1,
                                                 .device = 2, .expected = 1, .actual = 1.5}});
}

TEST_CASE("validate trace: ports carry one transfer at a time") {
  const fork_scene s;
  const weft::trace together{.ops = {{0, 0, 1}, {0, 0, 1}, {1, 2, 3}, {2, 2, 3}},
                             .transfers = {{0, 0, 1, 1, 1, 1, 2}, {1, 0, 2, 1, 1, 1, 2}},
                             .makespan = 3};
  CHECK(validate(s.p, {0, 0, 1, 2}, together).empty());
  CHECK(
    validate(s.p, {0, 0, 1, 2}, together, ports) ==
    list{{.what = kind::out_port_overlap, .op = 1, .other = 0, .tensor = 1, .device = 0, .expected = 2, .actual = 1}});
  const weft::trace in_turn{.ops = {{0, 0, 1}, {0, 0, 1}, {1, 2, 3}, {2, 3, 4}},
                            .transfers = {{0, 0, 1, 1, 1, 1, 2}, {1, 0, 2, 1, 1, 2, 3}},
                            .makespan = 4};
  CHECK(validate(s.p, {0, 0, 1, 2}, in_turn, ports).empty());
  const weft::trace meeting{.ops = {{0, 0, 1}, {2, 0, 1}, {1, 2, 3}, {1, 2, 3}},
                            .transfers = {{0, 0, 1, 1, 1, 1, 2}, {1, 2, 1, 1, 1, 1, 2}},
                            .makespan = 3};
  CHECK(validate(s.p, {0, 2, 1, 1}, meeting).empty());
  CHECK(
    validate(s.p, {0, 2, 1, 1}, meeting, ports) ==
    list{{.what = kind::in_port_overlap, .op = 1, .other = 0, .tensor = 1, .device = 1, .expected = 2, .actual = 1}});
}

TEST_CASE("validate trace: a transfer waits for ports, but not when both are free") {
  const fork_scene s;
  weft::trace late{.ops = {{0, 0, 1}, {0, 0, 1}, {1, 2, 3}, {2, 4, 5}},
                   .transfers = {{0, 0, 1, 1, 1, 1, 2}, {1, 0, 2, 1, 1, 3, 4}},
                   .makespan = 5};
  CHECK(validate(s.p, {0, 0, 1, 2}, late, ports) == list{{.what = kind::wrong_transfer_start, .op = 1, .tensor = 1,
                                                         .device = 2, .expected = 2, .actual = 3}});
  // Two senders, one receiver.
  late.transfers[1] = {1, 2, 1, 1, 1, 2.5, 3.5};
  late.ops = {{0, 0, 1}, {2, 0, 1}, {1, 2, 3}, {1, 3.5, 4.5}};
  late.makespan = 4.5;
  CHECK(validate(s.p, {0, 2, 1, 1}, late, ports) == list{{.what = kind::wrong_transfer_start, .op = 1, .tensor = 1,
                                                         .device = 1, .expected = 2, .actual = 2.5}});
  // Which of the two goes first is not checked.
  late.transfers = {{0, 0, 1, 1, 1, 2, 3}, {1, 2, 1, 1, 1, 1, 2}};
  late.ops = {{0, 0, 1}, {2, 0, 1}, {1, 3, 4}, {1, 2, 3}};
  late.makespan = 4;
  CHECK(validate(s.p, {0, 2, 1, 1}, late, ports).empty());
}

TEST_CASE("validate trace: the makespan is the end of the last op or transfer") {
  scene s;
  s.run.makespan = 12;
  CHECK(check(s) == list{{.what = kind::wrong_makespan, .expected = 12.5, .actual = 12}});
  s.run.makespan = std::numeric_limits<double>::quiet_NaN();
  CHECK(weft_test::kinds_of(check(s)) == std::vector{kind::wrong_makespan});
}

TEST_CASE("validate trace: memory is checked when asked, and apart from reservations") {
  scene s;
  auto devices = s.platform.devices();
  devices[1].memory_capacity = 21; // the peak is 22, the demand 28
  const weft::platform<weft::uniform_links> small{devices, s.platform.links(), 1};
  const weft::problem p{s.w, small};
  const violation reserved{.what = kind::capacity_exceeded, .device = 1, .expected = 21, .actual = 28};
  CHECK(validate(p, s.where, s.run) == list{reserved});
  CHECK(validate(p, s.where, s.run, {.check_memory = true}) ==
        list{reserved, {.what = kind::out_of_memory, .device = 1, .expected = 21, .actual = 22}});
}

TEST_CASE("validate trace: rounding is forgiven up to the tolerance") {
  scene s;
  s.run.ops[scene::e] = {0, 10 - 5e-9, 11 + 5e-9};
  CHECK(check(s).empty());
  s.run.ops[scene::e] = {0, 10 - 5e-7, 11 + 5e-7};
  CHECK(check(s).size() == 2); // too long, and in the send
  CHECK(check(s, {.tolerance = 1e-6}).empty());
}

/// Two cores of two threads, and one device of one core. a has two threads, its output goes to d; b and c are beside
/// its send, each with a thread of its own; e has both cores afterwards.
struct team_scene {
  struct model {
    double seconds(const weft::workload& ops, weft::op_id v, const weft::machine&, weft::team t) const {
      return ops.work(v) / t.threads * (t.affinity == weft::affinity::spread ? 1.25 : 1);
    }
  };
  static weft::workload make_workload() {
    weft::workload_builder b;
    for (const double work : {2.0, 3.0, 4.0, 1.0, 6.0}) {
      b.add_op({.work = work, .bytes = 4});
    }
    b.add_edge(0, 3);
    return std::move(b).build();
  }
  static weft::machine cores(std::uint32_t n) {
    return {.cores_per_socket = n, .threads_per_core = 2, .smt_gain = 1.5, .resize_seconds = 0.5};
  }

  weft::workload w = make_workload();
  weft::with_machines<weft::platform<weft::uniform_links>> q{
    {std::vector<weft::device>(2), {{.latency = 1, .bandwidth = 4}}, 3}, {cores(2), cores(1)}};
  weft::problem<weft::workload, weft::with_machines<weft::platform<weft::uniform_links>>,
                weft::concurrency::moldable<model>>
    p{w, q, {}};
  weft::placement where{0, 0, 0, 1, 0};
  weft::trace run{.ops = {{0, 0, 1, 2}, {0, 1, 5, 1}, {0, 1, 5, 1}, {1, 6, 7, 1}, {0, 5, 8.5, 2}},
                  .transfers = {{0, 0, 1, 1, 4, 4, 6}},
                  .makespan = 8.5};
};

list check(const team_scene& s, weft::validate_options options = {.teams = true}) {
  return validate(s.p, s.where, s.run, options);
}

TEST_CASE("validate trace: teams share the cores of a device") {
  team_scene s;
  CHECK(check(s).empty());
  SUBCASE("no more threads than there are, and a send has a core for itself") {
    s.run.ops[1] = {0, 1, 4, 2};
    CHECK(check(s)[0] == violation{.what = kind::device_overlap, .op = 1, .other = 0, .device = 0, .expected = 4,
                                   .actual = 1});
    s.run.ops[1] = {0, 1, 4.2, 1};
    s.run.ops[4] = {0, 4.5, 7.5, 2}; // the send is over; c is on a core, whose second thread is free
    s.run.makespan = 7.5;
    CHECK(check(s).empty());
    s.run.ops[4] = {0, 3.5, 7.5, 2};
    CHECK(check(s) == list{{.what = kind::device_overlap, .op = 4, .other = 0, .device = 0, .expected = 4,
                            .actual = 3.5}});
  }
  SUBCASE("a team fits its device") {
    s.run.ops[4].threads = 3;
    CHECK(check(s)[0] == violation{.what = kind::bad_team, .op = 4, .device = 0, .expected = 2, .actual = 3});
    s.run.ops[4].threads = 0;
    CHECK(check(s)[0] == violation{.what = kind::bad_team, .op = 4, .device = 0, .expected = 2, .actual = 0});
  }
  SUBCASE("no op is faster than alone") {
    s.run.ops[4] = {0, 5, 7.5, 2};
    s.run.makespan = 7.5;
    CHECK(check(s) == list{{.what = kind::wrong_duration, .op = 4, .device = 0, .expected = 3, .actual = 2.5}});
  }
  SUBCASE("nor slower, if it is alone") {
    s.run.ops[4] = {0, 5, 9.5, 2}; // spread, and a change of its team
    s.run.makespan = 9.5;
    CHECK(check(s) == list{{.what = kind::wrong_duration, .op = 4, .device = 0, .expected = 4.25, .actual = 4.5}});
    s.run.ops[1].finish = 5.5; // beside others it may be
    s.run.makespan = 9.5;
    CHECK(check(s).empty());
  }
  SUBCASE("a send is neither slowed down nor left out") {
    s.run.transfers[0] = {0, 0, 1, 1, 4.5, 4.5, 6.5};
    CHECK(check(s)[0] == violation{.what = kind::wrong_send_time, .op = 0, .tensor = 0, .device = 1, .expected = 3,
                                   .actual = 3.5});
  }
  SUBCASE("without the option, ops have slots") { CHECK_FALSE(check(s, {}).empty()); }
}

TEST_CASE("validate trace: teams are of moldable problems") {
  const scene s;
  CHECK_THROWS_AS(check(s, {.teams = true}), weft::value_error);
}

} // namespace validate_trace_test
