// SPDX-License-Identifier: BSL-1.0
/// Small ONNX models with random weights, made to be cut: each has something that a cut must not lose.
#pragma once

#include "interop/onnx_models.hpp"

#include "weft/core/random.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace weft_test {

struct split_sample {
  std::string name;
  onnx_model model;
  bool tensors_only = true; ///< no sequence goes between nodes
};

/// Initialisers with elements.
class weights_maker {
public:
  explicit weights_maker(std::uint64_t seed) : random_{seed} {}

  void operator()(::onnx::GraphProto& g, const std::string& name, const onnx_model::dims& shape) {
    auto& t = *g.add_initializer();
    t.set_name(name);
    fill(t, shape);
  }
  void fill(::onnx::TensorProto& t, const onnx_model::dims& shape) {
    t.set_data_type(::onnx::TensorProto::FLOAT);
    t.mutable_dims()->Add(shape.begin(), shape.end());
    t.set_raw_data(bytes(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{})));
  }
  std::string bytes(std::int64_t count) {
    std::vector<float> elements(static_cast<std::size_t>(count));
    std::ranges::generate(elements, [this] { return static_cast<float>(random_.uniform(-0.5, 0.5)); });
    return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float)};
  }

private:
  weft::rng random_;
};

inline void open_input(onnx_model& m, const std::string& name, const std::vector<std::string>& dims) {
  auto& x = *m.m.mutable_graph()->add_input();
  x.set_name(name);
  auto& tensor = *x.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(::onnx::TensorProto::FLOAT);
  for (const auto& d : dims) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    d.front() >= '0' && d.front() <= '9' ? dim.set_dim_value(std::stoll(d)) : dim.set_dim_param(d);
  }
}
inline void open_output(onnx_model& m, const std::string& name) {
  auto& x = *m.m.mutable_graph()->add_output();
  x.set_name(name);
  x.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
}

/// Convolutions in two branches, a batch without a fixed size, one weight that both branches read, and one output that
/// another node reads, too.
inline split_sample branches() {
  onnx_model m;
  weights_maker weights{1};
  auto& g = *m.m.mutable_graph();
  open_input(m, "x", {"N", "3", "8", "8"});
  weights(g, "w", {4, 3, 3, 3});
  weights(g, "shared", {4, 4, 1, 1});
  onnx_model::set(m.node("Conv", {"x", "w"}, {"a"}), "pads", onnx_model::dims{1, 1, 1, 1});
  m.node("Relu", {"a"}, {"b"});
  m.node("Conv", {"b", "shared"}, {"left"});
  m.node("Sigmoid", {"b"}, {"c"});
  m.node("Conv", {"c", "shared"}, {"right"});
  m.node("Add", {"left", "right"}, {"sum"});
  m.node("GlobalAveragePool", {"sum"}, {"pooled"});
  m.node("Mul", {"sum", "pooled"}, {"y"});
  m.node("Neg", {"sum"}, {"read by nobody"});
  open_output(m, "y");
  open_output(m, "sum");
  return {"branches", std::move(m)};
}

/// Attention of two open extents, whose shapes the model computes: whole numbers go from node to node.
inline split_sample computed_shapes() {
  onnx_model m;
  weights_maker weights{2};
  auto& g = *m.m.mutable_graph();
  open_input(m, "x", {"N", "S", "8"});
  for (const char* name : {"q", "k", "v"}) {
    weights(g, std::string{"w"} + name, {8, 8});
    m.node("MatMul", {"x", std::string{"w"} + name}, {name});
  }
  m.integers("minus", {-1}).integers("two", {2}).integers("four", {4}).integers("zero", {0}).integers("one", {1});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"batch"});
  m.node("Gather", {"shape", "one"}, {"length"});
  onnx_model::set(m.node("Concat", {"batch", "length", "two", "four"}, {"heads"}), "axis", std::int64_t{0});
  onnx_model::set(m.node("Concat", {"batch", "length", "minus"}, {"flat"}), "axis", std::int64_t{0});
  for (const std::string name : {"q", "k", "v"}) {
    m.node("Reshape", {name, "heads"}, {name + "4"});
    onnx_model::set(m.node("Transpose", {name + "4"}, {name + "t"}), "perm",
                    name == "k" ? onnx_model::dims{0, 2, 3, 1} : onnx_model::dims{0, 2, 1, 3});
  }
  m.node("MatMul", {"qt", "kt"}, {"scores"});
  onnx_model::set(m.node("Softmax", {"scores"}, {"weights"}), "axis", std::int64_t{-1});
  m.node("MatMul", {"weights", "vt"}, {"mixed"});
  onnx_model::set(m.node("Transpose", {"mixed"}, {"back"}), "perm", onnx_model::dims{0, 2, 1, 3});
  m.node("Reshape", {"back", "flat"}, {"y"});
  open_output(m, "y");
  return {"computed_shapes", std::move(m)};
}

