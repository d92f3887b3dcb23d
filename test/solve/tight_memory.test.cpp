// SPDX-License-Identifier: BSL-1.0
// solve::best where memory over time is as tight as it can be: it has a plan exactly when there is one.
#include "weft/solve/best.hpp"

#include "simulate/random_problem.hpp"
#include "solve/every_run.hpp"
#include "support/rounds.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

namespace solve_tight_memory_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

/// WEFT_TIGHT_CASES, or so many.
int num_cases(int many) {
  const char* value = std::getenv("WEFT_TIGHT_CASES");
  return value == nullptr ? test::rounds(many) : std::atoi(value);
}

solve::best_result planned(const drawn_problem& p, contention_model network, const solve::best_options& options) {
  return network == contention_model::none
           ? solve::best(p, options)
           : solve::best(p, simulate::under{schedule::static_order{}, simulate::any_network{network}}, options);
}

/// How often a plan was found, and was not.
struct counts {
  int feasible = 0, missed = 0, wrongly_infeasible = 0, infeasible = 0, proven = 0;
};

/// Problems whose devices hold the least that any plan needs, a little less, or a little more.
counts compare(std::uint64_t seed, int rounds, const test::draw_options& drawn_as, contention_model network) {
  rng random{seed};
  counts n;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const drawn s{random, drawn_as};
    std::vector<byte_count> base;
    for (std::size_t d = 0; d < s.p.num_devices(); ++d) {
      base.push_back(random.below(2) == 0 ? 0 : random.below(12));
    }
    const test::every_run all{s.p, network, base};
    if (all.num_runs() == 0) {
      continue; // some op is allowed nowhere
    }
    const auto least = all.least();
    const std::int64_t more = random.below(2) == 0 ? 0 : random.below(4);
    for (const std::int64_t room : {least - 1, least + more}) {
      std::vector<byte_count> capacity;
      for (const byte_count b : base) {
        const auto holds = static_cast<std::int64_t>(b) + room;
        capacity.push_back(static_cast<byte_count>(std::max<std::int64_t>(0, holds)));
      }
      const bool is_feasible = room >= least;
      const auto p = s.p.with_capacities(capacity);
      if (!is_feasible && std::any_of(base.begin(), base.end(), [&](byte_count b) {
            return static_cast<std::int64_t>(b) + room < 0;
          })) {
        continue; // no device may hold less than nothing
      }
      const auto r = planned(p, network, {.moves = 2000, .memory = memory_rule::over_time});
      if (is_feasible) {
        ++n.feasible;
        n.missed += !r.has_plan();
        n.wrongly_infeasible += r.status == status::infeasible;
        if (!r.has_plan() && std::getenv("WEFT_TIGHT_SHOW")) std::printf("missed round %d: ops %zu devices %zu reason %s\n", round, s.p.num_ops(), s.p.num_devices(), to_string(*r.reason).c_str());
      } else {
        ++n.infeasible;
        n.proven += r.status == status::infeasible;
      }
      CHECK((is_feasible || !r.has_plan()));
      if (r.has_plan()) {
        const validate_options rules{.contention = network, .check_memory = true, .memory = memory_rule::over_time};
        CHECK(validate(p, r.plan.placement, r.record, rules).empty());
        CHECK(peak_memory_of(p, r.plan.placement, r.record) == r.peaks);
      } else {
        CHECK(r.reason);
      }
    }
  }
  return n;
}

TEST_CASE("tight memory: a plan is found exactly when there is one") {
  const test::draw_options options[] = {{.max_ops = 8, .max_devices = 3, .sends = false, .slots = 0},
                                        {.max_ops = 6, .max_devices = 3},
                                        {.max_ops = 8, .max_devices = 3, .sends = false, .groups = false, .kinds = false}};
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto n = compare(seed, num_cases(1000), options[seed], contention_model::none);
    MESSAGE(n.feasible << " feasible, " << n.missed << " missed, " << n.wrongly_infeasible << " wrongly infeasible; "
                       << n.infeasible << " infeasible, " << n.proven << " proven");
  }
}
TEST_CASE("tight memory: on networks") {
  const test::draw_options options[] = {{.max_ops = 8, .max_devices = 3, .sends = false, .slots = 0},
                                        {.max_ops = 7, .max_devices = 3}};
  for (const auto network : {contention_model::port, contention_model::fair}) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      const auto n = compare(seed, num_cases(300), options[seed], network);
      MESSAGE(n.feasible << " feasible, " << n.missed << " missed, " << n.wrongly_infeasible << " wrongly infeasible; "
                         << n.infeasible << " infeasible, " << n.proven << " proven");
    }
  }
}

} // namespace solve_tight_memory_test
