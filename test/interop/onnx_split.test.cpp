// SPDX-License-Identifier: BSL-1.0
#include "interop/onnx_split_models.hpp"
#include "io/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace interop_onnx_split_test {

using namespace weft;
using weft_test::onnx_model;

const std::vector<std::string> device_names{"gpu0", "cpu", "gpu1", "gpu2"};

::onnx::ModelProto decoded(const std::string& bytes) {
  ::onnx::ModelProto m;
  REQUIRE(m.ParseFromString(bytes));
  return m;
}

std::vector<::onnx::ModelProto> pieces_of(const weft::onnx::split_model& cut) {
  std::vector<::onnx::ModelProto> pieces;
  for (std::uint32_t k = 0; k < cut.stages().size(); ++k) {
    pieces.push_back(decoded(cut.piece(k, device_names)));
  }
  return pieces;
}

template <class List>
std::vector<std::string> names_in(const List& list) {
  std::vector<std::string> names;
  for (const auto& x : list) {
    names.push_back(x.name());
  }
  return names;
}

/// Everything that holds for any model and placement, looked up in the pieces alone.
void check_pieces(const ::onnx::ModelProto& whole, const placement& p, const weft::onnx::split_model& cut,
                  bool shapes_are_known = true) {
  const auto pieces = pieces_of(cut);
  REQUIRE(pieces.size() == cut.stages().size());
  std::map<std::string, int> times; // each node is in a piece
  for (const auto& n : whole.graph().node()) {
    times[n.SerializeAsString()] = 0;
  }
  std::set<std::string> there; // what runs of the model and earlier stages have given
  std::set<std::string> initializers;
  for (const auto& x : whole.graph().input()) {
    there.insert(x.name());
  }
  for (const auto& t : whole.graph().initializer()) {
    initializers.insert(t.name());
  }
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const auto& piece = pieces[k];
    const auto& stage = cut.stages()[k];
    CAPTURE(k);
    if (shapes_are_known) {
      REQUIRE_NOTHROW(::onnx::checker::check_model(piece));
    }
    CHECK(piece.ir_version() == whole.ir_version());
    CHECK(piece.opset_import_size() == whole.opset_import_size());
    CHECK(static_cast<std::size_t>(piece.graph().node_size()) == stage.ops.size() + stage.copies.size());
    for (const auto& n : piece.graph().node()) {
      const auto found = times.find(n.SerializeAsString());
      REQUIRE(found != times.end());
      ++found->second;
    }
    for (const op_id v : stage.ops) {
      CHECK(p[v] == stage.device);
    }
    std::set<std::string> known;
    for (const auto& x : piece.graph().input()) {
      CHECK_MESSAGE(there.contains(x.name()), x.name());
      known.insert(x.name());
    }
    for (const auto& t : piece.graph().initializer()) {
      CHECK(initializers.contains(t.name()));
      known.insert(t.name());
    }
    for (const auto& n : piece.graph().node()) {
      std::set<std::string_view> read(n.input().begin(), n.input().end());
      for (const auto& a : n.attribute()) {
        weft::onnx::detail::add_captures(a.g(), read);
      }
      read.erase("");
      for (const auto x : read) {
        CHECK_MESSAGE(known.contains(std::string{x}), std::string{x});
      }
      known.insert(n.output().begin(), n.output().end());
    }
    CHECK(piece.graph().output_size() > 0);
    for (const auto& x : piece.graph().output()) {
      CHECK(known.contains(x.name()));
      there.insert(x.name());
    }
  }
  for (const auto& x : whole.graph().output()) {
    CHECK_MESSAGE(there.contains(x.name()), x.name());
  }
  std::map<op_id, int> listed;
  for (const auto& stage : cut.stages()) {
    for (const op_id v : stage.ops) {
      CHECK(++listed[v] == 1);
    }
  }
  for (const auto& [node, count] : times) {
    CHECK(count >= 1);
  }
  for (op_id v = 0; v < p.size(); ++v) {
    const auto bytes = whole.graph().node(static_cast<int>(v)).SerializeAsString();
    CHECK((!listed.contains(v) || times[bytes] == 1)); // only what makes parameters is there twice
  }
}

