// SPDX-License-Identifier: BSL-1.0
// What a step of a graph runs, and what other runs do.
#include "interop/reading.hpp"
#include "interop/tensorflow_graphs.hpp"
#include "weft/interop/tensorflow.hpp"
#include "weft/workload/in_place.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace interop_tensorflow_fetch_test {

using namespace weft;
using names_of_ops = std::set<std::string>;
using weft_test::node;

model read(const std::string& text, std::vector<std::string> fetch = {}) {
  return tensorflow::reader{.fetch = std::move(fetch)}.read(text, "g.pbtxt");
}
names_of_ops names(const model& m) {
  const auto all = weft_test::names_of(m.ops);
  return {all.begin(), all.end()};
}
std::string refusal(const std::string& text, std::vector<std::string> fetch) {
  return weft_test::refusal_of([&] { return read(text, std::move(fetch)); });
}

/// A variable with its initialiser and the read of it.
std::string variable(const std::string& name, const std::string& value) {
  return node(name, "VariableV2") + node(name + "/Assign", "Assign", {name, value}) +
         node(name + "/read", "Identity", {name});
}

/// y = w x, w changes by the gradient, `rate` decays, a moving average follows w.
const std::string network =
  node("x", "Placeholder") + node("shape", "Const") + node("random", "RandomUniform", {"shape"}) +
  variable("w", "random") + node("zero", "Const") + variable("rate", "zero") + node("y", "MatMul", {"x", "w/read"}) +
  node("gradient", "MatMul", {"x", "y"}) +
  node("slower", "Mul", {"rate/read", "zero"}) + node("decay/Assign", "Assign", {"rate", "slower"}) +
  variable("average", "w/read") + node("follow", "AssignSub", {"average", "y"}) +
  node("update", "ApplyGradientDescent", {"w", "rate/read", "gradient"}) +
  node("train", "NoOp", {"^update", "^decay/Assign", "^follow"});

const names_of_ops step = {"x", "w", "w/read", "zero", "rate", "rate/read", "y", "gradient", "slower", "decay/Assign",
                           "average", "average/read", "follow", "update", "train"};

TEST_CASE("initialisers are no part of a step, other assignments are") {
  const auto init = node("init", "NoOp", {"^w/Assign", "^rate/Assign", "^average/Assign"});
  const auto m = read(network + init);
  CHECK(names(m) == step);
  CHECK(m.notes.front() == "6 of 21 nodes only initialise, save, restore or summarise, and are left out: fetch nodes "
                           "by name to choose, or '*' to keep all");
  CHECK(names(read(network)) == step); // the same without one op that runs them all
  const auto all = read(network + init, {"*"});
  CHECK(all.ops.num_ops() == 21);
  CHECK_FALSE(weft_test::noted(all, "left out"));
}

TEST_CASE("savers, restorers, summaries, tables and checks of variables are no part of a step") {
  const auto m = read(
    network + node("name", "Const") + node("slices", "Const") +
    node("save", "SaveV2", {"name", "name", "slices", "w/read"}) +
    node("saved", "Identity", {"name", "^save"}) + node("save/sharded", "MergeV2Checkpoints", {"saved", "name"}) +
    node("restore", "RestoreV2", {"name", "name", "slices"}) + node("restored", "Identity", {"restore"}) +
    node("save/Assign_1", "Assign", {"w", "restored"}) + node("restore_all", "NoOp", {"^save/Assign_1"}) +
    node("tag", "Const") + node("loss", "ScalarSummary", {"tag", "y"}) + node("all", "MergeSummary", {"loss"}) +
    node("table", "HashTableV2") + node("fill", "InitializeTableV2", {"table", "tag", "tag"}) +
    node("made", "IsVariableInitialized", {"w"}) + node("report", "Pack", {"made", "made"}));
  CHECK(names(m) == step);
}

