// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/result.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace solve_result_test {

using namespace weft;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("result: names of the statuses") {
  CHECK(to_string(status::solved) == "solved");
  CHECK(to_string(status::optimal) == "optimal");
  CHECK(to_string(status::infeasible) == "infeasible");
  CHECK(to_string(status::not_found) == "not_found");
  CHECK(to_string(status::incomplete) == "incomplete");
}

TEST_CASE("result: gap and has_plan") {
  result r;
  CHECK(r.status == status::not_found);
  CHECK_FALSE(r.has_plan());
  CHECK(r.makespan == infinity);
  CHECK(r.gap() == infinity);
  r = {.status = status::solved, .makespan = 12.5, .bound = {10, lower_bound::rule::area}};
  CHECK(r.has_plan());
  CHECK(r.gap() == 0.25);
  r.status = status::optimal;
  CHECK(r.has_plan());
  r.status = status::incomplete;
  CHECK_FALSE(r.has_plan());
  CHECK(r.gap() == infinity);
}

TEST_CASE("result: asked before its plan is read, with a reason that prints") {
  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 80'000'000, .name = "dense"});
  const workload w = std::move(b).build();
  const auto on = [&](byte_count capacity) {
    const platform<> q{std::vector<device>{{.memory_capacity = capacity}}, link_matrix{1}};
    return pipeline(partition::heft{}, schedule::path_completion_time{})(problem{w, q});
  };
  CHECK(on(80'000'000));
  const result none = on(79'999'999);
  CHECK_FALSE(none);
  std::ostringstream out;
  out << none.reason << '|' << *none.reason << '|' << on(80'000'000).reason;
  const auto text = to_string(none.reason.value());
  CHECK(out.str() == text + "|" + text + "|nothing is proven to be in the way of a plan");
}

TEST_CASE("result: the gap of plans at and below the bound, and above a bound of 0") {
  const auto gap = [](double makespan, double bound) {
    return result{.status = status::solved, .makespan = makespan, .bound = {bound, lower_bound::rule::area}}.gap();
  };
  CHECK(gap(10, 10) == 0);
  CHECK(gap(0, 0) == 0);
  CHECK(gap(1, 0) == infinity);
  CHECK(gap(9, 10) == 0);
  CHECK(gap(9, infinity) == 0);
  CHECK(gap(infinity, infinity) == 0);
}

TEST_CASE("result: the gap above a bound of 0 is infinite, unless the makespan is 0 as well") {
  CHECK(result{.status = status::solved, .makespan = 1}.gap() == std::numeric_limits<double>::infinity());
  CHECK(result{.status = status::optimal, .makespan = 0}.gap() == 0);
}

TEST_CASE("judge: met, missed, and met but for rounding") {
  const lower_bound ten{10, lower_bound::rule::area};
  CHECK(judge({.makespan = 10}, ten) == status::optimal);
  CHECK(judge({.makespan = 10 * (1 + 1e-12)}, ten) == status::optimal);
  CHECK(judge({.makespan = 10 * (1 + 1e-8)}, ten) == status::solved);
  CHECK(judge({.makespan = 9, .complete = false}, ten) == status::incomplete);
  CHECK(judge({.makespan = infinity}, ten) == status::incomplete); // has no end
  CHECK(judge({.makespan = 0}, {}) == status::optimal);
  CHECK(judge({.makespan = 9}, ten) == status::solved); // a plan that does not keep to the reservations proves nothing
  CHECK(judge({.makespan = 9}, {infinity, lower_bound::rule::area}) == status::solved);
}

} // namespace solve_result_test
