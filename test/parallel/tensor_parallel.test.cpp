// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/tensor_parallel.hpp"

#include "parallel/built_net.hpp"
#include "support/marked.hpp"
#include "weft/cost/linear.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/nn/attention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tensor_parallel_test {

using namespace weft;
using parallel::layout;
using parallel::resharding;
using test::built_net;
using test::costs_of;
using test::on_ranks;

TEST_CASE("between: what is sent from layout to layout") {
  const layout whole, rows{layout::split, 0}, columns{layout::split, 1}, terms{layout::partial};
  using enum resharding;
  CHECK(parallel::between(whole, whole) == nothing);
  CHECK(parallel::between(whole, rows) == nothing);
  CHECK(parallel::between(rows, rows) == nothing);
  CHECK(parallel::between(rows, whole) == all_gather);
  CHECK(parallel::between(rows, columns) == all_to_all);
  CHECK(parallel::between(terms, whole) == all_reduce);
  CHECK(parallel::between(terms, rows) == reduce_scatter);
  CHECK(parallel::between(terms, terms) == nothing);
  CHECK(parallel::between(whole, terms) == impossible);
  CHECK(parallel::between(rows, terms) == impossible);
}

TEST_CASE("tensor_parallel: work, state and tensors come in parts that add up, and plans are valid") {
  constexpr std::uint32_t ranks = 4;
  for (const char* spec : {"mnist_conv@8", "gpt2_small@4x16", "resnet50_cifar10@8", "switch_base@4x16:inference",
                           "bert_base@1x16:inference", "llama3_8b@1x16:inference", "llama3_8b@1x1000:decode"}) {
    CAPTURE(spec);
    const built_net n{spec};
    const auto& w = n.built.graph;
    const auto m = n.model();
    const auto chosen = parallel::choose_splits(m, ranks, costs_of(w, ranks, 1e11), {.budget = {.moves = 500}});
    REQUIRE(chosen.found);
    CHECK(chosen.bound <= chosen.seconds * (1 + 1e-12));
    double alone = 0;
    for (const op_id v : ids(w.num_ops())) {
      alone += 1e-12 * w.work(v);
    }
    CHECK(chosen.seconds < 0.6 * alone);
    const auto made = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, ranks));
    std::vector<double> work(w.num_ops(), 0);
    std::vector<byte_count> resident(w.num_ops(), 0);
    for (const op_id v : ids(made.graph.num_ops())) {
      if (const op_id from = made.origin[v]; from != none) {
        work[from] += made.graph.work(v);
        resident[from] += made.graph.resident_bytes(v);
        CHECK(made.graph.inputs(v).size() <= w.inputs(from).size());
      }
    }
    for (const op_id v : ids(w.num_ops())) {
      const bool split = parallel::chosen_splits::in_parts(chosen.axis[v]);
      CHECK(work[v] == doctest::Approx(w.work(v) * (split ? 1 : ranks)));
      CHECK(resident[v] >= w.resident_bytes(v) * (split ? 1 : ranks));
      CHECK(resident[v] <= w.resident_bytes(v) * (split ? 1 : ranks) + ranks);
    }
    for (const tensor_id t : ids(made.graph.num_tensors())) {
      const auto& readers = made.graph.consumers(t);
      CHECK((is_message(made.graph, t) || std::all_of(readers.begin(), readers.end(), [&](op_id reader) {
        return made.replica[reader] == made.replica[made.graph.producer(t)];
      })));
    }
    const platform machine{std::vector<device>(ranks, device{.kind = device_kind::gpu, .speed = 1e12}),
                           uniform_links{{.latency = 1e-6, .bandwidth = 1e11}}};
    std::vector<kind_set> anywhere(made.graph.num_ops(), kind_set::all());
    const auto free = made.graph.with_kinds(anywhere);
    const problem p{free, machine};
    trace run;
    const plan x{.placement = made.where};
    simulator{p, schedule::path_completion_time{}}.run(x, simulate::recorder{run});
    CHECK(validate(p, x.placement, run).empty());
  }
}