TEST_CASE("what summarises behind a loop is no part of a step either") {
  const std::string loop = node("zero", "Const") + node("in", "Enter", {"zero"}) +
                           node("top", "Merge", {"in", "next"}) + node("next", "NextIteration", {"body"}) +
                           node("body", "Add", {"top", "top"}) + node("out", "Exit", {"top"});
  const auto m =
    read(loop + node("loss", "Identity", {"out"}) + node("train", "NoOp", {"^loss"}) + node("tag", "Const") +
         node("told", "ScalarSummary", {"tag", "loss"}) + node("all", "MergeSummary", {"told"}));
  CHECK(names(m) == names_of_ops{"zero", "in", "top", "next", "body", "out", "loss", "train"});
}

TEST_CASE("an assignment that a step waits for is part of it") {
  const auto m =
    read(variable("v", "zero") + node("zero", "Const") + node("reset", "Add", {"v/read", "zero", "^v/Assign"}));
  CHECK(names(m) == names_of_ops{"v", "v/read", "v/Assign", "zero", "reset"});
}

TEST_CASE("a graph that does nothing else stays whole, and so do loops and functions") {
  const auto m = read(node("v", "VariableV2") + node("zero", "Const") + node("v/Assign", "Assign", {"v", "zero"}) +
                      node("init", "NoOp", {"^v/Assign"}));
  CHECK(m.ops.num_ops() == 4);
  const auto loop = read(node("zero", "Const") + node("in", "Enter", {"zero"}) + node("top", "Merge", {"in", "next"}) +
                         node("next", "NextIteration", {"body"}) + node("body", "Add", {"top", "top"}));
  CHECK(loop.ops.num_ops() == 5);
}

TEST_CASE("what is fetched by name, and what that needs") {
  for (const std::string fetch : {"y", "y:0", "^y", "^y:0"}) {
    CAPTURE(fetch);
    const auto m = read(network, {fetch});
    CHECK(names(m) == names_of_ops{"x", "w", "w/read", "y"});
    CHECK(m.notes.front() == "16 of 20 nodes are not needed for '" + fetch + "', and are left out");
  }
  CHECK(names(read(network, {"w/Assign", "slower"})) ==
        names_of_ops{"shape", "random", "w", "w/Assign", "rate", "rate/read", "zero", "slower"});
  CHECK(refusal(network, {"Updates"}) == "g.pbtxt: fetch: there is no node 'Updates'; there is 'update'");
  CHECK(refusal(network, {"gradients/w:1"}) == "g.pbtxt: fetch: there is no node 'gradients/w'; there is 'gradient'");
  CHECK(refusal(network, {"y", "optimizer"}) == "g.pbtxt: fetch: there is no node 'optimizer'; nobody reads 'train', "
                                                "'w/Assign', 'average/Assign', 'rate/Assign', 'average/read'");
  CHECK(refusal(network, {""}).find("there is no node ''") != std::string::npos);
  CHECK(refusal("node { name: 'a' id: 1 }", {"a"}) ==
        "g.pbtxt: fetch: a CostGraphDef has what a run needed, and nothing to choose from");
}

TEST_CASE("nodes that are colocated with one that is left out stay together") {
  const std::string with = "attr { key: '_class' value { list { s: 'loc:@w/Assign' } } }";
  auto text = network;
  for (const std::string name : {"'y'", "'slower'"}) {
    text.insert(text.find('}', text.find("name: " + name)), with);
  }
  const auto m = read(text);
  const auto group = m.ops.group(weft_test::op_called(m.ops, "y"));
  CHECK(group != none);
  CHECK(m.ops.group(weft_test::op_called(m.ops, "slower")) == group);
  CHECK_FALSE(weft_test::noted(m, "colocations"));
}

/// Names of the ops that make results, and then of those that write over an input.
std::vector<names_of_ops> returned_and_in_place(const model& m) {
  std::vector<names_of_ops> all(2);
  for (const op_id v : m.returned) {
    all[0].emplace(m.ops.name(v));
  }
  const auto shared = with_shared_memory(m.ops, true, m.returned);
  for (const op_id v : ids(shared.num_ops())) {
    if (shared.output_memory(v) == output_memory::over_input) {
      all[1].emplace(shared.name(v));
    }
  }
  return all;
}

