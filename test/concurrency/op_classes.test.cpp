// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/op_classes.hpp"

#include "weft/graph/adjacency.hpp"
#include "weft/workload/annotated_graph.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace concurrency_op_classes_test {

using namespace weft;
using concurrency::op_classes;

std::vector<concurrency::class_id> numbers(const op_classes& c) {
  std::vector<concurrency::class_id> list;
  for (const op_id v : ids(c.num_ops())) {
    list.push_back(c.class_of(v));
  }
  return list;
}

TEST_CASE("op_classes: ops of equal type, work and sizes are of one class") {
  workload_builder b;
  b.add_op({.work = 8, .bytes = 100, .type = "Mul"});                       // 0
  b.add_op({.work = 8, .bytes = 100, .type = "Mul"});                       // 1: as 0
  b.add_op({.work = 8, .bytes = 100, .type = "Add"});                       // 2: another type
  b.add_op({.work = 9, .bytes = 100, .type = "Mul"});                       // 3: other work
  b.add_op({.work = 8, .bytes = 101, .type = "Mul"});                       // 4: another output
  b.add_op({.work = 8, .bytes = 100, .resident_bytes = 5, .type = "Mul"});  // 5: parameters
  b.add_op({.work = 8, .bytes = 100, .type = "Mul"});                       // 6: an input
  b.add_op({.work = 8, .bytes = 100, .type = "Mul"});                       // 7: as 6
  b.add_op({.work = 8, .bytes = 100, .type = "Mul"});                       // 8: another input
  b.add_edge(0, 6);
  b.add_edge(1, 7);
  b.add_edge(4, 8);
  const op_classes c{std::move(b).build()};
  CHECK(numbers(c) == std::vector<concurrency::class_id>{0, 0, 1, 2, 3, 4, 5, 5, 6});
  CHECK(c.num_classes() == 7);
  CHECK(c.size(0) == 2);
  CHECK(c.size(1) == 1);
  CHECK(c.representative(5) == 6);
  CHECK(c.num_types() == 2);
  CHECK(c.type(0) == c.type(6));
  CHECK(c.type(0) != c.type(1));
  CHECK(c.type_name(c.type(1)) == "Add");
  CHECK(c.key(0) == "Mul work=8 out=100");
  CHECK(c.key(4) == "Mul work=8 resident=5 out=100");
  CHECK(c.key(6) == "Mul work=8 in=101 out=100");
}

TEST_CASE("op_classes: without types, ops of equal work are of one type") {
  workload_builder b;
  b.add_op({.work = 1e8, .bytes = 1});
  b.add_op({.work = 1e8, .bytes = 2});
  b.add_op({.work = 0.5});
  const op_classes c{std::move(b).build()};
  CHECK(c.num_classes() == 3);
  CHECK(c.num_types() == 2);
  CHECK(c.type_name(0) == "op of 100000000");
  CHECK(c.type_name(1) == "op of 0.5");
}

TEST_CASE("op_classes: work that differs is told apart, however small") {
  workload_builder b;
  for (const double work : {1e-7, 2e-7, 0.0, 1e300, 1.1e300}) {
    b.add_op({.work = work, .type = "t"});
  }
  CHECK(op_classes{std::move(b).build()}.num_classes() == 5);
}

TEST_CASE("op_classes: by keys of one's own") {
  workload_builder b;
  for (const char* type : {"a", "b", "a", "a"}) {
    b.add_op({.work = 1, .type = type});
  }
  const workload w = std::move(b).build();
  const std::vector<std::string> keys{"x", "y", "z", "x"};
  const op_classes c{w, keys};
  CHECK(numbers(c) == std::vector<concurrency::class_id>{0, 1, 2, 0});
  CHECK(c.key(2) == "z");
  CHECK(c.type(0) == c.type(2));
  CHECK_THROWS_AS(op_classes(w, std::span{keys}.first(3)), value_error);
}

TEST_CASE("op_classes: nothing, and a graph that knows no types") {
  CHECK(op_classes{}.num_ops() == 0);
  CHECK(op_classes{workload_builder{}.build()}.num_classes() == 0);
  const std::vector<std::vector<int>> successors{{1, 2}, {}, {}};
  const std::vector<double> work{1, 4, 4};
  const annotated_graph w{successors, {.work = work}};
  CHECK(op_classes{w}.num_classes() == 2);
}

} // namespace concurrency_op_classes_test