TEST_CASE("tensor_parallel: heads and columns that ranks do not divide") {
  const built_net n{"llama2_7b+layers=2@1x64:decode"}; // 32 heads, 11008 columns
  const auto& w = n.built.graph;
  const auto m = n.model();
  double before = std::numeric_limits<double>::infinity();
  for (const std::uint32_t ranks : {2u, 3u, 5u, 6u}) {
    CAPTURE(ranks);
    const parallel::split_ops parts{m, ranks};
    auto costs = costs_of(w, ranks, 1e14);
    costs.op = [&](op_id v, std::uint32_t axis) { return 1e-12 * parts.ops().work(parts.of(v, axis)); };
    const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 500}});
    REQUIRE(chosen.found);
    CHECK(chosen.seconds < before);
    before = chosen.seconds;
    const auto made = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, ranks));
    // 96 heads of queries, keys and values are in 6 equal parts, 32 in parts of up to 6, which is much more.
    CHECK(made.reshardings.contains(resharding::all_to_all) == (ranks == 6));
    double work = 0, alone = 0;
    std::vector<byte_count> resident(ranks, 0);
    for (const op_id v : ids(made.graph.num_ops())) {
      const op_id from = made.origin[v];
      const bool split = from != none && parallel::chosen_splits::in_parts(chosen.axis[from]);
      work += split ? made.graph.work(v) : 0;
      alone += split && made.replica[v] == 0 ? w.work(from) : 0;
      resident[made.replica[v]] += made.graph.resident_bytes(v);
    }
    CHECK(work == doctest::Approx(alone));
    CHECK(resident.back() <= resident.front());
    CHECK(static_cast<double>(resident.front()) < 1.2 * static_cast<double>(resident.back()));
  }
}

TEST_CASE("tensor_parallel: without splits every rank does all, and nothing is sent") {
  const built_net n{"mnist_conv@8"};
  const auto& w = n.built.graph;
  const auto made = parallel::tensor_parallel(n.model(), std::vector<std::uint32_t>(w.num_ops(), none), on_ranks(w, 3));
  CHECK(made.graph.num_ops() == 3 * w.num_ops());
  CHECK(made.graph.num_edges() == 3 * w.num_edges());
  CHECK(made.reshardings.empty());
  CHECK_THROWS_AS(parallel::tensor_parallel(n.model(), {}, on_ranks(w, 3)), value_error);
}

TEST_CASE("tensor_parallel: parts keep the slots of ops, and the memory of results") {
  const built_net n{"mnist_conv@8"};
  const workload w = test::marked(n.built.graph);
  const auto m = parallel::make_split_model(graph_of(*n.net), w, n.built.origin);
  const auto chosen = parallel::choose_splits(m, 2, costs_of(w, 2, 1e11), {.budget = {.moves = 100}});
  REQUIRE(chosen.found);
  const auto made = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, 2));
  test::check_marks(made.graph, made.origin, w);
}

TEST_CASE("tensor_parallel: its workload is a step like any other, also for data parallelism") {
  const built_net n{"mnist_conv@4"}; // a quarter of 8 examples, twice, in two parts each
  const auto& w = n.built.graph;
  const auto m = n.model();
  const auto chosen = parallel::choose_splits(m, 2, costs_of(w, 2, 1e11), {.budget = {.moves = 500}});
  REQUIRE(chosen.found);
  const auto pair = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, 2));
  std::vector<placement> replicas;
  for (const device_id first : {0u, 2u}) {
    auto& where = replicas.emplace_back(pair.where);
    for (auto& d : where) {
      d += first;
    }
  }
  const auto all = parallel::data_parallel(pair.graph, replicas, parallel::ring_all_reduce(2));
  byte_count gradients = 0;
  for (const tensor_id t : parallel::gradients(pair.graph)) {
    gradients += pair.graph.bytes(t);
  }
  CHECK(all.gradient_bytes == gradients);
  CHECK(gradients >= 4 * 3'274'634); // what is split has its parts here, what is not is there twice
  CHECK(gradients <= 2 * 4 * 3'274'634);
  const platform machine{std::vector<device>(4, device{.kind = device_kind::gpu, .speed = 1e12}),
                         uniform_links{{.latency = 1e-6, .bandwidth = 1e11}}};
  const auto free = all.graph.with_kinds(std::vector<kind_set>(all.graph.num_ops(), kind_set::all()));
  const problem p{free, machine};
  trace run;
  simulator{p, schedule::path_completion_time{}}.run(plan{.placement = all.where}, simulate::recorder{run});
  CHECK(validate(p, all.where, run).empty());
}

TEST_CASE("split_ops: a part of a product along its rows reads all weights, along its columns all rows") {
  nn::network net{{.bookkeeping = false, .training = false}};
  const auto y = nn::dense("out", net.input_pipeline({{{8, 12}}})[0], 16, false);
  const auto built = net.build_with_origins(std::vector{y.op()});
  const auto m = parallel::make_split_model(graph_of(net), built.graph, built.origin);
  const parallel::split_ops parts{m, 4};
  const auto& w = parts.ops();
  const auto product = static_cast<op_id>(built.graph.num_ops() - 1);
  const auto bytes = [&](std::uint32_t axis) {
    const op_id v = parts.of(product, axis);
    byte_count sum = 0;
    for (const tensor_id t : w.inputs(v)) {
      sum += w.bytes(t);
    }
    for (const tensor_id t : w.outputs(v)) {
      sum += w.bytes(t);
    }
    CHECK(w.work(v) == 2.0 * 8 * 12 * 16 / (axis == none ? 1 : 4));
    return sum / 4;
  };
  CHECK(bytes(none) == 8 * 12 + 12 * 16 + 8 * 16);
  CHECK(bytes(0) == 2 * 12 + 12 * 16 + 2 * 16); // rows
  CHECK(bytes(1) == 8 * 3 + 3 * 16 + 8 * 16);   // contracted
  CHECK(bytes(2) == 8 * 12 + 12 * 4 + 8 * 4);   // columns
}

