// SPDX-License-Identifier: BSL-1.0
// SavedModels: which graph and signature are read, placed models, and bundled networks wrapped into one.
#include "interop/reading.hpp"
#include "weft/interop/tensorflow.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace interop_tensorflow_saved_model_test {

using namespace weft;
using weft_test::names_of;
using weft_test::noted;
namespace wire = tensorflow::wire;
using tensorflow::schema::message_id;

std::string refusal(const std::string& bytes, const tensorflow::reader& r = {}) {
  return weft_test::refusal_of([&] { return r.read(bytes, "saved_model.pb"); });
}

/// What Keras saves of one dense layer, in short: a signature's call, a call within, variables, saving and restoring;
/// and beside that what weft does not read.
const std::string dense = R"(# written by hand
saved_model_schema_version: 1
meta_graphs {
  meta_info_def {
    stripped_op_list { op { name: "MatMul" input_arg { name: "a" } output_arg { name: "product" } } }
    any_info { [type.googleapis.com/tensorflow.X] { value: "}\"" 'more' } }
    tags: "serve"
    tensorflow_version: "2.15.0" stripped_default_attrs: true
    function_aliases { key: "__inference_call_2" value: "call" }
  }
  graph_def {
    node { name: "dense/kernel" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 64 } dim { size: 10 } } } } }
    node { name: "dense/bias" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 10 } } } } }
    node { name: "NoOp" op: "NoOp" }
    node { name: "serving_default_x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 64 } } } } }
    node { name: "StatefulPartitionedCall" op: "StatefulPartitionedCall"
           input: "serving_default_x" input: "dense/kernel" input: "dense/bias"
           attr { key: "Tout" value { list { type: DT_FLOAT } } }
           attr { key: "f" value { func { name: "__inference_signature_wrapper_1" } } } }
    node { name: "saver_filename" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
    node { name: "StatefulPartitionedCall_1" op: "StatefulPartitionedCall" input: "saver_filename"
           attr { key: "Tout" value { list { type: DT_STRING } } }
           attr { key: "f" value { func { name: "__inference__traced_save_3" } } } }
    library {
      function {
        signature { name: "__inference_signature_wrapper_1" input_arg { name: "x" type: DT_FLOAT }
                    input_arg { name: "unknown" type: DT_RESOURCE } input_arg { name: "unknown_0" type: DT_RESOURCE }
                    output_arg { name: "identity" type: DT_FLOAT } is_stateful: true control_output: "StatefulPartitionedCall" }
        node_def { name: "StatefulPartitionedCall" op: "StatefulPartitionedCall"
                   input: "x" input: "unknown" input: "unknown_0"
                   attr { key: "f" value { func { name: "__inference_call_2" } } } }
        node_def { name: "NoOp" op: "NoOp" input: "^StatefulPartitionedCall" }
        node_def { name: "Identity" op: "Identity" input: "StatefulPartitionedCall:output:0" input: "^NoOp"
                   attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "identity" value: "Identity:output:0" }
        control_ret { key: "StatefulPartitionedCall" value: "StatefulPartitionedCall" }
      }
      function {
        signature { name: "__inference_call_2" input_arg { name: "x" type: DT_FLOAT }
                    input_arg { name: "kernel" type: DT_RESOURCE } input_arg { name: "bias" type: DT_RESOURCE }
                    output_arg { name: "out" type: DT_FLOAT } }
        node_def { name: "MatMul/ReadVariableOp" op: "ReadVariableOp" input: "kernel" attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "MatMul" op: "MatMul" input: "x" input: "MatMul/ReadVariableOp:value:0" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "BiasAdd/ReadVariableOp" op: "ReadVariableOp" input: "bias" attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "BiasAdd" op: "BiasAdd" input: "MatMul:product:0" input: "BiasAdd/ReadVariableOp:value:0" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "out" value: "BiasAdd:output:0" }
        control_ret { key: "a" value: "MatMul/ReadVariableOp" }
        control_ret { key: "b" value: "BiasAdd/ReadVariableOp" }
      }
      function {
        signature { name: "__inference__traced_save_3" input_arg { name: "file" type: DT_STRING } output_arg { name: "o" type: DT_STRING } }
        ret { key: "o" value: "file" }
      }
    }
    versions { producer: 1645 }
  }
  saver_def { filename_tensor_name: "saver_filename:0" version: V2 keep_checkpoint_every_n_hours: 1e+04 }
  collection_def { key: "saved_model_main_op" value { node_list { value: "NoOp" } } }
  signature_def { key: "__saved_model_init_op" value { outputs { key: "__saved_model_init_op" value { name: "NoOp" } } } }
  signature_def { key: "serving_default" value {
      inputs { key: "x" value { name: "serving_default_x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: 64 } } } }
      outputs { key: "out" value { name: "StatefulPartitionedCall:0" dtype: DT_FLOAT } }
      method_name: "tensorflow/serving/predict" } }
  signature_def { key: "save" value { outputs { key: "o" value { composite_tensor { components { name: "StatefulPartitionedCall_1:0" } } } } } }
  asset_file_def { tensor_info { name: "a" } filename: "vocab.txt" }
  object_graph_def { nodes { children { node_id: 1 local_name: "kernel" } user_object { identifier: "_generic_user_object" } }
                     concrete_functions { key: "f" value { bound_inputs: [1, 2] } } }
}
)";

std::string encoded(const std::string& text) { return tensorflow::from_text(text, message_id::saved_model, "text"); }

TEST_CASE("a SavedModel is read as what its signature needs, as text or binary") {
  const std::string call = "StatefulPartitionedCall/StatefulPartitionedCall/";
  for (const auto& bytes : {dense, encoded(dense)}) {
    REQUIRE(tensorflow::reader{}.recognises(bytes));
    const auto m = tensorflow::reader{.batch = 16}.read(bytes, "saved_model.pb");
    CHECK(names_of(m.ops) ==
          std::vector<std::string>{"dense/kernel", "dense/bias", "serving_default_x", call + "MatMul/ReadVariableOp",
                                   call + "MatMul", call + "BiasAdd/ReadVariableOp", call + "BiasAdd",
                                   "StatefulPartitionedCall/NoOp", "StatefulPartitionedCall/Identity"});
    CHECK(m.format == "TensorFlow SavedModel");
    CHECK(m.returned == std::vector<op_id>{8});
    CHECK(m.ops.work(4) == 2.0 * 16 * 64 * 10);
    CHECK(m.ops.work(6) == 16.0 * 10);
    CHECK(m.ops.resident_bytes(0) == 64 * 10 * 4);
    CHECK(m.ops.group(0) == m.ops.group(3));
    CHECK(m.ops.bytes(m.ops.outputs(3)[0]) == 64 * 10 * 4);
    CHECK(noted(m, "a step computes the signature 'serving_default'; there is save,serving_default"));
    CHECK(!noted(m, "graphs"));
    CHECK(noted(m, "3 of 7 nodes are not needed for 'StatefulPartitionedCall:0'"));
  }
  CHECK(tensorflow::reader{.signature = "save"}.read(dense, "m").ops.num_ops() == 1);
  CHECK(tensorflow::reader{.fetch = {"NoOp"}}.read(dense, "m").ops.num_ops() == 1);
  CHECK(tensorflow::reader{.keep_functions = true}.read(dense, "m").ops.num_ops() == 4);
  CHECK(tensorflow::reader{.batch = 16, .keep_functions = true}.read(dense, "m").ops.work(3) ==
        2.0 * 16 * 64 * 10 + 160);
  CHECK(refusal(dense, {.signature = "serve"}) ==
        "saved_model.pb: the SavedModel has no signature 'serve'; there is save,serving_default");
  CHECK(refusal(dense, {.tags = "gpu"}) ==
        "saved_model.pb: the SavedModel has no graph with the tags 'gpu'; there is 'serve'");
  CHECK(refusal("node { name: 'a' op: 'NoOp' }", {.signature = "s"}).find("a GraphDef has no signatures") !=
        std::string::npos);
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
         {"saved_model_schema_version: 1", "saved_model.pb: the SavedModel has no graph"},
         {"meta_graphs { graph_def { node { name: 'a' op: 'NoOp' } } }", "has no signature, so nothing tells"},
         {"meta_graphs {\n graph_def {\n node { name: 'a' op: 'Neg'\n input: 'b' } } signature_def { key: 's' value { "
          "outputs { key: 'k' value { name: 'a:0' } } } } }",
          "saved_model.pb:4: node 'a' has input 'b', but there is no node of that name"},
         {"meta_graphs { object_graph_def { nodes [ 1 } } }", "is closed that is not open"},
         {"meta_graphs { object_graph_def { nodes ", "ends inside 'object_graph_def'"},
         {"meta_graphs { saver_def { name: 'open", "ends inside quotes"}}) {
    CHECK_MESSAGE(refusal(text).find(problem) != std::string::npos, refusal(text));
  }
}

