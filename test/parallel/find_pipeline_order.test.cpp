// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/find_pipeline_order.hpp"

#include "support/rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace find_pipeline_order_test {

using namespace weft;
using namespace weft::parallel;

/// Stages with passes of 1000 s each, a byte from a forward pass to the end of the gradients of weights.
pipeline_problem uniform(std::uint32_t stages, std::uint32_t micro_batches, byte_count capacity) {
  pipeline_problem p{.micro_batches = micro_batches};
  for (std::uint32_t s = 0; s < stages; ++s) {
    pipeline_stage stage{.device = s};
    for (auto& c : stage.cost) {
      c.seconds = 1000;
    }
    stage[pass::forward].taken = 1;
    stage[pass::weights].freed = 1;
    p.stages.push_back(stage);
    p.capacity.push_back(capacity);
  }
  return p;
}

pipeline_run run_of(pipeline_schedule s, const pipeline_problem& p) {
  const auto order = make_order(s, p);
  REQUIRE(order);
  return run_pipeline(p, *order);
}

TEST_CASE("make_order: schedules that are known by name take their published times and memory") {
  using enum pipeline_schedule;
  for (const auto& [n, m] : {std::pair{8u, 24u}, {16u, 48u}, {4u, 4u}, {2u, 7u}}) {
    CAPTURE(n);
    const auto p = uniform(n, m, 1000);
    const auto whole = with_whole_backward(p);
    const double bubble = 1000.0 * (n - 1), work = 3000.0 * m;
    // A bubble of (n - 1) (F + B + W), of (n - 1) (F + B - W), and none.
    CHECK(run_of(gpipe, whole).makespan == work + 3 * bubble);
    CHECK(run_of(one_forward_one_backward, whole).makespan == work + 3 * bubble);
    CHECK(run_of(zero_bubble_1, p).makespan == work + bubble);
    if (m >= 2 * n - 1) {
      CHECK(run_of(zero_bubble_2, p).makespan == work + bubble);
      CHECK(run_of(zero_bubble_2, p).longest_span == work);
      CHECK(run_of(zero_bubble_2, p).peak == std::vector<byte_count>(n, 2 * n - 1));
    }
    CHECK(run_of(gpipe, p).peak == std::vector<byte_count>(n, m));
    const auto peak = run_of(one_forward_one_backward, p).peak;
    for (std::uint32_t d = 0; d < n; ++d) {
      CHECK(peak[d] == std::min(n - d, m));
    }
    CHECK(run_of(zero_bubble_1, p).peak == std::vector<byte_count>(n, std::min(n, m)));
    CHECK_FALSE(make_order(interleaved, p));
  }
  // Two stages on each of 4 devices: half the bubble.
  auto p = uniform(8, 8, 1000);
  for (std::uint32_t s = 0; s < 8; ++s) {
    p.stages[s].device = s % 4;
  }
  p.capacity.resize(4);
  CHECK(run_of(interleaved, with_whole_backward(p)).makespan == 2 * 3000 * 8 + 3 * 3000);
  CHECK(run_of(gpipe, with_whole_backward(p)).ends);
  CHECK_FALSE(make_order(one_forward_one_backward, p));
  p.micro_batches = 9;
  CHECK_FALSE(make_order(interleaved, p));
}

TEST_CASE("find_pipeline_order: finds what is published, without knowing it") {
  for (const auto& [n, m] : {std::pair{8u, 24u}, {16u, 48u}}) {
    CAPTURE(n);
    const double bubble = 1000.0 * (n - 1), work = 3000.0 * m;
    const pipeline_search_options from_rules{.budget = {.moves = 2000}, .from_known = false};
    const auto tight = find_pipeline_order(uniform(n, m, n), from_rules);
    REQUIRE(tight.found);
    CHECK(tight.run.makespan == work + bubble); // as with ZB-H1
    CHECK(tight.is_optimal);
    const auto wide = find_pipeline_order(uniform(n, m, 2 * n), from_rules);
    REQUIRE(wide.found);
    CHECK(wide.run.makespan == work + bubble);
    CHECK(wide.run.longest_span == work); // as with ZB-H2
  }
}

