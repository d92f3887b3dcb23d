// SPDX-License-Identifier: BSL-1.0
// How fast runs are simulated under fair sharing of links, beside SimGrid: the same plans, of random graphs with about
// two and a half transfers per op, on 16 devices. An activity is an op or a transfer.
//
// simgrid [--ops N]...     default: 1000 and 3000
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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace {

using namespace weft;

/// `ccr`: about how long the transfers of a device take in all, alone, for a second of its ops.
workload layers(std::size_t n, double ccr, rng& random) {
  workload_builder b;
  for (op_id v = 0; v < n; ++v) {
    b.add_op({.work = random.uniform(0.1, 2), .bytes = 1 + random.below(static_cast<std::uint32_t>(168 * ccr))});
    std::vector<op_id> before;
    for (int k = 0; v > 0 && k < 3; ++k) {
      before.push_back(v - 1 - random.below(std::min<op_id>(v, 60)));
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const op_id u : before) {
      b.add_edge(u, v);
    }
  }
  return std::move(b).build();
}

/// `devices` on one switch, or on four with one uplink each, or a link for each pair.
link_matrix make_links(const char* what, std::size_t devices) {
  if (std::strcmp(what, "matrix") == 0) {
    return link_matrix{devices, {0.001, 200}};
  }
  interconnect_builder b{devices};
  const auto root = b.add_switch("root");
  const bool flat = std::strcmp(what, "switch") == 0;
  std::vector<std::uint32_t> leaves(4, root);
  for (std::uint32_t i = 0; !flat && i < 4; ++i) {
    leaves[i] = b.add_switch("leaf" + std::to_string(i));
    b.join(leaves[i], root, {0, 400}); // half of what its devices could use
  }
  for (device_id d = 0; d < devices; ++d) {
    b.join(d, leaves[d / ((devices + 3) / 4)], {0.0005, 200});
  }
  return link_matrix{std::move(b).build()};
}

template <class F>
double seconds_of(F f) {
  double best = 1e300;
  for (int i = 0; i < 7; ++i) {
    const std::clock_t begin = std::clock(); // of the processor: others may use it, too
    f();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

void compare(std::size_t ops, const char* network, double ccr) {
  constexpr std::size_t devices = 16;
  rng random{ops};
  const auto w = layers(ops, ccr, random);
  const platform<> q{std::vector<device>(devices), make_links(network, devices)};
  const problem p{w, q};
  placement where;
  for (std::size_t v = 0; v < ops; ++v) {
    where.push_back(static_cast<device_id>(random.below(devices)));
  }
  trace run;
  simulator fair{p, schedule::static_order{}, simulate::fair_sharing{}};
  simulator{p, schedule::fifo{}, simulate::fair_sharing{}}.run(plan{where, {}}, simulate::recorder{run});
  const auto ordered = simulate::plan_of(p, run);
  fair.run(ordered, simulate::recorder{run});
  simulator bare{p, schedule::static_order{}};
  const double ours = seconds_of([&] { fair.run(ordered); });
  const double without = seconds_of([&] { bare.run(ordered); });
  const auto there = test::run_in_simgrid(p, ordered, contention_model::fair, true);
  const auto activities = static_cast<double>(ops + run.transfers.size());
  std::printf("%6zu ops, %6zu transfers, %-6s CCR %-3g %9.0f %12.0f %9.0f x %9.1f x\n", ops, run.transfers.size(),
              network, ccr, activities / there.seconds, activities / ours, there.seconds / ours, ours / without);
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--ops") == 0) {
      sizes.push_back(std::strtoul(argv[++i], nullptr, 10));
    }
  }
  if (sizes.empty()) {
    sizes = {1000, 3000};
  }
  std::printf("%45s %9s %12s %11s %11s\n", "activities/s:", "SimGrid", "weft", "ratio", "fair / none");
  for (const std::size_t ops : sizes) {
    for (const char* network : {"matrix", "switch", "tree"}) {
      for (const double ccr : {0.3, 1.0, 3.0, 10.0}) {
        compare(ops, network, ccr);
      }
    }
  }
}
