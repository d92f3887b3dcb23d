// SPDX-License-Identifier: BSL-1.0
// The models of your own that docs/concepts/ shows, each between two lines with its name.
#include "weft/all.hpp"
#include "weft/models.hpp"
#include "weft/networks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace {

// [dataflow_graph]
/// Cell (i, j) of a square needs its upper and its left neighbour. No edge is stored.
struct wavefront {
  weft::op_id side;

  std::size_t num_ops() const { return std::size_t{side} * side; }
  std::vector<weft::op_id> out_edges(weft::op_id v) const { // an edge is its target here
    std::vector<weft::op_id> next;
    if (v % side + 1 < side) {
      next.push_back(v + 1);
    }
    if (v / side + 1 < side) {
      next.push_back(v + side);
    }
    return next;
  }
  weft::op_id target(weft::op_id edge) const { return edge; }
};
static_assert(weft::dataflow_graph<wavefront>);
// [dataflow_graph]

} // namespace

// [graph_access]
namespace elsewhere {
struct chain { // a graph type that cannot be changed
  int length;
};
} // namespace elsewhere

template <>
struct weft::graph_access<elsewhere::chain> {
  static int num_ops(const elsewhere::chain& g) { return g.length; }
  static weft::id_range out_edges(const elsewhere::chain& g, weft::op_id v) {
    return {v + 1, std::min(v + 2, static_cast<weft::op_id>(g.length))};
  }
  static weft::op_id target(const elsewhere::chain&, weft::op_id edge) { return edge; }
};
static_assert(weft::dataflow_graph<elsewhere::chain>);
// [graph_access]

namespace {

// [walking]
/// The ops of a graph or a workload that can run side by side, wave after wave; the longest way to the end first.
template <class G>
std::vector<std::vector<weft::op_id>> waves(const G& g) {
  const auto rank = weft::graph::longest_to_sink(g, weft::graph::topological_order(g), [](weft::op_id) { return 1.0; });
  weft::graph::release_counter waiting{g};
  std::vector<weft::op_id> ready;
  const auto push = [&](weft::op_id v) { ready.push_back(v); };
  waiting.for_each_ready(push);
  std::vector<std::vector<weft::op_id>> result;
  while (!ready.empty()) {
    std::ranges::stable_sort(ready, [&](weft::op_id u, weft::op_id v) { return rank[u] > rank[v]; });
    result.push_back(std::exchange(ready, {}));
    for (const weft::op_id v : result.back()) {
      waiting.finish(g, v, push);
    }
  }
  return result;
}
// [walking]

TEST_CASE("docs: what walks graphs and workloads") {
  using list = std::vector<weft::op_id>;
  const std::vector<std::vector<int>> g{{3}, {2, 3}, {4}, {}, {}}; // 1 leads farther than 0
  const std::vector<list> expected{{1, 0}, {2, 3}, {4}};
  CHECK(waves(g) == expected);
  const std::vector<double> work(5, 1);
  CHECK(waves(weft::annotated_graph{g, {.work = work}}) == expected);
}

TEST_CASE("docs: graphs of your own") {
  CHECK(weft::graph::topological_order(wavefront{3}).size() == 9);
  CHECK(weft::graph::connected_components(wavefront{3}) == std::vector<std::uint32_t>(9, 0));
  CHECK(weft::graph::topological_order(elsewhere::chain{4}) == std::vector<weft::op_id>{0, 1, 2, 3});
}

// [device_platform]
/// Any number of equal CPUs, one link speed between them.
struct cluster {
  std::size_t nodes;

  std::size_t num_devices() const { return nodes; }
  weft::device_kind kind(weft::device_id) const { return weft::device_kind::cpu; }
  weft::byte_count memory_capacity(weft::device_id) const { return 64'000'000'000; }
  std::uint32_t slots(weft::device_id) const { return 2; }

  double speed(weft::device_id) const { return 1e12; }                       // for cost::linear
  double latency(weft::device_id, weft::device_id) const { return 1e-6; }    // for transfers over links
  double bandwidth(weft::device_id, weft::device_id) const { return 1e10; }
};
static_assert(weft::device_platform<cluster>);
// [device_platform]

// [link_model]
/// Devices in a ring: the farther, the slower.
struct ring {
  std::size_t size;

