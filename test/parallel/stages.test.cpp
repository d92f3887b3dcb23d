// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/stages.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace parallel_stages_test {

using namespace weft;
using namespace weft::parallel;

/// Two layers, the first of which two devices can share.
stage_problem two_layers() {
  return {.layers = {{"a", {{.name = "whole", .seconds = 8, .parameter_bytes = 30, .bytes_per_micro_batch = 5,
                             .fixed_bytes = 60},
                            {.name = "halves", .tensor_degree = 2, .seconds = 5, .parameter_bytes = 15,
                             .bytes_per_micro_batch = 3, .fixed_bytes = 30, .output_bytes = {2}}}},
                     {"b", {{.name = "whole", .seconds = 4, .parameter_bytes = 12, .bytes_per_micro_batch = 1,
                             .fixed_bytes = 24}}}},
          .edges = {{0, 1, 10}},
          .num_devices = 4,
          .memory_bytes = 100,
          .bandwidth = 10,
          .micro_batches = 6};
}

std::string problem_of(const stage_problem& p, const std::vector<stage>& plan) {
  const auto value = evaluate_stages(p, plan);
  CHECK(value.fits() == (value.seconds < std::numeric_limits<double>::infinity()));
  return value.problem;
}

TEST_CASE("evaluate_stages: by hand") {
  const auto p = two_layers();
  const std::vector<stage> one{{.layers = {0, 1}, .variants = {0, 0}, .replicas = 3, .tensor_degree = 1}};
  auto value = evaluate_stages(p, one);
  REQUIRE(value.fits());
  CHECK(value.stages[0].compute_seconds == doctest::Approx(4));
  CHECK(value.stages[0].edge_seconds == 0);
  CHECK(value.stages[0].gradient_seconds == doctest::Approx(4. * 2 / 3 * 42 / 6 / 10));
  CHECK(value.stages[0].in_flight == 1);
  CHECK(value.stages[0].bytes == 90);
  CHECK(value.seconds == doctest::Approx(4 + 56. / 30));

  const std::vector<stage> two{{.layers = {0}, .variants = {1}, .replicas = 1, .tensor_degree = 2},
                               {.layers = {1}, .variants = {0}, .replicas = 2, .tensor_degree = 1}};
  value = evaluate_stages(p, two);
  REQUIRE(value.fits());
  CHECK(value.stages[0].compute_seconds == 5);
  CHECK(value.stages[0].edge_seconds == doctest::Approx(2.4)); // there and back: the tensor, and what its halves need
  CHECK(value.stages[0].gradient_seconds == 0);
  CHECK(value.stages[0].in_flight == 3);
  CHECK(value.stages[0].bytes == 39);
  CHECK(value.stages[1].compute_seconds == 2);
  CHECK(value.stages[1].edge_seconds == doctest::Approx(1));
  CHECK(value.stages[1].gradient_seconds == doctest::Approx(0.4));
  CHECK(value.stages[1].in_flight == 1);
  CHECK(value.seconds == doctest::Approx(7.4));
}

