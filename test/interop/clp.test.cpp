// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/clp.hpp"

#include "partition/cluster/costs_of.hpp"

#include "weft/partition/m_sct.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace interop_clp_test {

using namespace weft;
namespace sct = partition::sct;

/// An op of `compute` seconds and two successors like it, each of which waits `transfer` seconds for its input.
sct::program fork(double compute, double transfer) {
  sct::program lp;
  lp.compute = {compute, compute, compute};
  lp.arcs.push_back({.from = 0, .to = 1, .transfer = transfer});
  lp.arcs.push_back({.from = 0, .to = 2, .transfer = transfer});
  lp.first_input = {0, 0, 1, 2};
  lp.order = {0, 1, 2};
  return lp;
}

TEST_CASE("clp: two successors share the favour, as calculated by hand") {
  const auto lp = fork(1, 4);
  const auto share = interop::clp{}(lp);
  REQUIRE(share.size() == 2);
  CHECK(share[0] == doctest::Approx(0.5));
  CHECK(share[1] == doctest::Approx(0.5));
  CHECK(sct::makespan_of(lp, share) == doctest::Approx(4)); // 1 + 4 / 2 + 1
}

TEST_CASE("clp: no arcs, no shares") {
  sct::program lp;
  lp.compute = {1, 2};
  CHECK(interop::clp{}(lp).empty());
}

TEST_CASE("clp: as the solver of m_sct it is never worse than the one that comes with it") {
  workload_builder b;
  std::vector<op_id> row;
  for (int i = 0; i < 12; ++i) {
    const auto v = b.add_op({.work = 1.0 + i % 3, .bytes = static_cast<std::uint64_t>(1 + i % 5)});
    for (std::size_t back : {1u, 3u, 4u}) {
      if (row.size() >= back && (i + static_cast<int>(back)) % 3 != 0) {
        b.add_edge(row[row.size() - back], v);
      }
    }
    row.push_back(v);
  }
  const workload w = std::move(b).build();
  const auto q = test::unit_devices(3);
  const problem p{w, q};
  const auto lp = sct::program_of(partition::cluster::mean_costs{p});
  REQUIRE(lp.arcs.size() > 10);
  const double exact = sct::makespan_of(lp, interop::clp{}(lp));
  const double averaged = sct::makespan_of(lp, sct::averaged_matchings{}(lp));
  CHECK(exact <= averaged * (1 + 1e-9));
  rng random{1};
  workspace scratch;
  CHECK(partition::m_sct<interop::clp>{}(p, random, scratch).has_value());
}

} // namespace interop_clp_test
