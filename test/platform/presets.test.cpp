// SPDX-License-Identifier: BSL-1.0
#include "routes.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace platform_presets_test {

using namespace weft;
using weft_test::route;

TEST_CASE("presets: every one is made, with names and links that are alike in both directions") {
  for (const auto& e : presets::entries) {
    CAPTURE(e.name);
    const auto p = presets::make(e.name);
    std::set<std::string> names;
    bool has_cpu = false;
    for (const device_id d : ids(p.num_devices())) {
      names.insert(std::string{p.name(d)});
      has_cpu = has_cpu || p.kind(d) == device_kind::cpu;
      for (const device_id other : ids(p.num_devices())) {
        CHECK(p.bandwidth(d, other) == p.bandwidth(other, d));
        CHECK(p.latency(d, other) == p.latency(other, d));
      }
    }
    CHECK(names.size() == p.num_devices());
    CHECK(!names.contains(""));
    CHECK(has_cpu); // input pipelines need one
    CHECK(!e.description.empty());
  }
  CHECK(std::ranges::is_sorted(presets::entries, {}, &presets::entry::name));
}

TEST_CASE("presets: machines have the devices of their data sheets") {
  const auto a100 = presets::make("dgx_a100");
  CHECK(a100.num_devices() == 9);
  CHECK(a100.name(0) == "cpu");
  CHECK(a100.name(8) == "gpu7");
  CHECK(a100.speed(1) == 156e12);
  CHECK(a100.speed(0) == 9.216e12);
  CHECK(a100.memory_capacity(1) == 80ull << 30);
  CHECK(a100.memory_bandwidth(1) == 2.039e12);
  CHECK(a100.bandwidth(1, 2) == 300e9);
  CHECK(a100.bandwidth(0, 2) == 31.5e9);

  const auto h100 = presets::make("dgx_h100");
  CHECK(h100.num_devices() == 9);
  CHECK(h100.speed(1) == 494.5e12);
  CHECK(h100.bandwidth(1, 2) == 450e9);
  const auto h200 = presets::make("dgx_h200");
  CHECK(h200.speed(1) == h100.speed(1));
  CHECK(h200.memory_capacity(8) == 141ull << 30);
  CHECK(h200.memory_bandwidth(8) == 4.8e12);
  CHECK(h200.bandwidth(1, 2) == 450e9);
  const auto b200 = presets::make("dgx_b200");
  CHECK(b200.num_devices() == 9);
  CHECK(b200.speed(1) == 1.125e15);
  CHECK(b200.bandwidth(1, 2) == 900e9);
  CHECK(b200.memory_bandwidth(0) == 716.8e9);
  const auto four_h100 = presets::make("dgx_h100_x4");
  CHECK(four_h100.num_devices() == 36);
  CHECK(four_h100.name(35) == "node3/gpu7");
  CHECK(four_h100.bandwidth(28, 35) == 450e9);
  CHECK(four_h100.bandwidth(1, 35) == 50e9);
  CHECK(four_h100.latency(0, 1) == h100.latency(0, 1)); // through the card or not
  CHECK(four_h100.bandwidth(27, 35) == h100.bandwidth(0, 8));

  const auto p3 = presets::make("p3_8xlarge");
  CHECK(p3.num_devices() == 5);
  CHECK(p3.speed(1) == 15.7e12);
  for (const device_id d : {1u, 2u, 3u, 4u}) { // a V100 has six links, of which at most five end in its quad
    double links = 0;
    for (const device_id other : {1u, 2u, 3u, 4u}) {
      links += d == other ? 0 : p3.bandwidth(d, other) / 25e9;
    }
    CHECK(links >= 4);
    CHECK(links <= 5);
  }
  CHECK(p3.bandwidth(0, 1) == 15.75e9);

  const auto desk = presets::make("workstation_2gpu");
  CHECK(desk.num_devices() == 3);
  CHECK(desk.bandwidth(1, 2) == 15.75e9);

  CHECK(presets::make("workstation_1gpu").bandwidth(0, 1) == 31.5e9);

  const auto four = presets::make("hgx_a100_4gpu");
  CHECK(four.num_devices() == 5);
  CHECK(four.speed(4) == 156e12);
  CHECK(3 * four.bandwidth(1, 2) == a100.bandwidth(1, 2)); // its links are shared out among three others

  const auto nodes = presets::make("dgx_a100_x2");
  CHECK(nodes.num_devices() == 18);
  CHECK(nodes.name(9) == "node1/cpu");
  CHECK(nodes.kind(9) == device_kind::cpu);
  CHECK(nodes.bandwidth(10, 17) == 300e9);
  CHECK(nodes.bandwidth(9, 10) == 31.5e9);
  CHECK(nodes.bandwidth(8, 10) == 25e9);

  const auto pcie = presets::make("pcie_8gpu");
  CHECK(pcie.num_devices() == 9);
  CHECK(pcie.bandwidth(1, 4) == 31.5e9); // GPUs 0 and 3 at one socket
  CHECK(pcie.bandwidth(4, 5) == 21e9);   // 3 and 4 across
  CHECK(pcie.bandwidth(0, 5) == 31.5e9);
  CHECK(presets::make("pcie_4gpu").bandwidth(2, 3) == 21e9);

  const auto sockets = presets::make("cpu_2socket");
  CHECK(sockets.num_devices() == 2);
  CHECK(sockets.speed(1) == 7.168e12);

  const auto board = presets::make("jetson_agx_orin");
  CHECK(board.num_devices() == 2);
  CHECK(board.memory_capacity(1) == 64ull << 30);
  CHECK(board.memory_of(1) == 0);

  const auto cluster = presets::make("cpu_cluster_16");
  CHECK(cluster.num_devices() == 16);
  CHECK(cluster.speed(3) == 4.096e12);
  CHECK(cluster.bandwidth(3, 5) == 12.5e9);
  CHECK(cluster.send_work() == 0);
}

