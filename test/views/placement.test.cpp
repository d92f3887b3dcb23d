// SPDX-License-Identifier: BSL-1.0
#include "weft/views/placement.hpp"

#include "support/small_problem.hpp"
#include "weft/graph/adjacency.hpp"

#include <doctest/doctest.h>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <ranges>
#include <vector>

namespace views_placement_test {

using namespace weft;

TEST_CASE("ops on a device, in both directions and in pipes of both libraries") {
  const placement where{0, 1, 0, none, 1, 0};
  CHECK(ranges::equal(views::ops_on(where, 0), std::vector<op_id>{0, 2, 5}));
  CHECK(ranges::equal(views::ops_on(where, 0) | ranges::views::reverse, std::vector<op_id>{5, 2, 0}));
  CHECK(std::ranges::equal(views::ops_on(where, 1) | std::views::transform([](op_id v) { return v * 10; }),
                           std::vector<op_id>{10, 40}));
  CHECK(ranges::empty(views::ops_on(where, 2)));
}

TEST_CASE("steps of a device: its ops and sends in the order of the plan") {
  const plan p{{0, 1, 0}, {step::run(1), step::run(0), step::send(0, 7, 1), step::run(2)}};
  CHECK(ranges::equal(views::steps_of(p, 0), std::vector{step::run(0), step::send(0, 7, 1), step::run(2)}));
  CHECK(ranges::equal(views::steps_of(p, 1), std::vector{step::run(1)}));
  CHECK(std::ranges::distance(views::steps_of(p, 0) | std::views::filter(&step::is_send)) == 1);
}

TEST_CASE("cut edges: those between devices") {
  const workload w = test::diamond();
  const placement where{0, 0, 1, 1};
  CHECK(ranges::equal(views::cut_edges(w, where), std::vector<flow_edge>{{0, 2, 0}, {1, 3, 1}, {1, 3, 2}}));
  const std::vector<std::vector<int>> lists{{1, 2}, {3}, {3}, {}};
  CHECK(ranges::equal(views::cut_edges(lists, where) | ranges::views::transform([&](const auto& e) {
                        return source(lists, e) * 10 + target(lists, e);
                      }),
                      std::vector<op_id>{2, 13}));
}

} // namespace views_placement_test
