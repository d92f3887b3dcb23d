// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/choose_devices.hpp"

#include "../platform/renumbered.hpp"
#include "built_net.hpp"
#include "weft/core/random.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

namespace choose_devices_test {

using namespace weft;
using parallel::choose_devices;
using parallel::mesh_level;
using parallel::mesh_traffic;
using levels = std::vector<mesh_level>;

std::vector<device_id> accelerators(const platform<>& p) {
  std::vector<device_id> all;
  for (const device_id d : ids(p.num_devices())) {
    if (p.kind(d) != device_kind::cpu) {
      all.push_back(d);
    }
  }
  return all;
}

std::vector<device_id> devices_of(std::size_t n) {
  std::vector<device_id> all(n);
  std::iota(all.begin(), all.end(), device_id{0});
  return all;
}

double all_reduce_seconds(const platform<>& p, const std::vector<device_id>& devices, contention_model how) {
  return parallel::choose_all_reduce(25 << 20, p, devices, how).seconds;
}

/// GPUs with these links, in GB/s; all others have 10.
platform<> joined(std::size_t gpus, const std::vector<std::vector<device_id>>& pairs, double gigabytes) {
  link_matrix links{gpus, {5e-6, 10e9}};
  for (const auto& pair : pairs) {
    links.connect(pair[0], pair[1], {5e-6, gigabytes * 1e9});
  }
  return {std::vector<device>(gpus, {.kind = device_kind::gpu}), links};
}

TEST_CASE("choose_devices: the pair that has a link, not the one of the smallest numbers") {
  const auto p = joined(6, {{0, 3}, {2, 5}}, 100);
  CHECK(choose_devices(p, devices_of(6), levels{{2}}, contention_model::fair) == std::vector<device_id>{0, 3});
  CHECK(choose_devices(p, std::vector<device_id>{1, 2, 4, 5}, levels{{2}}, contention_model::none) ==
        std::vector<device_id>{2, 5});
  // Groups of two that split ops, and two replicas of them
  const auto both = choose_devices(p, devices_of(6), levels{{2}, {2}}, contention_model::fair);
  CHECK(std::set<device_id>{both[0], both[1]} == std::set<device_id>{0, 3});
  CHECK(std::set<device_id>{both[2], both[3]} == std::set<device_id>{2, 5});
}

TEST_CASE("choose_devices: a ring of the double links of a DGX-1") {
  auto links = link_matrix{8, {5e-6, 10e9}};
  for (const auto& [a, b, count] : std::vector<std::array<device_id, 3>>{{0, 1, 1},
                                                                         {0, 2, 1},
                                                                         {0, 3, 2},
                                                                         {0, 4, 2},
                                                                         {1, 2, 2},
                                                                         {1, 3, 1},
                                                                         {1, 5, 2},
                                                                         {2, 3, 2},
                                                                         {2, 6, 1},
                                                                         {3, 7, 1},
                                                                         {4, 5, 1},
                                                                         {4, 6, 1},
                                                                         {4, 7, 2},
                                                                         {5, 6, 2},
                                                                         {5, 7, 1},
                                                                         {6, 7, 2}}) {
    links.connect(a, b, {5e-6, count * 25e9});
  }
  const platform<> dgx1{std::vector<device>(8, {.kind = device_kind::gpu}), links};
  const auto ring = choose_devices(dgx1, devices_of(8), levels{{8, mesh_traffic::in_parts}}, contention_model::fair);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(dgx1.bandwidth(ring[i], ring[(i + 1) % 8]) == 50e9);
  }
  const auto given = devices_of(8);
  CHECK(all_reduce_seconds(dgx1, ring, contention_model::fair) <
        0.8 * all_reduce_seconds(dgx1, given, contention_model::fair));
}

TEST_CASE("choose_devices: numbers do not matter, whatever the machine, the mesh and the contention") {
  rng random{11};
  for (const std::string_view name : {"p3_8xlarge_x2", "hgx_a100_x2", "dgx_a100", "pcie_8gpu", "p3_8xlarge"}) {
    CAPTURE(name);
    const auto p = presets::make(name);
    const auto gpus = accelerators(p);
    const auto half = static_cast<std::uint32_t>(gpus.size() / 2);
    for (const auto how : {contention_model::none, contention_model::fair}) {
      for (const auto& mesh : {levels{{half * 2}}, levels{{2, mesh_traffic::in_parts}}, levels{{2}, {half}},
                               levels{{2}, {1}, {half, mesh_traffic::neighbours}}}) {
        const auto chosen = choose_devices(p, gpus, mesh, how);
        const auto other = weft_test::renumbered(p, weft_test::shuffled(p.num_devices(), random));
        const auto again = choose_devices(other, accelerators(other), mesh, how);
        REQUIRE(again.size() == chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          for (std::size_t k = 0; k < i; ++k) {
            CHECK(other.bandwidth(again[i], again[k]) == p.bandwidth(chosen[i], chosen[k]));
          }
        }
        CHECK(all_reduce_seconds(other, again, how) ==
              doctest::Approx(all_reduce_seconds(p, chosen, how)).epsilon(1e-6));
      }
    }
  }
}