/// An If and a Loop whose bodies read tensors around them, of nodes, inputs and initialisers, and in a body of a body.
inline split_sample bodies() {
  onnx_model m;
  weights_maker weights{3};
  auto& g = *m.m.mutable_graph();
  m.input("x", {4, 4});
  weights(g, "w", {4, 4});
  weights(g, "bias", {4});
  m.node("MatMul", {"x", "w"}, {"a"});
  m.node("Relu", {"a"}, {"b"});
  m.node("ReduceSum", {"a"}, {"total"});
  m.node("Greater", {"total", "total"}, {"condition"});
  auto& choice = m.node("If", {"condition"}, {"chosen"});
  const auto declare = [](::onnx::GraphProto& body, const std::string& name, const onnx_model::dims& dims,
                          std::int32_t type = ::onnx::TensorProto::FLOAT) {
    onnx_model::declare(*body.add_output(), name, dims, type);
  };
  auto& then = onnx_model::body(choice, "then_branch");
  onnx_model::add_to(then, "Add", {"a", "bias"}, {"in then"});
  declare(then, "in then", {4, 4});
  auto& otherwise = onnx_model::body(choice, "else_branch");
  weights(otherwise, "own", {4, 4});
  auto& inner = onnx_model::add_to(otherwise, "If", {"condition"}, {"in else"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& deepest = onnx_model::body(inner, branch);
    onnx_model::add_to(deepest, *branch == 't' ? "Mul" : "Sub", {"b", "own"}, {std::string{"deep "} + branch});
    declare(deepest, std::string{"deep "} + branch, {4, 4});
  }
  declare(otherwise, "in else", {4, 4});
  m.integers("trips", {3});
  auto& loop = m.node("Loop", {"trips", "", "chosen"}, {"state"});
  auto& body = onnx_model::body(loop, "body");
  onnx_model::declare(*body.add_input(), "i", {}, ::onnx::TensorProto::INT64);
  onnx_model::declare(*body.add_input(), "go", {}, ::onnx::TensorProto::BOOL);
  onnx_model::declare(*body.add_input(), "s", {4, 4}, ::onnx::TensorProto::FLOAT);
  onnx_model::add_to(body, "Identity", {"go"}, {"go on"});
  onnx_model::add_to(body, "MatMul", {"s", "w"}, {"sw"});
  onnx_model::add_to(body, "Add", {"sw", "b"}, {"next"});
  declare(body, "go on", {}, ::onnx::TensorProto::BOOL);
  declare(body, "next", {4, 4});
  m.node("Add", {"state", "x"}, {"y"});
  m.output("y", {4, 4});
  return {"bodies", std::move(m)};
}

/// Functions of the model that call each other, and one that nobody calls.
inline split_sample functions() {
  onnx_model m;
  weights_maker weights{4};
  auto& g = *m.m.mutable_graph();
  onnx_model::import(m.m, "local", 1);
  const auto define = [&](const std::string& name,
                          std::initializer_list<std::string> inputs) -> ::onnx::FunctionProto& {
    auto& f = *m.m.add_functions();
    f.set_name(name);
    f.set_domain("local");
    f.mutable_input()->Add(inputs.begin(), inputs.end());
    f.add_output("out");
    onnx_model::import(f, "", 17);
    onnx_model::import(f, "local", 1);
    return f;
  };
  auto& silu = define("silu", {"in"});
  onnx_model::add_to(silu, "Sigmoid", {"in"}, {"s"});
  onnx_model::add_to(silu, "Mul", {"in", "s"}, {"out"});
  auto& layer = define("layer", {"in", "weight"});
  onnx_model::add_to(layer, "MatMul", {"in", "weight"}, {"p"});
  onnx_model::add_to(layer, "silu", {"p"}, {"out"}, "local");
  onnx_model::add_to(define("unused", {"in"}), "Neg", {"in"}, {"out"});
  m.input("x", {2, 6});
  for (const char* name : {"w1", "w2", "w3"}) {
    weights(g, name, {6, 6});
  }
  m.node("layer", {"x", "w1"}, {"a"}, "local");
  m.node("Tanh", {"a"}, {"b"});
  m.node("layer", {"b", "w2"}, {"c"}, "local");
  m.node("MatMul", {"c", "w3"}, {"d"});
  m.node("silu", {"d"}, {"y"}, "local");
  for (const char* name : {"a", "c"}) {
    m.declared(name, {2, 6});
  }
  m.output("y", {2, 6});
  return {"functions", std::move(m)};
}

/// Parameters that are computed: from a weight that several stages read, from a Constant, one that is an output of the
/// model, one that nobody reads, and an initialiser that is an output.
inline split_sample computed_parameters() {
  onnx_model m;
  weights_maker weights{5};
  auto& g = *m.m.mutable_graph();
  m.input("x", {3, 5});
  weights(g, "w", {5, 5});
  weights(g, "given", {2});
  weights.fill(onnx_model::tensor(m.node("Constant", {}, {"scale"}), "value"), {5});
  m.node("Transpose", {"w"}, {"wt"});
  m.node("Mul", {"wt", "scale"}, {"scaled"});
  m.node("MatMul", {"x", "scaled"}, {"a"});
  m.node("Sin", {"a"}, {"b"});
  m.node("MatMul", {"b", "scaled"}, {"c"});
  m.node("Cos", {"c"}, {"d"});
  m.node("MatMul", {"d", "wt"}, {"y"});
  m.node("Exp", {"scale"}, {"constant output"});
  m.node("Abs", {"wt"}, {"forgotten"});
  m.output("y", {3, 5}).output("constant output", {5}).output("given", {2});
  return {"computed_parameters", std::move(m)};
}

/// Nodes with several outputs and with inputs that are left out, and an input of the model that is an output as well.
inline split_sample several_outputs() {
  onnx_model m;
  m.input("x", {2, 6}).input("low", {}).output("p", {2, 3}).output("y", {2, 2});
  onnx_model::set(m.node("Split", {"x"}, {"a", "b"}), "axis", std::int64_t{1});
  m.node("Clip", {"a", "", "low"}, {"c"});
  m.node("Add", {"b", "c"}, {"p"});
  m.integers("k", {2});
  onnx_model::set(m.node("TopK", {"p", "k"}, {"values", "places"}), "axis", std::int64_t{1});
  onnx_model::set(m.node("Cast", {"places"}, {"numbers"}), "to", std::int64_t{::onnx::TensorProto::FLOAT});
  m.node("Mul", {"values", "numbers"}, {"y"});
  return {"several_outputs", std::move(m)};
}

/// A sequence between nodes.
inline split_sample sequence() {
  onnx_model m;
  m.input("x", {4, 3}).output("y", {1, 3});
  m.integers("at", {2});
  m.m.mutable_graph()->mutable_initializer(0)->clear_dims(); // a scalar
  m.node("SplitToSequence", {"x"}, {"parts"});
  m.node("SequenceAt", {"parts", "at"}, {"part"});
  m.node("Neg", {"part"}, {"y"});
  return {"sequence", std::move(m), false};
}

inline std::vector<split_sample> split_samples() {
  return {branches(),           computed_shapes(), bodies(),  functions(),
          computed_parameters(), several_outputs(), sequence()};
}

/// Placements of n ops on k devices: blocks, taking turns, and at random.
inline std::vector<std::pair<std::string, weft::placement>> split_placements(std::size_t n, std::uint32_t k,
                                                                             std::uint64_t seed) {
  weft::rng random{seed};
  std::vector<std::pair<std::string, weft::placement>> all{{"blocks", {}}, {"turns", {}}, {"random", {}}};
  for (std::size_t v = 0; v < n; ++v) {
    all[0].second.push_back(static_cast<weft::device_id>(v * k / n));
    all[1].second.push_back(static_cast<weft::device_id>(v % k));
    all[2].second.push_back(random.below(k));
  }
  return all;
}

/// k blocks of a model in the order of its file, with equally many nodes that are no weights in each.
inline weft::placement blocks_of(const ::onnx::GraphProto& g, std::uint32_t k) {
  const auto is_weight = [](const auto& n) { return n.op_type() == "ConstantOfShape"; };
  const auto count =
    static_cast<std::size_t>(g.node_size() - std::count_if(g.node().begin(), g.node().end(), is_weight));
  weft::placement p;
  std::size_t before = 0;
  for (const auto& n : g.node()) {
    p.push_back(static_cast<weft::device_id>(std::min(before, count - 1) * k / count));
    before += is_weight(n) ? 0u : 1u;
  }
  return p;
}

} // namespace weft_test