TEST_CASE("choose_splits: of transformer blocks whose parameters fit in parts only, as much is sent as by Megatron") {
  constexpr std::uint64_t blocks = 3, width = 64, words = 1; // one row: there are no rows to split
  constexpr std::uint32_t ranks = 4;
  nn::network net{{.bookkeeping = false, .training = false}};
  auto x = net.input_pipeline({{{words, width}}})[0];
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const auto scope = net.scope("block_" + std::to_string(k));
    x = x + nn::attention("attention", x, x, 1, {.heads = 8, .head_size = 8, .dropout = false});
    x = x + nn::dense("out", nn::gelu(nn::dense("in", x, 4 * width)), width);
  }
  const std::vector<op_id> roots{x.op()};
  const auto built = net.build_with_origins(roots);
  const workload w = with_shared_memory(built.graph);
  const auto m = parallel::make_split_model(graph_of(net), w, built.origin);
  auto costs = costs_of(w, ranks, 1e9);
  byte_count resident = 0;
  for (const op_id v : ids(w.num_ops())) {
    resident += w.resident_bytes(v);
  }
  costs.capacity = resident / ranks + resident / 20; // parameters once, although ops read values of variables
  const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 5000}});
  REQUIRE(chosen.found);
  double sent = chosen.seconds;
  for (const op_id v : ids(w.num_ops())) {
    sent -= costs.op(v, chosen.axis[v]);
  }
  // Two all-reduces of a row in each block, or as much in other collectives.
  const double megatron = blocks * 2 * costs.transfer(resharding::all_reduce, 4 * words * width);
  CHECK(sent == doctest::Approx(megatron).epsilon(0.05));
}

TEST_CASE("choose_splits: parameters count once, also where they are read again in the backward pass") {
  constexpr std::uint32_t ranks = 2;
  const auto sum = [](std::size_t count, const auto& bytes) {
    byte_count all = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      all += bytes(i);
    }
    return all;
  };
  for (const bool trains : {false, true}) {
    nn::network net{{.bookkeeping = false, .training = trains}};
    const auto rows = net.input_pipeline({{{1, 256}}})[0];
    const auto y = nn::dense("out", nn::dense("hidden", rows, 1024), 256);
    const training_objective objectives[]{{nn::reduce_mean(y * y)}};
    const auto built = trains ? training_step_with_origins(net, objectives, {.rule = optimizer::sgd})
                              : net.build_with_origins(std::vector{y.op()});
    const workload w = with_shared_memory(built.graph);
    const auto m = parallel::make_split_model(graph_of(net), w, built.origin);
    const auto resident = sum(w.num_ops(), [&](op_id v) { return w.resident_bytes(v); });
    const auto all_gradients = parallel::gradients(w);
    const auto gradients = sum(all_gradients.size(), [&](std::size_t i) { return w.bytes(all_gradients[i]); });
    auto costs = costs_of(w, ranks, 1e9);
    costs.capacity = (resident + gradients) * 21 / 20 / ranks; // and some rows
    const auto chosen = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 1000}});
    CAPTURE(trains);
    REQUIRE(chosen.found);
    // What the choice says is held is what a run holds.
    const auto made = parallel::tensor_parallel(m, chosen.axis, on_ranks(w, ranks));
    const workload run_as = with_shared_memory(made.graph);
    const platform machine{std::vector<device>(ranks, device{.kind = device_kind::gpu, .speed = 1e12}),
                           uniform_links{{.bandwidth = 1e11}}};
    const auto free = run_as.with_kinds(std::vector<kind_set>(run_as.num_ops(), kind_set::all()));
    const problem p{free, machine};
    trace run;
    simulator{p, schedule::path_completion_time{}}.run(plan{.placement = made.where}, simulate::recorder{run});
    for (const byte_count peak : peak_memory_of(p, made.where, run)) {
      CHECK(peak <= costs.capacity);
    }
  }
}

