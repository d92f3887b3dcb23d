// SPDX-License-Identifier: BSL-1.0
// Ops that read or make texts run on CPUs, and keep nothing else there.
#include "interop/onnx_models.hpp"
#include "interop/reading.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace interop_onnx_text_test {

using namespace weft;
using weft_test::onnx_model;
using dims = onnx_model::dims;

constexpr std::int32_t text = ::onnx::TensorProto::STRING;
constexpr std::int32_t int64 = ::onnx::TensorProto::INT64;

constexpr const char* ml = "ai.onnx.ml";
constexpr const char* extensions = "ai.onnx.contrib";

std::string kinds_in(const onnx_model& m) {
  return weft_test::cpu_only(m.read().ops);
}

::onnx::TensorProto& texts(::onnx::TensorProto& t, int count) {
  t.set_data_type(text);
  t.add_dims(count);
  for (int i = 0; i < count; ++i) {
    t.add_string_data("word");
  }
  return t;
}

TEST_CASE("onnx texts: a tokeniser before a network") {
  onnx_model m;
  m.input("x", {2}, text).weights("table", {1000, 64}).weights("w", {64, 64}).weights("vocabulary", {5000}, 2);
  m.node("StringNormalizer", {"x"}, {"lower"});
  m.node("BertTokenizer", {"lower", "vocabulary"}, {"ids", "mask"}, extensions); // nobody knows what it makes
  m.node("Gather", {"table", "ids"}, {"h"});
  m.node("MatMul", {"h", "w"}, {"y"});
  m.node("Cast", {"mask"}, {"z"});
  CHECK(kinds_in(m) == "cc---");
  const auto notes = m.read().notes;
  CHECK(std::find(notes.begin(), notes.end(), "2 ops read or make strings, and run on CPUs only") != notes.end());
}

TEST_CASE("onnx texts: whatever has texts among its inputs or outputs, for what they are") {
  onnx_model m;
  m.input("x", {4}, text).input("n", {4}).input("i", {4}, int64);
  m.node("Identity", {"x"}, {"same"});
  m.node("Equal", {"x", "x"}, {"equal"});
  m.node("Shape", {"x"}, {"shape"});
  onnx_model::set(m.node("Cast", {"n"}, {"written"}), "to", std::int64_t{text});
  onnx_model::set(m.node("Cast", {"written"}, {"read"}), "to", std::int64_t{1});
  m.node("Relu", {"read"}, {"r"});
  m.node("Not", {"equal"}, {"differs"});
  m.node("Gather", {"x", "i"}, {"chosen"});
  CHECK(kinds_in(m) == "ccccc--c");
}

TEST_CASE("onnx texts: sequences, maps and labels") {
  onnx_model m;
  onnx_model::import(m.m, ml, 2);
  m.input("x", {4}, text).input("n", {4, 3});
  m.node("SequenceConstruct", {"x", "x"}, {"list"});
  m.node("SequenceLength", {"list"}, {"length"});
  m.node("SequenceConstruct", {"n", "n"}, {"numbers"});
  onnx_model::set_texts(m.node("ZipMap", {"n"}, {"named"}, ml), "classlabels_strings", {"a", "b", "c"});
  auto& encoder = m.node("LabelEncoder", {"x"}, {"codes"}, ml);
  onnx_model::set_texts(encoder, "keys_strings", {"a"});
  onnx_model::set(encoder, "values_int64s", dims{1});
  CHECK(kinds_in(m) == "cc-cc");
}

TEST_CASE("onnx texts: ops that are on texts by their names") {
  for (const auto& [type, domain] : std::vector<std::pair<const char*, const char*>>{
         {"StringUpper", extensions}, {"SentencepieceTokenizer", extensions}, {"BpeDecoder", extensions},
         {"StringECMARegexReplace", extensions}, {"HfBertTokenizer", extensions}, {"Tokenizer", "com.microsoft"},
         {"StringConcat", ""}, {"RegexFullMatch", ""}, {"my_tokenize", "my.ops"}}) {
    CAPTURE(type);
    onnx_model m;
    m.input("x", {4});
    m.node(type, {"x"}, {"y"}, domain);
    CHECK(kinds_in(m) == "c");
  }
  for (const char* type : {"TokenEmbedding", "Attention", "ConstantOfShape", "Einsum"}) {
    CHECK_FALSE(weft::onnx::is_on_text(type));
  }
}

TEST_CASE("onnx texts: bodies and functions that are on texts") {
  for (const bool on_text : {false, true}) {
    onnx_model m;
    m.input("c", {}, ::onnx::TensorProto::BOOL).input("x", {4}, on_text ? text : 1);
    auto& n = m.node("If", {"c"}, {"y"});
    for (const char* branch : {"then_branch", "else_branch"}) {
      auto& g = onnx_model::body(n, branch);
      onnx_model::add_to(g, "Shape", {"x"}, {"s"});
      onnx_model::declare(*g.add_output(), "s", {1}, int64);
    }
    CHECK(kinds_in(m) == (on_text ? "c" : "-"));
  }
  onnx_model m;
  m.input("x", {4});
  auto& f = *m.m.add_functions();
  f.set_name("Greet");
  f.set_domain("my.ops");
  f.add_input("a");
  f.add_output("b");
  onnx_model::import(f, "", 17);
  onnx_model::set(onnx_model::add_to(f, "Cast", {"a"}, {"t"}), "to", std::int64_t{text});
  onnx_model::add_to(f, "Shape", {"t"}, {"b"});
  m.node("Greet", {"x"}, {"y"}, "my.ops");
  m.node("Relu", {"x"}, {"z"});
  CHECK(kinds_in(m) == "c-");
}

TEST_CASE("onnx texts: parameters that texts read keep nothing else on the CPU") {
  { // a table that is read on both sides is there twice
    onnx_model m;
    m.input("x", {4}, text).input("i", {4}, int64).weights("table", {10'000}, int64);
    m.node("LookUpString", {"x", "table"}, {"a"}, "my.ops");
    m.node("Gather", {"table", "i"}, {"b"});
    m.node("Gather", {"table", "i"}, {"c"});
    CHECK(kinds_in(m) == "c--");
    const auto w = m.read().ops;
    CHECK(w.resident_bytes(0) == 80'000);
    CHECK(w.resident_bytes(1) == 80'000);
    CHECK(w.resident_bytes(2) == 0);
    CHECK(w.group(1) == w.group(2));
  }
  { // numbers that the file has as texts are known before the model runs
    onnx_model m;
    m.input("x", {4, 3});
    texts(*m.m.mutable_graph()->add_initializer(), 3).set_name("written");
    onnx_model::set(m.node("Cast", {"written"}, {"w"}), "to", std::int64_t{1});
    m.node("Mul", {"x", "w"}, {"y"});
    CHECK(kinds_in(m) == "c-");
  }
  { // words that are chosen in the end
    onnx_model m;
    m.input("i", {4}, int64);
    texts(onnx_model::tensor(m.node("Constant", {}, {"words"}), "value"), 5);
    m.node("Gather", {"words", "i"}, {"y"});
    CHECK(kinds_in(m) == "cc");
  }
}

} // namespace interop_onnx_text_test
