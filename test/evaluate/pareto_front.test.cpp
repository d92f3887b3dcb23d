// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/pareto_front.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace evaluate_pareto_front_test {

using weft::pareto_front;
using weft::pareto_point;

using pairs = std::vector<std::pair<double, double>>;

pairs points_of(const pareto_front& front) {
  pairs found;
  for (const pareto_point& x : front.points) {
    found.emplace_back(x.makespan, x.value);
  }
  return found;
}

constexpr bool offer(pareto_front& front, double makespan, double value) {
  return front.offer({.makespan = makespan, .value = value});
}

TEST_CASE("pareto_front: keeps what none beats in both, in order") {
  pareto_front front;
  CHECK(!front.dominated(1, 1));
  CHECK(offer(front, 4, 4));
  CHECK(offer(front, 2, 8));
  CHECK(offer(front, 8, 2));
  CHECK(points_of(front) == pairs{{2, 8}, {4, 4}, {8, 2}});
  CHECK(!offer(front, 4, 4));
  CHECK(!offer(front, 5, 4));
  CHECK(!offer(front, 4, 9));
  CHECK(offer(front, 5, 3));
  CHECK(offer(front, 3, 3)); // and two that it beats go
  CHECK(points_of(front) == pairs{{2, 8}, {3, 3}, {8, 2}});
  CHECK(front.dominated(3, 3));
  CHECK(!front.dominated(3, 2.5));
  CHECK(offer(front, 1, 1));
  CHECK(points_of(front) == pairs{{1, 1}});
}

TEST_CASE("pareto_front: what differs by rounding is one point") {
  pareto_front front;
  CHECK(offer(front, 1, 3));
  CHECK(!offer(front, 1 - 1e-15, 3 + 1e-15));
  CHECK(!offer(front, 1 + 1e-15, 3 - 1e-15));
  CHECK(offer(front, 1, 3 - 1e-9));
  CHECK(front.points.size() == 1);
}

static_assert([] {
  pareto_front front;
  return offer(front, 1, 2) && offer(front, 2, 1) && !offer(front, 2, 2) && front.points.size() == 2;
}());

} // namespace evaluate_pareto_front_test