TEST_CASE("choose_splits: a GPT block keeps on each rank what Megatron's formulas say, or less") {
  constexpr std::uint32_t ranks = 8;
  constexpr std::uint64_t length = 128, batch = 2, hidden = 256, heads = 8, layers = 3, vocabulary = 1024;
  nn::network_options how{.bookkeeping = false};
  SUBCASE("separate kernels") {}
  SUBCASE("kernels of frameworks, with dropout") { how.kernels = nn::kernel_set::framework; }
  const bool drops = how.kernels == nn::kernel_set::framework; // by a mask of a byte
  nn::network net{how};
  const auto task = zoo::gpt2_task(net, batch, {.layers = layers, .hidden = hidden, .heads = heads, .length = length,
                                                .vocabulary = vocabulary, .positions = length, .dropout = drops});
  const auto built = training_step_with_origins(net, task.objectives, task.options);
  const auto& w = built.graph;
  const auto m = parallel::make_split_model(graph_of(net), w, built.origin);
  auto costs = costs_of(w, ranks, 1e9);
  byte_count resident = 0;
  for (const op_id v : ids(w.num_ops())) {
    resident += w.resident_bytes(v);
  }
  costs.capacity = resident * 5 / 2 / ranks; // parameters fit in parts only
  auto axis = parallel::choose_splits(m, ranks, costs, {.budget = {.moves = 1000}}).axis;
  REQUIRE(axis.size() == w.num_ops());

  const auto in_layer = [&](op_id v) { return w.name(v).starts_with("layer_1/"); };
  const auto split_of = [&](op_id v, std::size_t k) {
    return parallel::detail::split_variants{m, ranks}.of_output(v, k, axis[v]).what == layout::split ? ranks : 1.0;
  };
  /// Bytes that the backward pass reads of a layer's forward ops; `state`: of its weights, with Adam's state.
  const auto kept = [&] {
    double bytes = 0;
    for (const op_id v : ids(w.num_ops())) {
      for (std::size_t k = 0; in_layer(v) && k < w.outputs(v).size(); ++k) {
        const tensor_id t = *w.outputs(v).begin() + static_cast<tensor_id>(k);
        const auto readers = w.consumers(t);
        const bool is_kept = std::any_of(readers.begin(), readers.end(),
                                         [&](op_id r) { return w.name(r).starts_with("gradients/"); });
        const bool is_weight = w.name(v).ends_with("/read") || w.resident_bytes(v) > 0;
        bytes += is_kept && !is_weight ? static_cast<double>(w.bytes(t)) / split_of(v, k) : 0;
      }
    }
    return bytes;
  };
  const auto state = [&] {
    double bytes = 0;
    for (const op_id v : ids(w.num_ops())) {
      bytes += in_layer(v) ? static_cast<double>(w.resident_bytes(v)) / split_of(v, 0) : 0;
    }
    return bytes;
  };
  // Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022, equation 2, without and
  // with dropout, for numbers of 4 bytes instead of 2; and equation 4, where rows are split between the products.
  constexpr double t = ranks, rows = length * batch * hidden;
  const double masks = drops ? 1 : 0; // two per number of a row, of a byte each
  const double scores = (2 + 2.5 * masks) * heads * length / hidden;
  const double with_tensors = 2 * rows * (8 + masks + 24 / t + scores / t);
  const double with_rows = 2 * rows * (32 + masks + scores) / t;
  const double chosen = kept();
  CHECK(chosen < 1.05 * with_tensors);
  CHECK(chosen > 0.95 * with_rows);
  for (const op_id v : ids(w.num_ops())) { // what lies between the products as Megatron has it
    const auto is_in = [&](std::string_view scope) { return w.name(v).find(scope) != std::string_view::npos; };
    const bool is_norm = is_in("layer_1/") && is_in("/norm") && !w.name(v).starts_with("gradients/");
    const bool is_dropout = is_in("layer_1/") && is_in("/output/") && w.type(v).starts_with("NativeDropout");
    const bool is_sum = is_dropout || (in_layer(v) && w.type(v) == "Add" && !is_in("/hidden/"));
    axis[v] = is_norm || is_sum ? std::uint32_t{none} : axis[v];
  }
  CHECK_NOTHROW(parallel::tensor_parallel(m, axis, on_ranks(w, ranks)));
  CHECK(kept() == doctest::Approx(with_tensors).epsilon(0.05));
  // 12 hidden² weights, and what only products along columns split: 7 hidden biases, of 13 hidden small ones.
  const double parameters = 12.0 * hidden * hidden / t + 7.0 * hidden / t + 6.0 * hidden;
  CHECK(state() == doctest::Approx(3 * 4 * parameters).epsilon(0.05));
}

} // namespace tensor_parallel_test
