// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/dfs.hpp"
#include "weft/partition/importance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace partition_dfs_test {

using namespace weft;
using partition::dfs;
using test::place;

/// Devices with room for one op each, so that the d-th to be placed is on device d.
placement visiting_order(workload_builder b, std::uint64_t seed = 0) {
  const std::size_t n = b.num_ops();
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(n, {.memory_capacity = 1});
  return place(dfs{}, problem{w, q}, seed);
}

workload_builder unit_ops(std::initializer_list<double> work, std::initializer_list<std::pair<op_id, op_id>> edges) {
  workload_builder b;
  for (const double w : work) {
    b.add_op({.work = w, .bytes = 0, .resident_bytes = 1});
  }
  for (const auto& [u, v] : edges) {
    b.add_edge(u, v);
  }
  return b;
}

TEST_CASE("dfs: depth first, from the most important source, the most remaining work first") {
  // 0 -> {1, 2}, 1 -> 3, 2 -> 4, and 5 -> 6 through which the longest path goes.
  CHECK(visiting_order(unit_ops({1, 2, 3, 4, 5, 10, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {5, 6}})) ==
        placement{2, 5, 3, 6, 4, 0, 1});
}

TEST_CASE("dfs: an op that several lead to is visited when it is met first") {
  // 0 -> {1, 2} -> 3: 3 comes right after 2, which has more work than 1.
  CHECK(visiting_order(unit_ops({1, 2, 3, 4}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}})) == placement{0, 3, 1, 2});
}

TEST_CASE("dfs: the seed breaks ties, between sources and between successors") {
  std::set<placement> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto where = visiting_order(unit_ops({1, 1, 1, 1, 1}, {{0, 2}, {0, 3}, {1, 4}}), seed);
    CHECK((where[0] == 0 || where[1] == 0));
    CHECK(where[4] == where[1] + 1);
    seen.insert(where);
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("dfs: a chain stays together, unless a zero counts nothing special") {
  // The consumer on device 0: traffic 0, execution 1; on device 1: traffic 1, execution 0.5.
  const workload w = test::ops_of({2, 2}, {{0, 1}}, 10).build();
  const auto q = test::equal_devices(2);
  CHECK(place(dfs{.zero_term = 0.4}, problem{w, q}) == placement{0, 0});
  CHECK(place(dfs{.zero_term = 0.6}, problem{w, q}) == placement{0, 1});
  CHECK(place(dfs{}, problem{w, q}) == placement{0, 0});
}

TEST_CASE("dfs: a component goes where its first op is met") {
  auto b = unit_ops({5, 1, 1, 1}, {{0, 1}, {2, 3}});
  b.colocate(1, 3);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(3, {.memory_capacity = 2});
  // 0 and then {1, 3}, which does not fit beside it, go first; 2 to the device that is still idle.
  CHECK(place(dfs{}, problem{w, q}) == placement{0, 1, 2, 1});
}

TEST_CASE("dfs: each choice minimises execution times traffic") {
  rng random{22};
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.capacity = byte_count{1} << (8 + random.below(3))}};
    const auto& p = s.p;
    const std::uint64_t seed = random();
    const auto decided = test::decide(dfs{}, p, seed);
    if (!decided) {
      continue;
    }
    const auto& chosen = decided->plan.placement;
    rng same{seed};
    workspace scratch;
    const auto tie = partition::random_ranks(p, same, scratch);
    const auto importance = partition::importance(p);
    const auto down = partition::work_to_sink(p);
    placement where(p.num_ops(), none);
    std::vector<double> free(p.num_devices(), static_cast<double>(s.q.memory_capacity(0)));
    std::vector<double> load(p.num_devices(), 0);
    std::vector<bool> seen(p.num_ops(), false);

    const auto settle = [&](component_id c) {
      const device_id d = chosen[p.members(c).front()];
      std::vector<device_id> fitting;
      std::vector<double> traffic;
      std::vector<double> execution;
      for (const device_id e : ids(p.num_devices())) {
        if (p.kinds(c).contains(s.q.kind(e)) && free[e] >= static_cast<double>(p.demand(c))) {
          auto there = where;
          for (const op_id v : p.members(c)) {
            there[v] = e;
          }
          fitting.push_back(e);
          traffic.push_back(test::total_traffic(p, there) - test::total_traffic(p, where));
          execution.push_back(load[e] + p.component_time(c, e));
        }
      }
      const auto share = [](const std::vector<double>& x, std::size_t i) {
        const double largest = *std::max_element(x.begin(), x.end());
        return largest == 0 ? 1 : x[i] == 0 ? dfs{}.zero_term : x[i] / largest;
      };
      std::vector<double> product;
      for (std::size_t i = 0; i < fitting.size(); ++i) {
        product.push_back(share(traffic, i) * share(execution, i));
      }
      const auto at = std::find(fitting.begin(), fitting.end(), d);
      REQUIRE(at != fitting.end());
      CHECK(product[static_cast<std::size_t>(at - fitting.begin())] <=
            *std::min_element(product.begin(), product.end()) * (1 + 1e-9));
      for (const op_id v : p.members(c)) {
        where[v] = d;
      }
      free[d] -= static_cast<double>(p.demand(c));
      load[d] += p.component_time(c, d);
    };
    const std::function<void(op_id)> visit = [&](op_id v) {
      if (seen[v]) {
        return;
      }
      seen[v] = true;
      if (where[v] == none) {
        settle(p.component(v));
      }
      std::vector<op_id> next;
      for (const tensor_id t : p.workload().outputs(v)) {
        for (const op_id c : p.workload().consumers(t)) {
          next.push_back(c);
        }
      }
      std::sort(next.begin(), next.end(),
                [&](op_id x, op_id y) { return down[x] != down[y] ? down[x] > down[y] : tie[x] > tie[y]; });
      for (const op_id c : next) {
        visit(c);
      }
    };
    std::vector<op_id> sources;
    for (const op_id v : ids(p.num_ops())) {
      if (p.workload().inputs(v).empty()) {
        sources.push_back(v);
      }
    }
    std::sort(sources.begin(), sources.end(), [&](op_id x, op_id y) {
      return importance[x] != importance[y] ? importance[x] > importance[y] : tie[x] > tie[y];
    });
    for (const op_id v : sources) {
      visit(v);
    }
    CHECK(where == chosen);
  }
}

} // namespace partition_dfs_test