TEST_CASE("presets: the routes of each add up to its links, are as long in both directions and use every link") {
  for (const auto& e : presets::entries) {
    CAPTURE(e.name);
    const auto p = e.make();
    weft_test::check_routes(p);
    std::set<link_id> used;
    for (const device_id a : ids(p.num_devices())) {
      for (const device_id b : ids(p.num_devices())) {
        CHECK(route(p, a, b).size() == route(p, b, a).size());
        p.visit_route(a, b, [&](link_id l) { used.insert(l); });
      }
    }
    const bool own = !p.links().shares_links(); // one per pair, also from a device to itself
    CHECK(used.size() == p.num_links() - (own ? p.num_devices() : 0));
    CHECK(own == e.name.starts_with("paper_like"));
  }
}

/// How many of these transfers pass the link that most of them pass.
std::size_t max_on_a_link(const platform<>& p, const std::vector<std::pair<device_id, device_id>>& transfers) {
  std::vector<std::size_t> passing(p.num_links(), 0);
  for (const auto& [from, to] : transfers) {
    p.visit_route(from, to, [&](link_id l) { ++passing[l]; });
  }
  return std::ranges::max(passing);
}

TEST_CASE("presets: transfers share what they share in the machine") {
  const auto a100 = presets::dgx_a100();
  CHECK(max_on_a_link(a100, {{1, 2}, {2, 1}, {3, 4}}) == 1); // the NVSwitch
  CHECK(max_on_a_link(a100, {{1, 2}, {1, 3}, {5, 3}}) == 2); // a port up, a port down
  CHECK(max_on_a_link(a100, {{0, 1}, {0, 2}, {0, 3}, {4, 0}}) == 2); // GPUs 0 and 1 on one PCIe switch
  CHECK(max_on_a_link(presets::dgx_h100(), {{0, 1}, {0, 2}, {0, 3}}) == 1);

  const auto two = presets::dgx_a100_x2();
  std::vector<std::pair<device_id, device_id>> across;
  for (device_id d = 1; d <= 8; ++d) {
    across.emplace_back(d, 9 + d);
    across.emplace_back(9 + d, d);
  }
  CHECK(max_on_a_link(two, across) == 1); // a network card per GPU
  CHECK(max_on_a_link(presets::dgx_h100_x2(), across) == 1);
  CHECK(max_on_a_link(two, {{1, 10}, {1, 11}}) == 2);
  CHECK(max_on_a_link(two, {{0, 10}, {0, 11}, {0, 12}, {0, 13}}) == 1); // the CPU's by any card
  CHECK(max_on_a_link(two, {{1, 10}, {0, 1}, {9, 10}}) == 2); // and the GPU's lanes

  const auto one_uplink = presets::hgx_a100_x2();
  CHECK(one_uplink.bandwidth(1, 6) == 25e9);
  CHECK(one_uplink.bandwidth(1, 2) == 100e9);
  CHECK(max_on_a_link(one_uplink, {{1, 6}, {2, 7}, {3, 8}, {0, 5}, {9, 4}}) == 4);
  const auto cloud = presets::p3_8xlarge_x2();
  CHECK(cloud.bandwidth(0, 5) == 1.25e9);
  CHECK(cloud.bandwidth(6, 9) == 50e9);
  CHECK(max_on_a_link(cloud, {{1, 6}, {2, 7}, {3, 4}}) == 2);
  CHECK(max_on_a_link(cloud, {{0, 1}, {0, 2}, {0, 3}}) == 3); // the host's memory, on the way to two PCIe switches
  CHECK(max_on_a_link(presets::hgx_a100_4gpu(), {{1, 2}, {1, 3}, {1, 4}, {2, 3}}) == 1);

  const auto pcie = presets::make("pcie_8gpu");
  CHECK(max_on_a_link(pcie, {{1, 2}, {3, 4}, {5, 6}}) == 1);
  CHECK(max_on_a_link(pcie, {{1, 5}, {2, 6}, {3, 7}}) == 3); // across the sockets
  CHECK(max_on_a_link(pcie, {{0, 1}, {5, 2}, {0, 5}}) == 2);

  CHECK(max_on_a_link(presets::jetson_agx_orin(), {{0, 1}, {1, 0}}) == 2);
  CHECK(max_on_a_link(presets::cpu_cluster_16(), {{0, 1}, {1, 2}, {2, 0}}) == 1);
  CHECK(max_on_a_link(presets::cpu_cluster_16(), {{0, 1}, {2, 1}}) == 2);
}

