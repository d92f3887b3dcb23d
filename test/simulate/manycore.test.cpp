// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/manycore.hpp"

#include "weft/concurrency/baselines.hpp"
#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/under.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace simulate_manycore_test {

using namespace weft;
using concurrency::launch;
using doctest::Approx;

/// `work` is the seconds on one thread, of which all scale with threads up to `resident_bytes`; the traffic is the
/// output's size. So a test reads its costs off its ops.
struct written_down {
  template <class W>
  double seconds(const W& w, op_id v, const machine&, team t) const {
    const auto most = std::max<byte_count>(w.resident_bytes(v), 1);
    return w.work(v) / static_cast<double>(std::min<byte_count>(t.threads, most));
  }
  template <class W>
  double memory_traffic(const W& w, op_id v, const machine&, team) const {
    return w.outputs(v).empty() ? 0.0 : static_cast<double>(w.bytes(w.outputs(v).front()));
  }
};
using cost_model = concurrency::moldable<written_down>;

struct op_line {
  double seconds;
  std::uint32_t max_threads = 1;
  byte_count traffic = 0;
  std::string type = {};
};

workload make(const std::vector<op_line>& ops, const std::vector<std::pair<op_id, op_id>>& edges = {}) {
  workload_builder b;
  for (std::size_t v = 0; v < ops.size(); ++v) {
    b.add_op({.work = ops[v].seconds,
              .bytes = ops[v].traffic,
              .resident_bytes = ops[v].max_threads,
              .type = ops[v].type.empty() ? std::string(1, static_cast<char>('a' + v)) : ops[v].type});
  }
  for (const auto& [u, v] : edges) {
    b.add_edge(u, v);
  }
  return std::move(b).build();
}

machine cores(std::uint32_t count) {
  return {.cores_per_socket = count, .core_bandwidth = 1e3, .socket_bandwidth = 1e3};
}

using platform_type = with_machines<platform<uniform_links>>;
using problem_type = problem<workload, platform_type, cost_model>;

struct run_result {
  trace run;
  simulation end;
};

template <class Strategy>
run_result simulate_on(const workload& w, const platform_type& q, const Strategy& s, const placement& where) {
  const problem_type p{w, q, {}};
  manycore_simulator sim{p, s};
  run_result r;
  r.end = sim.run({where}, simulate::recorder{r.run});
  CHECK(r.end.complete);
  CHECK(r.end.makespan == r.run.makespan);
  return r;
}
template <class Strategy>
run_result simulate_on(const workload& w, const machine& m, const Strategy& s) {
  return simulate_on(w, single(m), s, placement(w.num_ops(), 0));
}

/// Op 0 first, on all first threads; everything else on second threads.
struct zero_then_second {
  std::optional<launch> operator()(const concurrency::run_view& view) const {
    const op_id v = view.ready.front();
    if (view.running.empty()) {
      return launch{v, {std::min(view.idle_cores, view.times->max_threads())}};
    }
    return view.idle_second > 0 ? std::optional{launch{v, {1}, true}} : std::nullopt;
  }
};

TEST_CASE("max_min_shares: nobody gets more than asked, and the rest is shared equally") {
  simulate::max_min_shares sharing;
  std::array<double, 3> granted{};
  const auto divide = [&](std::array<double, 3> demands, double capacity) {
    sharing.divide(demands, capacity, granted);
    return granted;
  };
  CHECK(divide({1, 2, 3}, 6) == std::array{1.0, 1.0, 1.0});
  CHECK(divide({1, 2, 3}, 60) == std::array{1.0, 1.0, 1.0});
  CHECK(divide({2, 8, 8}, 10) == std::array{1.0, 0.5, 0.5}); // 2, 4, 4
  CHECK(divide({8, 2, 8}, 10) == std::array{0.5, 1.0, 0.5});
  CHECK(divide({10, 20, 40}, 15) == std::array{0.5, 0.25, 0.125}); // 5, 5, 5
  CHECK(divide({0, 4, 4}, 4) == std::array{1.0, 0.5, 0.5});
}

TEST_CASE("manycore_simulator: one op, alone") {
  const auto w = make({{12, 3}});
  CHECK(simulate_on(w, cores(4), concurrency::recommended).end.makespan == 4); // no more than 3 threads help
  const auto r = simulate_on(w, cores(2), concurrency::s1);
  CHECK(r.end.makespan == 6);
  CHECK(r.run.ops[0] == op_record{0, 0, 6, 2});
  CHECK(r.end.num_events == 1);
  CHECK(r.end.transfer_bytes == 0);
}