TEST_CASE("evaluate_stages: says why a plan is none") {
  auto p = two_layers();
  const stage a{.layers = {0}, .variants = {0}}, b{.layers = {1}, .variants = {0}};
  const auto with = [](stage s, auto change) {
    change(s);
    return s;
  };
  CHECK(problem_of(p, {a, b}).empty());
  CHECK(problem_of(p, {a}) == "layer 1 'b' is in no stage");
  CHECK(problem_of(p, {a, b, b}) == "stage 2 has layer 1 that has a stage already");
  CHECK(problem_of(p, {b, a}) == "an edge leads from layer 0 'a' in stage 1 back to layer 1 'b' in stage 0");
  CHECK(problem_of(p, {a, with(b, [](stage& s) { s.layers = {2}; })}) == "stage 1 has layer 2, which does not exist");
  CHECK(problem_of(p, {a, with(b, [](stage& s) { s.variants = {}; })}) == "stage 1 names 0 variants for 1 layers");
  CHECK(problem_of(p, {a, with(b, [](stage& s) { s.variants = {1}; })}) ==
        "stage 1 runs layer 1 'b' in variant 1, which is none of tensor degree 1");
  CHECK(problem_of(p, {a, with(b, [](stage& s) { s.tensor_degree = 2; })}) ==
        "stage 1 runs layer 1 'b' in variant 0, which is none of tensor degree 2");
  CHECK(problem_of(p, {a, with(b, [](stage& s) { s.replicas = 4; })}) ==
        "stage 1 has 4 replicas of 1 devices; replicas must divide the 6 micro-batches");
  CHECK(problem_of(p, {with(a, [](stage& s) { s.replicas = 3; }), with(b, [](stage& s) { s.replicas = 2; })}) ==
        "the stages take 5 of 4 devices, and have 5 replicas for 6 micro-batches");
  p.memory_bytes = 60;
  CHECK(problem_of(p, {a, b}) == "stage 0 needs 70 B on each device, which has 60 B");
}

TEST_CASE("check_stages: bad numbers, edges and lists") {
  const auto refusal = [](auto change) -> std::string {
    auto p = two_layers();
    change(p);
    try {
      check_stages(p);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refusal([](stage_problem&) {}).empty());
  CHECK(refusal([](stage_problem& p) { p.num_devices = 0; }) ==
        "stages: there must be a device and a micro-batch at least");
  CHECK(refusal([](stage_problem& p) { p.bandwidth = 0; }) ==
        "stages: memory must not be negative, and bandwidth must be positive");
  CHECK(refusal([](stage_problem& p) { p.layers[0].variants[1].seconds = -1; }) ==
        "layer 0 'a', variant 'halves': seconds must be finite and not negative, but is -1");
  CHECK(refusal([](stage_problem& p) { p.edges[0].to = 2; }) ==
        "edge 0: leads from layer 0 to layer 2, and there are 2 layers, counted from 0");
  CHECK(refusal([](stage_problem& p) { p.layers[0].variants[1].output_bytes = {1, 2}; }) ==
        "layer 0 'a', variant 'halves': output_bytes has 2 numbers for 1 edges");
  CHECK(refusal([](stage_problem& p) { p.layers[0].variants[1].tensor_degree = 0; }) ==
        "layer 0 'a', variant 'halves': the tensor degree must be 1 at least");
  auto cyclic = two_layers();
  cyclic.edges.push_back({1, 0, 1});
  CHECK_THROWS_AS(check_stages(cyclic), cycle_error);
}

TEST_CASE("chain_of_stages: layers as one device runs them") {
  const std::vector<chain_layer> layers{{.name = "first", .forward_seconds = 1, .backward_seconds = 2,
                                         .parameter_bytes = 3, .state_bytes = 12, .activation_bytes = 7,
                                         .output_bytes = 4},
                                        {.name = "second", .forward_seconds = 5, .backward_seconds = 10,
                                         .activation_bytes = 20, .output_bytes = 1}};
  const auto p = chain_of_stages(layers, true, 2);
  CHECK_NOTHROW(check_stages(p));
  REQUIRE(p.layers.size() == 2);
  REQUIRE(p.edges.size() == 1);
  CHECK(p.edges[0].bytes == 4);
  const auto& stored = p.layers[1].variants[0];
  CHECK(stored.seconds == 15);
  CHECK(stored.bytes_per_micro_batch == 20);
  const auto& again = p.layers[1].variants[1];
  CHECK(again.seconds == 20);
  CHECK(again.bytes_per_micro_batch == 4);
  CHECK(again.fixed_bytes == 16);
  CHECK(p.layers[0].variants[1].fixed_bytes == 17);
  CHECK(chain_of_stages(layers, false).layers[0].variants.size() == 1);
}

} // namespace parallel_stages_test
