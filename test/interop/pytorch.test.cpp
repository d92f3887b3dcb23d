// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/pytorch.hpp"
#include "interop/pytorch_programs.hpp"
#include "interop/reading.hpp"
#include "parallel/built_net.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/nn/attention.hpp"
#include "weft/workload/nn/conv.hpp"
#include "weft/workload/nn/layers.hpp"
#include "weft/workload/training_step.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pytorch_test {

using namespace weft;
using test::total_work;
using weft_test::noted;
using weft_test::op_called;
using weft_test::exported_program;
using weft_test::forward_of;
using weft_test::zip_of;
using json = nlohmann::json;
constexpr auto ints = exported_program::ints;
constexpr auto none_given = exported_program::none;
constexpr auto tensor = exported_program::tensor;
constexpr auto tensors = exported_program::tensors;

model read(const std::string& bytes, const pytorch::reader& options = {}) {
  CHECK(options.recognises(bytes));
  return options.read(bytes, "net.pt2");
}

std::string refusal(const std::string& bytes, const pytorch::reader& options = {}) {
  return weft_test::refusal_of([&] { return options.read(bytes, "net.pt2"); });
}

/// True if one op reads, or waits for, what the other makes.
bool waits_in(const workload& w, std::string_view before, std::string_view after) {
  const auto a = op_called(w, before);
  return std::ranges::any_of(w.inputs(op_called(w, after)), [&](tensor_id t) { return w.producer(t) == a; });
}

/// What export gives for Linear(784, 128), ReLU, Linear(128, 10) after run_decompositions().
exported_program mlp(const std::string& batch) {
  exported_program p;
  p.parameter("p_0_weight", {"128", "784"}).parameter("p_0_bias", {"128"});
  p.parameter("p_2_weight", {"10", "128"}).parameter("p_2_bias", {"10"}).input("x", {batch, "784"});
  p.aten("permute", {{"self", "p_0_weight"}, {"dims", ints({1, 0})}}, "permute", {"784", "128"});
  p.aten("addmm", {{"self", "p_0_bias"}, {"mat1", "x"}, {"mat2", "permute"}}, "addmm", {batch, "128"});
  p.aten("relu", {{"self", "addmm"}}, "relu", {batch, "128"});
  p.aten("permute", {{"self", "p_2_weight"}, {"dims", ints({1, 0})}}, "permute_1", {"128", "10"});
  p.aten("addmm", {{"self", "p_2_bias"}, {"mat1", "relu"}, {"mat2", "permute_1"}}, "addmm_1", {batch, "10"});
  return p.returns({"addmm_1"});
}

TEST_CASE("PyTorch: two linear layers cost what they cost in nn") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.input_pipeline({{{32, 784}}});
  static_cast<void>(nn::dense("b", relu(nn::dense("a", x[0], 128)), 10));

  const auto m = read(mlp("32").text());
  CHECK(m.format == "PyTorch");
  CHECK(m.returned == std::vector<op_id>{4});
  CHECK(m.notes.empty());
  CHECK(total_work(m.ops) == forward_of(net));
  REQUIRE(m.ops.num_ops() == 5);
  CHECK(m.ops.type(0) == "aten.permute");
  CHECK(m.ops.work(0) == 0);
  CHECK(m.ops.resident_bytes(0) == 0); // a view of the weight, which is with the op that reads it
  CHECK(m.ops.bytes(m.ops.outputs(0).front()) == 0);
  CHECK(m.ops.type(1) == "aten.addmm");
  CHECK(m.ops.name(1) == "addmm");
  CHECK(m.ops.work(1) == 2.0 * 32 * 784 * 128 + 32 * 128);
  CHECK(m.ops.resident_bytes(1) == (784 * 128 + 128) * 4);
  CHECK(m.ops.bytes(m.ops.outputs(1).front()) == 32 * 128 * 4);
  CHECK(m.ops.group(0) == m.ops.group(1));
  CHECK(m.ops.inputs(1).size() == 1);

  // The same before the decompositions.
  exported_program q;
  q.parameter("p_0_weight", {"128", "784"}).parameter("p_0_bias", {"128"}).input("x", {"32", "784"});
  q.aten("linear", {{"input", "x"}, {"weight", "p_0_weight"}, {"bias", "p_0_bias"}}, "linear", {"32", "128"});
  q.aten("linear", {{"input", "linear"}, {"weight", "p_0_weight"}, {"bias", none_given()}}, "linear_1", {"32", "128"});
  const auto w = read(q.text()).ops;
  CHECK(w.work(0) == m.ops.work(1));
  CHECK(w.work(1) == 2.0 * 32 * 128 * 128);
  CHECK(w.resident_bytes(1) == 0); // beside the first, which has the weights
  CHECK(w.group(0) == w.group(1));
  CHECK(w.group(0) != none);
}

