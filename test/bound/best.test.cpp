// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/compose.hpp"
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"

#ifdef WEFT_REFERENCE_DATA
#include "weft/io/critical_path_csv.hpp"
#endif

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace bound_best_test {

using weft::lower_bound;
using weft_test::least_makespan;
using weft_test::random_problem;
using weft_test::small_problem;

constexpr int rounds = 400;

/// Takes transfers over links for twice as long, and states nothing of it.
struct slower : weft_test::random_costs {
  template <class W, class P>
  double transfer_time(const W& w, weft::tensor_id t, const P& p, weft::device_id from, weft::device_id to) const {
    return 2 * random_costs::transfer_time(w, t, p, from, to);
  }
};

TEST_CASE("bound::best: never above the optimum, and often equal to it") {
  weft::rng random{2};
  int tight = 0;
  std::array<int, 5> wins{};
  int rounded = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const auto s = random_problem(random);
    s.with([&](const auto& p) {
      const double best = least_makespan(p);
      const auto found = weft::bound::best(p);
      CHECK(found.value <= best * (1 + 1e-12));
      tight += found.value >= best * (1 - 1e-12);
      ++wins[static_cast<std::size_t>(found.which)];
      const double without_windows = std::max({weft::bound::critical_path(p), weft::bound::communication_path(p),
                                               weft::bound::area(p), weft::bound::group_load(p)});
      CHECK(found.value >= std::max(without_windows, weft::bound::windows(p)));
      rounded += found.value > std::max(without_windows, weft::bound::windows(p)) * (1 + 1e-9);
      CHECK(weft::bound::communication_path(p) >= weft::bound::critical_path(p));
    });
  }
  CHECK(tight > rounds / 4);
  for (const int count : wins) {
    CHECK(count > 0); // each rule is the best one somewhere
  }
  CHECK(rounded > 0);
}

TEST_CASE("bound::best: holds for cost models that do not move tensors over links") {
  weft::rng random{3};
  for (int round = 0; round < rounds / 4; ++round) {
    CAPTURE(round);
    const auto s = random_problem(random);
    const auto w = s.workload();
    const auto platform = s.platform();
    const weft::problem p{w, platform, slower{s.costs()}};
    static_assert(!p.sends_by_bytes);
    CHECK(weft::bound::best(p).value <= least_makespan(p) * (1 + 1e-12));
    const auto scaled = p.with_costs(weft::cost::scaled{s.costs(), 1.0, 2.0});
    static_assert(scaled.sends_by_bytes);
    CHECK(weft::bound::best(scaled).value <= least_makespan(scaled) * (1 + 1e-12));
  }
}

TEST_CASE("bound::best: scaling all costs scales the bound") {
  weft::rng random{4};
  for (int round = 0; round < rounds / 4; ++round) {
    CAPTURE(round);
    auto s = random_problem(random);
    const auto before = s.with([](const auto& p) { return weft::bound::best(p); });
    for (auto& time : s.seconds) {
      time *= 8;
    }
    s.send_work *= 8;
    s.links.latency *= 8;
    s.links.bandwidth /= 8;
    const auto after = s.with([](const auto& p) { return weft::bound::best(p); });
    CHECK(after.value == 8 * before.value); // a power of two: nothing is rounded
    CHECK(after.which == before.which);
  }
}

TEST_CASE("bound::best: renumbering the ops changes nothing but rounding") {
  weft::rng random{5};
  for (int round = 0; round < rounds / 4; ++round) {
    CAPTURE(round);
    const auto s = random_problem(random);
    std::vector<weft::op_id> name(s.num_ops());
    std::iota(name.begin(), name.end(), 0u);
    random.shuffle(name);
    auto other = s;
    const auto num_devices = s.devices.size();
    for (std::size_t v = 0; v < s.num_ops(); ++v) {
      other.bytes[name[v]] = s.bytes[v];
      other.kinds[name[v]] = s.kinds[v];
      std::copy_n(&s.seconds[v * num_devices], num_devices, &other.seconds[name[v] * num_devices]);
    }
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      other.edges[i] = {name[s.edges[i].from], name[s.edges[i].to]};
    }
    for (std::size_t i = 0; i < s.colocated.size(); ++i) {
      other.colocated[i] = {name[s.colocated[i].from], name[s.colocated[i].to]};
    }
    const auto value = [](const auto& p) { return weft::bound::best(p).value; };
    CHECK(other.with(value) == doctest::Approx(s.with(value)).epsilon(1e-12));
  }
}

TEST_CASE("bound::best: infinite if a component fits nowhere") {
  weft::workload_builder b;
  b.add_op({.work = 1, .kinds = weft::device_kind::tpu});
  b.add_op({.work = 1});
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> cpus{{{}, {}}, {}};
  const weft::problem p{w, cpus};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(weft::bound::best(p).value == infinity);
  CHECK(weft::bound::critical_path(p) == infinity);
  CHECK(weft::bound::communication_path(p) == infinity);
  CHECK(weft::bound::area(p) == infinity);
  CHECK(weft::bound::group_load(p) == infinity);
}

TEST_CASE("bound::best: an empty workload") {
  const weft::workload w = weft::workload_builder{}.build();
  const weft::platform<weft::uniform_links> one{{{}}, {}};
  CHECK(weft::bound::best(weft::problem{w, one}) == lower_bound{0, lower_bound::rule::critical_path});
}

/// A fork of one op into two and a join, on two alike devices: 1 + 4 + 4 + 1 on one, or 1 + 4 + 1 and a transfer
/// out and one back on two.
constexpr lower_bound of_diamond(double latency) {
  constexpr std::array arcs{weft::graph::arc{0, 1}, weft::graph::arc{0, 2}, weft::graph::arc{1, 3},
                            weft::graph::arc{2, 3}};
  constexpr std::array work{1.0, 4.0, 4.0, 1.0};
  const weft::csr_graph g{4, arcs};
  const weft::annotated_graph w{g, {.work = work}};
  const weft::platform<weft::uniform_links> two{{{}, {}}, {{.latency = latency}}};
  const weft::problem p{w, two};
  return weft::bound::best(p);
}

static_assert(of_diamond(0) == lower_bound{6, lower_bound::rule::critical_path});
static_assert(of_diamond(1) == lower_bound{7, lower_bound::rule::communication_path});
static_assert(of_diamond(100).value == 10);

#ifdef WEFT_REFERENCE_DATA
TEST_CASE("bound::best: below what is known to be possible on the graphs of the critical-path paper") {
  const std::string root = WEFT_REFERENCE_DATA;
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  const auto folder = std::filesystem::path{root} / "data" / "critical_path_paper";
  const auto bound_of = [&](const char* graph, const char* devices) {
    const auto w = weft::io::read_workload_csv(folder / graph);
    const auto platform = weft::io::read_platform_csv(folder / devices);
    return weft::bound::best(weft::problem{w, platform}).value;
  };
  const auto is_between = [](double low, double x, double high) { return low <= x && x <= high; };
  CHECK(is_between(49.5, bound_of("convolutional_network.csv", "devices_50.csv"), 70));
  CHECK(is_between(55, bound_of("convolutional_network.csv", "devices_10.csv"), 81.6));
  CHECK(is_between(750, bound_of("recurrent_network.csv", "devices_50.csv"), 1110));
  CHECK(is_between(830, bound_of("recurrent_network.csv", "devices_10.csv"), 1666));
}
#else
TEST_CASE("bound::best: below what is known to be possible on the graphs of the critical-path paper") {
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
}
#endif

} // namespace bound_best_test
