// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace interop_mpi_traffic_test {

namespace mpi = weft::mpi;
using flows = std::vector<mpi::flow>;

/// Three hosts of 2, 2 and 1 ranks, dealt out by turns.
mpi::rank_tree three_hosts() {
  mpi::rank_tree tree{5};
  tree.add_level(std::vector<int>{0, 1, 2, 0, 1});
  tree.add_level(std::vector<int>(5, 0));
  return tree;
}

TEST_CASE("pairs_of_level: only of that level, each once, as many as are wanted") {
  const auto tree = three_hosts();
  weft::rng random{1};
  CHECK(mpi::pairs_of_level(tree, 1, 100, random).size() == 2);
  const auto all = mpi::pairs_of_level(tree, 2, 100, random);
  CHECK(all.size() == 8);
  std::set<std::pair<std::uint32_t, std::uint32_t>> different;
  for (const auto& [a, b] : all) {
    different.insert({std::min(a, b), std::max(a, b)});
    CHECK(tree.level_of(a, b) == 2);
  }
  CHECK(different.size() == 8);
  CHECK(mpi::pairs_of_level(tree, 2, 3, random).size() == 3);
}

TEST_CASE("port_flows: they have one group's way in common, and no other rank twice") {
  const auto tree = three_hosts();
  CHECK(mpi::port_flows(tree, 1, 0, true, 64) == flows{{0, 1}, {3, 2}}); // to another host each
  CHECK(mpi::port_flows(tree, 1, 0, false, 64) == flows{{1, 0}, {2, 3}});
  CHECK(mpi::port_flows(tree, 1, 2, true, 64).size() == 1);
  CHECK(mpi::port_flows(tree, 0, 0, true, 64) == flows{{0, 3}});          // its host has one more
  CHECK(mpi::port_flows(tree, 0, 2, true, 3) == flows{{2, 0}, {2, 1}, {2, 3}}); // alone on its host
  CHECK(mpi::port_flows(tree, 2, 0, true, 64).empty());
}

TEST_CASE("inside_flows: from each part of a group to the next") {
  const auto tree = three_hosts();
  CHECK(mpi::inside_flows(tree, 1, 0, 64) == flows{{0, 3}, {3, 0}});
  CHECK(mpi::inside_flows(tree, 1, 2, 64).empty());
  CHECK(mpi::inside_flows(tree, 2, 0, 64) == flows{{0, 1}, {3, 4}, {1, 2}, {2, 0}});
  CHECK(mpi::inside_flows(tree, 2, 0, 2).size() == 2);
}

TEST_CASE("spread: evenly, and all if there is room") {
  using numbers = std::vector<std::uint32_t>;
  CHECK(mpi::spread(3, 5) == numbers{0, 1, 2});
  CHECK(mpi::spread(10, 3) == numbers{0, 3, 6});
  CHECK(mpi::spread(0, 3).empty());
}

TEST_CASE("ping_pong: as many times as were asked for, and every rank knows them") {
  const mpi::communicator all;
  const auto seconds = mpi::ping_pong(all, 1, 0, 1000, 5);
  CHECK(seconds.size() == 5);
  for (const double s : seconds) {
    CHECK(s >= 0);
  }
  const auto known = all.all_gather(std::span<const double>{seconds});
  CHECK(std::all_of(known.begin(), known.end(), [&](const auto& k) { return k == seconds; }));
}

TEST_CASE("seconds_at_once: flows of any pattern end, and every rank knows when") {
  const mpi::communicator all;
  const auto n = static_cast<std::uint32_t>(all.size());
  flows ring;
  for (std::uint32_t r = 0; r < n; ++r) {
    ring.push_back({r, (r + 1) % n});
  }
  for (const flows& f : {flows{}, ring, flows{{0, 1}, {0, n - 1}, {1, 0}}}) {
    const double s = mpi::seconds_at_once(all, f, 300'000);
    CHECK(s >= 0);
    CHECK(all.all_gather(s) == std::vector<double>(n, s));
  }
}

} // namespace interop_mpi_traffic_test