TEST_CASE("of several graphs that for serving is read, or the one with the tags that are given") {
  const auto graph = [](const std::string& tags, const std::string& name) {
    return "meta_graphs { meta_info_def { " + tags + " } graph_def { node { name: '" + name + "' op: 'NoOp' } } "
           "signature_def { key: 's' value { outputs { key: 'k' value { coo_sparse { values_tensor_name: '" + name +
           ":0' } } } } } }\n";
  };
  const auto bytes =
    graph("tags: 'train'", "a") + graph("tags: 'serve' tags: 'gpu'", "b") + graph("tags: 'serve'", "c");
  const auto m = tensorflow::reader{}.read(bytes, "m");
  CHECK(names_of(m.ops) == std::vector<std::string>{"b"});
  CHECK(noted(
    m, "of 3 graphs that with the tags 'gpu,serve' is taken; give tags to choose among 'train', 'gpu,serve', 'serve'"));
  CHECK(names_of(tensorflow::reader{.tags = "serve"}.read(bytes, "m").ops) == std::vector<std::string>{"c"});
  CHECK(names_of(tensorflow::reader{.tags = "serve,gpu"}.read(bytes, "m").ops) == std::vector<std::string>{"b"});
  std::ostringstream out;
  const std::vector<std::string> devices{"/gpu:0"};
  const std::vector<device_id> on{0};
  const auto c = tensorflow::reader{.tags = "serve"}.read(bytes, "m").ops;
  tensorflow::write_placed(out, bytes, c, on, devices, "m", "serve");
  CHECK(out.str() == graph("tags: 'train'", "a") + graph("tags: 'serve' tags: 'gpu'", "b") +
                       graph("tags: 'serve'", "c").replace(graph("tags: 'serve'", "c").find("op: 'NoOp'"), 10,
                                                           "op: 'NoOp' device: \"/gpu:0\""));
}