TEST_CASE("what is fetched is a result, which no op writes over") {
  using facts = std::vector<names_of_ops>;
  const auto product = node("x", "Placeholder") + node("w", "Placeholder") + node("y", "MatMul", {"x", "w"});
  const auto net = product + node("relu", "Relu", {"y"}) + node("exp", "Exp", {"relu"});
  for (const std::string fetch : {"y", "y:0"}) {
    CHECK(returned_and_in_place(read(net, {"exp", fetch, fetch})) == facts{{"y", "exp"}, {"exp"}});
  }
  CHECK(returned_and_in_place(read(net, {"exp", "^y"})) == facts{{"exp"}, {"relu", "exp"}});
  for (const std::vector<std::string>& fetch : {std::vector<std::string>{}, {"*"}}) {
    CHECK(returned_and_in_place(read(net, fetch)) == facts{{}, {"relu", "exp"}}); // nobody says what is wanted
  }
  CHECK(returned_and_in_place(read(net + node("result", "_Retval", {"y"}))) == facts{{"y"}, {"exp"}});

  const std::string function = R"(library { function {
    signature { name: 'f' input_arg { name: 'a' } output_arg { name: 'p' } output_arg { name: 'q' } }
    node_def { name: 'tanh' op: 'Tanh' input: 'a' } node_def { name: 'exp' op: 'Exp' input: 'tanh:y:0' }
    ret { key: 'p' value: 'tanh:y:0' } ret { key: 'q' value: 'exp:y:0' } } })";
  const auto call = product + node("f", "f", {"y"}) + node("last", "Neg", {"f:1"}) + function;
  CHECK(returned_and_in_place(read(call, {"f:0", "last"})) == facts{{"f/tanh", "last"}, {"f/tanh", "last"}});
  CHECK(returned_and_in_place(read(call, {"f", "last"})) == facts{{"f/tanh", "f/exp", "last"}, {"f/tanh"}});
  CHECK(returned_and_in_place(read(call, {"last"})) == facts{{"last"}, {"f/tanh", "f/exp", "last"}});
  CHECK(returned_and_in_place(read(call, {"^f", "last"})) == facts{{"last"}, {"f/tanh", "f/exp", "last"}});
  const auto kept = product + node("f", "f", {"y"}) + node("last", "Neg", {"f"}) + function;
  for (const std::string fetch : {"f", "f:0"}) { // a call that stays an op
    const tensorflow::reader reader{.fetch = {fetch, "last"}, .keep_functions = true};
    CHECK(returned_and_in_place(reader.read(kept, "g.pbtxt")) == facts{{"f", "last"}, {}});
  }
  const tensorflow::reader runs{.fetch = {"^f", "last"}, .keep_functions = true};
  CHECK(returned_and_in_place(runs.read(kept, "g.pbtxt")) == facts{{"last"}, {"last"}});
}

#ifdef WEFT_REFERENCE_DATA
TEST_CASE("golden: TensorFlow's own graphs without their initialisers") {
  if (std::string{WEFT_REFERENCE_DATA}.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  for (const std::string file : {"convolutional_network", "mnist_convolution"}) {
    CAPTURE(file);
    auto in = io::open_for_reading(std::filesystem::path{WEFT_REFERENCE_DATA} / "data/tensorflow" / (file + ".pbtxt"));
    const auto bytes = io::read_all(in, file);
    const auto kept = names(tensorflow::reader{.batch = 128}.read(bytes, file));
    const auto train = names(tensorflow::reader{.batch = 128, .fetch = {"Adam"}}.read(bytes, file));
    for (const char* name : {"Adam", "Adam/Assign", "Mean_1"}) { // one assigns a power of beta, part of each step
      CHECK(kept.contains(name));
    }
    for (const char* name : {"init", "Variable/Assign", "Variable/Adam/Assign"}) {
      CHECK_FALSE(kept.contains(name));
    }
    CHECK(train.contains("Adam/Assign"));
    CHECK_FALSE(train.contains("Mean_1")); // the accuracy
    for (const auto& name : train) {
      CHECK(kept.contains(name));
    }
  }
}
#endif

} // namespace interop_tensorflow_fetch_test
