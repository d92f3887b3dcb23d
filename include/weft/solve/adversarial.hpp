// SPDX-License-Identifier: BSL-1.0
/// Search for small problems on which one strategy does much worse than another.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/cost/generate/ccr.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft {

/// A small problem in whole numbers that can be changed bit by bit. Each edge has a tensor of its own; edges lead from
/// smaller to larger ids.
struct adversarial_instance {
  struct edge {
    op_id from = 0;
    op_id to = 0;
    std::uint32_t bytes = 0;
    friend constexpr bool operator==(const edge&, const edge&) = default;
  };

  std::vector<std::uint32_t> work;      ///< per op, work units
  std::vector<edge> edges;              ///< ordered by `to`, then `from`
  std::vector<std::uint32_t> speed;     ///< per device, work units per second
  std::vector<std::uint32_t> bandwidth; ///< bytes per second between devices 0-1, 0-2, 1-2, 0-3, …; both directions
  friend constexpr bool operator==(const adversarial_instance&, const adversarial_instance&) = default;

  workload make_workload() const {
    workload_builder b;
    for (const auto w : work) {
      b.add_op({.work = static_cast<double>(w)});
    }
    for (const auto& e : edges) {
      b.add_edge(e.from, e.to, b.add_output(e.from, e.bytes));
    }
    return std::move(b).build();
  }

  platform<> make_platform() const {
    std::vector<device> devices;
    for (const auto s : speed) {
      devices.push_back({.speed = static_cast<double>(s), .reached_rates = true});
    }
    link_matrix links{devices.size()};
    std::size_t pair = 0;
    for (device_id b = 1; b < devices.size(); ++b) {
      for (device_id a = 0; a < b; ++a) {
        links.connect(a, b, {.bandwidth = static_cast<double>(bandwidth[pair++])});
      }
    }
    return {std::move(devices), std::move(links)};
  }
};

/// The problems that `adversarial_search` makes.
using adversarial_problem = problem<workload, platform<>>;

/// `s(problem)` returns a makespan in seconds, or anything that is not positive and finite if it found no plan.
template <class S>
concept makespan_function = requires(S& s, const adversarial_problem& p) {
  { s(p) } -> std::convertible_to<double>;
};

/// The result of a search. Without evaluations, or if the strategies found no plans, the ratio is 0.
struct adversarial_result {
  adversarial_instance instance = {};
  double ratio = 0; ///< makespan of the first strategy over that of the second
  double first = 0; ///< makespans in seconds
  double second = 0;
  std::uint64_t evaluations = 0;
};

/// Looks for the problem on which the first strategy loses to the second by the largest factor, by simulated annealing
/// over problems: a step changes the work of an op, the bytes of an edge, the speed of a device or the bandwidth of a
/// link, or adds or removes an edge; amounts change by up to a tenth of their range, or are drawn anew. A step down
/// from ratio r to r' is taken with probability (r' / r)^k, that is exp(−k · (ln r − ln r')), where k, the inverse
/// temperature, is a whole number that rises from `first_exponent` to `last_exponent` in each round; so only products
/// decide, and the search goes the same way everywhere. Rounds start from random problems of random sizes. Without
/// `max_ccr` the worst is mostly a transfer that takes a hundred times as long as all ops, and one strategy avoids it.
///
/// Source: Coleman, Krishnamachari, *PISA: An Adversarial Approach to Comparing Task Graph Scheduling Algorithms*,
/// arXiv 2403.07120, 2024, which has amounts from 0 to 1 and one size. Complexity: budget × both strategies.
struct adversarial_search {
  // The space of problems; closed intervals.
  std::uint32_t min_ops = 3;
  std::uint32_t max_ops = 8;
  std::uint32_t min_devices = 2;
  std::uint32_t max_devices = 3;
  std::uint32_t min_work = 1; ///< at least 1
  std::uint32_t max_work = 100;
  std::uint32_t max_bytes = 100; ///< of an edge, from 0
  std::uint32_t max_speed = 10;  ///< from 1
  std::uint32_t max_bandwidth = 10;
  double max_ccr = std::numeric_limits<double>::infinity(); ///< most communication, by `generate::ccr_of`
  // The search.
  std::uint32_t rounds = 5;
  std::uint32_t first_exponent = 2;
  std::uint32_t last_exponent = 200;
  weft::budget budget = {.moves = 5'000}; ///< problems tried, in all rounds together

  /// Throws `value_error` for intervals that are empty.
  template <makespan_function First, makespan_function Second>
  adversarial_result operator()(First&& first, Second&& second, rng& random) const {
    check();
    adversarial_result best;
    budget_meter meter{budget};
    const std::uint64_t per_round = std::max<std::uint64_t>(1, budget.moves / std::max(rounds, 1u));
    for (std::uint32_t round = 0; round < rounds; ++round) {
      adversarial_instance at = draw(random);
      double ratio = 0;
      for (std::uint64_t i = 0; i < per_round && meter.spend(); ++i) {
        adversarial_instance next = at;
        if (i > 0) {
          mutate(next, random);
        }
        const auto [a, b] = evaluate(first, second, next);
        const double r = a > 0 && a < 1e300 && b > 0 && b < 1e300 ? a / b : 0;
        if (r > best.ratio) {
          best = {next, r, a, b, 0};
        }
        const auto k = first_exponent + static_cast<std::uint32_t>((last_exponent - first_exponent) * i / per_round);
        if (r >= ratio || random.uniform() < power(r / ratio, k)) {
          at = std::move(next);
          ratio = r;
        }
      }
    }
    best.evaluations = meter.used();
    return best;
  }

private:
  void check() const {
    const bool fine = min_ops > 0 && min_ops <= max_ops && min_devices > 0 && min_devices <= max_devices &&
                      min_work > 0 && min_work <= max_work && max_speed > 0 && max_bandwidth > 0 && max_ccr >= 0 &&
                      first_exponent <= last_exponent && max_ops < 10'000 && max_devices < 1'000;
    if (!fine) {
      throw value_error("adversarial_search", "intervals need 0 < smallest <= largest, and fewer than 10000 ops");
    }
  }

  static constexpr double power(double x, std::uint32_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, x *= x) {
      result *= (exponent & 1) != 0 ? x : 1;
    }
    return result;
  }