TEST_CASE("onnx split: pieces of any placement are models, run in order, and have every node") {
  for (const auto& sample : weft_test::split_samples()) {
    const auto bytes = sample.model.bytes();
    const auto n = static_cast<std::size_t>(sample.model.m.graph().node_size());
    for (const std::uint32_t k : {1u, 2u, 3u, 4u}) {
      for (const auto& [name, p] : weft_test::split_placements(n, k, 7 * k)) {
        CAPTURE(sample.name);
        CAPTURE(name);
        CAPTURE(k);
        const weft::onnx::split_model cut{bytes, p};
        CHECK(cut.notes().empty());
        check_pieces(sample.model.m, p, cut);
        if (k == 1) {
          CHECK(cut.stages().size() == 1);
        }
      }
    }
  }
}

TEST_CASE("onnx split: what goes between stages has its type, with open extents left open") {
  const auto type_of = [](const weft_test::split_sample& sample, const std::string& tensor) {
    const auto n = static_cast<std::size_t>(sample.model.m.graph().node_size());
    const auto bytes = sample.model.bytes();
    std::string found;
    placement p(n);
    for (op_id v = 0; v < n; ++v) {
      p[v] = v % 2;
    }
    for (const auto& piece : pieces_of(weft::onnx::split_model{bytes, p})) {
      for (const auto& x : piece.graph().output()) {
        if (x.name() == tensor) {
          found = std::to_string(x.type().tensor_type().elem_type()) + ":";
          for (const auto& d : x.type().tensor_type().shape().dim()) {
            found += " " + (d.has_dim_value() ? std::to_string(d.dim_value()) : d.dim_param() + "?");
          }
        }
      }
    }
    return found;
  };
  CHECK(type_of(weft_test::branches(), "a") == "1: N? 4 8 8");
  CHECK(type_of(weft_test::computed_shapes(), "k") == "1: N? S? 8");
  CHECK(type_of(weft_test::computed_shapes(), "shape") == "7: 3");
  CHECK(type_of(weft_test::computed_shapes(), "qt") == "1: N? 2 S? 4");
  CHECK(type_of(weft_test::bodies(), "condition") == "9: 1 1");
  CHECK(type_of(weft_test::several_outputs(), "places") == "7: 2 2");

  onnx_model sums; // an extent that is a sum of a name and a number, or a multiple, has no name
  weft_test::open_input(sums, "s", {"S", "4"});
  weft_test::open_input(sums, "t", {"T", "4"});
  weft_test::weights_maker weights{9};
  weights(*sums.m.mutable_graph(), "c", {64, 4});
  onnx_model::set(sums.node("Concat", {"s", "c"}, {"more"}), "axis", std::int64_t{0});
  onnx_model::set(sums.node("Concat", {"more", "t"}, {"y"}), "axis", std::int64_t{0});
  onnx_model::set(sums.node("Concat", {"s", "s"}, {"twice"}), "axis", std::int64_t{0});
  sums.node("Neg", {"t"}, {"negative"});
  sums.node("Abs", {"negative"}, {"z"});
  sums.node("Abs", {"twice"}, {"w"});
  for (const char* name : {"y", "z", "w"}) {
    weft_test::open_output(sums, name);
  }
  CHECK(type_of({"sums", sums}, "more") == "1: ? 4");
  CHECK(type_of({"sums", sums}, "twice") == "1: ? 4");
  CHECK(type_of({"sums", sums}, "negative") == "1: T? 4");

  onnx_model clamped; // the first 32 of N, and what is at least as long as a constant
  weft_test::open_input(clamped, "n", {"N", "4"});
  clamped.integers("zero", {0}).integers("few", {32}).integers("many", {128}).integers("one", {1});
  clamped.node("Slice", {"n", "zero", "few"}, {"first"});
  clamped.node("Shape", {"n"}, {"shape"});
  clamped.node("Slice", {"shape", "zero", "one"}, {"length"});
  clamped.node("Max", {"length", "many"}, {"longer"});
  clamped.node("ConstantOfShape", {"longer"}, {"filled"});
  clamped.node("Neg", {"n"}, {"negative"});
  for (const char* from : {"first", "filled", "negative"}) {
    clamped.node("Abs", {from}, {std::string{"of "} + from});
    clamped.node("Abs", {std::string{"of "} + from}, {std::string{"again "} + from});
    clamped.node("Abs", {from}, {std::string{"also "} + from});
    weft_test::open_output(clamped, std::string{"again "} + from);
    weft_test::open_output(clamped, std::string{"also "} + from);
  }
  CHECK(type_of({"clamped", clamped}, "of first") == "1: ? 4");
  CHECK(type_of({"clamped", clamped}, "of filled") == "1: ?");
  CHECK(type_of({"clamped", clamped}, "of negative") == "1: N? 4");

  onnx_model hidden; // an extent without a name that is not the batch
  hidden.input("fixed", {3, 2}).input("x", {-1, 2});
  hidden.node("Abs", {"x"}, {"a"});
  hidden.node("ReduceSum", {"a"}, {"b"});
  hidden.node("Add", {"fixed", "b"}, {"y"});
  weft_test::open_output(hidden, "y");
  CHECK(type_of({"hidden", hidden}, "a") == "1:");
}

