// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/sampled_runs.hpp"

#include "weft/core/random.hpp"
#include "weft/evaluate/run_path.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate/layered.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace evaluate_sampled_runs_test {

using namespace weft;

/// Linear times times factors of its own: nothing of cost::sampled.
struct as_it_turned_out : cost::linear {
  const std::vector<double>* of_op = nullptr;
  const std::vector<double>* of_tensor = nullptr;
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return (*of_op)[v] * cost::linear::compute_time(w, v, p, d);
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return (*of_tensor)[t] * cost::linear::transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
  double send_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return (*of_tensor)[t] * cost::linear::send_time(w, t, p, from, to);
  }
};

/// Ranks that were written down.
struct ranked {
  const std::vector<double>* keys;
  template <class Problem>
  void assign_keys(const schedule::context<Problem>&, std::span<double> all) const {
    std::copy_n(keys->begin(), all.size(), all.begin());
  }
};

struct random_case {
  explicit random_case(std::uint64_t seed, std::uint32_t slots = 1, double bandwidth = 5)
      : w{generate::layered_sized(60, 8, 2, seed)},
        q{std::vector<device>(3, device{.speed = 1, .slots = slots}), link_matrix{3, {0.5, bandwidth}},
          seed % 2 == 0 ? 0.0 : 20.0},
        p{w, q} {
    rng random{seed};
    where.resize(w.num_ops());
    for (auto& d : where) {
      d = random.below(3);
    }
  }
  workload w;
  platform<link_matrix> q;
  problem<workload, platform<link_matrix>> p;
  placement where;
  cost::uncertainty times = cost::uncertainty{cost::lognormal{0.4}}.set_transfers(cost::lognormal{0.3});
  cost::sampling how{.samples = 37, .seed = 3}; // no multiple of what sweeps follow at a time

  /// Calls `use(sample, problem with its times)`.
  template <class Use>
  void for_each_sample(Use use) const {
    const cost::draws drawn{w, times, how};
    for (std::uint32_t s = 0; s < how.samples; ++s) {
      std::vector<double> of_op, of_tensor;
      for (const op_id v : ids(w.num_ops())) {
        of_op.push_back(drawn.of_op(v)[s]);
      }
      for (const tensor_id t : ids(w.num_tensors())) {
        of_tensor.push_back(drawn.of_tensor(t)[s]);
      }
      use(s, p.with_costs(as_it_turned_out{{}, &of_op, &of_tensor}));
    }
  }
};

TEST_CASE("sampled_runs: a static order is kept in every sample, with the makespans of simulations") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const random_case c{seed, 1 + (seed % 3 == 0 ? 1u : 0u)};
    trace run;
    simulator{c.p, schedule::path_completion_time{}}.run(plan{c.where}, simulate::recorder{run});
    const auto x = simulate::plan_of(c.p, run);
    sampled_runs runs{c.p, schedule::static_order{}, c.times, c.how};
    const auto makespans = runs.makespans(x);
    REQUIRE(makespans.size() == 37);
    const std::vector<double> swept(makespans.begin(), makespans.end());
    c.for_each_sample([&](std::uint32_t s, const auto& actual) {
      const double expected = simulator{actual, schedule::static_order{}}.run(x).makespan;
      CHECK(swept[s] == expected);
      CHECK(runs.run(x, s).makespan == expected);
    });
    const auto again = runs.makespans(x);
    CHECK(std::equal(again.begin(), again.end(), swept.begin()));
  }
}

TEST_CASE("sampled_runs: a plan without an order keeps the one that the estimates say") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const random_case c{seed, 1 + (seed % 3 == 0 ? 1u : 0u)};
    trace run;
    simulator{c.p, schedule::static_order{}}.run(plan{c.where}, simulate::recorder{run});
    sampled_runs runs{c.p, schedule::static_order{}, c.times, c.how};
    const auto unordered = runs.makespans({c.where});
    const std::vector<double> makespans(unordered.begin(), unordered.end());
    const auto ordered = runs.makespans(simulate::plan_of(c.p, run));
    if (c.q.slots(0) == 1) { // else a trace does not tell the order
      CHECK(std::equal(ordered.begin(), ordered.end(), makespans.begin()));
    }
    for (std::uint32_t s = 0; s < c.how.samples; ++s) {
      CHECK(runs.run({c.where}, s).makespan == makespans[s]);
    }
  }
}

TEST_CASE("sampled_runs: policies that react take what is ready, by the ranks of the estimates") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const random_case c{seed, 1 + (seed % 3 == 0 ? 1u : 0u)};
    placed_flow flow{c.p};
    flow.assign(c.where);
    std::vector<double> keys(flow.num_items());
    schedule::path_completion_time{}.assign_keys(schedule::context<decltype(c.p)>{flow, {}}, keys);
    sampled_runs runs{c.p, schedule::path_completion_time{}, c.times, c.how};
    const auto makespans = runs.makespans({c.where});
    c.for_each_sample([&](std::uint32_t s, const auto& actual) {
      CHECK(makespans[s] == simulator{actual, ranked{&keys}}.run(plan{c.where}).makespan);
    });
  }
}

