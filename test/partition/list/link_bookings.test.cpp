// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/list/link_bookings.hpp"

#include "simulate/random_problem.hpp"
#include "simulate/routed_platform.hpp"

#include "weft/partition/cpop.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/hlfet.hpp"
#include "weft/partition/lookahead_heft.hpp"
#include "weft/partition/peft.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace partition_list_link_bookings_test {

using namespace weft;
using weft::partition::list::made_input;

/// A link, and for how much of the time that a transfer moves it is taken.
using part = std::pair<std::size_t, double>;

struct way {
  double latency = 0;
  std::vector<part> parts = {};
  double stretch = 1;
};

template <class Problem>
way over_ports(const Problem& p, device_id from, device_id to) {
  return {.parts = {{from, 1}, {p.num_devices() + to, 1}}};
}

template <class Problem>
way over_links(const Problem& p, device_id from, device_id to) {
  way w{.stretch = 1.25};
  p.platform().visit_route(from, to, [&](link_id l) {
    const weft::link x = p.platform().link_at(l); // unistd.h has another
    w.latency += x.latency;
    if (x.bandwidth < std::numeric_limits<double>::infinity()) {
      w.parts.push_back({l, p.platform().bandwidth(from, to) / x.bandwidth});
    }
  });
  return w;
}

struct booked {
  tensor_id tensor;
  device_id from;
  device_id to;
  double start;
  double arrival;
};
struct log_of_schedule {
  std::vector<booked> transfers;
  std::map<tensor_id, double> finish; ///< of the producers
};

/// Bookings as simple as can be: all gaps of all links, each instant at which one begins is tried.
template <class Problem>
struct simple_bookings {
  using way_of = way (*)(const Problem&, device_id, device_id);
  const Problem* p;
  way_of find;
  log_of_schedule* log;
  std::map<std::size_t, std::vector<schedule::interval>> gaps = {};
  std::vector<made_input> inputs = {};

  template <class Made>
  void begin(op_id v, Made made) {
    inputs.clear();
    for (const tensor_id t : p->workload().inputs(v)) {
      inputs.push_back(made(t));
      log->finish[t] = inputs.back().finish;
    }
    std::stable_sort(inputs.begin(), inputs.end(), [](const made_input& a, const made_input& b) {
      return std::pair{a.finish, a.tensor} < std::pair{b.finish, b.tensor};
    });
  }
  template <class Hopeless>
  double arrival(device_id d, Hopeless) {
    return pass(d, false);
  }
  void book(device_id d) { pass(d, true); }

private:
  double pass(device_id to, bool keep) {
    std::map<std::size_t, double> behind;
    double ready = 0;
    for (const auto& i : inputs) {
      ready = std::max(ready, i.from == to ? i.finish : send(i, to, keep, behind));
    }
    return ready;
  }

  double send(const made_input& i, device_id to, bool keep, std::map<std::size_t, double>& behind) {
    for (const booked& b : log->transfers) {
      if (b.tensor == i.tensor && b.to == to) {
        return b.arrival;
      }
    }
    const way w = find(*p, i.from, to);
    const double possible = i.finish + p->send_time(i.tensor, i.from, to);
    const double seconds = p->transfer_time(i.tensor, i.from, to);
    const double moving = w.stretch * (seconds - w.latency);
    std::vector<double> candidates{possible + w.latency};
    for (const auto& [l, takes] : w.parts) {
      gaps.try_emplace(l, 1, schedule::interval{0, std::numeric_limits<double>::infinity()});
      candidates.push_back(behind[l]);
      for (const auto& g : gaps[l]) {
        candidates.push_back(g.start);
      }
    }
    double start = std::numeric_limits<double>::infinity();
    for (const double x : candidates) {
      bool fits = x >= candidates[0] && x < start;
      for (const auto& [l, takes] : w.parts) {
        fits = fits && x >= behind[l] && std::any_of(gaps[l].begin(), gaps[l].end(), [&](const auto& g) {
                 return g.start <= x && x + takes * moving <= g.finish;
               });
      }
      start = fits ? x : start;
    }
    for (const auto& [l, takes] : w.parts) {
      behind[l] = start + takes * moving;
      if (keep) {
        take(gaps[l], start, behind[l]);
      }
    }
    const double arrival = std::max(possible + seconds, start + moving);
    if (keep) {
      log->transfers.push_back({i.tensor, i.from, to, start, arrival});
    }
    return arrival;
  }