TEST_CASE("manycore_simulator: no op at all, and ops without time") {
  CHECK(simulate_on(make({}), cores(2), concurrency::s1).end.makespan == 0);
  const auto w = make({{0}, {0}, {3}, {0}}, {{0, 1}, {1, 2}, {2, 3}});
  const auto r = simulate_on(w, cores(2), concurrency::s1_s2_s3);
  CHECK(r.end.makespan == 3);
  CHECK(r.run.ops[3].start == 3);
}

TEST_CASE("manycore_simulator: two ops share the bandwidth max-min fairly") {
  // a moves 800 bytes in 1 s, b 400 in 1 s; there are 1000 bytes/s, so a is granted 600: 3/4 of its speed.
  // b ends at 1 s, when a has 1/4 left, which takes 1/4 s at full speed.
  auto r = simulate_on(make({{1, 1, 800}, {1, 1, 400}}), cores(2), concurrency::uniform(2, 1));
  CHECK(r.run.ops[1].finish == Approx(1));
  CHECK(r.run.ops[0].finish == Approx(1.25));
  // Both want 800, both get 500: 5/8 of their speed.
  r = simulate_on(make({{1, 1, 800}, {1, 1, 800}}), cores(2), concurrency::uniform(2, 1));
  CHECK(r.run.ops[0].finish == Approx(1.6));
  CHECK(r.run.ops[1].finish == Approx(1.6));
  // Enough for both.
  r = simulate_on(make({{1, 1, 600}, {1, 1, 400}}), cores(2), concurrency::uniform(2, 1));
  CHECK(r.end.makespan == 1);
}

TEST_CASE("manycore_simulator: sockets have bandwidths of their own") {
  auto m = cores(1);
  m.sockets = 2;
  const auto r = simulate_on(make({{1, 1, 800}, {1, 1, 800}}), m, concurrency::uniform(2, 1));
  CHECK(r.end.makespan == 1);
}

TEST_CASE("manycore_simulator: an op that joins slows the other from then on, not before") {
  // c (0.5 s) precedes b; a runs alone until then: half done. Then 5/8 of full speed: 0.8 s more.
  const auto r = simulate_on(make({{1, 1, 800}, {1, 1, 800}, {0.5}}, {{2, 1}}), cores(2), concurrency::uniform(2, 1));
  CHECK(r.run.ops[1].start == 0.5);
  CHECK(r.run.ops[0].finish == Approx(1.3));
  CHECK(r.run.ops[1].finish == Approx(1.3 + 0.5)); // half done when a ends
}

TEST_CASE("manycore_simulator: ops on one core slow each other down") {
  auto m = cores(2);
  m.threads_per_core = 2;
  m.smt_gain = 1.5;
  // a takes 6 s on two cores, b 3 s on a second thread: both at 3/4 of their speed. b ends at 4 s, a has 3 s left.
  const auto r =
    simulate_on(make({{12, 2}, {3}}), m, concurrency::strategy{concurrency::best_threads{}, zero_then_second{}});
  CHECK(r.run.ops[1].finish == Approx(4));
  CHECK(r.run.ops[0].finish == Approx(7));
  CHECK(r.run.ops[0].threads == 2);
  CHECK(r.run.ops[1].threads == 1);
}