TEST_CASE("sampled_runs: on networks") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const random_case c{seed, 1, 1};
    trace run;
    simulator{c.p, schedule::path_completion_time{}}.run(plan{c.where}, simulate::recorder{run});
    const auto x = simulate::plan_of(c.p, run);
    const auto check = [&](auto network) {
      simulate::under how{schedule::static_order{}, network};
      sampled_runs runs{c.p, how, c.times, c.how};
      const auto makespans = runs.makespans(x);
      std::size_t slower = 0;
      c.for_each_sample([&](std::uint32_t s, const auto& actual) {
        CHECK(makespans[s] == simulator{actual, schedule::static_order{}, network}.run(x).makespan);
        slower += makespans[s] > simulator{actual, schedule::static_order{}}.run(x).makespan;
      });
      CHECK(slower > 0);
    };
    check(simulate::port_contention{});
    check(simulate::fair_sharing{});
  }
}

/// Takes down when it was told that the first item will be over.
struct foretold {
  double* when;
  template <class Problem>
  class queue : public schedule::queue_for<schedule::fifo, Problem> {
    using base = schedule::queue_for<schedule::fifo, Problem>;

  public:
    explicit queue(const Problem& p) : base{p} {}
    void reset(const foretold& how, const schedule::context<Problem>& c) {
      when_ = how.when;
      base::reset({}, c);
    }
    void on_start(item_id i, double, double finish) {
      if (i == 0) {
        *when_ = finish;
      }
    }

  private:
    double* when_ = nullptr;
  };
};

TEST_CASE("sampled_runs: a policy that watches the run hears estimates of what has not ended") {
  workload_builder b;
  b.add_op({.work = 5});
  const auto w = std::move(b).build();
  const platform q{std::vector<device>(1), uniform_links{}};
  const problem p{w, q};
  double when = 0;
  sampled_runs runs{p, foretold{&when}, cost::empirical{{3}}, {.samples = 1}};
  CHECK(runs.makespans({{0}})[0] == 15);
  CHECK(when == 5);
  const random_case c{1};
  sampled_runs msr{c.p, schedule::maximum_successor_rank{}, c.times, c.how};
  CHECK(msr.makespans({c.where})[0] > 0);
}

/// Takes what is shortest, as the problem says when an op is taken.
struct shortest_first {
  std::vector<item_id>* taken;
  template <class Problem>
  class queue {
  public:
    explicit queue(const Problem& p) : p_{&p} {}
    void reset(const shortest_first& how, const schedule::context<Problem>&) {
      taken_ = how.taken;
      ready_.clear();
    }
    void push(item_id i, double) { ready_.push_back(i); }
    item_id pop(device_id d, double) {
      const auto first = std::min_element(ready_.begin(), ready_.end(), [&](item_id a, item_id b) {
        return p_->compute_time(a, d) < p_->compute_time(b, d);
      });
      if (first == ready_.end()) {
        return schedule::nothing;
      }
      const item_id i = *first;
      ready_.erase(first);
      taken_->push_back(i);
      return i;
    }

  private:
    const Problem* p_;
    std::vector<item_id>* taken_ = nullptr;
    std::vector<item_id> ready_;
  };
};

TEST_CASE("sampled_runs: a policy that asks the problem while it runs is told estimates") {
  workload_builder b;
  b.add_op({.work = 1, .type = "late"});
  b.add_op({.work = 2});
  const auto w = std::move(b).build();
  const platform q{std::vector<device>(1), uniform_links{}};
  const problem p{w, q};
  const auto times = cost::uncertainty{}.set("late", cost::empirical{{10}});
  std::vector<item_id> taken;
  sampled_runs runs{p, shortest_first{&taken}, times, {.samples = 1}};
  for (int again = 0; again < 2; ++again) {
    CHECK(runs.run({{0, 0}}, 0).makespan == 12);
  }
  CHECK(taken == std::vector<item_id>{0, 1, 0, 1}); // op 0 first, though it turns out to be the longer one
  CHECK(runs.problem(0).compute_time(0, 0) == 10);
}

/// Devices with a slot, on which all takes several times as long.
struct slow_devices {
  double times = 2;
  template <class Problem, class Policy>
  struct state {
    double times;
    Policy policy;
    schedule::queue_for<Policy, Problem> queue;
    const placed_flow<Problem>* flow = nullptr;
    std::vector<std::uint8_t> busy = {};
    void reset(const placed_flow<Problem>& f, const order& steps) {
      flow = &f;
      queue.reset(policy, schedule::context<Problem>{f, steps});
      busy.assign(f.problem().num_devices(), 0);
    }
    void push(item_id i, device_id, double now) { queue.push(i, now); }
    template <class Begin>
    void serve(device_id d, double now, Begin begin) {
      const item_id i = busy[d] != 0 ? schedule::nothing : queue.pop(d, now);
      if (i != schedule::nothing) {
        busy[d] = 1;
        begin(i, now + times * flow->duration(i));
      }
    }
    void release(item_id, device_id d, double) { busy[d] = 0; }
  };
  template <class Problem, class Policy>
  state<Problem, Policy> state_for(const Problem& p, const Policy& policy) const {
    return {times, policy, schedule::queue_for<Policy, Problem>{p}};
  }
};