/// A random pipeline whose passes take and free memory of several sizes.
pipeline_problem random_pipeline(rng& random, std::uint32_t stages, std::uint32_t devices,
                                 std::uint32_t micro_batches) {
  pipeline_problem p{.micro_batches = micro_batches, .trains = random.below(5) > 0};
  byte_count most = 1;
  for (std::uint32_t s = 0; s < stages; ++s) {
    pipeline_stage stage{.device = s % devices};
    byte_count held = 0;
    for (std::size_t x = 0; x < p.passes_each(); ++x) {
      auto& c = stage.cost[x];
      c.seconds = random.below(8) == 0 ? 0 : 1 + random.below(9);
      c.send_seconds = random.below(3);
      c.taken = random.below(4);
      held += c.taken;
      most += c.taken;
      c.freed = x + 1 == p.passes_each() ? held : random.below(static_cast<std::size_t>(held) + 1);
      held -= c.freed;
    }
    p.stages.push_back(stage);
  }
  for (std::uint32_t d = 0; d < devices; ++d) {
    p.capacity.push_back(1 + random.below(2 * static_cast<std::size_t>(most)));
  }
  return p;
}

/// The least value of all orders, by trying them all; infinity if none fits.
class all_orders {
public:
  all_orders(const pipeline_problem& p, pipeline_objective objective)
      : p_{p}, objective_{objective}, order_(p.num_devices()), words_(p.num_devices()) {
    for (std::size_t d = 0; d < p.num_devices(); ++d) {
      std::vector<std::uint32_t> count(num_passes * p.stages.size(), 0);
      std::vector<pipeline_step> word;
      extend(d, count, word, 0);
    }
    combine(0);
  }
  double least() const { return least_; }

private:
  void extend(std::size_t d, std::vector<std::uint32_t>& count, std::vector<pipeline_step>& word, byte_count held) {
    bool is_end = true;
    for (std::uint32_t s = 0; s < p_.num_stages(); ++s) {
      for (std::size_t x = 0; x < p_.passes_each() && p_.stages[s].device == d; ++x) {
        auto& k = count[x * p_.stages.size() + s];
        const auto& c = p_.stages[s].cost[x];
        is_end = is_end && k == p_.micro_batches;
        const bool is_back = x == static_cast<std::size_t>(pass::backward);
        const auto before = is_back ? s + 1 : s - 1; // the stage that is waited for, which may be on this device
        const bool waits = x != static_cast<std::size_t>(pass::weights) && before < p_.num_stages() &&
                           p_.stages[before].device == d && count[x * p_.stages.size() + before] <= k;
        if (k == p_.micro_batches || (x > 0 && count[(x - 1) * p_.stages.size() + s] <= k) || waits ||
            held + c.taken > p_.capacity[d]) {
          continue;
        }
        word.push_back({static_cast<pass>(x), s, k});
        ++k;
        extend(d, count, word, held + c.taken - c.freed);
        --k;
        word.pop_back();
      }
    }
    if (is_end) {
      words_[d].push_back(word);
    }
  }
  void combine(std::size_t d) {
    if (d == words_.size()) {
      const auto run = run_pipeline(p_, order_);
      if (run.ends) {
        REQUIRE(run.fits(p_));
        least_ = std::min(least_, objective_ == pipeline_objective::span ? run.longest_span : run.makespan);
      }
      return;
    }
    for (const auto& word : words_[d]) {
      order_[d] = word;
      combine(d + 1);
    }
  }

  const pipeline_problem& p_;
  pipeline_objective objective_;
  pipeline_order order_;
  std::vector<std::vector<std::vector<pipeline_step>>> words_; // by device
  double least_ = std::numeric_limits<double>::infinity();
};