TEST_CASE("presets: to start a transfer takes time, as long as a kernel where it is a copy to or from a GPU") {
  for (const auto& e : presets::entries) {
    CAPTURE(e.name);
    const auto p = e.make();
    const auto all = ids(p.num_devices());
    const bool has_gpus = std::ranges::any_of(all, [&](device_id d) { return p.kind(d) == device_kind::gpu; });
    for (const device_id d : all) {
      CHECK(p.send_overhead(d) == (p.reached_rates(d) ? 0 : has_gpus ? 5e-6 : 1e-6));
    }
  }
}

TEST_CASE("presets: paper_like platforms are always the same") {
  const auto p = presets::make("paper_like_10");
  CHECK(p.num_devices() == 10);
  CHECK(presets::make("paper_like_50").num_devices() == 50);
  CHECK(p.send_work() == 1e6);
  CHECK(p.devices() == presets::make("paper_like_10").devices());
  CHECK(p.speed(0) == 96e9);
  CHECK(p.speed(9) == 84e9);
  CHECK(p.name(9) == "gpu9");
  for (const auto& e : presets::entries) {
    const auto made = e.make();
    for (const device& d : made.devices()) {
      CHECK(d.reached_rates == e.name.starts_with("paper_like"));
    }
  }
}

TEST_CASE("presets: an unknown name is an error that lists the names") {
  CHECK_THROWS_WITH_AS(presets::make("tpu_pod"),
                       "presets: there is no platform 'tpu_pod'; choose one of cpu_2socket, cpu_cluster_16, dgx_a100, "
                       "dgx_a100_x2, dgx_b200, dgx_h100, dgx_h100_x2, dgx_h100_x4, dgx_h200, hgx_a100_4gpu, "
                       "hgx_a100_x2, jetson_agx_orin, p3_8xlarge, "
                       "p3_8xlarge_x2, paper_like_10, paper_like_50, pcie_4gpu, pcie_8gpu, workstation_1gpu, "
                       "workstation_2gpu",
                       value_error);
}

} // namespace platform_presets_test