TEST_CASE("onnx split: shapes that nobody knows are left out, and that is told") {
  onnx_model m;
  onnx_model::import(m.m, "elsewhere", 1);
  m.input("x", {2, 3}).output("y", {2});
  m.node("Whatever", {"x"}, {"a"}, "elsewhere");
  m.node("Relu", {"a"}, {"b"});
  m.node("Other", {"b"}, {"y"}, "elsewhere");
  const auto bytes = m.bytes();
  const placement p{0, 1, 0};
  const weft::onnx::split_model cut{bytes, p};
  REQUIRE(cut.notes().size() == 1);
  CHECK(cut.notes()[0].starts_with("2 shapes are unknown and left out, which ONNX Runtime allows"));
  check_pieces(m.m, p, cut, false);
  CHECK_FALSE(pieces_of(cut)[1].graph().input(0).type().tensor_type().has_shape());
  m.declared("a", {5}).declared("b", {5});
  const auto declared = m.bytes();
  const weft::onnx::split_model known{declared, p};
  CHECK(known.notes().empty());
  CHECK(pieces_of(known)[1].graph().input(0).type().tensor_type().shape().dim(0).dim_value() == 5);
}

TEST_CASE("onnx split: a stage has what it needs and nothing else") {
  const auto sample = weft_test::functions();
  const auto bytes = sample.model.bytes();
  const auto pieces = pieces_of(weft::onnx::split_model{bytes, {0, 1, 1, 1, 0}});
  REQUIRE(pieces.size() == 3);
  using names = std::vector<std::string>;
  CHECK(names_in(pieces[0].functions()) == names{"silu", "layer"});
  CHECK(names_in(pieces[1].functions()) == names{"silu", "layer"});
  CHECK(names_in(pieces[2].functions()) == names{"silu"});
  CHECK(names_in(pieces[1].graph().initializer()) == names{"w2", "w3"});
  CHECK(pieces[2].graph().initializer_size() == 0);
  CHECK(names_in(pieces[1].graph().value_info()) == names{"c"}); // not those of inputs, outputs, other pieces

  auto other = weft_test::branches();
  auto& training = *other.model.m.add_training_info();
  training.mutable_initialization()->set_name("start");
  const auto trained = other.model.bytes();
  const placement p{0, 0, 0, 1, 1, 0, 0, 1, 1};
  const weft::onnx::split_model cut{trained, p, {.batch = 16}};
  REQUIRE(cut.stages().size() == 4);
  CHECK(cut.stages()[0].parameter_bytes == (4 * 3 * 9 + 4 * 4) * 4);
  REQUIRE(cut.shared().size() == 1);
  CHECK(cut.shared()[0].name == "shared");
  CHECK(cut.shared()[0].stages == std::vector<std::uint32_t>{0, 1});
  CHECK(cut.shared()[0].bytes == 64);
  for (const auto& t : cut.tensors()) {
    if (t.name == "sum") {
      CHECK(t.bytes == 16 * 4 * 64 * 4);
      CHECK(t.is_output);
      CHECK(t.from == 2);
      CHECK(t.to == std::vector<std::uint32_t>{3});
    }
  }
  CHECK(cut.notes() == std::vector<std::string>{"training information is left out: it belongs to the whole model"});
  for (const auto& piece : pieces_of(cut)) {
    CHECK(piece.training_info_size() == 0);
  }
}