  weft::link operator()(weft::device_id a, weft::device_id b) const {
    const std::size_t apart = a < b ? b - a : a - b;
    const auto hops = static_cast<double>(std::min(apart, size - apart));
    return {.latency = 1e-6 * hops, .bandwidth = 1e10 / hops};
  }
};
static_assert(weft::link_model<ring>);
// [link_model]

// [network_topology]
/// Devices around a hub, each with a port out and a port in: links 2d and 2d + 1.
struct star {
  std::size_t devices;
  weft::link port;

  std::size_t num_devices() const { return devices; }
  std::size_t num_links() const { return 2 * devices; }
  weft::link link_at(weft::link_id) const { return port; }
  template <class F>
  void visit_route(weft::device_id a, weft::device_id b, F&& f) const {
    if (a != b) {
      f(2 * a);
      f(2 * b + 1);
    }
  }
  weft::link operator()(weft::device_id a, weft::device_id b) const { return weft::along_route(*this, a, b); }
};
static_assert(weft::network_topology<star>);
// [network_topology]

// [dataflow_workload]
/// Ops in a row, each reading what the one before it made.
struct assembly_line {
  std::vector<double> flop;

  std::size_t num_ops() const { return flop.size(); }
  std::size_t num_tensors() const { return flop.size() - 1; }
  weft::id_range inputs(weft::op_id v) const { return v == 0 ? weft::id_range{} : weft::id_range{v - 1, v}; }
  weft::id_range outputs(weft::op_id v) const {
    return v < num_tensors() ? weft::id_range{v, v + 1} : weft::id_range{};
  }
  weft::id_range consumers(weft::tensor_id t) const { return {t + 1, t + 2}; }
  weft::op_id producer(weft::tensor_id t) const { return t; }

  weft::byte_count bytes(weft::tensor_id) const { return 1'000'000; }
  weft::byte_count resident_bytes(weft::op_id) const { return 0; }
  weft::kind_set kinds(weft::op_id) const { return weft::kind_set::all(); }
  weft::group_id group(weft::op_id) const { return weft::none; }
  std::size_t num_groups() const { return 0; }
  double work(weft::op_id v) const { return flop[v]; }
};
static_assert(weft::dataflow_workload<assembly_line>);
// [dataflow_workload]

TEST_CASE("docs: a workload, a platform and links of your own") {
  const assembly_line workload{{1e9, 2e9, 3e9}};
  const cluster four{4};
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::fifo{});
  CHECK(solve(weft::problem{workload, four}).makespan == doctest::Approx(6e-3));

  const weft::platform around{std::vector<weft::device>(6), ring{6}};
  CHECK(around.latency(0, 5) == 1e-6);
  CHECK(around.latency(1, 4) == doctest::Approx(3e-6));
}

// [network]
/// At most so many transfers at a time, in the order in which they were requested.
struct narrow_network {
  std::uint32_t at_once = 1;

  struct state {
    std::uint32_t at_once;
    std::uint32_t under_way = 0;
    std::deque<std::pair<std::uint32_t, double>> waiting = {}; // who, since when

    void reset(std::span<const weft::transfer>) {
      under_way = 0;
      waiting.clear();
    }
    void request(std::uint32_t k, double now) { waiting.emplace_back(k, now); }
    template <class Begin>
    void settle(double, Begin begin) {
      for (; under_way < at_once && !waiting.empty(); waiting.pop_front()) {
        ++under_way;
        begin(waiting.front().first, waiting.front().second);
      }
    }
    void release(std::uint32_t) { --under_way; }
  };

