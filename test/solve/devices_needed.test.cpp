// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/devices_needed.hpp"

#include "weft/cost/linear.hpp"
#include "weft/platform/presets.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace solve_devices_needed_test {

using namespace weft;

/// Ops of 10 bytes side by side; a host too small for any.
workload ops_of_ten(int count) {
  workload_builder b;
  for (int i = 0; i < count; ++i) {
    b.add_op({.work = 1, .resident_bytes = 10, .name = "op" + std::to_string(i)});
  }
  return std::move(b).build();
}

platform<> host_and_gpus(std::size_t gpus, byte_count capacity, byte_count host = 0) {
  std::vector<device> devices(gpus + 1, {.kind = device_kind::gpu, .speed = 2, .memory_capacity = capacity});
  devices[0] = {.kind = device_kind::cpu, .memory_capacity = host};
  link_matrix links{gpus + 1, {.latency = 1, .bandwidth = 8}};
  for (device_id d = 1; d <= gpus; ++d) {
    links.connect(0, d, {.latency = 2, .bandwidth = 4});
  }
  platform<> q{std::move(devices), std::move(links)};
  std::vector<std::string> names{"host"};
  for (std::size_t i = 0; i < gpus; ++i) {
    names.push_back("gpu" + std::to_string(i));
  }
  q.set_names(std::move(names));
  return q;
}

TEST_CASE("devices_needed: devices that work in the host's memory bring none") {
  const auto w = ops_of_ten(4);
  const platform<> q{{{.kind = device_kind::cpu, .memory_capacity = 35},
                      {.kind = device_kind::gpu, .speed = 2, .memory_of = 0}},
                     link_matrix{2}};
  const auto r = solve::devices_needed(w, q, cost::linear{}, 1);
  REQUIRE(r.reason);
  CHECK(r.reason->cause == infeasibility::kind::out_of_all_memory);
  CHECK(r.tried.empty());
  const auto more = solve::with_devices_like(q, 1, 3);
  CHECK(more.num_devices() == 4);
  CHECK(more.memory_of(3) == 0);
  CHECK(more.memory_capacity(3) == 35);
  const auto hosts = solve::with_devices_like(q, 0, 2); // its first one has the GPU's memory
  CHECK(hosts.kind(0) == device_kind::gpu);
  CHECK(hosts.memory_of(0) == 1);
}

TEST_CASE("with_devices_like: more and fewer, linked and named like those that are there") {
  const auto q = host_and_gpus(2, 30);
  const auto five = solve::with_devices_like(q, 1, 5);
  REQUIRE(five.num_devices() == 6);
  CHECK(five.kind(0) == device_kind::cpu);
  for (device_id d = 1; d < 6; ++d) {
    CHECK(five.devices()[d] == q.devices()[1]);
    CHECK(five.name(d) == "gpu" + std::to_string(d - 1));
    CHECK(five.latency(0, d) == 2);
    CHECK(five.bandwidth(d, 0) == 4);
    for (device_id e = 1; e < 6; ++e) {
      CHECK((d == e || five.bandwidth(d, e) == 8));
    }
  }
  const auto one = solve::with_devices_like(q, 2, 1);
  CHECK(one.num_devices() == 2);
  CHECK(one.bandwidth(0, 1) == 4);
  // A mesh with different links keeps them, round by round.
  const auto mesh = presets::p3_8xlarge();
  const auto eight = solve::with_devices_like(mesh, 1, 8);
  CHECK(eight.bandwidth(1, 4) == mesh.bandwidth(1, 4));
  CHECK(eight.bandwidth(5, 8) == mesh.bandwidth(1, 4));
  CHECK(eight.bandwidth(1, 5) == mesh.bandwidth(1, 2));
  // A single one: as told, or by its fastest link.
  const auto single = host_and_gpus(1, 30);
  CHECK(solve::with_devices_like(single, 1, 2).bandwidth(1, 2) == 4);
  CHECK(solve::with_devices_like(single, 1, 2, weft::link{.latency = 0, .bandwidth = 99}).bandwidth(1, 2) == 99);
}

/// How many links two devices' routes from the host have in common.
std::size_t shared_from_host(const platform<>& q, device_id a, device_id b) {
  std::vector<link_id> to_a;
  std::size_t shared = 0;
  q.visit_route(0, a, [&](link_id l) { to_a.push_back(l); });
  q.visit_route(0, b, [&](link_id l) { shared += std::find(to_a.begin(), to_a.end(), l) != to_a.end(); });
  return shared;
}

