// SPDX-License-Identifier: BSL-1.0
#include "scene.hpp"

#include "weft/validate/order.hpp"

#include <doctest/doctest.h>

namespace validate_order_test {

using kind = weft::violation::kind;
using weft::step;
using weft_test::kinds_of;
using weft_test::scene;

const weft::order good{step::run(scene::a), step::send(scene::a, scene::x, 1), step::run(scene::c),
                       step::send(scene::c, scene::z, 1), step::run(scene::e), step::run(scene::b),
                       step::run(scene::d)};

weft::order without(weft::order steps, std::size_t i) {
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
  return steps;
}

weft::order with(weft::order steps, step s) {
  steps.push_back(s);
  return steps;
}

TEST_CASE("validate plan: good ones") {
  const scene s;
  CHECK(validate(s.p, weft::plan{s.where}).empty());
  CHECK(validate(s.p, weft::plan{s.where, good}).empty());
  CHECK(validate(s.p, weft::plan{s.where, without(good, 3)}).empty()); // a send that is left out follows its producer
}

TEST_CASE("validate plan: the placement counts") {
  const scene s;
  CHECK(kinds_of(validate(s.p, weft::plan{{0, 1, 0, 1, weft::none}, good})) == std::vector{kind::unplaced});
}

TEST_CASE("validate plan: every op exactly once") {
  const scene s;
  CHECK(validate(s.p, weft::plan{s.where, without(good, 4)}) ==
        std::vector{weft::violation{.what = kind::order_misses_op, .op = scene::e}});
  CHECK(validate(s.p, weft::plan{s.where, with(good, step::run(scene::e))}) ==
        std::vector{weft::violation{.what = kind::order_repeats_op, .op = scene::e}});
  CHECK(kinds_of(validate(s.p, weft::plan{s.where, with(good, step::run(5))})) == std::vector{kind::order_bad_step});
}

TEST_CASE("validate plan: only sends that the placement causes, and each at most once") {
  const scene s;
  CHECK(validate(s.p, weft::plan{s.where, with(good, step::send(scene::a, scene::x, 1))}) ==
        std::vector{
          weft::violation{.what = kind::order_repeats_send, .op = scene::a, .tensor = scene::x, .device = 1}});
  const auto bad = std::vector{kind::order_bad_step};
  CHECK(kinds_of(validate(s.p, weft::plan{s.where, with(good, step::send(scene::a, scene::x, 0))})) == bad); // at home
  CHECK(kinds_of(validate(s.p, weft::plan{s.where, with(good, step::send(scene::b, scene::y, 0))})) == bad); // unused
  CHECK(kinds_of(validate(s.p, weft::plan{s.where, with(good, step::send(scene::c, scene::x, 1))})) == bad); // not c's
  CHECK(kinds_of(validate(s.p, weft::plan{s.where, with(good, step::send(scene::a, 9, 1))})) == bad);
  CHECK(kinds_of(validate(s.p, weft::plan{s.where, with(good, step::send(scene::a, scene::x, 7))})) == bad);
}

TEST_CASE("validate plan: a device that waits for its own later step") {
  const scene s;
  auto steps = good;
  std::swap(steps[5], steps[6]); // d before b on device 1
  CHECK(validate(s.p, weft::plan{s.where, steps}) ==
        std::vector{weft::violation{.what = kind::deadlock, .op = scene::d, .other = scene::b, .device = 1}});
  steps = good;
  std::swap(steps[2], steps[3]); // z is sent before c makes it
  CHECK(validate(s.p, weft::plan{s.where, steps}) ==
        std::vector{weft::violation{
          .what = kind::deadlock, .op = scene::c, .other = scene::c, .tensor = scene::z, .device = 0}});
}

TEST_CASE("validate plan: devices that wait for each other") {
  // u0 -> v1 and u1 -> v0, each device wants to run its v first.
  weft::workload_builder b;
  const auto u0 = b.add_op({.work = 1, .bytes = 1});
  const auto u1 = b.add_op({.work = 1, .bytes = 1});
  const auto v0 = b.add_op({.work = 1});
  const auto v1 = b.add_op({.work = 1});
  b.add_edge(u0, v1);
  b.add_edge(u1, v0);
  const weft::workload w = std::move(b).build();
  const weft::placement where{0, 1, 0, 1};
  const weft::order circular{step::run(v0), step::run(v1), step::run(u0), step::run(u1)};
  const weft::order half{step::run(v0), step::run(u0), step::run(u1), step::run(v1)};
  for (const std::uint32_t slots : {1u, 2u}) {
    CAPTURE(slots);
    const weft::platform<weft::uniform_links> platform{{{.slots = slots}, {.slots = slots}}, {}};
    const weft::problem p{w, platform};
    CHECK(validate(p, weft::plan{where, circular}) ==
          std::vector{weft::violation{.what = kind::deadlock, .op = v0, .other = u1, .device = 0}});
    CHECK(validate(p, weft::plan{where, half}).empty());
  }
}

TEST_CASE("validate plan: a send that takes no time holds nobody up") {
  weft::workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 1});
  const auto v = b.add_op({.work = 1});
  b.add_edge(u, v);
  const weft::workload w = std::move(b).build();
  const weft::order early{step::send(u, 0, 1), step::run(u), step::run(v)};
  const weft::platform<weft::uniform_links> free_sends{{{}, {}}, {}};
  const weft::platform<weft::uniform_links> real_sends{{{}, {}}, {}, 1};
  CHECK(validate(weft::problem{w, free_sends}, weft::plan{{0, 1}, early}).empty());
  CHECK(kinds_of(validate(weft::problem{w, real_sends}, weft::plan{{0, 1}, early})) == std::vector{kind::deadlock});
}

} // namespace validate_order_test