TEST_CASE("find_pipeline_order: an order is found exactly when there is one, and is the best one") {
  rng random{7};
  std::size_t feasible = 0, infeasible = 0;
  for (int i = 0; i < test::rounds(4000); ++i) {
    struct {
      std::uint32_t stages, devices, micro_batches;
    } const shapes[]{{2, 2, 3}, {1, 1, 3}, {2, 1, 2}, {3, 3, 2}, {4, 2, 1}, {2, 2, 2}, {3, 1, 1}, {3, 2, 1}, {4, 3, 1}};
    const auto& shape = shapes[i % 9];
    const auto p = random_pipeline(random, shape.stages, shape.devices, shape.micro_batches);
    const auto objective = i % 4 == 3 ? pipeline_objective::span : pipeline_objective::makespan;
    const double least = all_orders{p, objective}.least();
    const auto found = find_pipeline_order(p, {.objective = objective, .budget = {.moves = 200}, .seed = 1});
    CAPTURE(i);
    REQUIRE(found.found == (least < std::numeric_limits<double>::infinity()));
    REQUIRE(found.bound <= least);
    REQUIRE(found.is_impossible == !found.found);
    REQUIRE(found.is_optimal == found.found);
    if (!found.found) {
      ++infeasible;
      continue;
    }
    ++feasible;
    REQUIRE(found.run.fits(p));
    const auto again = run_pipeline(p, found.order);
    REQUIRE(again.makespan == found.run.makespan);
    REQUIRE((objective == pipeline_objective::span ? found.run.longest_span : found.run.makespan) == least);
  }
  CHECK(feasible > static_cast<std::size_t>(test::rounds(4000)) / 3);
  CHECK(infeasible > static_cast<std::size_t>(test::rounds(4000)) / 6);
}

TEST_CASE("find_pipeline_order: never worse than a schedule that is known by name, also where stages differ") {
  rng random{3};
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t n = 3 + random.below(6);
    auto p = uniform(n, n * (1 + random.below(3)), n * (1 + random.below(2)));
    for (auto& stage : p.stages) {
      for (auto& c : stage.cost) {
        c.seconds = random.uniform(700, 1300);
        c.send_seconds = random.uniform(50, 200);
      }
    }
    const auto found = find_pipeline_order(p, {.budget = {.moves = 1000}});
    REQUIRE(found.found);
    const auto same = find_pipeline_order(p, {.budget = {.moves = 1000}});
    CHECK(found.order == same.order);
    for (const auto s : pipeline_schedules) {
      for (const auto& q : {p, with_whole_backward(p)}) {
        if (const auto order = make_order(s, q)) {
          if (const auto run = run_pipeline(q, *order); run.fits(q)) {
            CHECK(found.run.makespan <= run.makespan * (1 + 1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("pipelines that make no sense are refused") {
  CHECK_THROWS_AS(find_pipeline_order({}), value_error);
  auto p = uniform(2, 0, 1);
  CHECK_THROWS_WITH_AS(find_pipeline_order(p), "pipeline: it has 2 stages and 0 micro-batches; both must be at least 1",
                       value_error);
  p = uniform(2, 1, 1);
  p.stages[1].device = 2;
  CHECK_THROWS_WITH_AS(find_pipeline_order(p), "pipeline: stage 1 is on device 2 of 2", value_error);
  p = uniform(2, 1, 1);
  p.stages[0][pass::weights].freed = 0;
  CHECK_THROWS_WITH_AS(find_pipeline_order(p), "pipeline: stage 0 takes 1 bytes for a micro-batch and frees 0",
                       value_error);
  p = uniform(2, 1, 1);
  p.stages[0][pass::forward].seconds = -1;
  CHECK_THROWS_AS(find_pipeline_order(p), value_error);
  p = uniform(2, 2, 1);
  auto order = *make_order(pipeline_schedule::gpipe, p);
  CHECK_FALSE(run_pipeline(p, order).fits(p)); // two in flight
  std::swap(order[0].front(), order[0].back());
  CHECK_FALSE(run_pipeline(p, order).ends);
  p.capacity.assign(2, 0);
  const auto none = find_pipeline_order(p);
  CHECK_FALSE(none.found);
  CHECK(none.is_impossible);
}

} // namespace find_pipeline_order_test