TEST_CASE("with_devices_like: devices that stay share links as before, new ones have links of their own") {
  const auto q = presets::pcie_l40s(8); // the host, then four GPUs behind each of two PCIe switches
  REQUIRE(shared_from_host(q, 1, 2) == 2);
  REQUIRE(shared_from_host(q, 1, 5) == 0);
  const auto six = solve::with_devices_like(q, 3, 6);
  const auto ten = solve::with_devices_like(q, 3, 10);
  for (const auto* changed : {&six, &ten}) {
    for (device_id d = 1; d < 7; ++d) {
      CHECK(changed->latency(0, d) == q.latency(0, d));
      CHECK(changed->bandwidth(d, 0) == q.bandwidth(d, 0));
      CHECK(shared_from_host(*changed, 1, d) == shared_from_host(q, 1, d));
    }
  }
  for (device_id d = 1; d < 9; ++d) {
    CHECK(shared_from_host(ten, 9, d) == 0);
  }
  std::size_t links = 0;
  ten.visit_route(0, 9, [&](link_id l) {
    ++links;
    CHECK((ten.link_at(l).latency == q.latency(0, 1) && ten.link_at(l).bandwidth == q.bandwidth(0, 1)));
  });
  CHECK(links == 1);
  CHECK(ten.bandwidth(9, 10) == q.bandwidth(1, 2));
  CHECK(ten.bandwidth(1, 9) == q.bandwidth(1, 2)); // of the same number
}

TEST_CASE("devices_needed: the bound is met") {
  const auto w = ops_of_ten(20); // three fit on a gpu, in whole
  const auto r = solve::devices_needed(w, host_and_gpus(2, 30), cost::linear{}, 1);
  CHECK(r.devices == 7);
  CHECK(r.tried.back() == std::pair<std::size_t, bool>{7, true});
  CHECK(r.on.num_devices() == 8);
  REQUIRE(r.best.has_plan());
  const problem p{w, r.on};
  CHECK(validate(p, r.best.plan).empty());
  CHECK(r.minimal());
  CHECK(to_string(r) == "7 such devices do, and no fewer");
  const auto hosted = solve::devices_needed(w, host_and_gpus(2, 30, 500), cost::linear{}, 1);
  CHECK(hosted.devices == 1);
  CHECK(to_string(hosted) == "1 such device does, and no fewer");
}

TEST_CASE("devices_needed: what is alive counts, not what ever was") {
  workload_builder b; // 12 forward, 12 back, each output of 100 needed again on the way back
  for (op_id v = 0; v < 24; ++v) {
    b.add_op({.work = 1, .bytes = v < 12 ? byte_count{100} : 1});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
    if (v > 12) {
      b.add_edge(23 - v, v);
    }
  }
  const auto w = std::move(b).build();
  const auto r = solve::devices_needed(w, host_and_gpus(1, 450), cost::linear{}, 1);
  CHECK(r.at_least == 3); // 1,201 bytes at once
  CHECK(r.devices >= 3);
  CHECK(r.devices <= 4); // a copy is needed wherever the chain crosses
  for (const byte_count peak : r.best.peaks) {
    CHECK(peak <= 450);
  }
}

TEST_CASE("devices_needed: no number would do, or none up to the largest that may be tried") {
  const auto w = ops_of_ten(20);
  const auto never = solve::devices_needed(w, host_and_gpus(2, 9), cost::linear{}, 1);
  CHECK(never.devices == 0);
  REQUIRE(never.reason);
  CHECK(to_string(never, w.name(never.reason->op)).starts_with(
    "no number of such devices would do: op 0 'op0' fits nowhere: it needs 10 B"));
  CHECK(never.tried.empty());
  const auto few = solve::devices_needed(w, host_and_gpus(2, 30), cost::linear{}, 1, std::nullopt, 5);
  CHECK(few.devices == 0);
  CHECK_FALSE(few.reason);
  CHECK(few.at_least == 7);
  CHECK_FALSE(few.minimal());
  CHECK(to_string(few) == "it takes at least 7 such devices, more than were to be tried");
}

TEST_CASE("devices_needed: seconds are for all numbers together, and each number is announced") {
  const auto w = ops_of_ten(20);
  const auto q = host_and_gpus(1, 35);
  std::vector<std::size_t> heard;
  const auto hear = [&](std::size_t count) { heard.push_back(count); };
  const auto none_tried = solve::devices_needed(w, q, cost::linear{}, 1, std::nullopt, 256,
                                                solve::best_options{.seconds = 0, .moves = 0}, hear);
  CHECK(heard.empty());
  CHECK(none_tried.out_of_time);
  CHECK(none_tried.at_least == 6);
  CHECK(to_string(none_tried) == "it takes at least 6 such devices, and there was no time to try");
  const auto r =
    solve::devices_needed(w, q, cost::linear{}, 1, std::nullopt, 256, solve::best_options{.moves = 0}, hear);
  CHECK(!r.out_of_time);
  CHECK(r.devices == 7);
  REQUIRE(heard.size() == r.tried.size());
  for (std::size_t i = 0; i < heard.size(); ++i) {
    CHECK(heard[i] == r.tried[i].first);
  }
}

} // namespace solve_devices_needed_test
