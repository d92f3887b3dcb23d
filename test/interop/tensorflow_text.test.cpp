// SPDX-License-Identifier: BSL-1.0
// Ops that read or make texts run on CPUs, and keep nothing else there.
#include "interop/reading.hpp"
#include "interop/tensorflow_graphs.hpp"
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <string>

namespace interop_tensorflow_text_test {

using namespace weft;

using namespace weft_test;

model read(const std::string& text, const tensorflow::reader& r = {}) {
  return r.read(text + " versions { producer: 27 }", "net.pbtxt");
}

/// Of each op, whether it runs on CPUs only: `c`, or anywhere: `-`.
std::string kinds_in(const std::string& text, const tensorflow::reader& r = {}) {
  return cpu_only(read(text, r).ops);
}

const std::string words = placeholder("x", {4}, "DT_STRING");

TEST_CASE("tensorflow texts: what reads texts runs on CPUs, and what reads numbers made of them does not") {
  CHECK(kinds_in(words + node("t", "MyTokenizer", {"x"}) + node("g", "Cast", {"t"}, type_attr("DstT", "DT_FLOAT")) +
                 node("y", "Relu", {"g"}, type_attr("T", "DT_FLOAT"))) == "cc--");
  CHECK(kinds_in(words + node("h", "StringToHashBucketFast", {"x"}) +
                 node("v", "Const", {}, type_attr("dtype", "DT_FLOAT") + attr("shape", shape({10}))) +
                 node("g", "GatherV2", {"v", "h"}, type_attr("Tparams", "DT_FLOAT"))) == "cc--");
  CHECK(kinds_in(words + node("e", "Equal", {"x", "x"}, type_attr("T", "DT_STRING")) +
                 node("n", "LogicalNot", {"e"})) == "cc-");
  CHECK(kinds_in(words + node("s", "Shape", {"x"}, type_attr("T", "DT_STRING")) +
                 node("n", "Neg", {"s"}, type_attr("T", "DT_INT32"))) == "cc-");
  CHECK(kinds_in(words + node("a", "Assert", {"n", "x"}) +
                 node("n", "Placeholder", {}, type_attr("dtype", "DT_BOOL"))) == "cc-");
}

TEST_CASE("tensorflow texts: what numbers are written as is text, and an image that is read is none") {
  const auto numbers = placeholder("x", {4});
  CHECK(kinds_in(numbers + node("s", "AsString", {"x"}, type_attr("T", "DT_FLOAT")) +
                 node("i", "Print2", {"s"})) == "-cc");
  const auto m = read(words + node("d", "DecodeJpeg", {"x"}) + node("c", "Cast", {"d"}, type_attr("DstT", "DT_FLOAT")));
  CHECK(m.ops.kinds(1) == device_kind::cpu);
  CHECK(m.ops.kinds(2).is_all());
  CHECK(m.ops.bytes(m.ops.outputs(1)[0]) == 4);
  CHECK(read(words).ops.bytes(0) == 4 * 24);
}

TEST_CASE("tensorflow texts: calls that stay one op are on texts if their bodies are") {
  const std::string functions = R"(
    library { function { signature { name: "lookup" input_arg { name: "a" type: DT_FLOAT }
                                     output_arg { name: "r" type: DT_INT64 } }
        node_def { name: "s" op: "AsString" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "h" op: "StringToHashBucketFast" input: "s:output:0" } ret { key: "r" value: "h:output:0" } }
      function { signature { name: "plain" input_arg { name: "a" type: DT_FLOAT }
                             output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "s" op: "Square" input: "a" } ret { key: "r" value: "s:y:0" } } })";
  const auto numbers = placeholder("x", {4});
  const auto call = [&](const std::string& op, const std::string& function) {
    return kinds_in(numbers + node("c", op, {"x"}, calls("f", function)) + functions, {.keep_functions = true});
  };
  CHECK(call("PartitionedCall", "plain") == "--");
  CHECK(call("PartitionedCall", "lookup") == "-c");
}

} // namespace interop_tensorflow_text_test
