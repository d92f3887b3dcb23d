// SPDX-License-Identifier: BSL-1.0
// solve::best when memory is a limit at each moment.
#include "weft/solve/best.hpp"

#include "simulate/random_problem.hpp"
#include "solve/check_memory.hpp"
#include "support/rounds.hpp"

#include "weft/bound/best.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/platform/topology.hpp"
#include "weft/platform/presets.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace solve_memory_over_time_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

constexpr auto over_time = memory_rule::over_time;

/// Tries every placement and every order of the ops.
class every_plan {
public:
  explicit every_plan(const drawn_problem& p) : p_{p}, sim_{p}, run_(p.num_ops(), false) {
    x_.placement.assign(p.num_ops(), none);
    place(0);
  }
  bool feasible() const { return feasible_; }
  double best() const { return best_; }

private:
  void place(component_id c) {
    if (c == p_.num_components()) {
      order();
      return;
    }
    for (const device_id d : ids(p_.num_devices())) {
      if (p_.kinds(c).contains(p_.platform().kind(d))) {
        for (const op_id v : p_.members(c)) {
          x_.placement[v] = d;
        }
        place(c + 1);
      }
    }
  }
  void order() {
    if (x_.order.size() == p_.num_ops()) {
      judge_plan();
      return;
    }
    for (const op_id v : ids(p_.num_ops())) {
      const auto made = [&](tensor_id t) { return static_cast<bool>(run_[p_.workload().producer(t)]); };
      if (!run_[v] && std::ranges::all_of(p_.workload().inputs(v), made)) {
        run_[v] = true;
        x_.order.push_back(step::run(v));
        order();
        x_.order.pop_back();
        run_[v] = false;
      }
    }
  }
  void judge_plan() {
    trace run;
    if (!sim_.run(x_, simulate::recorder{run}).complete) {
      return;
    }
    const auto peak = peak_memory_of(p_, x_.placement, run);
    for (const device_id d : ids(p_.num_devices())) {
      if (peak[d] > p_.platform().memory_capacity(d)) {
        return;
      }
    }
    feasible_ = true;
    best_ = std::min(best_, run.makespan);
  }

  const drawn_problem& p_;
  simulator<drawn_problem, schedule::static_order> sim_;
  plan x_;
  std::vector<bool> run_;
  bool feasible_ = false;
  double best_ = std::numeric_limits<double>::infinity();
};

TEST_CASE("memory over time: small problems, against all placements and orders") {
  bool share_memory = false;
  SUBCASE("a memory for each device") {}
  SUBCASE("devices that share memories") { share_memory = true; }
  rng random{11};
  int feasible = 0;
  int found = 0;
  int best_found = 0;
  int refused = 0; // by reservations
  int infeasible = 0;
  int proven = 0;
  for (int round = 0; round < test::rounds(400); ++round) {
    CAPTURE(round);
    const drawn s{random,
                  {.max_ops = 5, .max_devices = 3, .sends = false, .capacity = 6 + random.below(28),
                   .share_memory = share_memory}};
    const every_plan all{s.p};
    // What is proven of devices one by one says less of those that share a memory.
    const auto r = solve::best(s.p, {.moves = share_memory ? 20000u : 2000u, .memory = over_time});
    if (!all.feasible()) {
      ++infeasible;
      CHECK_FALSE(r.has_plan());
      REQUIRE(r.reason);
      proven += r.reason->cause != infeasibility::kind::not_found;
      continue;
    }
    ++feasible;
    if (r.has_plan()) {
      ++found;
      best_found += r.makespan <= all.best() * (1 + 1e-9);
      CHECK(r.bound.value <= all.best() * (1 + 1e-9));
      test::check_memory(s.p, r);
    } else {
      CHECK(r.reason->cause == infeasibility::kind::not_found);
    }
    refused += !solve::best(s.p, {.moves = 2000}).has_plan();
  }
  MESSAGE(found << " of " << feasible << " feasible problems solved, " << best_found << " as well as possible, "
                << refused << " of them refused by reservations; " << proven << " of " << infeasible
                << " others proven infeasible");
  CHECK(feasible > test::rounds(200));
  CHECK(found == feasible);
  CHECK(best_found == feasible);
  CHECK((refused * 10 >= feasible || !test::are_all_rounds));
  CHECK(proven == infeasible);
}