TEST_CASE("manycore_simulator: a type whose team changes pays for it") {
  auto m = cores(4);
  m.resize_seconds = 0.5;
  // 4 threads, then 2, then 4 again; the op with one thread needs no team and changes nothing.
  const auto w = make({{8, 4, 0, "t"}, {8, 2, 0, "t"}, {3, 1, 0, "t"}, {4, 2, 0, "t"}, {8, 4, 0, "t"}, {8, 2, 0, "u"}},
                      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
  CHECK(simulate_on(w, m, concurrency::s1).end.makespan == 2 + (4 + 0.5) + 3 + 2 + (2 + 0.5) + 4);
  m.resize_seconds = 0;
  CHECK(simulate_on(w, m, concurrency::s1).end.makespan == 2 + 4 + 3 + 2 + 2 + 4);
}

TEST_CASE("manycore_simulator: a tensor travels to another device once") {
  // 0 makes 500 bytes in 1 s on device 0; 1 and 2 read them on device 1, 3 on device 0. 2 s + 500 / 250 on the link.
  const auto w = make({{1, 1, 500}, {1}, {1}, {1}}, {{0, 1}, {0, 2}, {0, 3}});
  const platform_type q{platform<uniform_links>{std::vector<device>(2), uniform_links{{2, 250}}}, {cores(1), cores(2)}};
  const auto r = simulate_on(w, q, concurrency::uniform(2, 1), {0, 1, 1, 0});
  CHECK(r.run.ops[3] == op_record{0, 1, 2, 1});
  CHECK(r.run.ops[1] == op_record{1, 5, 6, 1});
  CHECK(r.run.ops[2] == op_record{1, 5, 6, 1});
  REQUIRE(r.run.transfers.size() == 1);
  CHECK(r.run.transfers[0].start == 1);
  CHECK(r.run.transfers[0].arrival == 5);
  CHECK(r.end.transfer_bytes == 500);
  CHECK(r.end.makespan == 6);
  CHECK(r.end.num_events == 5);
}

platform_type two_devices(std::vector<machine> machines, double latency, double send_work) {
  return {platform<uniform_links>{std::vector<device>(2), uniform_links{{latency, 250}}, send_work},
          std::move(machines)};
}

TEST_CASE("manycore_simulator: a send has a core for itself, before ops, as soon as one is idle") {
  // 0 makes a tensor for 1 and one for 2, which are on device 1; 3 stays. A send takes 3 s, a transfer 1 s.
  const auto w = make({{1, 2, 0}, {1}, {1}, {4, 2}}, {{0, 1}, {0, 3}});
  auto r = simulate_on(w, two_devices({cores(2), cores(2)}, 1, 3), concurrency::uniform(2, 2), {0, 1, 1, 0});
  REQUIRE(r.run.transfers.size() == 1);
  CHECK(r.run.ops[0] == op_record{0, 0, 1, 1}); // an executor of two has one core
  CHECK(r.run.transfers[0] == transfer_record{0, 0, 1, 1, 4, 4, 5});
  CHECK(r.run.ops[3] == op_record{0, 1, 5, 1}); // beside the send
  CHECK(r.run.ops[1].start == 5);
  CHECK(r.end.num_events == 6);
  // One thing at a time: 3 waits for the send, which is the first that is ready.
  r = simulate_on(w, two_devices({cores(2), cores(2)}, 1, 3), concurrency::recommended, {0, 1, 1, 0});
  CHECK(r.run.transfers[0].send_start == 0.5);
  CHECK(r.run.transfers[0].send_finish == 3.5);
  CHECK(r.run.ops[3] == op_record{0, 3.5, 5.5, 2});
  // No core is idle while 3 runs on its own on the only one.
  const auto other = make({{1}, {1}, {4}}, {{0, 1}});
  r = simulate_on(other, two_devices({cores(1), cores(1)}, 1, 3), concurrency::s1, {0, 1, 0});
  CHECK(r.run.ops[2].start == 0); // longer, so more urgent
  CHECK(r.run.ops[0].start == 4);
  CHECK(r.run.transfers[0].send_start == 5);
}

TEST_CASE("manycore_simulator: nobody shares a send's core, nor does it draw bandwidth") {
  // 0 and 1 end at 1; then both sends, on a core each, and on the third, second thread included, two ops.
  auto m = cores(3);
  m.threads_per_core = 2;
  m.smt_gain = 1;
  const auto w = make({{1, 1, 500}, {1, 1, 500}, {1}, {1}, {2, 1, 900}, {2, 3, 900}},
                      {{0, 2}, {1, 3}, {0, 4}, {1, 4}, {0, 5}});
  const auto q = two_devices({m, m}, 1, 3);
  const concurrency::strategy share{concurrency::best_threads{}, zero_then_second{}};
  const auto r = simulate_on(w, q, share, {0, 0, 1, 1, 0, 0});
  for (const auto& x : r.run.transfers) {
    CHECK(x.send_finish - x.send_start == Approx(3));
  }
  const problem_type p{w, q, {}};
  CHECK(validate(p, {0, 0, 1, 1, 0, 0}, r.run, {.teams = true}).empty());
}

struct nothing_arrives : cost_model {
  template <class W, class P>
  double transfer_time(const W&, tensor_id, const P&, device_id, device_id) const {
    return std::numeric_limits<double>::infinity();
  }
};

TEST_CASE("manycore_simulator: a transfer that never ends is one that ends at infinity, as on slots") {
  const auto w = make({{1, 1, 5}, {1}, {2}}, {{0, 1}});
  const auto q = two_devices({cores(1), cores(1)}, 1, 0);
  const problem p{w, q, nothing_arrives{}};
  trace run;
  const auto here = simulator{p, concurrency::s1}.run({{0, 1, 0}}, simulate::recorder{run});
  CHECK(here.complete);
  CHECK(here.makespan == std::numeric_limits<double>::infinity());
  CHECK(run.ops[1] == op_record{1, here.makespan, here.makespan, 1});
  CHECK(run.ops[2].finish == 3);
  CHECK(here.num_events == 4);
  const auto there = simulator{p, schedule::fifo{}}.run({{0, 1, 0}});
  CHECK(there.complete);
  CHECK(there.makespan == here.makespan);
  CHECK(there.num_events == here.num_events);
}

struct by_work {
  double seconds(const workload& w, op_id v, const machine&, team) const {
    return 0.01 * (1 + w.work(v)) + 0.0001234567 * v; // hardly any two end together
  }
};

/// Where devices have one core, a strategy that takes one op at a time, first come, first served, is a ready policy
/// that prefers sends. Whatever the network, the runs are the same.
template <class Network>
void compare_with_slots(const Network& network) {
  std::size_t sends = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng random{seed};
    const std::uint32_t levels = 1 + random.below(8);
    const workload w = generate::layered({.shape = {.levels = levels, .max_width = 6, .edge_probability = 0.3},
                                          .cpu_only_probability = 0,
                                          .gpu_only_probability = 0,
                                          .colocation_share = 0},
                                         seed);
    const auto n = 1 + random.below(4);
    const platform_type q{platform<uniform_links>{std::vector<device>(n), uniform_links{{random.uniform(), 1e5}},
                                                  random.uniform(0.1, 3)},
                          std::vector<machine>(n, cores(1))};
    using problem_of_work = problem<workload, platform_type, concurrency::moldable<by_work>>;
    const problem_of_work p{w, q, {}};
    plan decided;
    for (std::size_t v = 0; v < p.num_ops(); ++v) {
      decided.placement.push_back(random.below(n));
    }
    const auto sends_first = [](const auto& flow, item_id i) { return flow.is_send(i) ? 1.0 : 0.0; };
    trace on_cores, on_slots;
    const simulate::under how{concurrency::recommended, network};
    const auto a = simulator_for<problem_of_work, std::remove_const_t<decltype(how)>>{p, how}.run(
      decided, simulate::recorder{on_cores});
    const auto b = simulator{p, sends_first, network}.run(decided, simulate::recorder{on_slots});
    REQUIRE(a.complete);
    REQUIRE(a.num_events == b.num_events);
    for (std::size_t v = 0; v < p.num_ops(); ++v) {
      REQUIRE(on_cores.ops[v].start == Approx(on_slots.ops[v].start).epsilon(1e-9));
      REQUIRE(on_cores.ops[v].finish == Approx(on_slots.ops[v].finish).epsilon(1e-9));
    }
    for (std::size_t k = 0; k < on_slots.transfers.size(); ++k) {
      REQUIRE(on_cores.transfers[k].send_start == Approx(on_slots.transfers[k].send_start).epsilon(1e-9));
      REQUIRE(on_cores.transfers[k].arrival == Approx(on_slots.transfers[k].arrival).epsilon(1e-9));
    }
    sends += on_slots.transfers.size();
  }
  CHECK(sends > 1000);
}

