// SPDX-License-Identifier: BSL-1.0
// Runs random plans here and in SimGrid: every op, send and transfer begins and ends at the same time.
//
// same_times [PLANS]     default: 10000
#include "simgrid/simgrid_run.hpp"

#include "weft/core/random.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft;

/// What the links of a case look like.
enum class shape { matrix, uniform, tree_without_latency, tree_of_equal_latencies, tree, count };
constexpr std::array<const char*, 5> names{"matrix", "uniform", "tree without latency", "tree of equal latencies",
                                           "tree"};

link_matrix draw_links(rng& random, shape s, std::size_t devices) {
  const auto bandwidth = [&] { return random.uniform(50, 400); };
  if (s == shape::matrix || s == shape::uniform) {
    link_matrix links{devices, {s == shape::uniform ? random.uniform(0, 1) : 0, bandwidth()}};
    for (device_id a = 0; s == shape::matrix && a < devices; ++a) {
      for (device_id b = 0; b < devices; ++b) {
        links.set(a, b, {0, bandwidth()});
      }
    }
    return links;
  }
  // Devices on switches, these on a higher switch or the root. Only the cables of devices have latencies where all
  // routes are to have the same.
  interconnect_builder b{devices};
  const double same = random.uniform(0.01, 0.5);
  const auto cable = [&](bool of_device) {
    return weft::link{s == shape::tree                                          ? random.uniform(0.01, 0.5)
                : s == shape::tree_of_equal_latencies && of_device ? same
                                                                   : 0,
                bandwidth()};
  };
  std::vector<std::uint32_t> switches{b.add_switch("root")};
  const std::size_t more = 1 + random.below(4);
  for (std::size_t i = 0; i < more; ++i) {
    const auto above = switches[random.below(switches.size())];
    switches.push_back(b.add_switch("switch" + std::to_string(i)));
    b.join(switches.back(), above, cable(false));
  }
  for (device_id d = 0; d < devices; ++d) {
    b.join(d, switches[random.below(switches.size())], cable(true));
  }
  return link_matrix{std::move(b).build()};
}

workload draw_workload(rng& random) {
  workload_builder b;
  const std::size_t n = 1 + random.below(random.below(4) == 0 ? 300 : 80);
  for (std::size_t v = 0; v < n; ++v) {
    b.add_op({.work = random.uniform(0.1, 10), .bytes = random.below(20) == 0 ? 0 : 1 + random.below(2000)});
    if (random.below(4) == 0) {
      b.add_output(static_cast<op_id>(v), 1 + random.below(2000));
    }
    std::vector<op_id> before;
    for (std::size_t k = 0; v > 0 && k < 1 + random.below(3); ++k) {
      before.push_back(
        static_cast<op_id>(v - 1 - random.below(static_cast<std::uint32_t>(std::min<std::size_t>(v, 12)))));
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const op_id u : before) {
      b.add_edge(u, static_cast<op_id>(v));
    }
  }
  return std::move(b).build();
}

struct comparison {
  double largest = 0; // relative difference
  std::size_t activities = 0;

  void same(double a, double b) {
    const double difference = std::abs(a - b) / std::max({std::abs(a), std::abs(b), 1e-300});
    largest = difference <= largest ? largest : difference; // also what is not a number
    ++activities;
  }
};

template <class Network>
void compare(const problem<workload, platform<>>& p, const placement& where, Network network,
             contention_model contention, comparison& all) {
  trace run;
  simulator{p, schedule::fifo{}, network}.run(plan{where, {}}, simulate::recorder{run});
  const auto ordered = simulate::plan_of(p, run);
  simulator{p, schedule::static_order{}, network}.run(ordered, simulate::recorder{run});
  const auto there = test::run_in_simgrid(p, ordered, contention).times;
  for (const op_id v : ids(p.num_ops())) {
    all.same(run.ops[v].start, there.ops[v].start);
    all.same(run.ops[v].finish, there.ops[v].finish);
  }
  for (std::size_t k = 0; k < run.transfers.size(); ++k) {
    all.same(run.transfers[k].send_finish, there.transfers[k].send_finish);
    all.same(run.transfers[k].start, there.transfers[k].start);
    all.same(run.transfers[k].arrival, there.transfers[k].arrival);
  }
}

int run(std::size_t plans) {
  std::array<comparison, 5> none, fair;
  rng random{2026};
  for (std::size_t round = 0; round < plans; ++round) {
    const auto s = static_cast<shape>(round % names.size());
    const std::size_t devices = 2 + random.below(9);
    const auto w = draw_workload(random);
    std::vector<device> all(devices);
    for (auto& d : all) {
      d.speed = random.uniform(0.5, 4);
    }
    const platform<> q{std::move(all), draw_links(random, s, devices),
                       random.below(2) == 0 ? 0 : random.uniform(0.1, 2)};
    const problem p{w, q};
    placement where;
    for (std::size_t v = 0; v < p.num_ops(); ++v) {
      where.push_back(static_cast<device_id>(random.below(devices)));
    }
    const auto i = static_cast<std::size_t>(s);
    if (round / names.size() % 4 == 0) {
      compare(p, where, simulate::no_contention{}, contention_model::none, none[i]);
    } else {
      compare(p, where, simulate::fair_sharing{flow_weights::inverse_latency}, contention_model::fair, fair[i]);
      if (s != shape::tree) { // the weights make no difference
        compare(p, where, simulate::fair_sharing{}, contention_model::fair, fair[i]);
      }
    }
  }
  bool good = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const auto& [what, c] : {std::pair{"none", none[i]}, std::pair{"fair", fair[i]}}) {
      std::printf("%-24s %s: %9zu times, largest relative difference %.1e\n", names[i], what, c.activities, c.largest);
      good = good && c.largest <= 1e-9 && c.activities > 0;
    }
  }
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'500);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