TEST_CASE("a placed SavedModel is the same file with devices where ops were written") {
  const auto w = tensorflow::reader{}.read(dense, "m").ops;
  std::vector<device_id> placement(w.num_ops(), none);
  placement[0] = 1;
  placement[4] = 1;
  const std::vector<std::string> devices{"/device:CPU:0", "/device:GPU:0"};
  auto expected = dense;
  const auto put = [&](const std::string& head, const std::string& text) {
    expected.insert(expected.find(head) + head.size(), text);
  };
  put("name: \"dense/kernel\" op: \"VarHandleOp\"", " device: \"/device:GPU:0\"");
  put("input: \"x\" input: \"MatMul/ReadVariableOp:value:0\"", " device: \"/device:GPU:0\"");
  std::ostringstream text;
  CHECK(tensorflow::write_placed(text, dense, w, placement, devices).empty());
  CHECK(text.str() == expected);
  std::ostringstream binary;
  CHECK(tensorflow::write_placed(binary, encoded(dense), w, placement, devices).empty());
  CHECK(binary.str() == encoded(expected));
  std::ostringstream same;
  tensorflow::write_placed(same, encoded(dense), w, std::vector<device_id>(w.num_ops(), none), devices);
  CHECK(same.str() == encoded(dense));
}

/// The nodes of a graph as a function's, whose inputs name outputs, and in which nobody but its effects is needed.
std::string as_saved_model(const std::string& graph_def) {
  const auto g = tensorflow::graph::of_graph_def(graph_def);
  std::vector<bool> read(g.num_nodes(), false);
  auto function = wire::message(1, wire::message(1, "step", 3, wire::message(1, "out")));
  for (op_id v = 0; v < g.num_nodes(); ++v) {
    std::size_t input = 0;
    wire::put(function, 3, wire::rewritten(g[v].body, [&](std::string& node, const wire::field& f) {
      if (f.number == 3) {
        const auto s = g.inputs(v)[input++];
        read[s.from] = true;
        const auto names = io::split(tensorflow::detail::output_names(g[s.from].op), ' ');
        const std::string name{g[s.from].name};
        const bool named = s.port < names.size() && !names[s.port].empty();
        wire::put(node, 3, s.is_control() ? "^" + name
                           : named        ? name + ":" + std::string{names[s.port]} + ":0"
                                          : name + ":output:" + std::to_string(s.port));
      }
      return f.number == 3;
    }));
  }
  const auto some = static_cast<op_id>(std::ranges::find(read, true) - read.begin());
  wire::put(function, 4, wire::message(1, "out", 2, std::string{g[some].name} + ":output:0"));
  for (op_id v = 0; v < g.num_nodes(); ++v) {
    if (!read[v]) {
      wire::put(function, 6, wire::message(1, "effect" + std::to_string(v), 2, g[v].name));
    }
  }
  const auto head =
    tensorflow::from_text("node { name: 'call' op: 'StatefulPartitionedCall' attr { key: 'f' value { func { name: "
                          "'step' } } } } versions { producer: 27 }",
                          message_id::graph_def, "head");
  const auto meta =
    tensorflow::from_text("meta_info_def { tags: 'serve' } signature_def { key: 'step' value { outputs { key: 'o' "
                          "value { name: 'call:0' } } } }",
                          message_id::meta_graph, "meta");
  const auto graph = head + wire::message(2, wire::message(1, function));
  return wire::message(1, 1, 2, meta + wire::message(2, graph));
}

