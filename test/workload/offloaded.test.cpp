// SPDX-License-Identifier: BSL-1.0
// What becomes of a workload some of whose tensors wait on the host.
#include "weft/workload/offloaded.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace workload_offloaded_test {

using namespace weft;

/// a makes 8 and 6 bytes; b reads both, c the second, d what c makes and both.
workload example() {
  workload_builder b;
  const op_id a = b.add_op({.work = 3, .bytes = 8, .resident_bytes = 5, .name = "a", .type = "Relu"});
  b.add_output(a, 6);
  for (const char* name : {"b", "c", "d"}) {
    b.add_op({.work = 1, .bytes = 2, .name = name});
  }
  b.colocate(0, 3);
  b.add_edge(0, 1, 0);
  b.add_edge(0, 1, 1);
  b.add_edge(0, 2, 1);
  b.add_edge(2, 3);
  b.add_edge(0, 3, 0);
  b.add_edge(0, 3, 1);
  b.add_control_edge(1, 2);
  return std::move(b).build();
}
std::vector<op_id> readers(const workload& w, op_id v, std::size_t output) {
  const tensor_id t = *w.outputs(v).begin() + static_cast<tensor_id>(output);
  return {w.consumers(t).begin(), w.consumers(t).end()};
}

TEST_CASE("offloaded: the tensor goes to an op of the host, and its last readers read what that makes") {
  const workload w = example();
  const round_trip trips[] = {{.tensor = 0, .after = 2, .readers = {3}}, {.tensor = 1, .readers = {2, 3}}};
  const workload x = offloaded(w, trips);
  REQUIRE(x.num_ops() == 6);
  CHECK(x.name(0) == "a");
  CHECK(x.type(0) == "Relu");
  CHECK(x.work(0) == 3);
  CHECK(x.resident_bytes(0) == 5);
  CHECK(x.group(0) == x.group(3));
  CHECK(readers(x, 0, 0) == std::vector<op_id>{1, 4});
  CHECK(readers(x, 0, 1) == std::vector<op_id>{1, 5});
  CHECK(x.name(4) == "offload/a");
  CHECK(x.name(5) == "offload/a:1");
  for (const op_id host : {4u, 5u}) {
    CHECK(x.work(host) == 0);
    CHECK(x.resident_bytes(host) == 0);
    CHECK(x.kinds(host) == kind_set{device_kind::cpu});
    CHECK(x.outputs(host).size() == 1);
  }
  CHECK(x.bytes(*x.outputs(4).begin()) == 8);
  CHECK(x.bytes(*x.outputs(5).begin()) == 6);
  CHECK(readers(x, 4, 0) == std::vector<op_id>{3});
  CHECK(readers(x, 5, 0) == std::vector<op_id>{2, 3});
  CHECK(x.inputs(4).size() == 2); // the tensor, and the message that it is time
  CHECK(x.inputs(5).size() == 1);
  CHECK(readers(x, 2, 0) == std::vector<op_id>{3});
  CHECK(readers(x, 2, 1) == std::vector<op_id>{4});
  CHECK(readers(x, 1, 1) == std::vector<op_id>{2}); // control edges stay
  CHECK(x.num_edges() == w.num_edges() + 3);
}

TEST_CASE("offloaded: trips that cannot be are refused") {
  const workload w = example();
  const auto refuses = [&](round_trip x) { return offloaded(w, std::vector{std::move(x)}); };
  CHECK_THROWS_AS(refuses({.tensor = 99, .readers = {3}}), dangling_id_error);
  CHECK_THROWS_AS(refuses({.tensor = 0, .after = 99, .readers = {3}}), dangling_id_error);
  CHECK_THROWS_AS(refuses({.tensor = 0, .readers = {2}}), value_error);
  CHECK_THROWS_AS(refuses({.tensor = 0}), value_error);
  CHECK_THROWS_AS(refuses({.tensor = 1, .after = 3, .readers = {2}}), cycle_error);
  CHECK(offloaded(w, {}).num_ops() == w.num_ops());
}

} // namespace workload_offloaded_test
