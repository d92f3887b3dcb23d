// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/release_counter.hpp"

#include "weft/core/workspace.hpp"

#include "support/graphs.hpp"
#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace graph_release_counter_test {

using namespace weft;

using numbers = std::vector<std::uint32_t>;

template <class Counter>
numbers ready(const Counter& waiting) {
  numbers list;
  waiting.for_each_ready([&](op_id v) { list.push_back(v); });
  return list;
}

template <class Counter, class G>
numbers finish(Counter& waiting, const G& g, op_id v) {
  numbers released;
  waiting.finish(g, v, [&](op_id c) { released.push_back(c); });
  return released;
}

TEST_CASE("release counter: an op is released by the last of its inputs, not by the last of its producers") {
  const workload w = test::diamond(); // a -> {b, c} -> d, and b hands d a second tensor
  graph::release_counter waiting{w};
  CHECK(ready(waiting) == numbers{0});
  CHECK(finish(waiting, w, 0) == numbers{1, 2});
  CHECK(finish(waiting, w, 2).empty());
  CHECK_FALSE(waiting.is_ready(3));
  CHECK(finish(waiting, w, 1) == numbers{3});
  CHECK(waiting.is_ready(3));
}

TEST_CASE("release counter: of a graph, in memory that is lent, and once more") {
  const auto g = test::make_graph<test::int_lists>(4, {{3, 0}, {3, 2}, {1, 2}});
  workspace scratch;
  graph::release_counter waiting{g, scratch.take<std::uint32_t>()};
  for (int round = 0; round < 2; ++round) {
    CHECK(ready(waiting) == numbers{1, 3});
    CHECK(finish(waiting, g, 3) == numbers{0});
    CHECK(finish(waiting, g, 1) == numbers{2});
    if (round == 0) {
      waiting.reset(g);
    } else {
      waiting.assign(numbers{2, 0, 1, 0});
      CHECK(ready(waiting) == numbers{1, 3});
    }
  }
}

TEST_CASE("release counter: inputs one by one, and back") {
  graph::release_counter<> waiting;
  waiting.assign(numbers{0, 2});
  CHECK_FALSE(waiting.arrive(1));
  CHECK(waiting.arrive(1));
  CHECK(waiting.take_back(1));
  CHECK_FALSE(waiting.take_back(1));
  CHECK_FALSE(waiting.is_ready(1));
}

} // namespace graph_release_counter_test