TEST_CASE("a bundled network in a function of a SavedModel is the same workload") {
  for (const std::string name : {"mnist_conv@4", "resnet50@2", "inception_v3@2", "bert_base@2", "ptb_lstm@2"}) {
    CAPTURE(name);
    nn::network net;
    const auto task = zoo::define(net, name);
    const auto built = training_step_with_origins(net, task.objectives, task.options);
    std::ostringstream flat;
    tensorflow::write_network(flat, net, built);
    const auto saved = as_saved_model(flat.str());
    REQUIRE(tensorflow::reader{}.recognises(saved));
    const auto w = tensorflow::reader{}.read(flat.str(), "network.pb").ops;
    const auto m = tensorflow::reader{}.read(saved, "saved_model.pb");
    const auto& copy = m.ops;
    REQUIRE(copy.num_ops() == w.num_ops());
    CHECK(copy.num_edges() == w.num_edges());
    CHECK(copy.num_groups() == w.num_groups());
    std::size_t different = 0;
    for (const op_id v : ids(w.num_ops())) {
      different += copy.name(v) == "call/" + std::string{w.name(v)} && copy.type(v) == w.type(v) &&
                       copy.kinds(v) == w.kinds(v) && copy.resident_bytes(v) == w.resident_bytes(v) &&
                       copy.work(v) == w.work(v) && copy.group(v) == w.group(v)
                     ? 0u
                     : 1u;
    }
    CHECK(different == 0);
  }
}

} // namespace interop_tensorflow_saved_model_test