  static void take(std::vector<schedule::interval>& gaps, double start, double finish) {
    const auto g = std::find_if(gaps.begin(), gaps.end(),
                                [&](const auto& x) { return x.start <= start && finish <= x.finish; });
    const auto whole = *g;
    const auto next = gaps.erase(g);
    std::vector<schedule::interval> rest;
    if (whole.start < start) {
      rest.push_back({whole.start, start});
    }
    if (finish < whole.finish) {
      rest.push_back({finish, whole.finish});
    }
    gaps.insert(next, rest.begin(), rest.end());
  }
};

template <class Problem>
struct simple_network {
  typename simple_bookings<Problem>::way_of find;
  log_of_schedule* log;
  simple_bookings<Problem> bookings_for(const Problem& p) const { return {&p, find, log}; }
};

static_assert(partition::list::transfer_bookings<partition::list::link_bookings<test::drawn_problem>>);
static_assert(partition::list::transfer_bookings<simple_bookings<test::drawn_problem>>);
static_assert(!partition::list::transfer_bookings<partition::list::no_bookings>);
static_assert(partition::bookable_network_for<simulate::no_contention, test::drawn_problem>);
static_assert(partition::bookable_network_for<simulate::port_contention, test::drawn_problem>);
static_assert(partition::bookable_network_for<simulate::fair_sharing, test::drawn_problem>);
static_assert(partition::bookable_network_for<simulate::any_network, test::drawn_problem>);
static_assert(partition::bookable_network_for<simple_network<test::drawn_problem>, test::drawn_problem>);
static_assert(!partition::bookable_network_for<int, test::drawn_problem>);

template <class Scheduler, class Problem>
plan planned(const Scheduler& s, const Problem& p) {
  rng random{0};
  workspace scratch;
  auto made = s(p, random, scratch);
  REQUIRE(made.has_value());
  return std::move(*made);
}

template <class Problem>
plan same_as_simple(const Problem& p, const simulate::any_network& network,
                    way (*find)(const Problem&, device_id, device_id), log_of_schedule& log) {
  const auto quick = planned(partition::heft{}.on(network), p);
  const auto simple = planned(partition::heft{}.on(simple_network<Problem>{find, &log}), p);
  REQUIRE(quick.placement == simple.placement);
  REQUIRE(quick.order == simple.order);
  return quick;
}

/// The transfers of each port, in the order in which they have it.
template <class Problem, class Transfers>
std::map<std::size_t, std::vector<std::pair<tensor_id, device_id>>> port_orders(const Problem& p, Transfers transfers) {
  std::sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
    return std::tuple{a.start, a.arrival, a.tensor, a.to} < std::tuple{b.start, b.arrival, b.tensor, b.to};
  });
  std::map<std::size_t, std::vector<std::pair<tensor_id, device_id>>> result;
  for (const auto& x : transfers) {
    result[x.from].push_back({x.tensor, x.to});
    result[p.num_devices() + x.to].push_back({x.tensor, x.to});
  }
  return result;
}

TEST_CASE("link_bookings: what simple bookings find, and what runs under port if the order is the same") {
  rng random{12};
  int same_order = 0;
  int waited = 0;
  for (int round = 0; round < 3000; ++round) {
    const test::drawn x{random, {.max_ops = 14, .sends = round % 3 == 0, .slots = round % 2 == 0 ? 0u : 3u}};
    log_of_schedule log;
    const auto made = same_as_simple(x.p, {contention_model::port}, over_ports<test::drawn_problem>, log);
    REQUIRE(validate(x.p, made).empty());
    if (x.q.send_work() > 0 || round % 2 == 1) {
      continue; // sends are not in the plan, and on several slots ops may run earlier than planned
    }
    trace run;
    simulator{x.p, schedule::static_order{}, simulate::port_contention{}}.run(made, simulate::recorder{run});
    if (port_orders(x.p, log.transfers) == port_orders(x.p, run.transfers)) {
      ++same_order;
      waited += std::any_of(run.transfers.begin(), run.transfers.end(),
                            [](const auto& t) { return t.start > t.send_finish; });
      for (const auto& [t, finish] : log.finish) {
        REQUIRE(run.ops[x.w.producer(t)].finish == finish);
      }
      for (const auto& b : log.transfers) {
        REQUIRE(std::any_of(run.transfers.begin(), run.transfers.end(), [&](const auto& t) {
          return t.tensor == b.tensor && t.to == b.to && t.start == b.start && t.arrival == b.arrival;
        }));
      }
    }
  }
  CHECK(same_order > 500);
  CHECK(waited > 100);
}