TEST_CASE("manycore_simulator: one core is a slot, on every network") {
  compare_with_slots(simulate::no_contention{});
  compare_with_slots(simulate::port_contention{});
  compare_with_slots(simulate::fair_sharing{});
}

TEST_CASE("manycore_simulator: a critical path goes first, first come goes first") {
  // 0 is short, 1 begins a long chain; one core.
  const auto w = make({{1}, {1}, {5}}, {{1, 2}});
  const auto urgent = simulate_on(w, cores(1), concurrency::s1);
  CHECK(urgent.run.ops[1].start == 0);
  CHECK(urgent.run.ops[2].start == 1);
  CHECK(urgent.run.ops[0].start == 6);
  const auto fifo = simulate_on(w, cores(1), concurrency::recommended);
  CHECK(fifo.run.ops[0].start == 0);
  CHECK(fifo.run.ops[1].start == 1);
}

TEST_CASE("manycore_simulator: all that happens at one instant takes effect before anything starts") {
  // a and b end together; c becomes ready by a, d by b. d is more urgent and gets the cores that both leave.
  const auto w = make({{1}, {1}, {4, 2}, {6, 2}, {9}}, {{0, 2}, {1, 3}, {3, 4}});
  const auto r = simulate_on(w, cores(2), concurrency::s1_s2_s3);
  CHECK(r.run.ops[3].start == 1);
  CHECK(r.run.ops[3].threads == 2);
}

