// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "weft/throughput/latency.hpp"
#include "weft/throughput/lowest_latency.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace throughput_latency_test {

using namespace weft;
using staged_problem = weft_test::small::staged_problem;

/// Which ops are reached from which.
std::vector<std::vector<bool>> reachability(const staged_problem& p) {
  std::vector<std::vector<bool>> reaches(p.num_ops(), std::vector<bool>(p.num_ops(), false));
  for (const op_id v : p.topological_order()) {
    for (const tensor_id t : p.workload().inputs(v)) {
      const op_id u = p.workload().producer(t);
      for (const op_id w : ids(p.num_ops())) {
        if (w == u || reaches[w][u]) {
          reaches[w][v] = true;
        }
      }
    }
  }
  return reaches;
}

/// When the piece of op v is done, by recursion over the definition; infinite on a cycle.
class naive_latency {
public:
  naive_latency(const staged_problem& p, const placement& where, const std::vector<std::uint32_t>& pieces)
      : p_{p}, where_{where}, pieces_{pieces}, state_(p.num_ops(), 0), done_(p.num_ops(), 0.0) {}

  double value() {
    double most = 0;
    for (const op_id v : ids(p_.num_ops())) {
      most = std::max(most, finish(pieces_[v]));
    }
    return most;
  }

private:
  double finish(std::uint32_t piece) {
    if (state_[piece] == 2) {
      return done_[piece];
    }
    if (state_[piece] == 1) {
      return std::numeric_limits<double>::infinity();
    }
    state_[piece] = 1;
    double start = 0;
    double time = 0;
    std::set<tensor_id> crossing;
    bool host = false;
    for (const op_id v : ids(p_.num_ops())) {
      if (pieces_[v] != piece) {
        continue;
      }
      time += p_.compute_time(v, where_[v]);
      host = p_.platform().kind(where_[v]) == device_kind::cpu;
      for (const tensor_id t : p_.workload().inputs(v)) {
        if (const op_id u = p_.workload().producer(t); pieces_[u] != piece) {
          start = std::max(start, finish(pieces_[u]));
          crossing.insert(t);
        }
      }
      for (const tensor_id t : p_.workload().outputs(v)) {
        for (const op_id c : p_.workload().consumers(t)) {
          if (pieces_[c] != piece) {
            crossing.insert(t);
          }
        }
      }
    }
    for (const tensor_id t : crossing) {
      time += host ? 0 : p_.cost().times().transfer[t];
    }
    state_[piece] = 2;
    return done_[piece] = start + time;
  }

  const staged_problem& p_;
  const placement& where_;
  const std::vector<std::uint32_t>& pieces_;
  std::vector<int> state_;
  std::vector<double> done_;
};

