// SPDX-License-Identifier: BSL-1.0
#include "weft/refine/detail/one_device_order.hpp"

#include "simulate/random_problem.hpp"
#include "support/array_programs.hpp"
#include "support/rounds.hpp"

#include "weft/schedule/placed_flow.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace refine_detail_one_device_order_test {

using namespace weft;
using refine::detail::one_device_order;
using test::drawn;
using test::drawn_problem;
using answer = one_device_order::answer;

constexpr auto unlimited = [](std::uint64_t) { return true; };
constexpr auto all_sets = std::numeric_limits<std::uint64_t>::max();

/// Bytes at the worst moment of a run in this order on device 0.
byte_count peak_of(const drawn_problem& p, const std::vector<op_id>& sequence) {
  plan x{placement(p.num_ops(), 0), {}};
  for (const op_id v : sequence) {
    x.order.push_back(step::run(v));
  }
  trace run;
  REQUIRE(simulator<drawn_problem, schedule::static_order>{p}.run(x, simulate::recorder{run}).complete);
  return peak_memory_of(p, x.placement, run)[0];
}

/// The least peak of all orders, each of which is run.
byte_count least_peak(const drawn_problem& p, std::vector<op_id>& begun) {
  if (begun.size() == p.num_ops()) {
    return peak_of(p, begun);
  }
  byte_count least = std::numeric_limits<byte_count>::max();
  const auto is_done = [&](op_id v) { return std::find(begun.begin(), begun.end(), v) != begun.end(); };
  for (const op_id v : ids(p.num_ops())) {
    bool is_ready = !is_done(v);
    graph::for_each_predecessor(p.workload(), v, [&](op_id u) { is_ready = is_ready && is_done(u); });
    if (is_ready) {
      begun.push_back(v);
      least = std::min(least, least_peak(p, begun));
      begun.pop_back();
    }
  }
  return least;
}

struct found {
  answer what;
  std::vector<op_id> sequence;
};
template <class Spend>
found search(const drawn_problem& p, byte_count capacity, std::uint64_t max_sets, Spend spend) {
  const auto tight = p.with_capacities(std::vector<byte_count>(p.num_devices(), capacity));
  placed_flow<drawn_problem> flow{tight};
  const placement where(p.num_ops(), 0);
  flow.assign(where);
  refine::detail::placed_live_ranges x;
  x.assign(flow);
  one_device_order orders;
  const answer a = orders.search(x, max_sets, spend);
  return {a, orders.sequence()};
}

TEST_CASE("one_device_order: an order is found exactly when one of all orders is within memory") {
  rng random{53};
  int refused = 0;
  for (int round = 0; round < test::rounds(2500); ++round) {
    CAPTURE(round);
    const drawn s{random, {.max_ops = 7, .max_devices = 1, .groups = false, .kinds = false, .slots = 0}};
    std::vector<op_id> begun;
    const byte_count least = least_peak(s.p, begun);
    for (const byte_count capacity : {least, least + random.below(3)}) {
      const auto r = search(s.p, capacity, all_sets, unlimited);
      REQUIRE(r.what == answer::found);
      CHECK(peak_of(s.p, r.sequence) <= capacity);
    }
    if (least > 0) {
      CHECK(search(s.p, least - 1, all_sets, unlimited).what == answer::none_exists);
      ++refused;
    }
  }
  CHECK((refused > 2000 || !test::are_all_rounds));
}

/// Least peaks by two other methods: a beam of few sets, those with the fewest bytes alive, and the best order of a
/// tree in which each op's output is read once, by its hills and valleys [Liu 1987].
class other_methods {
public:
  other_methods(const std::vector<std::vector<op_id>>& inputs, const std::vector<byte_count>& bytes)
      : inputs_{inputs}, bytes_{bytes}, readers_(inputs.size()) {
    for (op_id v = 0; v < inputs.size(); ++v) {
      for (const op_id u : inputs[v]) {
        readers_[u].push_back(v);
      }
    }
  }

  byte_count by_beam(std::size_t width) const {
    std::vector<state> beam{{0, 0, std::vector<bool>(inputs_.size(), false)}};
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      std::vector<state> next;
      for (const state& s : beam) {
        for (op_id v = 0; v < inputs_.size(); ++v) {
          if (!s.done[v] && std::ranges::all_of(inputs_[v], [&](op_id u) { return s.done[u]; })) {
            state t = s;
            t.done[v] = true;
            t.peak = std::max(s.peak, s.alive + bytes_[v]);
            t.alive = alive(t.done);
            next.push_back(std::move(t));
          }
        }
      }
      std::ranges::sort(next, [](const state& a, const state& b) {
        return std::tie(a.peak, a.alive, a.done) < std::tie(b.peak, b.alive, b.done);
      });
      const auto same = std::ranges::unique(next, {}, &state::done);
      next.erase(same.begin(), same.end());
      next.resize(std::min(next.size(), width));
      beam = std::move(next);
    }
    return beam.front().peak;
  }

  byte_count by_tree() const {
    std::vector<profile> trees;
    for (op_id v = 0; v < inputs_.size(); ++v) {
      if (readers_[v].empty()) {
        trees.push_back(of_tree(v));
      }
    }
    byte_count peak = 0;
    for (const auto& [hill, valley] : merged(trees)) {
      peak = std::max(peak, hill);
    }
    return peak;
  }