TEST_CASE("onnx split: a placement that was written before does not stay in the metadata") {
  const auto sample = weft_test::branches();
  const placement p{0, 0, 0, 1, 1, 0, 0, 1, 1};
  std::ostringstream placed;
  weft::onnx::write_placed(placed, sample.model.bytes(), p, device_names);
  const auto bytes = placed.str();
  const auto pieces = pieces_of(weft::onnx::split_model{bytes, p});
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    std::map<std::string, std::string> properties;
    for (const auto& entry : pieces[k].metadata_props()) {
      properties[entry.key()] = entry.value();
    }
    CHECK(properties == std::map<std::string, std::string>{{"weft.stage", std::to_string(k)},
                                                           {"weft.device", k % 2 == 0 ? "gpu0" : "cpu"}});
  }
}

TEST_CASE("onnx split: inputs with a default keep it, and may be left out") {
  onnx_model m;
  m.m.set_ir_version(3); // every initialiser is an input
  m.input("x", {2}).input("w", {2}).output("y", {2});
  weft_test::weights_maker weights{1};
  weights(*m.m.mutable_graph(), "w", {2});
  m.node("Add", {"x", "w"}, {"a"});
  m.node("Mul", {"a", "w"}, {"y"});
  const auto bytes = m.bytes();
  const weft::onnx::split_model cut{bytes, {0, 1}};
  check_pieces(m.m, {0, 1}, cut);
  REQUIRE(cut.tensors().size() == 4);
  CHECK_FALSE(cut.tensors()[0].has_default);
  CHECK(cut.tensors()[1].has_default);
  CHECK(names_in(pieces_of(cut)[1].graph().input()) == std::vector<std::string>{"w", "a"});
  std::ostringstream out;
  const std::vector<std::string> files{"a.onnx", "b.onnx"};
  weft::onnx::write_manifest(out, cut, {.devices = device_names, .files = files});
  const auto manifest = nlohmann::json::parse(out.str());
  CHECK(manifest["inputs"].size() == 1);
  CHECK(manifest["stages"][1]["inputs"].size() == 1);
  CHECK(manifest["shared_parameters"][0]["name"] == "w");
}

TEST_CASE("onnx split: weights in other files stay there, and are found from elsewhere") {
  onnx_model m;
  m.input("x", {2, 2}).output("y", {2, 2});
  m.weights("w", {2, 2});
  onnx_model::tensor(m.node("Constant", {}, {"c"}), "value") = m.m.graph().initializer(0);
  auto& absolute = *m.m.mutable_graph()->add_initializer();
  absolute = m.m.graph().initializer(0);
  absolute.set_name("a");
  absolute.mutable_external_data(0)->set_value("/somewhere/else");
  auto& offset = *absolute.add_external_data();
  offset.set_key("offset");
  offset.set_value("16");
  m.node("Add", {"x", "w"}, {"b"});
  m.node("Add", {"b", "c"}, {"d"});
  m.node("Add", {"d", "a"}, {"y"});
  const auto bytes = m.bytes();
  CHECK(weft::onnx::has_external_data(bytes));
  CHECK_FALSE(weft::onnx::has_external_data(weft_test::branches().model.bytes()));
  const weft::onnx::split_model cut{bytes, {0, 0, 1, 0}};
  const auto first = decoded(cut.piece(0, device_names, "sub/"));
  CHECK(first.graph().initializer(0).external_data(0).value() == "sub/there is no such file");
  CHECK(first.graph().initializer(0).data_location() == ::onnx::TensorProto::EXTERNAL);
  const auto second = decoded(cut.piece(1, device_names, "sub/"));
  CHECK(second.graph().node(0).attribute(0).t().external_data(0).value() == "sub/there is no such file");
  const auto third = decoded(cut.piece(2, device_names, "sub/"));
  CHECK(third.graph().initializer(0).external_data(0).value() == "/somewhere/else");
  CHECK(third.graph().initializer(0).external_data(1).value() == "16");
  CHECK(decoded(cut.piece(0, device_names)).graph().initializer(0).SerializeAsString() ==
        m.m.graph().initializer(0).SerializeAsString());
}