TEST_CASE("link_bookings: routes over shared links, as simple bookings find them") {
  rng random{13};
  for (int round = 0; round < 2000; ++round) {
    const test::drawn x{random, {.max_ops = 14, .max_devices = 4}};
    const auto q = test::random_routes(random, x.q, 8);
    const problem p{x.w, q};
    log_of_schedule log;
    const auto made =
      same_as_simple(p, {contention_model::fair}, over_links<problem<workload, test::routed_platform>>, log);
    REQUIRE(validate(p, made).empty());
  }
}

TEST_CASE("link_bookings: every scheduler that takes op by op plans on them") {
  rng random{14};
  int differ = 0;
  for (int round = 0; round < 300; ++round) {
    const test::drawn x{random, {.max_ops = 20, .max_devices = 5}};
    const auto check = [&](const auto& s) {
      REQUIRE(validate(x.p, planned(s.on(simulate::port_contention{}), x.p)).empty());
      REQUIRE(validate(x.p, planned(s.on(simulate::fair_sharing{}), x.p)).empty());
      const auto without = planned(s, x.p);
      const auto with_none = planned(s.on(simulate::no_contention{}), x.p);
      REQUIRE(without.placement == with_none.placement);
      REQUIRE(without.order == with_none.order);
      differ += without.placement != planned(s.on(simulate::port_contention{}), x.p).placement;
    };
    check(partition::heft{});
    check(partition::hlfet{});
    check(partition::cpop{});
    check(partition::peft{});
    check(partition::lookahead_heft{});
  }
  CHECK(differ > 100);
}

/// An op whose eight outputs eight ops need, on two devices.
workload fan_out() {
  workload_builder b;
  const op_id root = b.add_op({.work = 1, .bytes = 0});
  for (std::uint32_t i = 0; i < 8; ++i) {
    const op_id v = b.add_op({.work = 2});
    const auto output = b.add_output(root, 3);
    b.add_edge(root, v, output);
  }
  return std::move(b).build();
}

template <class Network>
double makespan_on(const Network& network, const auto& p, const plan& made) {
  return simulator{p, schedule::static_order{}, network}.run(made).makespan;
}

TEST_CASE("link_bookings: one port carries one tensor after the other, so most consumers stay") {
  const auto w = fan_out();
  const platform<uniform_links> q{std::vector<device>(4), uniform_links{{.bandwidth = 1}}};
  const problem p{w, q};
  const auto blind = planned(partition::heft{}, p);
  const auto aware = planned(partition::heft{}.on(simulate::port_contention{}), p);
  CHECK(makespan_on(simulate::no_contention{}, p, blind) == 8);
  CHECK(makespan_on(simulate::port_contention{}, p, blind) > 15);
  CHECK(makespan_on(simulate::port_contention{}, p, aware) == 12);
}

TEST_CASE("link_bookings: an uplink that two senders share") {
  // Two machines of two devices, and four chains that part at their ends.
  const auto uplink = [](double bandwidth) {
    interconnect_builder b{4};
    const auto left = b.add_switch(), right = b.add_switch();
    for (const device_id d : {0u, 1u}) {
      b.join(d, left, {.bandwidth = 8});
      b.join(d + 2, right, {.bandwidth = 8});
    }
    b.join(left, right, {.bandwidth = bandwidth});
    return platform<>{std::vector<device>(4), link_matrix{std::move(b).build()}};
  };
  workload_builder b;
  for (int chain = 0; chain < 4; ++chain) {
    const op_id first = b.add_op({.work = 2, .bytes = 8});
    const op_id second = b.add_op({.work = 2, .bytes = 8});
    const op_id third = b.add_op({.work = 3});
    const op_id other = b.add_op({.work = 3});
    b.add_edge(first, second);
    b.add_edge(second, third);
    b.add_edge(second, other);
  }
  const auto w = std::move(b).build();
  const auto check = [&](double bandwidth, double blind, double aware) {
    const auto q = uplink(bandwidth);
    const problem p{w, q};
    const simulate::fair_sharing fair{};
    CHECK(makespan_on(fair, p, planned(partition::heft{}, p)) == blind);
    CHECK(makespan_on(fair, p, planned(partition::heft{}.on(fair), p)) == aware);
  };
  check(1, 11, 11);
  check(4, 14, 12);
  check(16, 12, 12);
}

} // namespace partition_list_link_bookings_test
