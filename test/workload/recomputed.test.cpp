// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/recomputed.hpp"

#include "support/marked.hpp"
#include "support/random_forward.hpp"
#include "support/rounds.hpp"

#include "weft/graph/topological_order.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/workload/op_name.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo/gpt2.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace workload_recomputed_test {

using namespace weft;

double total_work(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

byte_count peak_of(const workload& w) {
  return solve::order_within(w, std::numeric_limits<byte_count>::max()).peak;
}

/// Checks that `made` is the step but for copies, which read what the ops read that they are copies of.
void check_copies(const workload& step, const expanded_workload& made) {
  const auto& g = made.graph;
  REQUIRE(graph::topological_order(g).size() == g.num_ops()); // and no circle
  const auto n = step.num_ops();
  auto backward = backward_ops(step);
  backward.resize(g.num_ops(), false);
  for (const op_id v : ids(g.num_ops())) {
    const op_id of = made.origin[v];
    REQUIRE((v < n) == (of == v));
    REQUIRE(g.work(v) == step.work(of));
    REQUIRE(g.resident_bytes(v) == (v < n ? step.resident_bytes(v) : 0));
    std::vector<std::pair<op_id, byte_count>> reads, should_read;
    for (const tensor_id t : g.inputs(v)) {
      const op_id from = g.producer(t);
      if (g.bytes(t) > 0) {
        reads.emplace_back(made.origin[from], g.bytes(t));
        REQUIRE((from < n || v >= n || backward[v])); // nothing of the forward pass reads a copy
      }
    }
    for (const tensor_id t : step.inputs(of)) {
      if (step.bytes(t) > 0) {
        should_read.emplace_back(step.producer(t), step.bytes(t));
      }
    }
    std::sort(reads.begin(), reads.end());
    std::sort(should_read.begin(), should_read.end());
    REQUIRE(reads == should_read);
    if (v >= n) {
      REQUIRE(g.name(v) == "recompute/" + std::string{step.name(of)});
      bool is_read = false;
      for (const tensor_id t : g.outputs(v)) {
        for (const op_id c : g.consumers(t)) {
          is_read = is_read || c >= n || backward[c];
        }
      }
      REQUIRE(is_read);
    }
  }
}

TEST_CASE("recomputed_step: random steps are the same but for copies, which only the backward pass reads") {
  rng random{11};
  std::size_t copies = 0, fewer = 0;
  for (int i = 0; i < test::rounds(2000); ++i) {
    const workload forward = test::random_forward(random, true);
    std::vector<op_id> again;
    for (const op_id v : ids(forward.num_ops())) {
      if (random.below(2) == 0) {
        again.push_back(v);
      }
    }
    const workload step = test::marked(training_step(forward));
    const auto made = recomputed_step(step, again);
    check_copies(step, made);
    test::check_marks(made.graph, made.origin, step);
    copies += made.graph.num_ops() - step.num_ops();
    // What has parameters and nothing to read is kept, and what the backward pass does not read is not made.
    CHECK(total_work(made.graph) <= total_work(step) + total_work(forward));
    fewer += peak_of(made.graph) < peak_of(step);
  }
  CHECK(copies > 0);
  CHECK(fewer > 0);
}

TEST_CASE("recomputed_step: blocks of a bundled step hold the input of a block instead of what is inside") {
  zoo::gpt2_options sizes{.layers = 4, .hidden = 64, .heads = 4, .length = 256, .vocabulary = 100};
  SUBCASE("with dropout") {}
  SUBCASE("without dropout") { sizes.dropout = false; }
  const workload step = zoo::gpt2(4, sizes);
  const auto backward = backward_ops(step);
  CHECK(attentions(step, backward).size() == sizes.layers);
  const auto layer = [&](op_id v) {
    const auto name = op_name{step.name(v)}.layer(true);
    return name.starts_with("layer_") ? static_cast<op_id>(name.back() - '0') : op_id{none};
  };
  const auto peak_with = [&](recomputation what) {
    const auto made = recomputed_step(step, recomputed_ops(step, what, layer, backward));
    check_copies(step, made);
    // Work of up to a forward pass, a third of what gradients take.
    CHECK(total_work(made.graph) > total_work(step));
    CHECK(total_work(made.graph) < 1.34 * total_work(step));
    for (const op_id v : ids(made.graph.num_ops())) { // parameters are read once
      CHECK((v < step.num_ops() || !made.graph.name(v).ends_with("/read")));
    }
    return static_cast<double>(peak_of(made.graph));
  };
  const auto all = static_cast<double>(peak_of(step));
  const double attention = peak_with(recomputation::attention), blocks = peak_with(recomputation::blocks);
  CHECK(attention < 0.7 * all);
  CHECK(blocks < attention);
}

TEST_CASE("recomputed_step: a gradient that only reads the forward pass reads what was made first") {
  workload_builder b;
  const op_id x = b.add_op({.name = "x"}), y = b.add_op({.work = 1, .name = "y"}), z = b.add_op({.name = "z"});
  const op_id shape = b.add_op({.name = "gradients/y_grad/Shape"}), last = b.add_op({.name = "gradients/z_grad"}),
              sum = b.add_op({.name = "gradients/y_grad/Sum"});
  for (const op_id v : {x, y, z, shape, last}) {
    b.add_output(v, 8);
  }
  for (const auto& [from, to] : {std::pair{x, y}, std::pair{y, z}, std::pair{z, last}, std::pair{y, shape},
                                 std::pair{y, sum}, std::pair{last, sum}, std::pair{shape, sum}}) {
    b.add_edge(from, to, 0);
  }
  const workload step = std::move(b).build();
  const auto again = recomputed_step(step, {y});
  const auto& g = again.graph;
  REQUIRE(g.num_ops() == step.num_ops() + 1);
  const op_id copy = static_cast<op_id>(step.num_ops());
  const auto readers_of = [&](op_id v) {
    std::vector<op_id> readers;
    for (const tensor_id t : g.outputs(v)) {
      for (const op_id c : g.consumers(t)) {
        readers.push_back(c);
      }
    }
    std::sort(readers.begin(), readers.end());
    return readers;
  };
  CHECK(readers_of(y) == std::vector<op_id>{z, shape});
  CHECK(readers_of(copy) == std::vector<op_id>{sum});
  CHECK(readers_of(last) == std::vector<op_id>{sum, copy}); // and not before that
}

TEST_CASE("recomputed_step: refuses ops that are not there") {
  workload_builder b;
  b.add_op({.name = "one"});
  const workload step = std::move(b).build();
  CHECK_THROWS_AS(recomputed_step(step, {1}), dangling_id_error);
}

} // namespace workload_recomputed_test