TEST_CASE("sampled_runs: on devices that plug in") {
  const random_case c{1};
  const simulate::under how{schedule::fifo{}, simulate::no_contention{}, slow_devices{3}};
  sampled_runs runs{c.p, how, c.times, c.how};
  const auto makespans = runs.makespans({c.where});
  c.for_each_sample([&](std::uint32_t s, const auto& actual) {
    CHECK(makespans[s] ==
          simulator{actual, schedule::fifo{}, simulate::no_contention{}, slow_devices{3}}.run(plan{c.where}).makespan);
  });
}

TEST_CASE("sampled_runs: an order that contradicts the graph ends in no sample") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 1});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform q{std::vector<device>(1), uniform_links{}};
  const problem p{w, q};
  const plan x{{0, 0}, {step::run(1), step::run(0)}};
  sampled_runs runs{p, schedule::static_order{}, cost::lognormal{0.1}, {.samples = 3}};
  for (const double makespan : runs.makespans(x)) {
    CHECK(makespan == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("sample_makespans: by hand") {
  workload_builder b; // 0 and 1 side by side, then 2
  b.add_op({.work = 2, .bytes = 1, .type = "steady"});
  b.add_op({.work = 2, .bytes = 1, .type = "wild"});
  b.add_op({.work = 1, .type = "steady"});
  b.add_edge(0, 2);
  b.add_edge(1, 2);
  const auto w = std::move(b).build();
  const platform q{std::vector<device>(2), uniform_links{}};
  const problem p{w, q};
  auto times = cost::uncertainty{}.set("wild", cost::empirical{{0.5, 1, 2}});
  const auto spread = sample_makespans(p, {{0, 1, 0}}, schedule::static_order{}, times, {.samples = 3000, .seed = 4});
  CHECK(spread.estimate == 3);
  REQUIRE(spread.makespans.size() == 3000);
  std::size_t late = 0, early = 0;
  for (const double makespan : spread.makespans) {
    CHECK((makespan == 3 || makespan == 5));
    late += makespan == 5;
  }
  const cost::draws drawn{w, times, {.samples = 3000, .seed = 4}};
  for (const double factor : drawn.of_op(1)) {
    early += factor == 0.5;
  }
  const double of_late = static_cast<double>(late) / 3000, of_early = static_cast<double>(early) / 3000;
  CHECK(of_late == doctest::Approx(1.0 / 3).epsilon(0.1));
  CHECK(spread.mean() == doctest::Approx(3 + 2 * of_late));
  CHECK(spread.quantile(0.6) == 3);
  CHECK(spread.quantile(0.95) == 5);
  CHECK(spread.conditional_value_at_risk(0.9) == 5);
  // Where both take as long, both are critical.
  CHECK(spread.criticality[0] == doctest::Approx(1 - of_late));
  CHECK(spread.criticality[1] == doctest::Approx(1 - of_early));
  CHECK(spread.criticality[2] == 1);
}

TEST_CASE("sample_makespans: who kept a port busy is critical") {
  workload_builder b; // 0 and 1, on devices of their own, hand a tensor each to 2 and 3 on the third
  b.add_op({.work = 1, .bytes = 100});
  b.add_op({.work = 11, .bytes = 100});
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  const auto w = std::move(b).build();
  const platform q{std::vector<device>(3), link_matrix{3, {0, 10}}};
  const problem p{w, q};
  const auto criticality = [&](const auto& policy) { // 1 ends just when its port gets free: both made it
    return sample_makespans(p, {{0, 2, 1, 1}}, policy, {}, {.samples = 2}).criticality;
  };
  using vec = std::vector<double>;
  CHECK(criticality(simulate::under{schedule::static_order{}, simulate::port_contention{}}) == vec{1, 1, 0, 1});
  CHECK(criticality(simulate::under{schedule::static_order{}, simulate::any_network{contention_model::port}}) ==
        vec{1, 1, 0, 1});
  CHECK(criticality(schedule::static_order{}) == vec{0, 1, 0, 1});
}

TEST_CASE("sample_makespans: the same for a seed, the estimate without uncertainty") {
  const random_case c{5};
  const plan x{c.where};
  const auto of = [&](const cost::uncertainty& times, std::uint64_t seed) {
    return sample_makespans(c.p, x, schedule::path_completion_time{}, times, {.samples = 20, .seed = seed});
  };
  CHECK(of(c.times, 1).makespans == of(c.times, 1).makespans);
  CHECK(of(c.times, 1).makespans != of(c.times, 2).makespans);
  const auto certain = of({}, 1);
  CHECK(certain.makespans == std::vector<double>(20, certain.estimate));
  CHECK(certain.mean() == doctest::Approx(certain.estimate));
  for (const double share : certain.criticality) {
    CHECK((share == 0 || share == 1));
  }
}

} // namespace evaluate_sampled_runs_test