  template <class Problem>
  state state_for(const Problem&) const {
    return {at_once};
  }
};
// [network]

TEST_CASE("docs: a network of your own") {
  // Three tensors of 1 s each leave at 1: one after the other, two at a time, or sharing a link.
  weft::workload_builder b;
  for (int i = 0; i < 3; ++i) {
    const auto made = b.add_op({.work = 1, .bytes = 10});
    b.add_edge(made, b.add_op({.work = 0}));
  }
  const auto w = std::move(b).build();
  const weft::platform<> q{std::vector<weft::device>(2, {.slots = 3}), weft::link_matrix{2, {0, 10}}};
  const weft::problem p{w, q};
  const weft::plan decided{{0, 1, 0, 1, 0, 1}, {}};
  for (const auto& [at_once, makespan] : {std::pair{1u, 4.0}, {2u, 3.0}, {3u, 2.0}}) {
    CHECK(weft::simulator{p, weft::schedule::fifo{}, narrow_network{at_once}}.run(decided).makespan == makespan);
  }
  // [run_on_a_network]
  weft::simulator sim{p, weft::schedule::fifo{}, weft::simulate::fair_sharing{}};
  // [run_on_a_network]
  CHECK(sim.run(decided).makespan == doctest::Approx(4));
  // [pipeline_on_a_network]
  const auto solve =
    weft::pipeline(weft::partition::heft{}, weft::refine::simulated_annealing{.budget = {.moves = 500}},
                   weft::simulate::under{weft::schedule::static_order{}, weft::simulate::fair_sharing{}});
  // [pipeline_on_a_network]
  CHECK(solve(p).makespan <= 4);
  // [heft_on_a_network]
  const weft::simulate::fair_sharing network;
  const auto plan_and_run = weft::pipeline(weft::partition::heft{}.on(network),
                                           weft::simulate::under{weft::schedule::static_order{}, network});
  // [heft_on_a_network]
  CHECK(plan_and_run(p).makespan <= 4);
  // [best_on_a_network]
  const auto r = weft::solve::best(
    p, weft::simulate::under{weft::schedule::static_order{}, weft::simulate::fair_sharing{}}, {.moves = 2'000});
  // [best_on_a_network]
  CHECK(r.makespan == 1);
}

// [device_model]
/// Devices that take one item at a time and get hot: after `limit` seconds without a rest of a second, everything takes
/// `factor` times as long.
struct throttled_devices {
  double limit = 10;
  double factor = 2;

  template <class Problem, class Policy>
  struct state {
    struct heat {
      bool busy = false;
      double since = 0; // it has been at work without a rest
      double until = 0;
    };
    double limit, factor;
    Policy policy;
    weft::schedule::queue_for<Policy, Problem> queue;
    const weft::placed_flow<Problem>* flow = nullptr;
    std::vector<heat> devices = {};

    void reset(const weft::placed_flow<Problem>& f, const weft::order& steps) {
      flow = &f;
      queue.reset(policy, weft::schedule::context<Problem>{f, steps});
      devices.assign(f.problem().num_devices(), {});
    }
    void push(weft::item_id i, weft::device_id, double now) { queue.push(i, now); }
    template <class Begin>
    void serve(weft::device_id d, double now, Begin begin) {
      auto& x = devices[d];
      const weft::item_id i = x.busy ? weft::schedule::nothing : queue.pop(d, now);
      if (i != weft::schedule::nothing) {
        x.since = now - x.until >= 1 ? now : x.since;
        x.until = now + flow->duration(i) * (now - x.since >= limit ? factor : 1);
        x.busy = true;
        begin(i, x.until);
      }
    }
    void release(weft::item_id, weft::device_id d, double) { devices[d].busy = false; }
  };

  template <class Problem, class Policy>
  state<Problem, Policy> state_for(const Problem& p, const Policy& policy) const {
    return {limit, factor, policy, weft::schedule::queue_for<Policy, Problem>{p}};
  }
};
// [device_model]

TEST_CASE("docs: devices of your own") {
  // Six ops of 4 s in a row: the fourth to the sixth take 8 s each. A second device rests while a tensor travels.
  weft::workload_builder b;
  for (weft::op_id v = 0; v < 6; ++v) {
    b.add_op({.work = 4, .bytes = 10});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  const auto w = std::move(b).build();
  const weft::platform<> q{std::vector<weft::device>(2), weft::link_matrix{2, {0, 10}}};
  const weft::problem p{w, q};
  // [run_on_devices]
  weft::simulator sim{p, weft::schedule::fifo{}, weft::simulate::no_contention{}, throttled_devices{}};
  // [run_on_devices]
  CHECK(sim.run({{0, 0, 0, 0, 0, 0}}).makespan == 3 * 4 + 3 * 8);
  CHECK(sim.run({{0, 0, 0, 1, 1, 1}}).makespan == 6 * 4 + 1);
  // [pipeline_on_devices]
  const auto solve =
    weft::pipeline(weft::partition::heft{}, weft::refine::local_search{.budget = {.moves = 500}},
                   weft::simulate::under{weft::schedule::fifo{}, weft::simulate::fair_sharing{}, throttled_devices{}});
  // [pipeline_on_devices]
  CHECK(solve(p).makespan <= 26);
}

// [key_struct]
/// Ops with the most local consumers first. Sends are as urgent as an op with three.
struct max_consumers {
  template <class Problem>
  void assign_keys(const weft::schedule::context<Problem>& c, std::span<double> keys) const {
    for (const weft::item_id i : weft::ids(c.flow.num_items())) {
      keys[i] = c.flow.is_send(i) ? 3 : 0;
    }
    for (const weft::tensor_id t : weft::ids(c.flow.problem().num_tensors())) {
      keys[c.flow.problem().workload().producer(t)] += static_cast<double>(c.flow.local_consumers(t).size());
    }
  }
};
// [key_struct]

// [selection]
/// Last come, first served.
struct stack {
  template <class Problem>
  class queue {
  public:
    explicit queue(const Problem& p) : waiting_(p.num_devices()) {}
    void reset(const stack&, const weft::schedule::context<Problem>& c) {
      flow_ = &c.flow;
      for (auto& items : waiting_) {
        items.clear();
      }
    }
    void push(weft::item_id i, double) { waiting_[flow_->device_of(i)].push_back(i); }
    weft::item_id pop(weft::device_id d, double) {
      if (waiting_[d].empty()) {
        return weft::schedule::nothing;
      }
      const weft::item_id i = waiting_[d].back();
      waiting_[d].pop_back();
      return i;
    }

  private:
    const weft::placed_flow<Problem>* flow_ = nullptr;
    std::vector<std::vector<weft::item_id>> waiting_;
  };
};
// [selection]

struct reference {
  weft::workload workload = weft::zoo::make("mnist_conv");
  weft::platform<> platform = weft::presets::make("paper_like_10");
  weft::problem<weft::workload, weft::platform<>> problem{workload, platform};

  template <class Solve>
  double checked_makespan(const Solve& solve) const {
    const weft::result result = solve(problem);
    REQUIRE(result.has_plan());
    CHECK(weft::validate(problem, result.plan).empty());
    CHECK(result.makespan >= result.bound.value);
    return result.makespan;
  }
};

TEST_CASE("docs: ready policies of your own") {
  const reference r;
  static_assert(weft::ready_policy_for<max_consumers, decltype(r.problem)>);
  static_assert(weft::ready_policy_for<stack, decltype(r.problem)>);
  CHECK(r.checked_makespan(weft::pipeline(weft::partition::critical_path{}, max_consumers{})) > 0);
  CHECK(r.checked_makespan(weft::pipeline(weft::partition::critical_path{}, stack{})) > 0);
}

// [any_partitioner]
const auto everything_on_one = [](const auto& p) { return weft::placement(p.num_ops(), 0); };
// [any_partitioner]

TEST_CASE("docs: a partitioner on its own") {
  const weft::workload workload = weft::generate::layered({.cpu_only_probability = 0, .gpu_only_probability = 0});
  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{}};
  const weft::problem problem{workload, platform};
  // [partitioner_alone]
  const auto decided = weft::partition::run(weft::partition::heft{}, problem); // a seed may follow, which is 0 here
  if (!decided) {
    throw weft::error(to_string(decided.error())); // such as an op that fits on no device
  }
  const weft::plan& plan = decided->plan; // where, and in which order if the partitioner decides that, too
  // [partitioner_alone]
  CHECK(weft::validate(problem, plan).empty());
  CHECK(weft::partition::run(everything_on_one, problem)->plan.placement == everything_on_one(problem));
}

// [owning_problem]
/// Two ops in a row on so many devices. A plain `problem` would refer to what ends with this function.
weft::owning_problem<weft::workload, weft::platform<>> two_ops_on(std::size_t devices) {
  weft::workload_builder b;
  b.add_edge(b.add_op({.work = 1, .bytes = 8}), b.add_op({.work = 2}));
  weft::platform<> q{std::vector<weft::device>(devices), weft::link_matrix{devices, {.bandwidth = 8}}};
  return weft::owning_problem{std::move(b).build(), std::move(q)};
}
// [owning_problem]

TEST_CASE("docs: a problem that owns what it refers to") {
  // [owned]
  const auto owned = two_ops_on(3); // copies of it share the workload and the platform
  const auto result = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{})(*owned);
  // [owned]
  CHECK(weft::validate(*owned, result.plan).empty());
  CHECK(result.makespan == 3);
}

TEST_CASE("docs: the shortest partitioner") {
  const weft::workload workload = weft::generate::layered({.cpu_only_probability = 0, .gpu_only_probability = 0});
  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{}};
  const weft::problem problem{workload, platform};
  const auto result = weft::pipeline(everything_on_one, weft::schedule::fifo{})(problem);
  CHECK(result.stats.transfer_bytes == 0);
  CHECK(weft::validate(problem, result.plan).empty());
}

TEST_CASE("docs: a network topology of your own, and one of switches and cables") {
  const weft::platform<> around{std::vector<weft::device>(3), weft::link_matrix{3, star{3, {1e-6, 1e10}}}};
  CHECK(around.num_links() == 6);
  CHECK(around.latency(0, 2) == 2e-6);
  CHECK(around.bandwidth(0, 2) == 1e10);

  // [interconnect]
  weft::interconnect_builder b{3}; // a CPU and two GPUs
  const auto pcie = b.add_switch("pcie");
  for (const weft::device_id d : {0u, 1u, 2u}) {
    b.join(d, pcie, {.latency = 5e-6, .bandwidth = 1.6e10});
  }
  b.join(1, 2, {.latency = 5e-6, .bandwidth = 5e10}); // NVLink
  const weft::platform<> machine{{{.speed = 1e12}, {.speed = 1e13}, {.speed = 1e13}},
                                 weft::link_matrix{std::move(b).build()}};
  // [interconnect]
  CHECK(machine.bandwidth(1, 2) == 5e10);
  CHECK(machine.latency(0, 1) == 1e-5);
  std::vector<weft::link_id> to_first;
  std::vector<weft::link_id> to_second;
  machine.visit_route(0, 1, [&](weft::link_id l) { to_first.push_back(l); });
  machine.visit_route(0, 2, [&](weft::link_id l) { to_second.push_back(l); });
  CHECK(to_first.front() == to_second.front());
}

// [refiner]
/// Brings single components to the device of their first input, wherever that pays.
struct follow_inputs {
  template <class Evaluator>
  weft::evaluated_plan operator()(Evaluator& judge, weft::evaluated_plan start, weft::rng&) const {
    const auto& p = judge.problem();
    for (const weft::op_id v : p.topological_order()) {
      if (p.members(p.component(v)).size() > 1 || p.workload().inputs(v).empty()) {
        continue;
      }
      weft::plan moved{start.plan.placement, {}};
      moved.placement[v] = moved.placement[p.workload().producer(p.workload().inputs(v).front())];
      if (!weft::validate(p, moved.placement).empty()) { // kinds and memory
        continue;
      }
      if (auto better = judge(std::move(moved)); better.score < start.score) {
        start = std::move(better);
      }
    }
    return start;
  }
};
// [refiner]

// [solver]
/// The best of three.
const auto portfolio = [](const auto& p) {
  using namespace weft;
  std::array results{pipeline(partition::heft{}, schedule::static_order{})(p),
                     pipeline(partition::mite{}, schedule::path_completion_time{})(p),
                     pipeline(partition::iterated_critical_path{}, schedule::path_completion_time{})(p)};
  return *std::min_element(results.begin(), results.end(), [](const result& a, const result& b) {
    return a.has_plan() && (!b.has_plan() || a.makespan < b.makespan);
  });
};
// [solver]

TEST_CASE("docs: a refiner and a solver of your own") {
  const reference r;
  using problem = decltype(r.problem);
  static_assert(weft::refiner_for<follow_inputs, problem, weft::schedule::fifo>);
  static_assert(weft::solver_for<decltype(portfolio), problem>);
  const double before = r.checked_makespan(weft::pipeline(weft::partition::mite{}, weft::schedule::fifo{}));
  const double after =
    r.checked_makespan(weft::pipeline(weft::partition::mite{}, follow_inputs{}, weft::schedule::fifo{}));
  CHECK(after < before);
  const double best = r.checked_makespan(portfolio);
  CHECK(best <= r.checked_makespan(weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{})));
}