  template <class First, class Second>
  std::pair<double, double> evaluate(First& first, Second& second, const adversarial_instance& i) const {
    const workload w = i.make_workload();
    const platform<> q = i.make_platform();
    if (generate::ccr_of(w, q) > max_ccr) {
      return {0, 0};
    }
    const adversarial_problem p{w, q};
    const double a = first(p);
    return {a, second(p)};
  }

  static std::uint32_t between(std::uint32_t low, std::uint32_t high, rng& random) {
    return static_cast<std::uint32_t>(random.between(low, high));
  }

  adversarial_instance draw(rng& random) const {
    adversarial_instance i;
    const std::uint32_t ops = between(min_ops, max_ops, random);
    const std::uint32_t devices = between(min_devices, max_devices, random);
    for (op_id v = 0; v < ops; ++v) {
      i.work.push_back(between(min_work, max_work, random));
      for (op_id u = 0; u < v; ++u) {
        if (random.below(v) < 1 || random.below(8) == 0) { // a little more than one input per op
          i.edges.push_back({u, v, between(0, max_bytes, random)});
        }
      }
    }
    for (device_id d = 0; d < devices; ++d) {
      i.speed.push_back(between(1, max_speed, random));
      for (device_id e = 0; e < d; ++e) {
        i.bandwidth.push_back(between(1, max_bandwidth, random));
      }
    }
    while (generate::ccr_of(i.make_workload(), i.make_platform()) > max_ccr) {
      for (auto& e : i.edges) {
        e.bytes /= 2;
      }
    }
    return i;
  }

  static void change(std::uint32_t& amount, std::uint32_t low, std::uint32_t high, rng& random) {
    if (random.below(2) == 0) {
      amount = between(low, high, random);
      return;
    }
    const std::uint32_t reach = std::max(1u, (high - low) / 10);
    amount = between(amount - std::min(reach, amount - low), std::min(high - amount, reach) + amount, random);
  }

  /// One change; a kind of change that is impossible leaves the problem as it is.
  void mutate(adversarial_instance& i, rng& random) const {
    switch (random.below(6)) {
    case 0: change(i.work[random.below(i.work.size())], min_work, max_work, random); break;
    case 1: change(i.speed[random.below(i.speed.size())], 1, max_speed, random); break;
    case 2:
      if (!i.bandwidth.empty()) {
        change(i.bandwidth[random.below(i.bandwidth.size())], 1, max_bandwidth, random);
      }
      break;
    case 3:
      if (!i.edges.empty()) {
        change(i.edges[random.below(i.edges.size())].bytes, 0, max_bytes, random);
      }
      break;
    case 4:
      if (!i.edges.empty()) {
        i.edges.erase(i.edges.begin() + static_cast<std::ptrdiff_t>(random.below(i.edges.size())));
      }
      break;
    default: add_edge(i, random);
    }
  }

  void add_edge(adversarial_instance& i, rng& random) const {
    op_id u = random.below(i.work.size());
    op_id v = random.below(i.work.size());
    if (u == v) {
      return;
    }
    if (u > v) {
      std::swap(u, v);
    }
    const auto at = std::partition_point(i.edges.begin(), i.edges.end(), [&](const adversarial_instance::edge& e) {
      return e.to != v ? e.to < v : e.from < u;
    });
    if (at == i.edges.end() || at->from != u || at->to != v) {
      i.edges.insert(at, {u, v, between(0, max_bytes, random)});
    }
  }
};

} // namespace weft