private:
  struct state {
    byte_count peak, alive;
    std::vector<bool> done;
  };
  struct extremes {
    byte_count hill, valley; // bytes alive
  };
  using profile = std::vector<extremes>;

  byte_count alive(const std::vector<bool>& done) const {
    byte_count sum = 0;
    for (op_id v = 0; v < done.size(); ++v) {
      sum += done[v] && std::ranges::any_of(readers_[v], [&](op_id c) { return !done[c]; }) ? bytes_[v] : 0;
    }
    return sum;
  }

  profile of_tree(op_id v) const {
    std::vector<profile> parts;
    for (const op_id u : inputs_[v]) {
      parts.push_back(of_tree(u));
    }
    profile all = merged(parts);
    const byte_count before = all.empty() ? 0 : all.back().valley;
    all.push_back({before + bytes_[v], readers_[v].empty() ? 0 : bytes_[v]});
    profile result; // the highest hill, the lowest valley behind it, the highest hill behind that, …
    for (std::size_t from = 0; from < all.size();) {
      std::size_t hill = from;
      for (std::size_t i = from; i < all.size(); ++i) {
        hill = all[i].hill >= all[hill].hill ? i : hill;
      }
      std::size_t valley = hill;
      for (std::size_t i = hill; i < all.size(); ++i) {
        valley = all[i].valley <= all[valley].valley ? i : valley;
      }
      result.push_back({all[hill].hill, all[valley].valley});
      from = valley + 1;
    }
    return result;
  }

  static profile merged(const std::vector<profile>& parts) {
    struct item {
      byte_count drop;
      std::size_t part, place;
    };
    std::vector<item> items;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (std::size_t i = 0; i < parts[k].size(); ++i) {
        items.push_back({parts[k][i].hill - parts[k][i].valley, k, i});
      }
    }
    std::ranges::stable_sort(items, std::greater{}, &item::drop);
    std::vector<byte_count> now(parts.size(), 0);
    byte_count sum = 0;
    profile all;
    for (const auto& [drop, k, i] : items) {
      const auto& [hill, valley] = parts[k][i];
      const byte_count others = sum - now[k];
      all.push_back({others + hill, others + valley});
      sum = others + valley;
      now[k] = valley;
    }
    return all;
  }

  const std::vector<std::vector<op_id>>& inputs_;
  const std::vector<byte_count>& bytes_;
  std::vector<std::vector<op_id>> readers_;
};

TEST_CASE("one_device_order: 40 to 200 ops, in no more memory than the best order of a tree or a beam") {
  rng random{54};
  const platform<> one{std::vector<device>(1), link_matrix{1}};
  for (int round = 0; round < test::rounds(60); ++round) {
    CAPTURE(round);
    const bool is_tree = round % 2 == 0;
    const std::uint32_t n = is_tree ? 40 + random.below(161) : 40 + random.below(31);
    const std::uint32_t largest = round % 4 < 2 ? 1 : 20;
    std::vector<std::vector<op_id>> inputs(n);
    std::vector<byte_count> bytes;
    for (op_id v = 0; v < n; ++v) {
      bytes.push_back(1 + random.below(largest));
      if (is_tree && v + 1 < n) {
        inputs[v + 1 + random.below(std::min(n - 1 - v, 12u))].push_back(v);
      } else if (!is_tree && v > 0) {
        for (std::uint32_t k = 0; k < 1 + random.below(3); ++k) {
          inputs[v].push_back(v - 1 - random.below(std::min(v, 12u)));
        }
        std::ranges::sort(inputs[v]);
        const auto same = std::ranges::unique(inputs[v]);
        inputs[v].erase(same.begin(), same.end());
      }
    }
    const workload w = test::workload_of(inputs, bytes);
    const drawn_problem p{w, one};
    const other_methods others{inputs, bytes};
    const byte_count known = is_tree ? others.by_tree() : others.by_beam(8);
    std::uint64_t visits = 2'000 * n;
    const auto r = search(p, known, all_sets, [&](std::uint64_t k) { return visits >= k && (visits -= k, true); });
    REQUIRE(r.what == answer::found);
    CHECK(peak_of(p, r.sequence) <= known);
    if (is_tree) { // the least that any order needs
      CHECK(search(p, known - 1, 2'000, unlimited).what != answer::found);
    }
  }
}

TEST_CASE("one_device_order: graphs of array programs, in the least memory that there is") {
  const platform<> one{std::vector<device>(1), link_matrix{1}};
  for (const auto& program : {test::anomaly(), test::crossed()}) {
    const byte_count least = program.least;
    CAPTURE(least);
    const workload w = test::workload_of(program, 1);
    const drawn_problem p{w, one};
    const auto r = search(p, least, 500, unlimited);
    REQUIRE(r.what == answer::found);
    CHECK(peak_of(p, r.sequence) == least);
    CHECK(search(p, least - 1, all_sets, unlimited).what == answer::none_exists);
    CHECK(search(p, least - 1, 1, unlimited).what == answer::unknown);
    CHECK(search(p, least, all_sets, [](std::uint64_t) { return false; }).what == answer::unknown);
  }
}

} // namespace refine_detail_one_device_order_test