TEST_CASE("memory over time: a device has as much in the memory of another one as in its own") {
  rng random{17};
  int tight = 0;
  for (int round = 0; round < test::rounds(200); ++round) {
    CAPTURE(round);
    const auto drawn = test::random_workload(random, {.max_ops = 10, .kinds = false}, 2);
    const auto w = drawn.with_kinds(std::vector<kind_set>(drawn.num_ops(), device_kind::gpu));
    const byte_count capacity = 20 + random.below(40);
    const auto with = [&](device host, device gpu) {
      return platform<>{{host, gpu}, link_matrix{2}};
    };
    const auto own = with({}, {.kind = device_kind::gpu, .memory_capacity = capacity});
    const auto shared = with({.memory_capacity = capacity}, {.kind = device_kind::gpu, .memory_of = 0});
    const auto a = solve::best(problem{w, own}, {.moves = 2000, .memory = over_time});
    const auto b = solve::best(problem{w, shared}, {.moves = 2000, .memory = over_time});
    REQUIRE(a.has_plan() == b.has_plan());
    CHECK((!a.has_plan() || a.makespan == b.makespan));
    tight += !a.has_plan();
  }
  CHECK((tight > 20 || !test::are_all_rounds));
}

TEST_CASE("memory over time: what is resident may be read on another device of its memory") {
  workload_builder b;
  const op_id variable = b.add_op({.work = 1, .resident_bytes = 20, .kinds = device_kind::cpu});
  const op_id view = b.add_op({.work = 1, .bytes = 20, .kinds = device_kind::cpu, .memory = output_memory::view});
  b.add_output(variable, 20);
  b.add_edge(variable, view);
  for (int i = 0; i < 3; ++i) {
    const op_id reader = b.add_op({.work = 4, .bytes = 2});
    b.add_edge(view, reader);
  }
  const auto w = std::move(b).build();
  for (const byte_count capacity : {26u, 30u, 38u}) {
    CAPTURE(capacity);
    const platform<> q{{{.memory_capacity = capacity}, {.kind = device_kind::gpu, .speed = 2, .memory_of = 0}},
                       link_matrix{2}};
    const problem p{w, q};
    const auto r = solve::best(p, {.moves = 5000, .memory = over_time});
    if (r.has_plan()) {
      CHECK(r.bound.value <= r.makespan * (1 + 1e-9));
      test::check_memory(p, r);
    }
  }
}

/// A training step of micro-batches through stages, of which each device holds as many as one forward pass, one
/// backward pass has in flight at the first stage. Forward passes take 1 s, backward passes 2 s.
workload micro_batches(std::uint32_t stages, std::uint32_t batches, byte_count kept) {
  workload_builder b;
  std::vector<op_id> first(stages, none);
  const auto add = [&](std::uint32_t stage, double work) {
    const op_id v = b.add_op({.work = work, .bytes = work == 1 ? kept : 1});
    if (first[stage] == none) {
      first[stage] = v;
    } else {
      b.colocate(first[stage], v);
    }
    return v;
  };
  for (std::uint32_t m = 0; m < batches; ++m) {
    std::vector<op_id> forward;
    for (std::uint32_t s = 0; s < stages; ++s) {
      forward.push_back(add(s, 1));
      b.add_output(forward[s], 1);
      if (s > 0) {
        b.add_edge(forward[s - 1], forward[s], 1);
      }
    }
    op_id next = none;
    for (std::uint32_t s = stages; s-- > 0;) {
      const op_id v = add(s, 2);
      b.add_edge(forward[s], v, 0);
      if (next != none) {
        b.add_edge(next, v, 0);
      }
      next = v;
    }
  }
  return std::move(b).build();
}

