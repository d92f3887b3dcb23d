// SPDX-License-Identifier: BSL-1.0
#include "weft/model/traced_workload.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace model_traced_workload_test {

using namespace weft;
using values = std::vector<traced_value>;

TEST_CASE("traced workload: small parameters are with each reader, large ones with the first, which keeps the others") {
  traced_workload t;
  const auto small = t.add_parameter(4096);
  const auto large = t.add_parameter(4097);
  const auto a = t.add_op({.name = "a"}, values{small, large, large});
  const auto b = t.add_op({.resident_bytes = 1, .name = "b"}, values{small});
  const auto c = t.add_op({.name = "c"}, values{large});
  const auto d = t.add_op({.name = "d"}, values{});
  t.keep(large.parameter, d); // it makes what replaces it
  const auto w = std::move(t).build();
  CHECK(w.resident_bytes(a) == 4096 + 4097);
  CHECK(w.resident_bytes(b) == 4097);
  CHECK(w.resident_bytes(c) == 0);
  CHECK(w.group(a) == w.group(c));
  CHECK(w.group(a) == w.group(d));
  CHECK(w.group(b) == none);
}

TEST_CASE("traced workload: parameters with names, and the ops that hold them, copies and views too") {
  traced_workload t;
  const auto small = t.add_parameter(16, "bias");
  const auto large = t.add_parameter(10'000, "weight");
  const auto shown = t.add_parameter(20'000, "shown");
  const auto nameless = t.add_parameter(5'000);
  const auto replaced = t.add_parameter(6'000, "replaced");
  const auto a = t.add_op({.name = "a"}, values{small, large, nameless});
  const auto b = t.add_op({.name = "b"}, values{small, large});
  const auto view = t.add_view({.name = "view"}, shown);
  t.keep(replaced.parameter, b);
  const auto found = t.named_parameters();
  const auto w = std::move(t).build();
  std::vector<byte_count> named(w.num_ops(), 0);
  std::vector<std::pair<std::string, op_id>> names;
  for (const auto& p : found) {
    named[p.op] += p.bytes;
    names.emplace_back(p.name, p.op);
  }
  CHECK(names == std::vector<std::pair<std::string, op_id>>{
                   {"bias", a}, {"weight", a}, {"bias", b}, {"shown", view}, {"replaced", b}});
  CHECK(w.resident_bytes(a) == named[a] + 5'000);
  CHECK(w.resident_bytes(b) == named[b]);
  CHECK(w.resident_bytes(view) == named[view]);
}

TEST_CASE("traced workload: views of a parameter are the parameter, and with their reader if that is one") {
  traced_workload t;
  const auto weights = t.add_parameter(10'000);
  const auto view = t.add_view({.work = 5, .name = "transposed"}, weights);
  const auto shown = t.add_output_of(view, weights.parameter);
  const auto again = t.add_view({.name = "reshaped"}, shown);
  const auto shown_again = t.add_output_of(again, weights.parameter);
  const auto product = t.add_op({.work = 7, .name = "product"}, values{shown_again, traced_value{}});
  const auto result = t.add_output(product, 64);
  const auto sum = t.add_op({.name = "sum"}, values{result, result});
  const auto w = std::move(t).build();
  CHECK(w.work(view) == 0);
  CHECK(w.resident_bytes(view) == 0);
  CHECK(w.bytes(w.outputs(again).front()) == 0);
  CHECK(w.resident_bytes(product) == 10'000);
  CHECK(w.group(view) == w.group(product)); // through the other view
  CHECK(w.group(again) == w.group(product));
  CHECK(w.inputs(product).size() == 1);
  CHECK(w.inputs(sum).size() == 1);
  CHECK(w.group(sum) == none);
}

TEST_CASE("traced workload: a view with several readers is with none of them") {
  traced_workload t;
  const auto bias = t.add_parameter(16);
  const auto view = t.add_view({.name = "view"}, bias);
  const auto shown = t.add_output_of(view, bias.parameter);
  const auto a = t.add_op({.name = "a"}, values{shown});
  const auto b = t.add_op({.name = "b"}, values{shown});
  t.add_order(a, b);
  const auto w = std::move(t).build();
  CHECK(w.group(view) == none);
  CHECK(w.resident_bytes(a) == 16);
  CHECK(w.resident_bytes(b) == 16);
  CHECK(w.inputs(b).size() == 2);
}

TEST_CASE("traced workload: a parameter that nothing reads is with what replaces it, else with what shows it") {
  traced_workload t;
  const auto replaced = t.add_parameter(10'000);
  const auto shown = t.add_parameter(20'000);
  const auto small = t.add_parameter(16);
  static_cast<void>(t.add_parameter(30'000)); // nobody has it
  static_cast<void>(t.add_parameter(0));
  const auto a = t.add_op({.resident_bytes = 1, .name = "a"}, values{});
  t.keep(replaced.parameter, a);
  t.keep(small.parameter, a);
  const auto view = t.add_view({.name = "view"}, shown);
  const auto again = t.add_view({.name = "again"}, t.add_output_of(view, shown.parameter));
  CHECK(t.num_unread() == 1);
  const auto w = std::move(t).build();
  CHECK(w.resident_bytes(a) == 10'000 + 16 + 1);
  CHECK(w.resident_bytes(view) == 20'000);
  CHECK(w.resident_bytes(again) == 0);
}

TEST_CASE("traced workload: parameters that cannot be are refused") {
  traced_workload t;
  CHECK_THROWS_AS(static_cast<void>(t.add_parameter(std::numeric_limits<byte_count>::max())), value_error);
  const auto huge = t.add_parameter(workload_builder::max_total_bytes);
  const auto other = t.add_parameter(workload_builder::max_total_bytes);
  CHECK_THROWS_AS(static_cast<void>(t.add_op({.name = "a"}, values{huge, other})), value_error);
}

} // namespace model_traced_workload_test
