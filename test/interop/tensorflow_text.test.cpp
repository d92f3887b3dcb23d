// SPDX-License-Identifier: BSL-1.0
// Protocol Buffers' own library decides what the text format and the binary encoding mean.
#include "weft/interop/tensorflow/content.hpp"
#include "weft/interop/tensorflow/text_printer.hpp"

#include <doctest/doctest.h>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <optional>
#include <string>

namespace interop_tensorflow_text_test {

using namespace weft;
using namespace weft::tensorflow;
namespace pb = google::protobuf;

/// TensorFlow's messages as Protocol Buffers' library knows them, made of our schema.
class oracle {
public:
  oracle() {
    pb::FileDescriptorProto file;
    file.set_name("tensorflow.proto");
    file.set_package("tensorflow");
    file.set_syntax("proto3");
    auto& types = *file.add_enum_type();
    types.set_name("DataType");
    for (const data_type reference : {data_type{0}, dt::reference}) {
      for (const auto& t : data_types) {
        if (reference == 0 || t.number != 0) {
          auto& value = *types.add_value();
          value.set_name(std::string{t.name} + (reference == 0 ? "" : "_REF"));
          value.set_number(static_cast<int>(t.number + reference));
        }
      }
    }
    for (const auto& m : schema::messages) {
      if (!m.name.empty()) {
        add(file, m);
      }
    }
    REQUIRE(pool_.BuildFile(file) != nullptr);
  }

  std::unique_ptr<pb::Message> make(schema::message_id id) {
    const auto* const type = pool_.FindMessageTypeByName("tensorflow." + std::string{schema::of(id).name});
    return std::unique_ptr<pb::Message>{factory_.GetPrototype(type)->New()};
  }
  /// The library's binary encoding of a text, if it takes the text.
  std::optional<std::string> encode(const std::string& text, schema::message_id id = schema::message_id::graph_def) {
    struct silent : pb::io::ErrorCollector {
      void AddError(int, int, const std::string&) override {}
    } errors;
    pb::TextFormat::Parser parser;
    parser.RecordErrorsTo(&errors);
    const auto m = make(id);
    return parser.ParseFromString(text, m.get()) ? std::optional{m->SerializeAsString()} : std::nullopt;
  }
  /// Bytes read and written by the library, which brings them into its own order.
  std::optional<std::string> normal(const std::string& bytes, schema::message_id id = schema::message_id::graph_def) {
    const auto m = make(id);
    return m->ParseFromString(bytes) ? std::optional{m->SerializeAsString()} : std::nullopt;
  }
  std::string print(const std::string& bytes, schema::message_id id = schema::message_id::graph_def) {
    const auto m = make(id);
    REQUIRE(m->ParseFromString(bytes));
    return m->DebugString();
  }

private:
  static void add(pb::FileDescriptorProto& file, const schema::message& m) {
    auto& out = *file.add_message_type();
    out.set_name(std::string{m.name});
    if (m.one_of) {
      out.add_oneof_decl()->set_name("value");
    }
    for (const auto& f : m.fields) {
      using pb::FieldDescriptorProto;
      constexpr FieldDescriptorProto::Type types[] = {
        FieldDescriptorProto::TYPE_INT32,  FieldDescriptorProto::TYPE_INT64, FieldDescriptorProto::TYPE_UINT32,
        FieldDescriptorProto::TYPE_UINT64, FieldDescriptorProto::TYPE_BOOL,  FieldDescriptorProto::TYPE_FLOAT,
        FieldDescriptorProto::TYPE_DOUBLE, FieldDescriptorProto::TYPE_BYTES, FieldDescriptorProto::TYPE_ENUM,
        FieldDescriptorProto::TYPE_INT32,  FieldDescriptorProto::TYPE_MESSAGE};
      auto& field = *out.add_field();
      field.set_name(std::string{f.name});
      field.set_number(static_cast<int>(f.number));
      field.set_type(types[static_cast<std::size_t>(f.type)]);
      field.set_label(f.repeated ? FieldDescriptorProto::LABEL_REPEATED : FieldDescriptorProto::LABEL_OPTIONAL);
      if (f.type == schema::type::data_type) {
        field.set_type_name(".tensorflow.DataType");
      } else if (f.type == schema::type::message) {
        field.set_type_name(".tensorflow." + std::string{schema::of(f.of).name});
      }
      if (m.one_of) {
        field.set_oneof_index(0);
      }
    }
  }

  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_{&pool_};
};

/// Our encoding of a text, or nothing if it is refused.
std::optional<std::string> encoded(const std::string& text, schema::message_id id = schema::message_id::graph_def) {
  try {
    return from_text(text, id, "text");
  } catch (const parse_error&) {
    return std::nullopt;
  }
}

const std::string everything = R"(# a comment
node {
  name: "a" 'b'
  op: "Const", input: "x" input: [ "y:1", "^z" ]; device: "/device:GPU:0"
  attr { key: "value" value { tensor {
    dtype: DT_FLOAT tensor_shape { dim { size: -1 name: "n" } dim < size: 0x10 > unknown_rank: true }
    version_number: 017 tensor_content: "\000\x41\377\n\t\\\"\'\?\a\b\f\v\r\u00e4\U0001f600"
    float_val: 1 float_val: -1.5e-3f float_val: [inf, -inf, .5, 1e40, 2.5F] double_val: 1e300 double_val: -0.0
    int_val: -2147483648 int_val: 2147483647 string_val: "" scomplex_val: 1 int64_val: -9223372036854775808
    int64_val: 9223372036854775807 bool_val: true bool_val: [false, t, f, 1, 0] dcomplex_val: 2 half_val: 15360
    resource_handle_val { device: "d" hash_code: 18446744073709551615 dtypes_and_shapes { dtype: DT_INT8_REF } }
    variant_val { type_name: "v" metadata: "m" tensors { dtype: DT_BOOL } } uint32_val: 4294967295 uint64_val: 1
  } } }
  attr: { key: "list" value { list { s: "a" i: [1, -2] f: 1.25 b: true type: [DT_INT32, DT_HALF, 7] shape {} shape { unknown_rank: true }
    tensor { dtype: 3 } func { name: "f" attr { key: "k" value { placeholder: "p" } } } } } }
  experimental_debug_info { original_node_names: "o" }
}
library { function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT } is_stateful: true
  attr { name: "T" type: "type" allowed_values { list { type: DT_FLOAT } } has_minimum: true minimum: 2 } }
  node_def { name: "n" op: "Neg" } ret { key: "y" value: "n:y:0" } arg_attr { key: 1 value { attr { key: "a" value { i: 0 } } } } }
  gradient { function_name: "f" gradient_func: "g" } }