TEST_CASE("memory over time: pipelines whose devices hold only what is in flight") {
  struct sample {
    std::uint32_t stages, batches;
    double in_flight; // that fit
    double seconds;
  };
  for (const auto& [stages, batches, in_flight, seconds] :
       {sample{2, 2, 1.5, 12}, {2, 4, 2.1, 15}, {3, 6, 3.1, 24}, {4, 8, 4.1, 33}, {4, 16, 4.1, 57}, {8, 16, 8.1, 69}}) {
    CAPTURE(stages);
    CAPTURE(batches);
    const workload w = micro_batches(stages, batches, 1000);
    const platform<> q{std::vector<device>(stages, {.memory_capacity = static_cast<byte_count>(1000 * in_flight)}),
                       link_matrix{stages}};
    const problem p{w, q};
    const auto r = solve::best(p, {.moves = 20'000, .memory = over_time});
    REQUIRE(r.has_plan());
    CHECK(r.makespan <= seconds);
    test::check_memory(p, r);
  }
}

TEST_CASE("memory over time: whatever a reservation admits keeps to the memory") {
  rng random{3};
  int placed = 0;
  for (int round = 0; round < 1000; ++round) {
    const drawn s{random, {.capacity = 30 + random.below(80)}};
    const auto where = test::random_placement(random, s.p);
    if (!validate(s.p, where).empty()) {
      continue;
    }
    ++placed;
    trace run;
    simulator<drawn_problem, schedule::static_order>{s.p}.run({where, {}}, simulate::recorder{run});
    CHECK(memory_shortages(s.p, where, run).empty());
  }
  CHECK(placed > 200);
}

TEST_CASE("memory over time: where memory does not bind, nothing changes") {
  rng random{29};
  int same = 0;
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const drawn s{random, {.slots = 0}};
    const auto plain = solve::best(s.p, {.moves = 1000, .seed = 5});
    const auto limited = solve::best(s.p, {.moves = 1000, .seed = 5, .memory = over_time});
    CHECK(limited.makespan == plain.makespan);
    CHECK(limited.status == plain.status);
    CHECK(limited.tried.size() == plain.tried.size());
    same += limited.plan == plain.plan;
    test::check_memory(s.p, limited);
  }
  CHECK(same >= 36); // a tie may be run in its own order or by path completion time
}

/// A chain forward and back: k ops, each output needed again on the way back.
workload there_and_back(std::uint32_t k, byte_count bytes, byte_count resident) {
  workload_builder b;
  for (op_id v = 0; v < 2 * k; ++v) {
    b.add_op({.work = 1, .bytes = v < k ? bytes : 1, .resident_bytes = resident, .name = "op" + std::to_string(v)});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
    if (v > k) {
      b.add_edge(2 * k - 1 - v, v);
    }
  }
  return std::move(b).build();
}

platform<> devices_of(std::size_t count, byte_count capacity) {
  return {std::vector<device>(count, {.memory_capacity = capacity}),
          link_matrix{count, {.latency = 0.1, .bandwidth = 1e4}}};
}

TEST_CASE("memory over time: on networks, runs keep to the memory, and without need nothing changes") {
  rng random{41};
  int tight = 0; // the plan without the rule needs too much, and one that knows of no network does not
  int found = 0;
  int same = 0;
  for (int round = 0; round < test::rounds(30); ++round) {
    CAPTURE(round);
    const bool ample = round % 3 == 0;
    const drawn s{random, {.max_ops = 25, .capacity = ample ? byte_count{1} << 40 : 30 + random.below(70)}};
    for (const auto model : {contention_model::port, contention_model::fair}) {
      const simulate::under how{schedule::static_order{}, simulate::any_network{model}};
      const solve::best_options budget{.moves = 400, .seed = 3, .memory = over_time};
      const auto r = solve::best(s.p, how, budget);
      REQUIRE(r.status != status::late);
      if (ample) {
        const auto plain = solve::best(s.p, how, {.moves = 400, .seed = 3});
        REQUIRE(r.makespan == plain.makespan);
        ++same;
      } else {
        const auto unlimited = s.p.with_demands(std::vector<byte_count>(s.p.num_components(), 0));
        const auto x = evaluator{unlimited, how}.recorded(solve::best(unlimited, how, {.moves = 400, .seed = 3}).plan);
        const bool binds = !memory_shortages(s.p, x.plan.placement, x.record).empty() &&
                           solve::best(s.p, {.moves = 400, .seed = 3, .memory = over_time}).has_plan();
        tight += binds;
        found += binds && r.has_plan();
      }
      if (!r.has_plan()) {
        REQUIRE(r.plan.placement.empty());
        REQUIRE(r.reason.has_value());
        continue;
      }
      const auto run = evaluator{s.p, how}.recorded(r.plan);
      REQUIRE(run.score.value == r.makespan);
      REQUIRE(validate(s.p, r.plan.placement, run.record,
                       {.contention = model, .check_memory = true, .memory = memory_rule::over_time}).empty());
      REQUIRE(peak_memory_of(s.p, r.plan.placement, run.record) == r.peaks);
    }
  }
  MESSAGE(found << " of " << tight << " found where memory binds, " << same << " unchanged");
  CHECK(same == test::rounds(20));
  CHECK((tight > 5 || !test::are_all_rounds));
  CHECK(found + 2 > tight);
}

/// Tensors that a host makes for accelerators, some large ones for one with room, over a bus that holds up the others.
struct crowded_bus {
  explicit crowded_bus(rng& random) : w{ops(random)}, q{devices(random, w)} {}
  workload w;
  platform<> q;
  problem<workload, platform<>> p{w, q};

private:
  static workload ops(rng& random) {
    workload_builder b;
    const op_id n = 8 + random.below(10);
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = 1.0 + random.below(3), .bytes = byte_count{5} + random.below(10), .kinds = device_kind::cpu});
    }
    for (op_id v = 0; v < n; ++v) {
      const kind_set either = kind_set{device_kind::gpu} | device_kind::npu;
      b.add_op({.work = 1.0 + random.below(4),
                .resident_bytes = byte_count{3} + random.below(6),
                .kinds = random.below(3) > 0 ? device_kind::gpu : either});
      b.add_edge(v, n + v);
    }
    b.add_op({.work = 1, .bytes = byte_count{30} + random.below(60), .kinds = device_kind::cpu});
    b.add_op({.work = 1, .kinds = device_kind::npu});
    b.add_edge(2 * n, 2 * n + 1);
    return std::move(b).build();
  }
  static platform<> devices(rng& random, const workload& w) {
    byte_count resident = 0;
    for (const op_id v : ids(w.num_ops())) {
      resident += w.resident_bytes(v);
    }
    const weft::link shared{.bandwidth = 4.0 + random.below(10)};
    return {{{.memory_capacity = 100'000},
             {.kind = device_kind::gpu, .speed = 2, .memory_capacity = resident + 15 + random.below(50)},
             {.kind = device_kind::npu, .memory_capacity = 100'000}},
            link_matrix{3, topology::bus{.devices = 3, .shared = shared}}};
  }
};

TEST_CASE("memory over time: on networks, the room for plans is found, and late plans are better than none") {
  rng random{1000};
  int possible = 0; // without contention
  int found = 0;
  int late = 0;
  for (int round = 0; round < test::rounds(30); ++round) {
    CAPTURE(round);
    const crowded_bus s{random};
    const simulate::under how{schedule::static_order{}, simulate::any_network{contention_model::fair}};
    const solve::best_options budget{.moves = 400, .seed = 3, .memory = over_time};
    possible += solve::best(s.p, budget).has_plan();
    const auto r = solve::best(s.p, how, budget);
    if (!r.has_plan()) {
      CHECK(r.shortage.has_value());
      continue;
    }
    ++found;
    const evaluation soon{how, objective::within_deadline{objective::makespan{}, 0.8 * r.makespan}};
    const auto hurried = solve::best(s.p, soon, budget);
    late += hurried.status == status::late;
    if (!hurried.plan.placement.empty()) {
      const auto run = evaluator{s.p, how}.recorded(hurried.plan);
      CHECK(memory_shortages(s.p, hurried.plan.placement, run.record).empty());
    }
    CHECK(hurried.status != status::infeasible);
  }
  MESSAGE(found << " of " << possible << " found on the network; " << late << " late");
  CHECK(2 * found > possible);
  CHECK(3 * late > 2 * found);
}

TEST_CASE("memory over time: training steps that reservations refuse") {
  const auto w = there_and_back(12, 100, 10);
  // 12 · 100 + 24 · 10 = 1,440 bytes are needed at least; reservations count each stored output up to three times.
  const auto q = devices_of(4, 520);
  const problem p{w, q};
  CHECK_FALSE(solve::best(p, {.moves = 1000}).has_plan());
  const auto r = solve::best(p, {.moves = 4000, .memory = over_time});
  test::check_memory(p, r);
  CHECK(r.makespan < 24 + 1);
  const auto again = solve::best(p, {.moves = 4000, .memory = over_time});
  CHECK(again.plan == r.plan);
  const auto threads = solve::best(p, {.moves = 4000, .threads = 2, .memory = over_time});
  CHECK(threads.plan == r.plan);
  // Half of the memory on twice as many devices.
  const auto large = devices_of(4, 1040);
  const auto p2 = problem{w, large}.with_memory_share(0.5);
  const auto half = solve::best(p2, {.moves = 4000, .memory = over_time});
  test::check_memory(p2, half);
  for (const byte_count peak : half.peaks) {
    CHECK(peak <= 520);
  }
}

TEST_CASE("memory: plans for a share of it are those for devices that have no more") {
  rng random{55};
  int planned = 0;
  for (int round = 0; round < test::rounds(40); ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.max_ops = 9, .capacity = 40 + random.below(200)}};
    const auto less = s.q.changed([](device& d) { d.memory_capacity /= 2; });
    const problem small{s.w, less};
    for (const auto rule : {memory_rule::reserved, memory_rule::over_time}) {
      const solve::best_options budget{.moves = 200, .memory = rule};
      const auto of_share = solve::best(s.p.with_memory_share(0.5), budget);
      const auto of_small = solve::best(small, budget);
      CHECK(of_share.plan == of_small.plan);
      CHECK(of_share.bound.value == of_small.bound.value);
      CHECK(of_share.status == of_small.status);
      planned += of_share.has_plan();
    }
    CHECK(bound::best(s.p.with_memory_share(0.5)).value == bound::best(small).value);
  }
  CHECK(planned > test::rounds(20));
}