TEST_CASE("PyTorch: archives of old and new versions, compressed or not, and the JSON alone are the same") {
  const auto p = mlp("32").text();
  const auto alone = read(p);
  const auto same = [&](const std::string& archive) {
    const auto m = read(archive);
    CHECK(m.ops.num_ops() == alone.ops.num_ops());
    CHECK(total_work(m.ops) == total_work(alone.ops));
    return m.notes.size();
  };
  const std::string weights(100'000, 'w');
  for (const bool compressed : {false, true}) {
    CHECK(same(zip_of({{"serialized_exported_program.json", p},
                       {"serialized_state_dict.pt", weights},
                       {"version", "8.2"}}, compressed)) == 0);
    CHECK(same(zip_of({{"archive/archive_format", "pt2"},
                       {"archive/models/model.json", p},
                       {"archive/data/weights/model_weights_config.json", "{}"},
                       {"archive/data/weights/weight_0", weights}}, compressed)) == 0);
    CHECK(same(zip_of({{"net/models/encoder.json", "{"}, {"net/models/model.json", p}}, compressed)) == 1);
  }
}

TEST_CASE("PyTorch: a convolution block costs what it costs in nn") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.input_pipeline({{{8, 28, 28, 16}}});
  static_cast<void>(
    nn::global_avg_pool(nn::max_pool(relu(nn::conv_layer("c", x[0], {.filters = 32})), 2, {.stride = 2})));

  exported_program p;
  p.parameter("p_weight", {"32", "16", "3", "3"}).parameter("p_bias", {"32"}).input("x", {"8", "16", "28", "28"});
  p.aten("conv2d", {{"input", "x"}, {"weight", "p_weight"}, {"bias", "p_bias"}, {"stride", ints({1, 1})},
          {"padding", ints({1, 1})}}, "conv2d", {"8", "32", "28", "28"});
  p.aten("relu_", {{"self", "conv2d"}}, "relu_", {"8", "32", "28", "28"});
  p.aten("max_pool2d", {{"self", "relu_"}, {"kernel_size", ints({2, 2})}, {"stride", ints({2, 2})}}, "max_pool2d",
         {"8", "32", "14", "14"});
  p.aten("adaptive_avg_pool2d", {{"self", "max_pool2d"}, {"output_size", ints({1, 1})}}, "adaptive_avg_pool2d",
         {"8", "32", "1", "1"});
  p.aten("flatten.using_ints", {{"self", "adaptive_avg_pool2d"}, {"start_dim", {{"as_int", 1}}}}, "flatten",
         {"8", "32"});
  const auto w = read(p.text()).ops;
  CHECK(total_work(w) == doctest::Approx(forward_of(net)).epsilon(0.001));
  CHECK(w.work(0) == 2.0 * 8 * 28 * 28 * 32 * 9 * 16 + 8 * 28 * 28 * 32);
  CHECK(w.work(2) == 8 * 14 * 14 * 32 * 4);

  // The decomposed forms: convolution, which may be a transposed one, pools with indices, norms with statistics.
  exported_program q;
  q.parameter("p_w", {"16", "8", "3", "3"}).parameter("p_g", {"8"}).buffer("b_mean", {"8"});
  q.input("x", {"2", "16", "10", "10"}).shape("y", {"2", "8", "19", "19"}).shape("norm", {"2", "8", "19", "19"});
  const auto convolution = [&](bool transposed, const std::string& result, const std::vector<std::string>& dims) {
    q.aten("convolution", {{"input", "x"}, {"weight", "p_w"}, {"bias", none_given()},
            {"transposed", {{"as_bool", transposed}}}, {"groups", {{"as_int", 1}}}}, result, dims);
  };
  convolution(true, "y", {"2", "8", "19", "19"});
  q.shape("unused_1", {"0"}).shape("unused_2", {"0"}).shape("values", {"2", "8", "9", "9"});
  q.shape("indices", {"2", "8", "9", "9"}, exported_program::i64);
  q.aten("_native_batch_norm_legit_no_training",
         {{"input", "y"}, {"weight", "p_g"}, {"bias", "p_g"}, {"running_mean", "b_mean"}, {"running_var", "b_mean"}},
         json::array({tensor("norm"), tensor("unused_1"), tensor("unused_2")}));
  q.aten("max_pool2d_with_indices", {{"self", "norm"}, {"kernel_size", ints({3})}},
         json::array({tensor("values"), tensor("indices")}));
  const auto v = read(q.text()).ops;
  CHECK(v.work(0) == 2.0 * (2 * 16 * 10 * 10) * 8 * 9); // each input element with the filters of its channel
  CHECK(v.work(1) == 2 * (2 * 8 * 19 * 19));
  CHECK(v.outputs(1).size() == 3);
  CHECK(v.work(2) == 9 * (2 * 8 * 9 * 9));
  CHECK(v.bytes(v.outputs(2)[1]) == 2 * 8 * 9 * 9 * 8);
}

json integer(std::int64_t value) { return {{"as_int", value}}; }