versions { producer: 21 bad_consumers: [1, 2] }
)";

TEST_CASE("texts mean what Protocol Buffers' library says they mean") {
  oracle protobuf;
  const auto ours = encoded(everything);
  REQUIRE(ours);
  CHECK(protobuf.normal(*ours) == protobuf.encode(everything));
  CHECK(to_text(*protobuf.normal(*ours), schema::message_id::graph_def) == protobuf.print(*ours));
  for (const std::string text :
       {"", "  # nothing\n", "version: 3", "version: -3", "version: 2147483647", "node { }", "node < >", "node: { }",
        "node {} node {}", "node [{}, {name: 'a'}]", "node { name: '' }", "node { name: \"it's\" }",
        "versions { producer: 0x7fffffff, }", "version: 00", "version: 07", "\n\n\tversion\n:\n1\n"}) {
    CAPTURE(text);
    const auto bytes = encoded(text);
    REQUIRE(bytes);
    CHECK(protobuf.normal(*bytes) == protobuf.encode(text));
  }
}

TEST_CASE("costs mean what the library says they mean") {
  oracle protobuf;
  using enum schema::message_id;
  const std::string costs = R"(node { name: "a" device: "/cpu:0" id: 7 input_info { preceding_node: 1 preceding_port: -1 }
    output_info { size: -1 alias_input_port: 2 shape { dim { size: 3 } } dtype: DT_FLOAT } temporary_memory_size: -1
    is_final: true control_input: 1 control_input: [2, 3] compute_cost: 12 inaccurate: true } cost { cost: 1.5 dimension: "d" })";
  const auto a = encoded(costs, cost_graph_def);
  REQUIRE(a);
  CHECK(protobuf.normal(*a, cost_graph_def) == protobuf.encode(costs, cost_graph_def));
  const std::string stats = R"(step_stats { dev_stats { device: "/gpu:0" node_stats { node_name: "n" all_start_micros: 5
    memory { allocator_name: "x" allocation_records { alloc_bytes: -5 } } output { slot: 1 tensor_description { dtype: DT_INT64 } }
    memory_stats { persistent_tensor_alloc_ids: [1, 2] } all_end_rel_nanos: 9 } thread_names { key: 1 value: "t" } } }
    partition_graphs { node { name: "n" op: "o" } } session_metadata { name: "s" version: 2 })";
  const auto b = encoded(stats, run_metadata);
  REQUIRE(b);
  CHECK(protobuf.normal(*b, run_metadata) == protobuf.encode(stats, run_metadata));
  CHECK(to_text(*b, run_metadata) == protobuf.print(*b, run_metadata));
}