TEST_CASE("memory over time: what is short, and what cannot be") {
  const auto w = there_and_back(12, 100, 10);
  const auto with = [&](std::size_t devices, byte_count capacity) {
    const auto q = devices_of(devices, capacity);
    return solve::best(problem{w, q}, {.moves = 100, .memory = over_time});
  };
  const auto all = with(2, 700);
  REQUIRE(all.reason);
  CHECK(all.reason->cause == infeasibility::kind::out_of_all_memory);
  CHECK(to_string(*all.reason, w.name(all.reason->op)) == "in every plan at least 1.41 KiB are needed at once, while "
                                                          "op 12 'op12' runs, and all devices together have 1.37 KiB");
  const auto one = with(100, 209); // an op, its input and its output need 210
  REQUIRE(one.reason);
  CHECK(one.reason->cause == infeasibility::kind::out_of_memory);
  CHECK(one.reason->demand >= 210);
  CHECK(one.reason->largest_free == 209);
  CHECK_FALSE(one.shortage);
  const auto barely = with(6, 241); // 1,446 in all, and copies are needed
  CHECK(barely.status == status::not_found);
  REQUIRE(barely.reason);
  CHECK(barely.reason->cause == infeasibility::kind::not_found);
  REQUIRE(barely.shortage);
  CHECK(barely.shortage->capacity == 241);
  CHECK(barely.shortage->peak > 241);
  byte_count sum = barely.shortage->resident;
  for (const auto& t : barely.shortage->alive) {
    sum += t.bytes;
  }
  CHECK(sum == barely.shortage->peak);

  workload_builder b;
  b.add_op({.work = 1, .kinds = device_kind::tpu});
  const auto tpu = std::move(b).build();
  const auto q = presets::make("paper_like_10");
  const auto nowhere = solve::best(problem{tpu, q}, {.memory = over_time});
  REQUIRE(nowhere.reason);
  CHECK(nowhere.reason->cause == infeasibility::kind::no_device_of_kind);
  workload_builder empty;
  const auto nothing = std::move(empty).build();
  CHECK(solve::best(problem{nothing, q}, {.memory = over_time}).status == status::optimal);
}

} // namespace solve_memory_over_time_test