/// A layer of a transformer: q, k, v and the output, attention, and a feed-forward part, with norms and residuals.
exported_program transformer(const std::string& b, const std::string& s) {
  exported_program p;
  for (const char* name : {"q", "k", "v", "o"}) {
    p.parameter("p_" + std::string{name} + "_weight", {"512", "512"})
      .parameter("p_" + std::string{name} + "_bias", {"512"});
  }
  p.parameter("p_up_weight", {"2048", "512"}).parameter("p_up_bias", {"2048"});
  p.parameter("p_down_weight", {"512", "2048"}).parameter("p_down_bias", {"512"}).parameter("p_norm", {"512"});
  p.input("x", {b, s, "512"});
  const auto linear = [&](const std::string& name, const std::string& from, const std::string& width) {
    p.aten("linear", {{"input", from}, {"weight", "p_" + name + "_weight"}, {"bias", "p_" + name + "_bias"}}, name,
           {b, s, width});
  };
  for (const std::string name : {"q", "k", "v"}) {
    linear(name, "x", "512");
    p.aten("view", {{"self", name}}, name + "_view", {b, s, "8", "64"});
    p.aten("transpose.int", {{"self", name + "_view"}, {"dim0", integer(1)}, {"dim1", integer(2)}}, name + "_heads",
           {b, "8", s, "64"});
  }
  p.aten("scaled_dot_product_attention",
         {{"query", "q_heads"}, {"key", "k_heads"}, {"value", "v_heads"}, {"attn_mask", none_given()},
          {"dropout_p", {{"as_float", 0.0}}}, {"is_causal", {{"as_bool", true}}}}, "sdpa", {b, "8", s, "64"});
  p.aten("transpose.int", {{"self", "sdpa"}, {"dim0", integer(1)}, {"dim1", integer(2)}}, "back", {b, s, "8", "64"});
  p.aten("reshape", {{"self", "back"}}, "merged", {b, s, "512"});
  linear("o", "merged", "512");
  p.aten("add.Tensor", {{"self", "x"}, {"other", "o"}}, "add", {b, s, "512"});
  p.aten("layer_norm", {{"input", "add"}, {"normalized_shape", ints({512})}, {"weight", "p_norm"}, {"bias", "p_norm"}},
         "norm", {b, s, "512"});
  linear("up", "norm", "2048");
  p.aten("gelu", {{"self", "up"}}, "gelu", {b, s, "2048"});
  linear("down", "gelu", "512");
  p.aten("add.Tensor", {{"self", "norm"}, {"other", "down"}}, "add_1", {b, s, "512"});
  return p;
}

TEST_CASE("PyTorch: gradients of a convolution are as many products as are wanted") {
  exported_program p;
  p.parameter("p_w", {"16", "8", "3", "3"}).input("g", {"2", "16", "10", "10"}).input("x", {"2", "8", "10", "10"});
  p.shape("dx", {"2", "8", "10", "10"}).shape("dw", {"16", "8", "3", "3"}).shape("db", {"16"});
  p.shape("dw_only", {"16", "8", "3", "3"}).shape("y", {"2", "16", "10", "10"});
  const auto gradients = [&](const char* of, const char* with, bool transposed, const json& results) {
    p.aten("convolution_backward", {{"grad_output", of}, {"input", with}, {"weight", "p_w"},
            {"transposed", {{"as_bool", transposed}}}}, results);
  };
  gradients("g", "x", false, json::array({tensor("dx"), tensor("dw"), tensor("db")}));
  gradients("g", "x", false, json::array({exported_program::none(), tensor("dw_only"), exported_program::none()}));
  gradients("x", "g", true, json::array({tensor("y"), exported_program::none()}));
  const auto w = read(p.text()).ops;
  const double product = 2.0 * (2 * 16 * 10 * 10) * 8 * 9;
  CHECK(w.work(0) == 2 * product + 2 * 16 * 10 * 10);
  CHECK(w.work(1) == product);
  CHECK(w.work(2) == product); // each element of the input with the filters of its channel
}

