// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/communication_path.hpp"

#include "weft/bound/critical_path.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace bound_communication_path_test {

weft::platform<weft::uniform_links> alike(std::size_t count, double latency, double send_work = 0,
                                          std::uint32_t slots = 1) {
  return {std::vector<weft::device>(count, {.slots = slots}), {{.latency = latency, .bandwidth = 1}}, send_work};
}

double bound_of(weft::workload_builder b, const weft::platform<weft::uniform_links>& platform) {
  const weft::workload w = std::move(b).build();
  return weft::bound::communication_path(weft::problem{w, platform});
}

/// `width` ops of work 4, all inputs of one op of work 1.
weft::workload_builder join(int width, weft::byte_count bytes = 0) {
  weft::workload_builder b;
  const auto last = b.add_op({.work = 1});
  for (int i = 0; i < width; ++i) {
    b.add_edge(b.add_op({.work = 4, .bytes = bytes}), last);
  }
  return b;
}

TEST_CASE("bound::communication_path: inputs of a join are made on its device or travel") {
  CHECK(bound_of(join(2), alike(2, 1)) == 4 + 1 + 1);   // one of the two travels
  CHECK(bound_of(join(2), alike(2, 100)) == 8 + 1);     // both are made here
  CHECK(bound_of(join(3), alike(3, 6)) == 4 + 6 + 1);
  CHECK(bound_of(join(3), alike(3, 100)) == 12 + 1);
  CHECK(bound_of(join(2, 3), alike(2, 0)) == 4 + 3 + 1); // 3 bytes at 1 byte per second
  CHECK(bound_of(join(2), alike(2, 1, 2)) == 4 + 2 + 1 + 1); // the send comes before
}

TEST_CASE("bound::communication_path: several slots make several inputs at once") {
  CHECK(bound_of(join(2), alike(2, 100, 0, 2)) == 4 + 1);
  CHECK(bound_of(join(3), alike(2, 100, 0, 2)) == 6 + 1); // 12 units of work, two at a time
}

TEST_CASE("bound::communication_path: the same at a fork") {
  weft::workload_builder b;
  const auto first = b.add_op({.work = 1, .bytes = 0});
  for (int i = 0; i < 2; ++i) {
    b.add_edge(first, b.add_op({.work = 4}));
  }
  const weft::workload w = std::move(b).build();
  const auto far = alike(2, 3);
  CHECK(weft::bound::communication_path(weft::problem{w, far}) == 1 + 3 + 4);
  const auto farther = alike(2, 100);
  CHECK(weft::bound::communication_path(weft::problem{w, farther}) == 1 + 8);
}

TEST_CASE("bound::communication_path: looks behind the inputs of a join") {
  // Two chains of five ops of work 1 that meet. The last inputs alone would allow 5 + 1 + 1.
  weft::workload_builder b;
  const auto last = b.add_op({.work = 1});
  for (int chain = 0; chain < 2; ++chain) {
    auto at = b.add_op({.work = 1, .bytes = 0});
    for (int i = 1; i < 5; ++i) {
      const auto next = b.add_op({.work = 1, .bytes = 0});
      b.add_edge(at, next);
      at = next;
    }
    b.add_edge(at, last);
  }
  const weft::workload w = std::move(b).build();
  const auto near = alike(2, 2);
  CHECK(weft::bound::communication_path(weft::problem{w, near}) == 5 + 2 + 1);
}

TEST_CASE("bound::communication_path: different kinds always travel") {
  weft::workload_builder b;
  const auto u = b.add_op({.work = 2, .bytes = 0, .kinds = weft::device_kind::cpu});
  const auto v = b.add_op({.work = 2, .kinds = weft::device_kind::gpu});
  b.add_edge(u, v);
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> two{{{.kind = weft::device_kind::cpu}, {.kind = weft::device_kind::gpu}},
                                                {{.latency = 7}}};
  const weft::problem p{w, two};
  CHECK(weft::bound::critical_path(p) == 4);
  CHECK(weft::bound::communication_path(p) == 2 + 7 + 2);
}

TEST_CASE("bound::communication_path: members of a group never travel to each other") {
  auto b = join(2);
  b.colocate(0, 1);
  b.colocate(0, 2);
  CHECK(bound_of(std::move(b), alike(2, 1)) == 8 + 1); // without the group it was 6
}

TEST_CASE("bound::communication_path: with one device, nothing can travel") {
  CHECK(bound_of(join(3), alike(1, 0)) == 12 + 1);
}

} // namespace bound_communication_path_test