TEST_CASE("manycore_simulator: what the strategy believes may be wrong; what happens is the cost model") {
  const auto w = make({{8, 4}});
  const auto q = single(cores(4));
  const problem_type p{w, q, {}};
  std::vector<concurrency::time_table> beliefs;
  beliefs.emplace_back(concurrency::op_classes{w}, 4u, [](auto, team t) { return t.threads == 2 ? 1.0 : 3.0; });
  manycore_simulator sim{p, concurrency::s1, beliefs};
  trace run;
  CHECK(sim.run({{0}}, simulate::recorder{run}).makespan == 4);
  CHECK(run.ops[0].threads == 2);
  beliefs.push_back(beliefs.front());
  using simulator_type = manycore_simulator<problem_type, std::remove_const_t<decltype(concurrency::s1)>>;
  CHECK_THROWS_AS(simulator_type(p, concurrency::s1, beliefs), value_error);
}

TEST_CASE("manycore_simulator: pairs that hurt each other are kept apart in later runs") {
  // Alone 1 s each; together, at 1000 of 2000 bytes/s, 2 s. Beliefs have no traffic, so only experience parts them.
  const auto w = make({{1, 1, 1000}, {1, 1, 1000}});
  const auto q = single(cores(2));
  const problem_type p{w, q, {}};
  std::vector<concurrency::time_table> beliefs;
  beliefs.emplace_back(concurrency::op_classes{w}, 2u, [](auto, team t) { return t.threads == 1 ? 1.0 : 1.01; });
  manycore_simulator sim{p, concurrency::s1_s2_s3, beliefs};
  CHECK(sim.interference(0).num_parted() == 0);
  CHECK(sim.run({{0, 0}}).makespan == Approx(2));
  CHECK(sim.interference(0).num_parted() == 0);
  trace run;
  for (int i = 0; i < 3; ++i) {
    sim.run({{0, 0}}, simulate::recorder{run});
  }
  CHECK(sim.interference(0).num_parted() == 1);
  CHECK(run.ops[1].start == run.ops[0].finish);
}

TEST_CASE("manycore_simulator: what is expected is no interference") {
  // Two threads of one core run at 1.2 / 2 of their speed, which does not say that their types harm each other.
  auto m = cores(2);
  m.threads_per_core = 2;
  m.smt_gain = 1.2;
  const auto w = make({{12, 2}, {0.5, 1, 0, "b"}, {0.5, 1, 0, "b"}, {0.5, 1, 0, "b"}, {0.5, 1, 0, "b"}});
  const auto q = single(m);
  const problem_type p{w, q, {}};
  manycore_simulator sim{p, concurrency::s1_s2_s3_s4};
  trace run;
  const double first = sim.run({placement(5, 0)}, simulate::recorder{run}).makespan;
  CHECK(run.ops[4].start < run.ops[0].finish); // side by side
  CHECK(sim.run({placement(5, 0)}).makespan == first);
  CHECK(sim.interference(0).num_parted() == 0);
}

TEST_CASE("manycore_simulator: moves, but is not copied: it refers to its own tables") {
  using simulator_type = manycore_simulator<problem_type, std::remove_const_t<decltype(concurrency::s1)>>;
  CHECK_FALSE(std::is_copy_constructible_v<simulator_type>);
  const auto w = make({{1}, {2}}, {{0, 1}});
  const auto q = single(cores(1));
  const problem_type p{w, q, {}};
  auto sim = std::make_unique<simulator_type>(p, concurrency::s1);
  simulator_type moved{std::move(*sim)};
  sim.reset();
  CHECK(moved.run({{0, 0}}).makespan == 3);
}

TEST_CASE("manycore_simulator: manual_optimum is no worse than any uniform setting, best_symmetric one of its own") {
  const auto w = make({{6, 2}, {6, 3}, {6, 6}, {1}, {2, 2}}, {{0, 3}, {1, 4}});
  const auto m = cores(6);
  const auto evaluate = [&](const auto& s) { return simulate_on(w, m, s).end.makespan; };
  const auto best = concurrency::manual_optimum(m, evaluate);
  double least = 1e9;
  for (std::uint32_t inter = 1; inter <= 6; ++inter) {
    for (std::uint32_t intra = 1; inter * intra <= 6; ++intra) {
      least = std::min(least, evaluate(concurrency::uniform(inter, intra)));
    }
  }
  CHECK(best.seconds == least);
  CHECK(evaluate(concurrency::uniform(best.inter, best.intra)) == least);
}

} // namespace simulate_manycore_test