TEST_CASE("PyTorch: a layer of a transformer, with symbolic sizes") {
  const auto layer = [](double b, double s) {
    const double h = 512;
    return 24 * b * s * h * h + 4 * b * s * s * h // products, as in Narayanan et al., SC 2021
           + b * s * (4 * h + 4 * h + h) // biases
           + 5 * b * 8 * s * s           // softmax
           + b * s * h * (1 + 8 + 4 * 5 + 1);
  };
  CHECK(total_work(read(transformer("2", "128").text()).ops) == layer(2, 128));

  const auto open = transformer("s0:2", "s1").text();
  const auto m = read(open);
  CHECK(total_work(m.ops) == layer(2, 1));
  const auto told = [](const std::string& symbol, std::uint64_t value = 1) {
    return std::vector<assumed_size>{{assumed_size::option::dimension, symbol, {}, value}};
  };
  CHECK(noted(m, "symbolic sizes: s0 = 2 (its hint)"));
  CHECK(m.assumed == told("s1"));
  CHECK(read(open, {.unknown_dimension = 32}).assumed == told("s1", 32));
  CHECK(read(open, {.dimensions = {{"s1", 64}}}).assumed.empty());
  CHECK(total_work(read(open, {.batch = 16, .dimensions = {{"s1", 64}}}).ops) == layer(16, 64));
  CHECK(total_work(read(open, {.unknown_dimension = 32}).ops) == layer(2, 32));
  CHECK(noted(read(open, {.batch = 16}), "s0 = 16"));
  // Symbols that stand in sums and products alone are named, and can be set, too.
  exported_program sum;
  sum.input("x", {"2*s5 + 1"}).aten("tanh", {{"self", "x"}}, "tanh", {"2*s5 + 1"});
  CHECK(read(sum.text()).assumed == told("s5"));
  CHECK(total_work(read(sum.text(), {.dimensions = {{"s5", 4}}}).ops) == 9);
  CHECK(refusal(open, {.dimensions = {{"length", 64}}}) ==
        "net.pt2: the program has no symbolic size 'length'; it has s0, s1");
  for (const std::uint64_t batch : {1u, 2u, 3u, 16u}) { // also of a program whose sizes are fixed
    const auto fixed = read(transformer("2", "128").text(), {.batch = batch});
    const auto wanted = read(transformer(std::to_string(batch), "128").text());
    REQUIRE(fixed.ops.num_ops() == wanted.ops.num_ops());
    for (const op_id v : ids(wanted.ops.num_ops())) {
      CHECK(fixed.ops.work(v) == wanted.ops.work(v));
      CHECK(fixed.ops.resident_bytes(v) == wanted.ops.resident_bytes(v));
    }
    for (const tensor_id t : ids(wanted.ops.num_tensors())) {
      CHECK(fixed.ops.bytes(t) == wanted.ops.bytes(t));
    }
  }
  exported_program bound;
  bound.input("x", {"8", "4"}).parameter("p_table", {"8", "4"});
  bound.aten("add.Tensor", {{"self", "x"}, {"other", "p_table"}}, "add", {"8", "4"});
  CHECK(refusal(bound.text(), {.batch = 4}) ==
        "net.pt2: the batch is fixed to 8 in the program, and another one does not follow from it: parameter 'table' "
        "is as large as it; export it with dynamic_shapes, or with inputs of that batch");

  // As newer versions print symbols.
  const std::string srepr = "Symbol('s77', integer=True, positive=True)";
  CHECK(total_work(read(transformer(srepr + ":3", "8").text()).ops) == layer(3, 8));
  CHECK(total_work(read(transformer(srepr + ":3", "8").text(), {.batch = 5}).ops) == layer(5, 8));
  CHECK(total_work(read(transformer(srepr, "8").text(), {.dimensions = {{"s77", 6}}}).ops) == layer(6, 8));
}

TEST_CASE("PyTorch: a layer of a transformer is split as by Megatron, and so is its training step") {
  constexpr std::uint32_t ranks = 4;
  const auto m = read(transformer("1", "1").text()); // one row: there are no rows to split
  REQUIRE(m.graph != nullptr);
  REQUIRE(m.graph->num_ops() == m.ops.num_ops());
  std::vector<op_id> origin(m.ops.num_ops());
  std::iota(origin.begin(), origin.end(), op_id{0});
  const auto step = training_step_with_origins(m.ops, {.rule = optimizer::sgd});
  for (const bool trains : {false, true}) {
    CAPTURE(trains);
    const auto& w = trains ? step.graph : m.ops;
    const auto model = parallel::make_split_model(*m.graph, w, origin, trains ? &step.from : nullptr);
    auto costs = test::costs_of(w, ranks, 1e9);
    byte_count resident = 0;
    for (const op_id v : ids(w.num_ops())) {
      resident += w.resident_bytes(v);
    }
    costs.capacity = resident * (trains ? 2 : 1) * 11 / 10 / ranks; // parameters and gradients, in parts only
    const auto chosen = parallel::choose_splits(model, ranks, costs, {.budget = {.moves = 5000}});
    REQUIRE(chosen.found);
    double sent = chosen.seconds;
    for (const op_id v : ids(w.num_ops())) {
      sent -= costs.op(v, chosen.axis[v]);
      const bool is_product = w.type(v) == "aten.linear";
      CHECK((trains || !is_product || parallel::chosen_splits::in_parts(chosen.axis[v])));
    }
    // An all-reduce of a row each after the attention and after the second product, and as many for the gradients of
    // what the first ones read, but not of the layer's input.
    const double megatron = (trains ? 3 : 2) * costs.transfer(parallel::resharding::all_reduce, 4 * 512);
    CHECK(sent <= 1.1 * megatron);
    CHECK(sent >= 0.5 * megatron);
    CHECK(parallel::tensor_parallel(model, chosen.axis, test::on_ranks(w, ranks)).graph.num_ops() > 0);
  }
}