TEST_CASE("throughput: latency of blocks, by hand") {
  workload_builder b; // 0 -> 1 -> 2 -> 3
  for (op_id v = 0; v < 4; ++v) {
    b.add_op({.work = 1, .bytes = 0});
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> devices{
    {{.kind = device_kind::fpga}, {.kind = device_kind::fpga}, {.kind = device_kind::cpu}}, {}};
  const problem p{w, devices, cost::staged{{{10, 20, 30, 40}, {1, 2, 3, 4}, {0.5, 0.25, 0.125, 7}}}};
  CHECK(throughput::latency(p, {2, 2, 2, 2}) == 100);
  CHECK(throughput::latency(p, {0, 0, 0, 0}) == 10);
  CHECK(throughput::latency(p, {0, 0, 1, 1}) == 10 + 2 * 0.25);
  CHECK(throughput::latency(p, {0, 0, 2, 1}) == 3 + 0.25 + 30 + 0.125 + 4);
  // Device 0 is left and entered again: two pieces.
  CHECK(throughput::latency(p, {0, 1, 0, 0}) == 10 + 2 * 0.5 + 2 * 0.25);
  CHECK(throughput::latency(p, {0, 2, 0, 0}) == 1 + 0.5 + 20 + 0.25 + 7);
  CHECK(throughput::latency_bound(p) == 10);
}

TEST_CASE("throughput: a block waits for all that comes in and ends as a whole") {
  workload_builder b; // 0 -> 1, 2 -> 3; 1 and 2 in one block, 3 wants the block's end
  for (op_id v = 0; v < 4; ++v) {
    b.add_op({.work = 1, .bytes = 0});
  }
  b.add_edge(0, 1);
  b.add_edge(2, 3);
  const auto w = std::move(b).build();
  const platform<uniform_links> devices{
    {{.kind = device_kind::fpga}, {.kind = device_kind::fpga}, {.kind = device_kind::cpu}}, {}};
  const problem p{w, devices, cost::staged{{{10, 20, 30, 40}, {1, 2, 3, 4}, {0.5, 9, 0.25, 9}}}};
  CHECK(throughput::latency(p, {2, 0, 0, 2}) == 10 + (0.5 + 2 + 3 + 0.25) + 40);
  // {0, 3} and {1, 2} wait for each other.
  CHECK(std::isinf(throughput::latency(p, {0, 1, 1, 0})));
}

TEST_CASE("throughput: pieces are contiguous and evaluated as defined") {
  rng random{9};
  int cut = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 10, .max_devices = 4});
    const auto p = s.staged();
    const auto reaches = reachability(p);
    throughput::latency_evaluator<staged_problem> evaluate{p};
    for (int j = 0; j < 3; ++j) { // the evaluator keeps nothing of its last run
      placement where(p.num_ops());
      for (auto& d : where) {
        d = random.below(p.num_devices());
      }
      const double value = evaluate(where);
      const auto& pieces = evaluate.pieces();
      for (const op_id a : ids(p.num_ops())) {
        for (const op_id c : ids(p.num_ops())) {
          const bool host = p.platform().kind(where[a]) == device_kind::cpu;
          REQUIRE((a == c || pieces[a] != pieces[c] || (where[a] == where[c] && !host)));
          bool split = false; // some path from a to c leaves the device
          for (const op_id m : ids(p.num_ops())) {
            split = split || (reaches[a][m] && reaches[m][c] && where[m] != where[a]);
          }
          REQUIRE(!(split && pieces[a] == pieces[c]));
          cut += split && where[a] == where[c] ? 1 : 0;
        }
      }
      const double expected = naive_latency{p, where, pieces}.value();
      REQUIRE((value == expected || weft_test::about(value, expected)));
      REQUIRE((!weft_test::is_allowed(p, where) || value >= throughput::latency_bound(p) - 1e-9));
    }
  }
  CHECK(cut > 100);
}

TEST_CASE("throughput: lowest_latency finds what trying everything finds") {
  rng random{10};
  int same = 0;
  int solved = 0;
  for (int i = 0; i < 400; ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 6});
    const auto p = s.staged();
    throughput::latency_evaluator<staged_problem> evaluate{p};
    double least = std::numeric_limits<double>::infinity();
    weft_test::each_placement(p, [&](const placement& where) { least = std::min(least, evaluate(where)); });
    rng seed{1};
    const auto r = throughput::lowest_latency{.rounds = 2, .moves_per_round = 500}(p, seed);
    REQUIRE(r.has_value() == (least < 1e300));
    if (r) {
      ++solved;
      REQUIRE(weft_test::is_allowed(p, r->placement));
      REQUIRE(r->latency == throughput::latency(p, r->placement));
      REQUIRE(r->latency >= least - 1e-9);
      REQUIRE(r->bound <= least + 1e-9);
      same += weft_test::about(r->latency, least) ? 1 : 0;
      rng again{1};
      const auto twice = throughput::lowest_latency{.rounds = 2, .moves_per_round = 500}(p, again);
      REQUIRE(twice->placement == r->placement);
    }
  }
  CHECK(solved > 300);
  CHECK(same >= solved * 98 / 100);
}

} // namespace throughput_latency_test
