// SPDX-License-Identifier: BSL-1.0
// Placements written into graphs: only devices change.
#include "weft/interop/tensorflow.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace interop_tensorflow_placed_test {

using namespace weft;
using placement_of = std::vector<device_id>;

const std::vector<std::string> names{"/device:CPU:0", "/device:GPU:1"};

std::string placed(const std::string& bytes, const placement_of& p) {
  const auto ops = tensorflow::reader{.fetch = {"*"}}.read(bytes, "graph").ops;
  std::ostringstream out;
  tensorflow::write_placed(out, bytes, ops, p, names);
  return out.str();
}
std::string encoded(const std::string& text) {
  return tensorflow::from_text(text, tensorflow::schema::message_id::graph_def, "text");
}

TEST_CASE("texts keep their layout and comments") {
  CHECK(placed("# net\nnode {\n  name: \"a\"  # first\n  op: \"NoOp\"\n  attr { key: 'k' value { i: 1 } }\n}\n", {1}) ==
        "# net\nnode {\n  name: \"a\"  # first\n  op: \"NoOp\"\n  device: \"/device:GPU:1\"\n  attr { key: 'k' value { "
        "i: 1 } }\n}\n");
  CHECK(placed("node {\n  name: \"a\"\n  op: \"NoOp\"\n  device: \"/old\" 'er'  \n}\n", {0}) ==
        "node {\n  name: \"a\"\n  op: \"NoOp\"\n  device: \"/device:CPU:0\"  \n}\n");
  CHECK(placed("node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'Neg' input: ['a' , 'a'] }", {1, 0}) ==
        "node { name: 'a' op: 'NoOp' device: \"/device:GPU:1\" } node { name: 'b' op: 'Neg' input: ['a' , 'a'] device: "
        "\"/device:CPU:0\" }");
  CHECK(placed("node{op:'NoOp',device:'';name:'a'}", {1}) == "node{op:'NoOp',device:\"/device:GPU:1\";name:'a'}");
  const std::string kept = "node { name: 'a' op: 'NoOp' device: '/x' } node { name: 'b' op: 'NoOp' }";
  CHECK(placed(kept, {none, none}) == kept);
}

TEST_CASE("binary graphs keep all other fields, also those that nobody knows, where they are") {
  const std::string text = "node { name: 'a' op: 'NoOp' attr { key: 'k' value { i: 1 } } } "
                           "node { name: 'b' op: 'Neg' input: 'a' device: '/old' } versions { producer: 27 }";
  auto expected = text;
  expected.replace(expected.find("/old"), 4, "/device:CPU:0").insert(expected.find("attr"), "device: '/device:GPU:1' ");
  CHECK(placed(encoded(text), {1, 0}) == encoded(expected));
  namespace wire = tensorflow::wire;
  const auto node = wire::message(1, "a", 2, "NoOp", 99, 7); // with a field of the future
  const auto with = wire::message(1, "a", 2, "NoOp", 4, names[0], 99, 7);
  const auto graph = [](const std::string& n) { return wire::message(1, n, 77, "unknown"); };
  CHECK(placed(graph(node), {0}) == graph(with));
  CHECK(placed(graph(with), {0}) == graph(with));
}

TEST_CASE("devices are numbered per kind") {
  const platform p{std::vector<device>{{.kind = device_kind::cpu},
                                       {.kind = device_kind::gpu},
                                       {.kind = device_kind::gpu},
                                       {.kind = device_kind::tpu},
                                       {.kind = device_kind::cpu}},
                   uniform_links{}};
  CHECK(tensorflow::device_names(p) == std::vector<std::string>{"/device:CPU:0", "/device:GPU:0", "/device:GPU:1",
                                                                "/device:TPU:0", "/device:CPU:1"});
}

TEST_CASE("what is written reads back with its devices as constraints") {
  const std::string text = "node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'NoOp' }";
  for (const auto& bytes : {text, encoded(text)}) {
    const auto w = tensorflow::reader{}.read(placed(bytes, {1, 0}), "x").ops;
    CHECK(w.kinds(0) == device_kind::gpu);
    CHECK(w.kinds(1) == device_kind::cpu);
  }
}

TEST_CASE("nodes that no step needs keep their devices, but for those that must be where a variable is") {
  const std::string text = "node { name: 'v' op: 'VariableV2' device: '/old' }\n"
                           "node { name: 'zero' op: 'Const' device: '/old' }\n"
                           "node { name: 'v/Assign' op: 'Assign' input: 'v' input: 'zero' device: '/old' }\n"
                           "node { name: 'near' op: 'NoOp' input: '^v/Assign' "
                           "attr { key: '_class' value { list { s: 'loc:@v' } } } }\n"
                           "node { name: 'init' op: 'NoOp' input: '^near' }\n"
                           "node { name: 'read' op: 'Identity' input: 'v' device: '/old' }\n";
  for (const bool is_text : {true, false}) {
    const auto bytes = is_text ? text : encoded(text);
    const auto ops = tensorflow::reader{}.read(bytes, "graph").ops;
    REQUIRE(ops.num_ops() == 2);
    std::ostringstream out;
    tensorflow::write_placed(out, bytes, ops, placement_of{1, none}, names);
    const auto again = is_text ? encoded(out.str()) : out.str();
    const auto g = tensorflow::graph::of_graph_def(again);
    REQUIRE(g.num_nodes() == 6);
    const std::vector<std::string_view> expected{names[1], "/old", names[1], names[1], "", "/old"};
    for (op_id v = 0; v < 6; ++v) {
      CHECK(g[v].device == expected[v]);
    }
  }
}

TEST_CASE("placements that do not fit are refused") {
  const std::string text = "node { name: 'a' op: 'NoOp' }";
  CHECK_THROWS_WITH_AS(placed(text, {}), "graph: the placement has 0 entries for 1 ops", parse_error);
  CHECK_THROWS_WITH_AS(placed(text, {2}), "graph: op 0 is placed on device 2, but there are names for 2", parse_error);
  CHECK_THROWS_AS(placed("node { name: 'a' id: 1 }", {0}), parse_error);
  CHECK_THROWS_AS(placed("not a graph", {0}), parse_error);
}

} // namespace interop_tensorflow_placed_test
