// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/tuning.hpp"

#include "support/graphs.hpp"
#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace execute_tuning_test {

using namespace weft;
using execute::setting_kind;
using execute::tuned;
using execute::tuning_phase;

/// A step that counts how often each op ran, and what ran too early.
class counting_step {
public:
  explicit counting_step(std::size_t n, std::uint64_t seed, op_id bad = none)
      : bad_{bad}, state_{std::make_unique<std::atomic<int>[]>(n)} {
    rng random{seed};
    workload_builder b;
    for (std::size_t i = 0; i < n; ++i) {
      b.add_op({.bytes = 0, .name = "op" + std::to_string(i), .type = i % 2 == 0 ? "Even" : "Odd"});
    }
    for (const auto& [u, v] : test::random_dag(n, 0.1, random)) {
      b.add_edge(u, v);
    }
    graph_ = std::move(b).build();
    of_ops_ = concurrency::op_graph{graph_};
  }

  const workload& graph() const { return graph_; }
  std::string key(op_id v) const { return std::to_string(v % 5); }
  void begin() {
    ++begun;
    for (std::size_t v = 0; v < of_ops_.num_ops(); ++v) {
      state_[v] = 0;
    }
  }
  void run(op_id v, team t) {
    if (v == bad_) {
      throw std::runtime_error("op " + std::to_string(v) + " cannot run");
    }
    const bool is_ready = state_[v].load() == static_cast<int>(of_ops_.num_inputs()[v]);
    wrong += !is_ready || t.threads == 0 || t.threads > most_threads;
    volatile double x = 0;
    for (std::uint32_t i = 0; i < 2000 * (v % 5 + 1); ++i) {
      x = x + 1;
    }
    for (const op_id w : of_ops_.consumers(v)) {
      state_[w].fetch_add(1);
    }
    ++ran;
  }

  std::uint32_t most_threads = 2;
  std::atomic<int> wrong{0}, ran{0};
  int begun = 0;

private:
  op_id bad_;
  workload graph_;
  concurrency::op_graph of_ops_;
  std::unique_ptr<std::atomic<int>[]> state_; // by op: inputs that are there
};

static_assert(repeated_step<counting_step>);
static_assert(!repeated_step<workload>);

const machine two_cores{.name = "two", .cores_per_socket = 2};

TEST_CASE("tuned: every setting runs each op of a step once, after its inputs") {
  counting_step step{60, 1};
  std::vector<tuning_phase> phases;
  tuned best{step, {.here = two_cores, .steps = 30, .progress = [&](const execute::tuning_progress& p) {
                      phases.push_back(p.phase);
                    }}};
  CHECK(std::ranges::is_sorted(phases));
  CHECK(phases.front() == tuning_phase::warm_up);
  CHECK(step.wrong == 0);
  CHECK(step.ran == step.begun * 60);
  REQUIRE(best.settings().size() >= 10);
  for (std::size_t i = 0; i < best.settings().size(); ++i) {
    CHECK(best.settings()[i].predicted.makespan > 0);
    CHECK(best.settings()[i].predicted.ops.size() == best.items().num_items());
    const int before = step.ran;
    const auto report = best.run(i, {.record = true});
    CHECK(report.num_finished == best.items().num_items());
    CHECK(report.trace.ops.size() == best.items().num_items());
    CHECK(step.ran == before + 60);
  }
  CHECK(step.wrong == 0);
  CHECK(best.settings()[best.recommended].kind == setting_kind::one_at_a_time);
  CHECK(best.settings()[best.recommended].threads == 2);
  CHECK(best.settings()[best.one_thread].threads == 1);
  const int before = step.ran;
  CHECK(best().num_finished == best.items().num_items());
  CHECK(step.ran == before + 60);
  CHECK(best.settings()[best.best_uniform()].threads > 0);
  CHECK(best.item_graph().num_ops() == best.items().num_items());
  CHECK(best.profiling_runs() >= best.times().classes().num_classes());
}

TEST_CASE("tuned: on eight cores, teams of all sizes that divide them run each op once") {
  counting_step step{40, 8};
  step.most_threads = 8;
  tuned best{step, {.here = {.name = "eight", .cores_per_socket = 8}, .steps = 30}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uniform;
  for (std::size_t i = 0; i < best.settings().size(); ++i) {
    const auto& s = best.settings()[i];
    if (s.kind == setting_kind::uniform) {
      uniform.emplace_back(s.at_once, s.threads);
    }
    const int before = step.ran;
    CHECK(best.run(i).num_finished == best.items().num_items());
    CHECK(step.ran == before + 40);
  }
  CHECK(uniform == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{8, 1}, {4, 2}, {2, 4}});
  CHECK(step.wrong == 0);
}

TEST_CASE("tuned: measuring adds a time for each round and step") {
  counting_step step{20, 2};
  tuned best{step, {.here = two_cores, .steps = 20}};
  best.forget_times();
  const std::vector<std::size_t> which{best.recommended, best.one_thread};
  best.measure(which, 3, 2);
  CHECK(best.settings()[0].seconds.size() == 6);
  CHECK(best.settings()[1].seconds.size() == 6);
  CHECK(best.settings()[2].seconds.empty());
  CHECK(best.settings()[2].measured() == std::numeric_limits<double>::infinity());
}

TEST_CASE("tuned: what is known of a machine is not measured again") {
  counting_step step{20, 3};
  const tuned first{step, {.here = two_cores}};
  const auto known = first.profile();
  CHECK(known.num_entries() > 0);
  std::size_t climbing = 0;
  const auto count = [&](const execute::tuning_progress& p) { climbing += p.phase == tuning_phase::climb; };
  const tuned second{step, {.here = two_cores, .known = &known, .progress = count}};
  CHECK(climbing == 0);
  CHECK(second.items().num_items() == first.items().num_items()); // the same ops are joined
  machine other = two_cores;
  other.name = "other";
  const tuned third{step, {.here = other, .known = &known, .progress = count}};
  CHECK(climbing > 0);
}

TEST_CASE("tuned: without time, or stopped, the recommended setting is chosen") {
  std::stop_source stop;
  stop.request_stop();
  for (const auto& o : {execute::tuning_options{.here = two_cores, .seconds = 0},
                        execute::tuning_options{.here = two_cores, .stop = stop.get_token()}}) {
    counting_step step{30, 4};
    tuned best{step, o};
    CHECK(best.chosen() == best.recommended);
    CHECK(step.begun == 1);
    CHECK(best().num_finished == best.items().num_items());
    CHECK(step.wrong == 0);
  }
}

TEST_CASE("tuned: on one core, and for a step without ops or with one that throws") {
  counting_step step{30, 5};
  tuned best{step, {.here = {.name = "one"}, .steps = 10}};
  CHECK(best.settings()[best.recommended].threads == 1);
  CHECK(best().num_finished == best.items().num_items());
  counting_step nothing{0, 6};
  tuned idle{nothing, {.here = two_cores, .steps = 10}};
  CHECK(idle().status == execute::run_status::finished);
  counting_step bad{10, 7, 4};
  CHECK_THROWS_WITH((tuned{bad, {.here = two_cores}}), "op 4 cannot run");
}

} // namespace execute_tuning_test