// [infeasible]
/// A line that says how a solve ended.
template <class Problem>
std::string outcome_of(const weft::result& r, const Problem& p) {
  if (!r.has_plan()) {
    const bool named = r.reason && r.reason->op != weft::none;
    return r.reason ? to_string(*r.reason, named ? p.workload().name(r.reason->op) : std::string_view{})
                    : std::string{to_string(r.status)};
  }
  return std::to_string(r.makespan) + " s, " + std::to_string(r.gap() * 100) + " % above " +
         std::string{to_string(r.bound.which)};
}
// [infeasible]

TEST_CASE("docs: infeasibility is a value") {
  weft::workload_builder b;
  b.add_op({.work = 1, .kinds = weft::device_kind::tpu, .name = "matmul"});
  const weft::workload workload = std::move(b).build();
  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{}};
  const weft::problem problem{workload, platform};
  const auto result = weft::pipeline(weft::partition::heft{}, weft::schedule::fifo{})(problem);
  CHECK(result.status == weft::status::infeasible);
  CHECK(outcome_of(result, problem) ==
        "op 0 'matmul' fits nowhere: it allows only tpu and the platform has no such device; add a tpu device to the "
        "platform");
}

// [constexpr]
constexpr double solved_by_the_compiler() {
  const std::vector<std::vector<int>> successors{{1, 2}, {3}, {3}, {}};
  const std::vector<double> work{1, 4, 3, 1};
  const weft::annotated_graph workload{successors, {.work = work}};
  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{}};
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  return solve(weft::problem{workload, platform}).makespan;
}
static_assert(solved_by_the_compiler() == 6);
// [constexpr]