TEST_CASE("PyTorch: expressions over symbols have values") {
  const auto value = [](std::string_view text) {
    const auto of = [](std::string_view name) {
      return name == "s0" ? std::optional{10.0} : name == "s1" ? std::optional{3.0} : std::nullopt;
    };
    return pytorch::detail::size_expression{text, of}().value_or(-1);
  };
  const std::pair<const char*, double> known[] = {
    {"s0", 10}, {"2*s0 + 1", 21}, {"s0 - s1 - 2", 5}, {"(s0//s1)*4", 12}, {"s0**2 % 7", 2}, {"-s0 + 12", 2},
    {"Add(Mul(Integer(2), Symbol('s0', integer=True, positive=True)), Integer(-1))", 19},
    {"FloorDiv(Symbol('s0', integer=True), Integer(4))", 2}, {"torch.utils._sympy.functions.CeilDiv(s0, 4)", 3},
    {"Max(1, s1)*Min(s0, 4)", 12}, {"Mul(Rational(1, 2), Symbol(\"s0\"))", 5}, {"Pow(Symbol('s1'), Integer(2))", 9},
    {"ModularIndexing(s0, 2, 3)", 2}, {"floor(s0/4)", 2}, {"ceiling(2.5) + TruncToInt(s1/2) + Abs(-s1)", 7},
    {"u7", -1}, {"s0/0", -1}, {"Min(s0/0, 1)", -1}, {"u7**0", -1}, {"Mod(s0)", -1}, {"Weird(s0)", -1}, {"(s0", -1},
    {"s0 s1", -1}, {"", -1}};
  for (const auto& [text, is] : known) {
    CAPTURE(std::string{text});
    CHECK(value(text) == is);
  }
  CHECK(value(std::string(100'000, '(')) == -1);
  CHECK(value(std::string(100'000, '-') + "1") == -1);
  CHECK(pytorch::detail::symbol_of("s0") == "s0");
  CHECK(pytorch::detail::symbol_of("Symbol('s3', integer=True)") == "s3");
  CHECK_FALSE(pytorch::detail::symbol_of("2*s0"));
  CHECK_FALSE(pytorch::detail::symbol_of("8"));
}

TEST_CASE("PyTorch: what an op writes into its input is read after that, and what was read before comes first") {
  exported_program p;
  p.buffer("b_cache", {"64", "64"}).input("x", {"64", "64"});
  p.aten("tanh", {{"self", "x"}}, "tanh", {"64", "64"});
  p.aten("select.int", {{"self", "tanh"}, {"index", {{"as_int", 0}}}}, "row", {"64"}); // a view
  p.aten("exp", {{"self", "tanh"}}, "before", {"64", "64"});
  p.aten("add_.Tensor", {{"self", "tanh"}, {"other", "x"}}, "add_", {"64", "64"});
  p.aten("log", {{"self", "row"}}, "after_by_view", {"64"});
  p.aten("sqrt", {{"self", "tanh"}}, "after_by_name", {"64", "64"});
  p.aten("add.Tensor", {{"self", "b_cache"}, {"other", "add_"}}, "new_cache", {"64", "64"});
  p.aten("mul.Tensor", {{"self", "b_cache"}, {"other", "x"}}, "used", {"64", "64"});
  p.output_spec({{"buffer_mutation", {{"arg", {{"name", "new_cache"}}}, {"buffer_name", "cache"}}}});
  const auto w = read(p.text()).ops;
  const auto waits = [&](std::string_view before, std::string_view after) { return waits_in(w, before, after); };
  CHECK(w.type(op_called(w, "add_")) == "aten.add_");
  CHECK(w.work(op_called(w, "add_")) == 64 * 64);
  CHECK(waits("before", "add_"));
  CHECK(waits("row", "add_"));
  CHECK(waits("add_", "after_by_view"));
  CHECK(waits("row", "after_by_view"));
  CHECK(waits("add_", "after_by_name"));
  CHECK_FALSE(waits("tanh", "after_by_name")); // it reads what was written
  CHECK(w.resident_bytes(op_called(w, "new_cache")) == 64 * 64 * 4);
  CHECK(w.group(op_called(w, "new_cache")) == w.group(op_called(w, "used")));
  CHECK(w.group(op_called(w, "new_cache")) != none);
}

TEST_CASE("PyTorch: who reads a number waits for the op that makes it, also through sums") {
  exported_program p;
  const auto number = [](const std::string& name, const char* kind = "as_sym_int") {
    return json{{kind, {{"as_name", name}}}};
  };
  p.input("x", {"8", "6"}).scalar("item", "u0").scalar("more", "u0 + 1").scalar("size", "8");
  p.aten("sum", {{"self", "x"}}, "sum", std::vector<std::string>{});
  p.aten("_local_scalar_dense", {{"self", "sum"}}, json::array({number("item")}));
  p.node("_operator.add", {{"", number("item")}, {"", {{"as_int", 1}}}}, json::array({number("more")}));
  p.aten("tanh", {{"self", "x"}}, "tanh", {"8", "6"});
  p.aten("sym_size.int", {{"self", "tanh"}, {"dim", {{"as_int", 0}}}}, json::array({number("size")}));
  p.aten("full", {{"size", {{"as_sym_ints",
          json::array({{{"as_name", "more"}}, {{"as_int", 6}}, {{"as_name", "size"}}})}}},
          {"fill_value", {{"as_int", 0}}}}, "full", {"2", "6"});
  p.aten("mul.Scalar", {{"self", "x"}, {"other", number("item", "as_sym_float")}}, "mul", {"8", "6"});
  p.aten("exp", {{"self", "x"}}, "exp", {"8", "6"});
  const auto w = read(p.text()).ops;
  REQUIRE(w.num_ops() == 6);
  CHECK(waits_in(w, "sum", "aten._local_scalar_dense"));
  CHECK(waits_in(w, "aten._local_scalar_dense", "full"));
  CHECK(waits_in(w, "tanh", "full"));
  CHECK(waits_in(w, "aten._local_scalar_dense", "mul"));
  CHECK_FALSE(waits_in(w, "aten._local_scalar_dense", "exp"));
}

TEST_CASE("PyTorch: a copy has a storage of its own, a conversion may not") {
  exported_program p;
  p.input("x", {"64"});
  for (const std::string copy : {"clone", "_to_copy", "contiguous"}) {
    p.aten("tanh", {{"self", "x"}}, copy + "_of", {"64"});
    p.node("torch.ops.aten." + copy + ".default", {{"self", copy + "_of"}}, copy, {"64"});
    p.aten("add_.Tensor", {{"self", copy + "_of"}, {"other", "x"}}, copy + "_add_", {"64"});
    p.aten("exp", {{"self", copy}}, copy + "_exp", {"64"});
  }
  const auto w = read(p.text()).ops;
  const auto waits = [&](std::string_view before, std::string_view after) { return waits_in(w, before, after); };
  CHECK_FALSE(waits("clone_add_", "clone_exp"));
  CHECK_FALSE(waits("_to_copy_add_", "_to_copy_exp"));
  CHECK(waits("contiguous_add_", "contiguous_exp"));
  CHECK(waits("clone", "clone_add_")); // it reads what is overwritten
}

TEST_CASE("PyTorch: a batch without effect is refused, and what is nowhere noted") {
  exported_program p;
  p.input("x", {}).parameter("p_used", {"8"}).parameter("p_unused", {"8"});
  p.aten("mul.Tensor", {{"self", "x"}, {"other", "p_used"}}, "mul", {"8"});
  CHECK(noted(read(p.text()), "1 parameter that no op reads is resident nowhere"));
  CHECK_THROWS_WITH_AS((void)read(p.text(), {.batch = 4}), doctest::Contains("the batch cannot be chosen"), error);
}

TEST_CASE("PyTorch: sizes are no ops, and lists of tensors are several") {
  exported_program p;
  p.input("x", {"s0:8", "6"}).scalar("sym_size_int", "s0").scalar("mul", "2*s0");
  p.aten("sym_size.int", {{"self", "x"}, {"dim", {{"as_int", 0}}}},
         json::array({{{"as_sym_int", {{"as_name", "sym_size_int"}}}}}));
  p.node("_operator.mul", {{"", {{"as_sym_int", {{"as_name", "sym_size_int"}}}}}, {"", {{"as_int", 2}}}},
         json::array({{{"as_sym_int", {{"as_name", "mul"}}}}}));
  p.aten("_assert_tensor_metadata", {{"a", "x"}}, json::array());
  p.shape("getitem", {"s0:8", "3"}).shape("getitem_1", {"s0:8", "3"});
  p.aten("split.Tensor", {{"self", "x"}, {"split_size", {{"as_int", 3}}}},
         json::array({tensors({"getitem", "getitem_1"})}));
  p.aten("cat", {{"tensors", tensors({"getitem_1", "getitem", "x"})}}, "cat", {"2*s0", "6"});
  p.aten("einsum", {{"equation", {{"as_string", "bi,bj->ij"}}}, {"tensors", tensors({"cat", "cat"})}}, "einsum",
         {"6", "6"});
  const auto m = read(p.text());
  REQUIRE(m.ops.num_ops() == 3);
  CHECK(m.ops.outputs(0).size() == 2);
  CHECK(m.ops.bytes(m.ops.outputs(0)[1]) == 8 * 3 * 4);
  CHECK(m.ops.inputs(1).size() == 2);
  CHECK(m.ops.work(1) == 0);
  CHECK(m.ops.work(2) == 2 * 16 * 6 * 6);
  CHECK(noted(m, "3 nodes compute sizes or check them: they do not count as ops"));
}

TEST_CASE("PyTorch: graphs in nodes are inlined, or count with the dearest or all their rounds") {
  exported_program inner;
  inner.input("arg0", {"8", "4"}).aten("sin", {{"self", "arg0"}}, "sin", {"8", "4"});
  inner.aten("cos", {{"self", "sin"}}, "cos", {"8", "4"}).returns({"cos"});
  exported_program cheap;
  cheap.input("arg0", {"8", "4"}).aten("neg", {{"self", "arg0"}}, "neg", {"8", "4"});
  cheap.returns({"neg"});
  const auto graph = [](const char* name, const exported_program& p) {
    return json{{"as_graph", {{"name", name}, {"graph", p.graph()}}}};
  };
  exported_program p;
  p.input("x", {"8", "4"}).input("pred", {}, exported_program::boolean).shape("cond", {"8", "4"});
  p.shape("wrapped", {"8", "4"}).shape("loop", {"8", "4"}).shape("map", {"8", "4"});
  p.node("torch.ops.higher_order.cond", {{"", "pred"}, {"", graph("true_graph_0", inner)},
          {"", graph("false_graph_0", cheap)}, {"", tensors({"x"})}}, json::array({tensors({"cond"})}));
  p.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
         {{"", {{"as_bool", false}}}, {"", graph("submod_1", inner)}, {"", "cond"}},
         json::array({tensors({"wrapped"})}));
  p.node("torch.ops.higher_order.while_loop",
         {{"", graph("cond_graph", cheap)}, {"", graph("body_graph", inner)}, {"", tensors({"wrapped"})}},
         json::array({tensors({"loop"})}));
  p.node("torch.ops.higher_order.map_impl",
         {{"", graph("body_graph", inner)}, {"", tensors({"loop"})}, {"", tensors({})}},
         json::array({tensors({"map"})}));
  const auto m = read(p.text(), {.unknown_trips = 10});
  REQUIRE(m.ops.num_ops() == 5);
  CHECK(m.ops.type(0) == "higher_order.cond");
  CHECK(m.ops.work(0) == 2 * 32);
  CHECK(m.ops.name(1) == "wrapped/sin");
  CHECK(m.ops.name(2) == "wrapped/cos");
  CHECK(m.ops.inputs(1).size() == 1);
  CHECK(m.ops.work(3) == 10 * 3 * 32);
  CHECK(m.ops.work(4) == 8 * 2 * 32); // a round per row
  CHECK(m.ops.inputs(3).size() == 1);
  CHECK(noted(m, "1 loop with an unknown number of rounds, taken to be 10: loop"));
  CHECK(noted(m, "1 node with graphs in it: the costliest graph counts once: higher_order.cond"));
}

TEST_CASE("PyTorch: types that nobody knows are noted and count per element") {
  exported_program p;
  p.input("x", {"10"}, exported_program::f16);
  p.node("torch.ops.mylib.fancy.default", {{"x", "x"}}, "fancy", {"10"}, 99);
  p.aten("sub.Tensor", {{"self", "fancy"}, {"other", "x"}}, json::array({tensor("lost")}));
  const auto m = read(p.text(), {.unknown_flop_per_element = 7});
  CHECK(number_bits(m) == 16);
  CHECK(m.ops.type(0) == "mylib.fancy");
  CHECK(m.ops.work(0) == 70);
  CHECK(m.ops.bytes(m.ops.outputs(0).front()) == 40);
  CHECK(noted(m, "1 op of a type without a rule here: 7 FLOP per element of the first result: mylib.fancy"));
  CHECK(noted(m, "1 tensor with elements of a type that is not known here"));
  CHECK(noted(m, "1 tensor without a shape in the file: it counts as empty: 'lost'"));
}

TEST_CASE("PyTorch: recurrent layers, embeddings and reductions by their formulas") {
  exported_program p;
  p.parameter("p_ih", {"256", "32"}).parameter("p_hh", {"256", "64"}).parameter("p_b", {"256"});
  p.parameter("p_table", {"1000", "32"}).input("ids", {"4", "20"}, exported_program::i64).input("h", {"1", "4", "64"});
  p.aten("embedding", {{"weight", "p_table"}, {"indices", "ids"}}, "embedding", {"4", "20", "32"});
  p.shape("out", {"4", "20", "64"}).shape("hn", {"1", "4", "64"}).shape("cn", {"1", "4", "64"});
  p.aten("lstm.input", {{"input", "embedding"}, {"hx", tensors({"h", "h"})},
          {"params", tensors({"p_ih", "p_hh", "p_b", "p_b"})}, {"has_biases", {{"as_bool", true}}}},
         json::array({tensor("out"), tensor("hn"), tensor("cn")}));
  p.aten("mean.dim", {{"self", "out"}, {"dim", ints({1})}}, "mean", {"4", "64"});
  p.aten("_softmax", {{"self", "mean"}, {"dim", {{"as_int", -1}}}}, "_softmax", {"4", "64"});
  const auto w = read(p.text()).ops;
  CHECK(w.work(0) == 0);
  CHECK(w.resident_bytes(0) == 1000 * 32 * 4);
  CHECK(w.work(1) == 80 * (2 * 256 * (32 + 64) + 14 * 64));
  CHECK(w.work(2) == 4 * 20 * 64);
  CHECK(w.work(3) == 5 * 4 * 64);
}

TEST_CASE("PyTorch: distances between the rows of two matrices") {
  exported_program p;
  p.input("x", {"5", "7"}).input("samples", {"3", "7"});
  p.node("torch.ops.aten.cdist.default", {{"x1", "x"}, {"x2", "samples"}}, "cdist", {"5", "3"});
  p.node("torch.ops.aten._cdist_forward.default", {{"x1", "x"}, {"x2", "samples"}}, "_cdist_forward", {"5", "3"});
  const auto m = read(p.text());
  CHECK(m.ops.work(0) == 5 * 3 * (3 * 7 + 1));
  CHECK(m.ops.work(1) == m.ops.work(0));
  CHECK(m.notes.empty());
}

TEST_CASE("PyTorch: parameters have the names that the module has for them") {
  exported_program p;
  p.parameter("p_a", {"64", "64"}).parameter("p_b", {"64"}).input("x", {"512", "64"});
  p.aten("t", {{"self", "p_a"}}, "t", {"64", "64"});
  p.aten("addmm", {{"self", "p_b"}, {"mat1", "x"}, {"mat2", "t"}}, "addmm", {"512", "64"});
  const auto m = read(p.text());
  std::vector<std::string> names;
  for (const auto& parameter : m.parameters) {
    CHECK(parameter.op == 1);
    names.push_back(parameter.name + " " + std::to_string(parameter.bytes));
  }
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"a 16384", "b 256"});
}

TEST_CASE("PyTorch: a model becomes a training step") {
  exported_program p;
  p.parameter("p_a", {"64", "64"}).parameter("p_b", {"64", "64"}).input("x", {"512", "64"});
  p.aten("tanh", {{"self", "x"}}, "tanh", {"512", "64"});
  p.aten("linear", {{"input", "tanh"}, {"weight", "p_a"}}, "linear", {"512", "64"});
  p.aten("relu_", {{"self", "linear"}}, "relu_", {"512", "64"});
  p.aten("t", {{"self", "p_b"}}, "t", {"64", "64"});
  p.aten("mm", {{"self", "relu_"}, {"mat2", "t"}}, "mm", {"512", "64"});
  const auto m = read(p.text());
  const auto step = training_step(m.ops, {.rule = optimizer::sgd});
  std::vector<std::string> gradients;
  for (const op_id v : ids(step.num_ops())) {
    if (step.name(v).starts_with("gradients/") && step.work(v) == 2.0 * 512 * 64 * 64) {
      gradients.emplace_back(step.name(v));
    }
  }
  std::ranges::sort(gradients);
  CHECK(gradients ==
        std::vector<std::string>{"gradients/linear/weights", "gradients/mm/input", "gradients/mm/weights"});
}

TEST_CASE("PyTorch: what is no program, or a damaged one, is refused in one line") {
  CHECK_FALSE(pytorch::reader{}.recognises(""));
  CHECK_FALSE(pytorch::reader{}.recognises("{\"format\": \"weft.workload\"}"));
  CHECK(pytorch::reader{}.recognises("  {\n \"graph_module\": {"));
  const auto says = [](const std::string& bytes, std::string_view part) {
    const auto what = refusal(bytes);
    CAPTURE(what);
    CHECK(what.find(part) != std::string::npos);
    CHECK(what.find('\n') == std::string::npos);
  };
  says(zip_of({{"net/data.pkl", "x"}, {"net/constants.pkl", "x"}, {"net/code/net.py", "x"}}), "a TorchScript model");
  says(zip_of({{"net/data.pkl", "x"}, {"net/data/0", "x"}}), "weights that torch.save wrote");
  says(zip_of({{"net/data/aotinductor/model/x.so", "x"}}), "AOTInductor");
  says(zip_of({{"config.json", "{}"}, {"model.weights.h5", "x"}}), "a Keras model");
  says(zip_of({{"readme", "x"}}), "a zip archive without an exported program");
  says(std::string{"PK\x03\x04 and nothing else"}, "damaged or truncated");
  const auto archive = zip_of({{"serialized_exported_program.json", mlp("2").text()}});
  says(archive.substr(0, archive.size() / 2), "damaged or truncated");
  auto broken = archive;
  broken[200] = static_cast<char>(broken[200] ^ 1);
  CHECK(!refusal(broken).empty()); // its checksum is another
  // 100 MiB of blanks in a few kilobytes.
  says(zip_of({{"models/model.json", std::string(std::size_t{100} << 20, ' ')}}, true), "inflates to over 20 times");

  says("{", "not valid JSON");
  says("{\"graph_module\": 3}", "has no \"graph\"");
  says("{\"graph_module\": {\"graph\": {}}}", "has no \"inputs\"");
  says(std::string(100'000, '[') + std::string(100'000, ']'), "nested more than 500 deep");
  says(std::string{"{\"graph_module\": \0 }", 20}, "not valid JSON after 17 bytes");
  std::string many = "[{}";
  for (int i = 0; i < 3'000'000; ++i) {
    many += ",{}";
  }
  says(many + "]", "many small values");

  exported_program p;
  p.input("x", {"8"}).aten("relu", {{"self", "y"}}, "relu", {"8"});
  says(p.text(), "node 0 (torch.ops.aten.relu.default): tensor 'y' is read before any node makes it");
  exported_program q;
  q.input("x", {"8"}).aten("relu", {{"self", "x"}}, "relu", {"99999999999", "99999999999"});
  says(q.text(), "more than 2^62 bytes");
  exported_program long_shape;
  long_shape.input("x", {"8"});
  long_shape.aten("relu", {{"self", "x"}}, "relu", std::vector<std::string>(65, "1"));
  says(long_shape.text(), "more than 64 extents");
  exported_program none_at_all;
  none_at_all.input("x", {"8"});
  says(none_at_all.text(), "no node that computes anything");
}

} // namespace pytorch_test
