// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/device_memory.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace bound_device_memory_test {

using namespace weft;

/// Two chains of two ops, each of which keeps 10 bytes between its ops and takes 20 while it begins.
workload two_chains() {
  workload_builder b;
  for (int chain = 0; chain < 2; ++chain) {
    const op_id first = b.add_op({.work = 1, .bytes = 10, .resident_bytes = 1});
    b.add_output(first, 10);
    b.add_edge(first, b.add_op({.work = 1, .bytes = 0}));
  }
  return std::move(b).build();
}

TEST_CASE("device memory: one chain after the other needs less than both at once") {
  const workload w = two_chains();
  const platform<> q{std::vector<device>{{.memory_capacity = 22}, {.memory_capacity = 21}}, link_matrix{2}};
  const problem p{w, q};
  bound::device_memory<problem<workload, platform<>>> memory{p};
  CHECK(memory.fits(0, 0b1111)); // 2 are resident
  CHECK_FALSE(memory.fits(1, 0b1111));
  CHECK_FALSE(memory.fits(1, 0b0101)); // what nobody reads there is there while it is made
  CHECK(memory.fits(1, 0b0111 & ~0b0100));
  CHECK(memory.fits(1, 0b1010)); // only readers
  CHECK(memory.fits(1, 0));
}

TEST_CASE("device memory: of more than 64 ops it says nothing") {
  workload_builder b;
  for (int v = 0; v < 65; ++v) {
    b.add_op({.work = 1, .resident_bytes = 1});
  }
  const workload w = std::move(b).build();
  const platform<> q{std::vector<device>(1, {.memory_capacity = 1}), link_matrix{1}};
  const problem p{w, q};
  bound::device_memory<problem<workload, platform<>>> memory{p};
  CHECK_FALSE(memory.applies());
  CHECK(memory.fits(0, 3));
}

TEST_CASE("device memory: what a run holds fits, on every network") {
  rng random{5};
  int tight = 0;
  for (int round = 0; round < test::rounds(3000); ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.max_ops = 14}};
    const plan x{test::random_placement(random, s.p), {}};
    const auto network = round % 2 == 0 ? contention_model::port : contention_model::fair;
    trace run;
    simulator{s.p, schedule::static_order{}, simulate::any_network{network}}.run(x, simulate::recorder{run});
    const auto peaks = peak_memory_of(s.p, x.placement, run);
    const auto p = s.p.with_capacities(peaks);
    auto less = peaks;
    for (byte_count& bytes : less) {
      bytes -= bytes > 0 ? 1 : 0;
    }
    const auto lacking = s.p.with_capacities(less);
    bound::device_memory<test::drawn_problem> memory{p};
    bound::device_memory<test::drawn_problem> short_memory{lacking};
    for (const device_id d : ids(s.p.num_devices())) {
      std::uint64_t here = 0;
      for (const op_id v : ids(s.p.num_ops())) {
        here |= x.placement[v] == d ? std::uint64_t{1} << v : 0;
      }
      CHECK(memory.fits(d, here));
      const bool fits = short_memory.fits(d, here);
      tight += !fits;
      if (fits && here != 0) { // nor does a part of them need more
        CHECK(short_memory.fits(d, here & (here - 1)));
      }
    }
  }
  CHECK((tight > 1000 || !test::are_all_rounds));
}

} // namespace bound_device_memory_test