TEST_CASE("what the library refuses is refused") {
  oracle protobuf;
  for (const std::string text :
       {"node", "node {", "node }", "node { name }", "node { name: }", "node { name: x }", "node { name: \"x }",
        "node { name: \"x\n\" }", "node { name: \"\\q\" }", "node { name: \"\\x\" }",
        "node { nme: \"x\" }", "version: 2147483648", "version: -2147483649", "version: 1.5", "version: 08",
        "version: 0x", "version: 99999999999999999999999", "version: - ", "versions { producer: 1 producer: 2 }",
        "node { attr { key: 'k' value { i: 1 f: 2 } } }", "node { attr { key: 'k' value { type: DT_NOTHING } } }",
        "node { attr { key: 'k' value { b: maybe } } }", "node { attr { key: 'k' value { b: 2 } } }",
        "node { attr { key: 'k' value { f: 1x } } }", "node { attr { key: 'k' value { list { i: [1 2] } } } }",
        "node { attr { key: 'k' value { list { i: [1, 2 } } } }", "node { input: [\"a\" }", "version = 3", "}", "{",
        "node { name: \"a\" } >", "node < name: \"a\" }"}) {
    CAPTURE(text);
    CHECK_FALSE(encoded(text));
    CHECK_FALSE(protobuf.encode(text));
  }
}

TEST_CASE("errors in texts have their line and say what to do") {
  const auto message = [](const std::string& text) {
    try {
      (void)from_text(text, schema::message_id::graph_def, "net.pbtxt");
    } catch (const parse_error& e) {
      return std::string{e.what()};
    }
    return std::string{"nothing"};
  };
  CHECK(message("node {\n  nme: \"x\"\n}\n") ==
        "net.pbtxt:2: unknown field 'nme' of NodeDef; the fields here are name, op, input, device, attr, "
        "experimental_debug_info, experimental_type");
  CHECK(message("node {\n  name: \"x\"\n  op: ") == "net.pbtxt:3: expected a text in quotes after 'op:'");
  CHECK(message("node {\n  name: \"x\"\n") == "net.pbtxt:3: the text ends inside NodeDef; was the file cut off?");
  CHECK(message("version: 12345678901") == "net.pbtxt:1: version 12345678901 is out of range");
  CHECK(message("version: 1\nversion: 2") == "net.pbtxt:2: field 'version' of GraphDef is given twice");
}

TEST_CASE("deep nesting is refused before the stack ends") {
  std::string text = "node { attr { key: 'k' value { ";
  for (int i = 0; i < 200'000; ++i) {
    text += "func { attr { key: 'k' value { ";
  }
  CHECK_THROWS_WITH_AS((void)from_text(text, schema::message_id::graph_def, "deep"),
                       "deep:1: messages are nested more than 100 deep", parse_error);
}

TEST_CASE("damaged binary data is an error, not a crash") {
  const auto bytes = *encoded(everything);
  oracle protobuf;
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    const auto part = bytes.substr(0, n);
    bool walked = true;
    try {
      (void)to_text(part, schema::message_id::graph_def);
    } catch (const error&) {
      walked = false;
    }
    CHECK(walked == protobuf.normal(part).has_value());
  }
}

} // namespace interop_tensorflow_text_test
