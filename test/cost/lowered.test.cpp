// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/lowered.hpp"

#include "simulate/random_problem.hpp"


#include <doctest/doctest.h>

#include <vector>

namespace cost_lowered_test {

using namespace weft;
using numbers_of = problem<workload, platform<>, cost::lowered>;

static_assert(numbers_of::has_class_times && numbers_of::sends_by_bytes && !numbers_of::has_rates);

/// Transfers that no line describes: in packets, and by the sum of the two devices' numbers.
struct packets : cost::linear {
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P&, device_id from, device_id to) const {
    return static_cast<double>((w.bytes(t) / 4 + t) * (1 + from + 2 * to));
  }
};

/// Which transfers it has is known when it runs.
struct sometimes_lines : cost::linear {
  packets others = {};
  bool lines = false;
  bool has_lines() const { return lines; }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return lines ? cost::linear::transfer_time(w, t, p, from, to) : others.transfer_time(w, t, p, from, to);
  }
  template <class W, class P>
  cost::link_line transfer_line(const W& w, const P& p, device_id from, device_id to) const {
    return cost::linear::transfer_line(w, p, from, to);
  }
};

/// What `original` says, `numbers` says, but for the factors.
template <class Original, class Lowered>
void check_same(const Original& original, const Lowered& numbers, const std::vector<double>& factors) {
  const auto n = original.num_devices();
  for (const device_id from : ids(n)) {
    for (const op_id v : ids(original.num_ops())) {
      REQUIRE(numbers.compute_time(v, from) == original.compute_time(v, from));
    }
    for (const device_id to : ids(n)) {
      for (const tensor_id t : ids(from == to ? 0 : original.num_tensors())) {
        REQUIRE(numbers.transfer_time(t, from, to) == factors[from * n + to] * original.transfer_time(t, from, to));
        REQUIRE(numbers.send_time(t, from, to) == original.send_time(t, from, to));
      }
    }
  }
}

TEST_CASE("lowered: the times of models with lines and without, and with factors on their transfers") {
  rng random{4};
  for (int round = 0; round < 50; ++round) {
    const test::drawn x{random};
    const auto n = x.p.num_devices();
    const std::vector<double> ones(n * n, 1);
    auto factors = ones;
    for (auto& f : factors) {
      f = 1u << random.below(4);
    }
    const auto check = [&](const auto& cost, bool has_lines) {
      const auto original = x.p.with_costs(cost);
      const cost::lowered made{cost, x.w, x.q};
      const auto numbers = x.p.with_costs(made);
      REQUIRE(numbers.has_lines() == has_lines);
      check_same(original, numbers, ones);
      check_same(original, x.p.with_costs(made.with_transfer_factors(factors)), factors);
      auto twice = factors;
      for (auto& f : twice) {
        f *= f;
      }
      check_same(original, x.p.with_costs(made.with_transfer_factors(factors).with_transfer_factors(factors)), twice);
    };
    check(cost::linear{}, true);
    check(cost::scaled{cost::linear{}, 1.5, 3}, true);
    check(cost::perturbed{cost::linear{}, 0.5, 3}, true);
    check(cost::tabulated{cost::linear{}, x.w, x.q}, true);
    check(packets{}, false);
    check(cost::scaled{packets{}, 0.3, 0.7}, false);
    const cost::lowered of_packets{packets{}, x.w, x.q};
    check(cost::perturbed{of_packets, 0.5, 3}, false);
    check(cost::scaled{of_packets, 2, 3}, false);
    check(sometimes_lines{{}, {}, false}, false);
    check(sometimes_lines{{}, {}, true}, true);
  }
}

TEST_CASE("lowered: a line of a line is scaled by both factors") {
  const cost::lowered_line l = cost::detail::scaled_line{cost::link_line{2, 4}, 3.0};
  CHECK(l(8) == 12);
  CHECK(l.latency() == 6);
  CHECK(l.bandwidth() == 4.0 / 3);
  CHECK(l.scaled(2)(8) == 24);
  CHECK(cost::lowered_line{}(1e9) == 0);
}

TEST_CASE("lowered: one line for all pairs of devices that are joined alike, and one each with factors") {
  workload_builder b;
  const op_id v = b.add_op({.work = 2}), u = b.add_op({.work = 3});
  b.add_edge(v, u, b.add_output(v, 100));
  const workload w = std::move(b).build();
  const auto share_a_line = [&](const platform<>& p) {
    const cost::lowered made{cost::linear{}, w, p};
    const std::vector<double> ones(p.num_devices() * p.num_devices(), 1);
    check_same(problem{w, p}, problem{w, p}.with_costs(made), ones);
    return &made.transfer_line(w, p, 0, 1) == &made.transfer_line(w, p, 2, 1);
  };
  constexpr std::size_t n = 300;
  const platform<> alike{std::vector<device>(n), link_matrix{n, {1e-6, 1e9}}};
  CHECK(alike.links().are_alike());
  CHECK(share_a_line(alike));
  link_matrix but_one{n, {1e-6, 1e9}};
  but_one.set(n - 1, n - 2, {1e-6, 2e9});
  CHECK(!but_one.are_alike());
  CHECK(share_a_line(platform<>{std::vector<device>(n), but_one})); // as two kinds

  const hierarchical_links nodes{{{1e-6, 1e11}, {1e-5, 1e10}}, {8}, n};
  const platform<hierarchical_links> cluster{std::vector<device>(n), nodes};
  const cost::lowered few{cost::linear{}, w, cluster};
  CHECK(&few.transfer_line(w, cluster, 0, 1) == &few.transfer_line(w, cluster, 17, 16));
  CHECK(&few.transfer_line(w, cluster, 0, 8) == &few.transfer_line(w, cluster, n - 1, 1));
  check_same(problem{w, cluster}, problem{w, cluster}.with_costs(few), std::vector<double>(n * n, 1));
  link_matrix unlike{n};
  for (const device_id d : ids(n - 1)) {
    unlike.set(d, d + 1, {1e-6, 1e9 + d});
  }
  CHECK(!share_a_line(platform<>{std::vector<device>(n), unlike})); // too many kinds

  std::vector<double> factors(n * n, 1);
  factors[n + 2] = 4;
  const problem p{w, alike};
  const problem of_nodes{w, cluster};
  check_same(p, p.with_costs(cost::lowered{cost::linear{}, w, alike}.with_transfer_factors(factors)), factors);
  check_same(of_nodes, of_nodes.with_costs(few.with_transfer_factors(factors)), factors);
}

TEST_CASE("lowered: what is lowered already is shared") {
  rng random{7};
  const test::drawn x{random};
  const cost::lowered made{x.p.cost(), x.w, x.q};
  const auto again = cost::lower(made, x.w, x.q);
  CHECK(again.class_times(x.w, 0, x.q) == made.class_times(x.w, 0, x.q));
}

} // namespace cost_lowered_test