// [with_costs]
/// The longest of the makespans of a plan when compute times are off by up to a fifth.
template <class Problem>
double worst_of_hundred(const Problem& p, const weft::plan& x) {
  double worst = 0;
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    // copies neither order nor components
    const auto actual = p.with_costs(weft::cost::perturbed{p.cost(), 0.2, sample});
    worst = std::max(worst, weft::simulator{actual, weft::schedule::static_order{}}.run(x).makespan);
  }
  return worst;
}
// [with_costs]

TEST_CASE("docs: other costs for a sample of times") {
  const auto w = weft::zoo::make("mnist_conv");
  const auto q = weft::presets::make("workstation_2gpu");
  const weft::problem p{w, q};
  const auto r = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{})(p);
  const double worst = worst_of_hundred(p, r.plan);
  CHECK(worst > r.makespan);
  CHECK(worst < 1.25 * r.makespan);
}

// [registry]
/// Runs a partitioner whose name is known at run time only, possibly one of your own.
template <class Problem>
weft::outcome<weft::partition::decided> place(const Problem& p, std::string_view name) {
  auto strategies = weft::registry<Problem>::standard();
  strategies.add_partitioner("everything_on_one", everything_on_one);
  const auto* chosen = strategies.find_partitioner(name);
  if (chosen == nullptr) {
    throw weft::error("there is no partitioner '" + std::string{name} + "'");
  }
  weft::rng random{42};
  weft::workspace scratch;
  return (*chosen)(p, random, scratch);
}
// [registry]

TEST_CASE("docs: strategies by name") {
  const reference r;
  CHECK(place(r.problem, "everything_on_one")->plan.placement == weft::placement(r.problem.num_ops(), 0));
  CHECK(place(r.problem, "heft")->plan.order.size() == r.problem.num_ops());
  CHECK_THROWS_AS(place(r.problem, "heff"), weft::error);
}

} // namespace

TEST_CASE("docs: the search of an instance for an objective") {
  weft::workload_builder b;
  b.add_edge(b.add_op({.work = 1e9, .bytes = 1000}), b.add_op({.work = 1e9}));
  const weft::workload workload = std::move(b).build();
  const weft::platform<> platform{{{.speed = 2, .active_watts = 30}, {.active_watts = 10}}, weft::link_matrix{2}};
  const weft::problem problem{workload, platform};
  const weft::evaluation joules{weft::schedule::static_order{}, weft::objective::energy{}};
  const auto found = weft::solve::best(*weft::lower(problem), joules, {.moves = 100});
  REQUIRE(found.has_plan());
  CHECK(found.plan.placement == weft::placement{1, 1}); // slower, and takes less
}
