// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/on_accelerators.hpp"

#include "weft/partition/pin.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace on_accelerators_test {

using namespace weft;

TEST_CASE("on_accelerators: what may run there does, with its group, and the rest stays") {
  workload_builder b;
  const auto anywhere = b.add_op({.name = "anywhere"});
  const auto reader = b.add_op({.kinds = device_kind::cpu, .name = "reader"});
  const auto joined = b.add_op({.name = "joined"});
  const auto free = b.add_op({.name = "free"}), with_it = b.add_op({.name = "with_it"});
  b.colocate(reader, joined);
  b.colocate(free, with_it);
  const auto w = std::move(b).build();
  const std::vector<device> pair{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}};
  const platform q{pair, link_matrix{2}};
  const auto kept = partition::on_accelerators(w, q);
  for (const op_id v : {anywhere, free, with_it}) {
    CHECK(kept.kinds(v).contains(device_kind::gpu));
    CHECK(!kept.kinds(v).contains(device_kind::cpu));
  }
  CHECK(kept.kinds(reader) == w.kinds(reader));
  CHECK(kept.kinds(joined) == w.kinds(joined)); // as the group may not run there
  const platform hosts{std::vector<device>{pair.front()}, link_matrix{1}};
  CHECK(partition::on_accelerators(w, hosts).kinds(anywhere) == w.kinds(anywhere));
  // Pinned to the host: kinds are those of single devices then.
  const std::vector<partition::pin> pins{{.ops = "anywhere", .devices = {"cpu"}}};
  const auto pinned = partition::pin_ops(w, q, pins);
  const auto both = partition::on_accelerators(pinned.ops, pinned.devices);
  CHECK(both.kinds(anywhere).contains(pinned.devices.kind(0)));
  CHECK(!both.kinds(free).contains(pinned.devices.kind(0)));
  CHECK(both.kinds(free).contains(pinned.devices.kind(1)));
}

} // namespace on_accelerators_test