/// The time of a step that `replicas` do, whose ops `ranks` of the GPUs split each.
double step_seconds(const test::built_net& n, const parallel::split_model& model,
                    const std::vector<std::uint32_t>& axis, const platform<>& p, std::uint32_t ranks,
                    std::uint32_t replicas) {
  const auto& w = n.built.graph;
  const auto devices = choose_devices(p, accelerators(p), levels{{ranks}, {replicas}}, contention_model::fair);
  parallel::replicated_workload made;
  std::vector<placement> where;
  workload step;
  for (std::uint32_t r = 0; r < replicas; ++r) {
    std::vector<placement> on_ranks;
    for (std::uint32_t t = 0; t < ranks; ++t) {
      on_ranks.emplace_back(w.num_ops(), devices[r * ranks + t]);
    }
    auto split = parallel::tensor_parallel(model, axis, on_ranks);
    where.push_back(std::move(split.where));
    step = std::move(split.graph);
  }
  std::vector<device_id> firsts;
  for (std::uint32_t r = 0; r < replicas; ++r) {
    firsts.push_back(devices[r * ranks]);
  }
  const auto all_reduce = parallel::choose_all_reduce(10'000'000, p, firsts, contention_model::fair);
  const auto both = parallel::data_parallel(step, where, all_reduce.messages);
  const auto anywhere = both.graph.with_kinds(std::vector<kind_set>(both.graph.num_ops(), kind_set::all()));
  const problem all{anywhere, p};
  return simulator{all, schedule::fifo{}, simulate::any_network{}}.run(plan{.placement = both.where}).makespan;
}

TEST_CASE("choose_devices: steps on a machine with other numbers take as long") {
  rng random{19};
  const test::built_net n{"mnist_conv@8"};
  const auto model = n.model();
  const auto costs = test::costs_of(n.built.graph, 2, 1e11);
  const auto split = parallel::choose_splits(model, 2, costs, {.budget = {.moves = 50}});
  const std::vector<std::uint32_t> whole(n.built.graph.num_ops(), none);
  for (const std::string_view name : {"p3_8xlarge_x2", "pcie_4gpu"}) {
    CAPTURE(name);
    const auto p = presets::make(name);
    const double of_data = step_seconds(n, model, whole, p, 1, 4);
    const double of_both = step_seconds(n, model, split.axis, p, 2, 2);
    for (int times = 0; times < 2; ++times) {
      const auto other = weft_test::renumbered(p, weft_test::shuffled(p.num_devices(), random));
      CHECK(step_seconds(n, model, whole, other, 1, 4) == doctest::Approx(of_data).epsilon(0.01));
      CHECK(step_seconds(n, model, split.axis, other, 2, 2) == doctest::Approx(of_both).epsilon(0.01));
    }
  }
}

TEST_CASE("choose_devices: nearly the best of all orders of small random machines") {
  rng random{13};
  double sum = 0;
  constexpr int times = 30;
  for (int t = 0; t < times; ++t) {
    const std::uint32_t n = 3 + random.below(2), k = 2 + random.below(n - 1);
    link_matrix links{n};
    for (const device_id a : ids(n)) {
      for (device_id b = 0; b < a; ++b) {
        links.connect(a, b, {5e-6, std::array{1e9, 12e9, 25e9, 50e9, 100e9}[random.below(5)]});
      }
    }
    const platform<> p{std::vector<device>(n), links};
    auto all = devices_of(n);
    const auto chosen = choose_devices(p, all, levels{{k}}, contention_model::none);
    double best = std::numeric_limits<double>::infinity();
    do {
      best = std::min(best, all_reduce_seconds(p, {all.begin(), all.begin() + k}, contention_model::none));
    } while (std::next_permutation(all.begin(), all.end()));
    const double ratio = all_reduce_seconds(p, chosen, contention_model::none) / best;
    CHECK(ratio < 1.7); // steps of a tree do not wait for each other when they run
    sum += ratio / times;
  }
  CHECK(sum < 1.1);
}

