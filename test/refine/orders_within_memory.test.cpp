// SPDX-License-Identifier: BSL-1.0
#include "weft/refine/orders_within_memory.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/schedule/placed_flow.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace refine_orders_within_memory_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr auto unlimited = [](std::uint64_t) { return true; };

/// Runs every order of the ops and sends of a placement.
class every_order {
public:
  every_order(const drawn_problem& p, const placement& where)
      : p_{p}, flow_{p}, sim_{p}, x_{where, {}} {
    flow_.assign(where);
    waits_.assign(flow_.num_items(), 1);
    for (const op_id v : ids(p.num_ops())) {
      waits_[v] = flow_.num_inputs(v);
    }
    for (item_id i = 0; i < flow_.num_items(); ++i) {
      total_ += flow_.needs_queue(i) ? 1u : 0u;
    }
    done_.assign(flow_.num_items(), false);
    extend();
  }
  double best() const { return best_; }
  /// In the run of a plan no device holds more than it has.
  static bool fits(const drawn_problem& p, const placement& where, const trace& run) {
    const auto peak = peak_memory_of(p, where, run);
    for (const device_id d : ids(p.num_devices())) {
      if (peak[d] > p.platform().memory_capacity(d)) {
        return false;
      }
    }
    return true;
  }

private:
  void extend() {
    if (x_.order.size() == total_) {
      trace run;
      if (sim_.run(x_, simulate::recorder{run}).complete && run.makespan < best_ && fits(p_, x_.placement, run)) {
        best_ = run.makespan;
      }
      return;
    }
    for (item_id i = 0; i < flow_.num_items(); ++i) {
      if (!done_[i] && waits_[i] == 0 && flow_.needs_queue(i)) {
        const bool sends = flow_.is_send(i);
        done_[i] = true;
        x_.order.push_back(sends ? send_of(i) : step::run(i));
        release(i, std::uint32_t(-1));
        extend();
        release(i, 1);
        x_.order.pop_back();
        done_[i] = false;
      }
    }
  }
  step send_of(item_id i) const {
    const auto& t = flow_.transfers()[flow_.transfer_of(i)];
    return step::send(p_.workload().producer(t.tensor), t.tensor, t.to);
  }
  void release(item_id i, std::uint32_t by) {
    if (flow_.is_send(i)) {
      for (const op_id c : flow_.consumers_of_transfer(flow_.transfer_of(i))) {
        waits_[c] += by;
      }
      return;
    }
    for (const tensor_id t : p_.workload().outputs(i)) {
      for (const op_id c : flow_.local_consumers(t)) {
        waits_[c] += by;
      }
      for (const std::uint32_t k : flow_.transfers_of(t)) {
        waits_[flow_.send_of(k)] += by;
        if (!flow_.needs_queue(flow_.send_of(k))) {
          for (const op_id c : flow_.consumers_of_transfer(k)) {
            waits_[c] += by;
          }
        }
      }
    }
  }

  const drawn_problem& p_;
  placed_flow<drawn_problem> flow_;
  simulator<drawn_problem, schedule::static_order> sim_;
  plan x_;
  std::size_t total_ = 0;
  std::vector<std::uint32_t> waits_;
  std::vector<bool> done_;
  double best_ = infinity;
};

TEST_CASE("orders_within_memory: the best order of a placement, as running every order finds it") {
  rng random{71};

  int none_fits = 0;
  for (int round = 0; round < test::rounds(3000); ++round) {
    CAPTURE(round);
    const drawn s{random, {.max_ops = 6, .max_devices = 3, .groups = false, .kinds = false,
                           .capacity = 4 + random.below(40)}};
    const placement where = test::random_placement(random, s.p);
    placed_flow<drawn_problem> flow{s.p};
    flow.assign(where);
    std::size_t queued = 0;
    for (item_id i = 0; i < flow.num_items(); ++i) {
      queued += flow.needs_queue(i) ? 1u : 0u;
    }
    if (queued > 7) {
      continue;
    }
    const double expected = every_order{s.p, where}.best();
    refine::orders_within_memory<drawn_problem> search{s.p};
    const double found = search.minimise(where, infinity, std::uint64_t(-1), unlimited);
    REQUIRE(search.ended());
    CHECK(found == expected);
    none_fits += expected == infinity;
    if (expected < infinity) {
      const plan best{where, search.best_order()};
      trace run;
      CHECK(simulator<drawn_problem, schedule::static_order>{s.p}.run(best, simulate::recorder{run}).complete);
      CHECK(run.makespan == found);
      CHECK(every_order::fits(s.p, where, run));
      CHECK(search.admits(where, run));
      CHECK(search.minimise(where, expected, std::uint64_t(-1), unlimited) == expected); // nothing is below
      CHECK(search.ended());
    }
  }
  CHECK((none_fits > 100 || !test::are_all_rounds));
}

/// A training step of `micro` micro-batches through `stages` stages: what a stage's forward pass keeps for its backward
/// pass takes 1000 bytes, and what goes from stage to stage takes `moved`.
workload pipeline(std::uint32_t stages, std::uint32_t micro, byte_count moved) {
  workload_builder b;
  std::vector<std::vector<op_id>> forward(stages), backward(stages);
  const auto add = [&](std::uint32_t m) {
    for (std::uint32_t s = 0; s < stages; ++s) {
      const op_id v = b.add_op({.work = 1, .bytes = 1000});
      b.add_output(v, moved);
      forward[s].push_back(v);
      if (s > 0) {
        b.add_edge(forward[s - 1][m], v, 1);
      }
    }
    for (std::uint32_t s = stages; s-- > 0;) {
      const op_id v = b.add_op({.work = 2, .bytes = moved});
      backward[s].push_back(v);
      b.add_edge(forward[s][m], v, 0);
      if (s + 1 < stages) {
        b.add_edge(backward[s + 1][m], v, 0);
      }
    }
  };
  for (std::uint32_t m = 0; m < micro; ++m) {
    add(m);
  }
  for (std::uint32_t s = 0; s < stages; ++s) {
    for (std::uint32_t m = 0; m < micro; ++m) {
      b.colocate(forward[s][0], forward[s][m]);
      b.colocate(forward[s][0], backward[s][m]);
    }
  }
  return std::move(b).build();
}

TEST_CASE("orders_within_memory: pipelines in what one forward, one backward has in flight") {
  for (const std::uint32_t stages : {2u, 3u, 4u, 8u}) {
    for (const std::uint32_t micro : {stages, 2 * stages, 4 * stages}) {
      for (const byte_count moved : {1u, 100u}) {
        CAPTURE(stages);
        CAPTURE(micro);
        CAPTURE(moved);
        const workload w = pipeline(stages, micro, moved);
        std::vector<device> devices;
        for (std::uint32_t s = 0; s < stages; ++s) {
          devices.push_back({.memory_capacity = (1000 + 3 * moved) * (stages - s)});
        }
        const platform<> q{std::move(devices), link_matrix{stages}};
        const problem p{w, q};
        placement where(p.num_ops());
        for (const op_id v : ids(p.num_ops())) {
          const std::uint32_t k = v % (2 * stages);
          where[v] = k < stages ? k : 2 * stages - 1 - k;
        }
        refine::orders_within_memory<std::remove_const_t<decltype(p)>> search{p};
        const double found = search.minimise(where, infinity, 10'000, unlimited);
        CHECK(found == 3.0 * (micro + stages - 1));
      }
    }
  }
}

} // namespace refine_orders_within_memory_test
