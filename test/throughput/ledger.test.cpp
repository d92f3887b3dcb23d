// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "weft/throughput/ledger.hpp"
#include "weft/throughput/loads.hpp"

#include <doctest/doctest.h>

namespace throughput_ledger_test {

using namespace weft;

/// Moves components at random and compares with the full evaluation after each move.
template <class Problem>
void check_moves(const Problem& p, rng& random) {
  const throughput::flow<Problem> f{p};
  std::vector<device_id> where(p.num_components());
  for (auto& d : where) {
    d = random.below(p.num_devices());
  }
  throughput::ledger<Problem> books{f, where};
  placement all(p.num_ops());
  for (int i = 0; i < 12 && p.num_components() > 0 && p.num_devices() > 1; ++i) {
    const component_id c = random.below(p.num_components());
    device_id to = random.below(p.num_devices() - 1);
    to += to >= where[c] ? 1u : 0u;
    where[c] = to;
    double told = 0;
    std::vector<double> before(books.loads().begin(), books.loads().end());
    books.move(c, to, [&](std::size_t r, double old, double now) {
      told += weft_test::about(before[r], old) ? 0 : 1;
      before[r] = now;
    });
    REQUIRE(told == 0);
    for (const op_id v : ids(p.num_ops())) {
      all[v] = where[p.component(v)];
    }
    const auto expected = throughput::loads(p, all);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      REQUIRE(weft_test::about(books.loads()[r], expected[r]));
      REQUIRE(before[r] == books.loads()[r]);
    }
    REQUIRE(weft_test::about(books.period(), throughput::period(p, all)));
  }
  std::vector<byte_count> free(p.num_devices());
  for (const device_id d : ids(p.num_devices())) {
    free[d] = static_cast<byte_count>(p.platform().memory_capacity(d));
  }
  for (component_id c = 0; c < p.num_components(); ++c) {
    free[where[c]] -= p.demand(c);
  }
  for (const device_id d : ids(p.num_devices())) {
    REQUIRE(books.free(d) == free[d]);
  }
}

TEST_CASE("throughput: the ledger equals the full evaluation after every move") {
  rng random{2};
  for (int i = 0; i < 3000; ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 14, .max_devices = 5});
    check_moves(s.staged(), random);
    check_moves(s.linear(), random);
  }
}

TEST_CASE("throughput: a flow has one parcel for tensors between the same components") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 4});
  b.add_op({.work = 1, .bytes = 4});
  b.add_op({.work = 1, .bytes = 4});
  b.add_op({.work = 1});
  b.colocate(0, 1);
  b.add_edge(0, 1); // stays inside
  b.add_edge(0, 2);
  b.add_edge(1, 2);
  b.add_edge(2, 3);
  const auto w = std::move(b).build();
  const platform<uniform_links> devices{{{.kind = device_kind::fpga}, {.kind = device_kind::cpu}}, {}};
  const problem p{w, devices, cost::staged{{{1, 1, 1, 1}, {2, 2, 2, 2}, {1, 2, 4}}}};
  const throughput::flow f{p};
  REQUIRE(f.num_parcels() == 2);
  CHECK(f.tensors(0).size() == 2);
  CHECK(f.producer(0) == 0);
  CHECK(f.consumers(0).size() == 1);
  CHECK(f.leaving(0, 0) == 3);
  CHECK(f.leaving(0, 1) == 0);
  CHECK(f.leaving(1, 0) == 4);
  CHECK(f.time(0, 0) == 4);
  CHECK(f.inputs(p.component(2)).size() == 1);
  CHECK(f.outputs(p.component(3)).empty());
}

} // namespace throughput_ledger_test