TEST_CASE("choose_devices: groups stay within nodes, whose sizes they need not divide") {
  rng random{17};
  const auto in_nodes = [&](std::size_t nodes, std::size_t per_node, const levels& mesh) {
    const std::size_t n = nodes * per_node;
    const hierarchical_links wires{{{2e-6, 100e9}, {10e-6, 10e9}}, {per_node}, n};
    const platform<> ordered{std::vector<device>(n), link_matrix{n, wires}};
    const auto old = weft_test::shuffled(n, random);
    const auto p = weft_test::renumbered(ordered, old);
    const auto chosen = choose_devices(p, devices_of(n), mesh, contention_model::fair);
    CHECK(std::set<device_id>(chosen.begin(), chosen.end()).size() == chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto first = i / mesh.front().size * mesh.front().size;
      CHECK(old[chosen[i]] / per_node == old[chosen[first]] / per_node);
    }
  };
  in_nodes(2, 6, {{4}, {2}});
  in_nodes(3, 5, {{2}, {3}, {2, mesh_traffic::neighbours}});
  in_nodes(12, 8, {{8}, {12}}); // too many for a search
  in_nodes(12, 8, {{4}, {6}, {4, mesh_traffic::neighbours}});
}

TEST_CASE("choose_devices: devices whose links are alike one by one, but shared with others") {
  const std::size_t n = 8;
  const hierarchical_links nodes{{{2e-6, 10e9}, {2e-6, 10e9}}, {4}, n};
  const platform<> p{std::vector<device>(n), link_matrix{n, nodes}};
  const std::vector<device_id> mixed{0, 4, 1, 5, 2, 6, 3, 7};
  const auto ring = choose_devices(p, mixed, levels{{8}}, contention_model::fair);
  CHECK(all_reduce_seconds(p, ring, contention_model::fair) <=
        all_reduce_seconds(p, devices_of(n), contention_model::fair) * 1.01);
  for (const auto& mesh : {levels{{4}}, levels{{4}, {2}}}) {
    const auto chosen = choose_devices(p, mixed, mesh, contention_model::fair);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      CHECK(chosen[i] / 4 == chosen[i / 4 * 4] / 4);
    }
  }
}

/// Nine devices, the points of a plane of three by three, with a bus for each of its twelve lines.
struct buses {
  static std::size_t num_devices() { return 9; }
  static std::size_t num_links() { return 12; }
  static weft::link link_at(link_id) { return {1e-6, 10e9}; }
  weft::link operator()(device_id from, device_id to) const { return from == to ? weft::link{} : link_at(0); }
  template <class F>
  void visit_route(device_id from, device_id to, F&& f) const {
    const device_id x = from / 3, y = from % 3, dx = (to / 3 + 3 - x) % 3, dy = (to % 3 + 3 - y) % 3;
    if (from != to) {
      const auto slope = dy * dx % 3; // dx is its own inverse
      f(static_cast<link_id>(dx == 0 ? x : 3 + 3 * slope + (y + 2 * slope * x) % 3));
    }
  }
};

TEST_CASE("choose_devices: links that as many pairs share, but not the same ones") {
  const platform<buses> p{std::vector<device>(9), buses{}};
  const auto chosen = choose_devices(p, devices_of(9), levels{{3}}, contention_model::fair); // not 0, 1 and 2
  std::set<link_id> taken;
  for (std::size_t i = 0; i < 3; ++i) {
    p.visit_route(chosen[i], chosen[(i + 1) % 3], [&](link_id l) { taken.insert(l); });
  }
  CHECK(taken.size() == 3);
}

TEST_CASE("choose_devices: the order given where all do equally well, and what it refuses") {
  const platform<> p{std::vector<device>(5), link_matrix{5, {1e-6, 1e9}}};
  const std::vector<device_id> some{4, 0, 3, 1};
  CHECK(choose_devices(p, some, levels{{3}}, contention_model::fair) == std::vector<device_id>{4, 0, 3});
  CHECK(choose_devices(p, some, levels{}, contention_model::fair) == std::vector<device_id>{4});
  CHECK_THROWS_AS(choose_devices(p, some, levels{{5}}, contention_model::fair), value_error);
  CHECK_THROWS_AS(choose_devices(p, some, levels{{2}, {0}}, contention_model::fair), value_error);
  CHECK_THROWS_AS(choose_devices(p, std::vector<device_id>{}, levels{}, contention_model::fair), value_error);
  const auto refused = [&](std::vector<device_id> devices, const levels& mesh, const char* message) {
    CHECK_THROWS_WITH_AS(choose_devices(p, devices, mesh, contention_model::fair), message, value_error);
  };
  refused({0, 5}, {{2}}, "choose_devices: there is no device 5 among 5; name devices of the platform");
  refused({0, 1, 0}, {{3}}, "choose_devices: device 0 appears twice; name each device once");
  const std::uint32_t large = 1u << 31;
  refused(some, {{large}, {large}, {4}}, // 2^64 places
          "choose_devices: a mesh of 2147483648 x 2147483648 x 4 places for 4 devices; it needs sizes of at least 1 "
          "and as many devices as places");
  refused(some, {{20}, {5581}, {8681}, {49477}, {384773}}, // 2^64 + 4
          "choose_devices: a mesh of 20 x 5581 x 8681 x 49477 x 384773 places for 4 devices; it needs sizes of at "
          "least 1 and as many devices as places");
}

} // namespace choose_devices_test