TEST_CASE("onnx split: a model that is parsed once is read with any batch, and cut as from its bytes") {
  const auto bytes = weft_test::branches().model.bytes();
  const weft::onnx::parsed_model parsed{bytes, "file"};
  for (const std::uint64_t batch : {0u, 8u, 2u}) {
    const weft::onnx::reader reader{.batch = batch};
    const auto again = parsed.read(reader);
    const auto once = reader.read(bytes, "file");
    for (const op_id v : ids(once.ops.num_ops())) {
      CHECK(again.ops.work(v) == once.ops.work(v));
    }
    CHECK(again.notes == once.notes);
    const placement halves{0, 0, 0, 0, 1, 1, 1, 1, 1};
    const weft::onnx::split_model cut{parsed, halves, reader}, from_bytes{bytes, halves, reader};
    REQUIRE(cut.stages().size() == from_bytes.stages().size());
    for (std::uint32_t k = 0; k < cut.stages().size(); ++k) {
      CHECK(cut.piece(k, device_names) == from_bytes.piece(k, device_names));
    }
  }
}

TEST_CASE("onnx split: what cannot be cut is refused") {
  const auto sample = weft_test::branches();
  const auto bytes = sample.model.bytes();
  const auto why = [&](const placement& p) {
    return weft_test::refusal([&] { return weft::onnx::split_model{bytes, p}; });
  };
  CHECK(why({0, 1}) == "not a parse_error: placement: has 2 ops, but <model> has 9 nodes");
  CHECK(why({0, 1, none, 0, 0, 0, 0, 0, 0}) ==
        "not a parse_error: placement of node 2: it is not placed; a model is cut by devices");
  CHECK_FALSE(weft_test::refusal([] { return weft::onnx::split_model{"no model", {}}; }).empty());
  onnx_model empty;
  empty.input("x", {1}).output("x", {1});
  CHECK(weft_test::refusal([&] { return weft::onnx::split_model{empty.bytes(), {}}; }) ==
        "not a parse_error: placement: the model has no nodes to cut");
  for (std::size_t size = 1; size < bytes.size(); size += 97) {
    const auto cut = bytes.substr(0, size);
    CHECK_FALSE(weft_test::refusal([&] { return weft::onnx::split_model{cut, placement(9, 0)}; }).empty());
  }
}

#ifdef WEFT_REFERENCE_DATA
TEST_CASE("onnx split: real models") {
  const std::filesystem::path folder = std::filesystem::path{WEFT_REFERENCE_DATA} / "data" / "onnx";
  std::size_t read = 0;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    if (file.path().extension() != ".onnx") {
      continue;
    }
    ++read;
    const auto bytes = io::read_file(file.path());
    const auto whole = decoded(bytes);
    for (const std::uint32_t k : {2u, 3u, 4u}) {
      CAPTURE(file.path().string());
      const auto p = weft_test::blocks_of(whole.graph(), k);
      const weft::onnx::split_model cut{bytes, p, {}, file.path().string()};
      CHECK(cut.notes().empty());
      check_pieces(whole, p, cut);
      CHECK(cut.stages().size() == k);
      CHECK(cut.shared().empty());
      const auto turns = weft_test::split_placements(p.size(), k, k)[1].second;
      check_pieces(whole, turns, weft::onnx::split_model{bytes, turns, {}, file.path().string()});
    }
  }
  CHECK(read == 5);
}
#endif

} // namespace interop_onnx_split_test
