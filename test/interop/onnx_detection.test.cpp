// SPDX-License-Identifier: BSL-1.0
// What detection models, as exporters write them, compute of the image's shape, and what only their data decide.
#include "interop/onnx_models.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <onnx/defs/parser.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace interop_onnx_detection_test {

using namespace weft;
using weft_test::onnx_model;
using sizes = std::map<std::string, std::uint64_t, std::less<>>;
constexpr auto dimension = assumed_size::option::dimension;

/// A model in ONNX's text format: inputs, outputs and nodes.
model read(const std::string& text, const sizes& given = {}) {
  ::onnx::ModelProto m;
  const auto status = ::onnx::OnnxParser::Parse(m, ("<ir_version: 8, opset_import: [\"\" : 13]> g " + text).c_str());
  REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
  return weft::onnx::reader{.dimensions = given}.read(m.SerializeAsString(), "test.onnx");
}

double work_of(const model& m, std::string_view type) {
  double work = 0;
  for (const op_id v : ids(m.ops.num_ops())) {
    work += m.ops.type(v) == type ? m.ops.work(v) : 0;
  }
  return work;
}

std::vector<std::string> asked(const model& m) {
  std::vector<std::string> names;
  for (const auto& x : m.assumed) {
    CHECK(x.given_by == dimension);
    names.push_back(x.name);
  }
  return names;
}

TEST_CASE("onnx: an image is scaled so that its shorter side is 800 and its longer one at most 1333") {
  const std::string text = R"((float[3, height, width] x) => (float[] y) {
    z = Constant<value_ints = [0]>() one = Constant<value_ints = [1]>() three = Constant<value_ints = [3]>()
    s = Shape(x) hw = Slice(s, one, three) small = ReduceMin<keepdims = 0>(hw) large = ReduceMax<keepdims = 0>(hw)
    a = Cast<to = 1>(small) b = Cast<to = 1>(large) ra = Reciprocal(a) rb = Reciprocal(b)
    short = Constant<value_float = 800.0>() long = Constant<value_float = 1333.0>() fa = Mul(ra, short)
    fb = Mul(rb, long) by = Min(fa, fb) f = Cast<to = 1>(hw) scaled = Mul(f, by) down = Floor(scaled)
    to = Cast<to = 7>(down) batched = Unsqueeze(x, z) t = Shape(batched) two = Constant<value_ints = [2]>()
    head = Slice(t, z, two) size = Concat<axis = 0>(head, to) none = Constant<value = float[0] {}>()
    r = Resize<mode = "linear">(batched, none, none, size) y = Exp(r) })";
  for (const auto& [height, width, scaled] : {std::tuple{800, 1066, 3.0 * 800 * 1066}, {400, 500, 3.0 * 800 * 1000},
                                              {1000, 4000, 3.0 * 333 * 1333}}) {
    const auto m = read(text, {{"height", height}, {"width", width}});
    CHECK(work_of(m, "Exp") == scaled);
    CHECK(m.assumed.empty());
  }
  CHECK(asked(read(text)) == std::vector<std::string>{"height", "width"});
}

// Elements above a threshold, as `x[x > 0.5]` and `boxes[x > 0.5]` are exported: each with a search of its own.
const std::string kept = R"( two = Constant<value_float = 2.0>() a = Div(x, two) limit = Constant<value_float = 0.5>()
  above = Greater(a, limit) first = NonZero(above) second = NonZero(above) at = Identity(above) third = NonZero(at) )";

TEST_CASE("onnx: what data decide is asked for once, however often the model computes it") {
  const std::string same = "(float[9] x) => (int64[] y) {" + kept + R"(again = Greater(a, limit) fourth = NonZero(again)
    y = Concat<axis = 1>(first, second, third, fourth) e = Neg(y) })";
  CHECK(read(same).assumed == std::vector<assumed_size>{{dimension, "first.1", "NonZero"}});
  const auto given = read(same, {{"first.1", 5}});
  CHECK(given.assumed.empty());
  CHECK(work_of(given, "Neg") == 4 * 5);
  const std::string inside = "(float[9] x, bool c) => (int64[] y) {" + kept + R"(y = If<
    then_branch = t () => (int64[] p) { q = NonZero(above) p = Neg(q) },
    else_branch = e () => (int64[] p) { p = NonZero(above) }>(c) })";
  CHECK(asked(read(inside)) == std::vector<std::string>{"first.1"});
  CHECK(work_of(read(inside, {{"first.1", 5}}), "If") >= 5);
}

TEST_CASE("onnx: what may differ is asked for on its own") {
  const std::string other = "(float[9] x) => (int64[] y) {" + kept;
  for (const auto* node : {"more = Constant<value_float = 0.6>() b = Greater(a, more)", "b = Less(a, limit)",
                           "d = RandomUniformLike(x) b = Greater(d, limit) f = RandomUniformLike(x) g = Greater(f, "
                           "limit) fifth = NonZero(g)",
                           "d = Dropout(x) b = Greater(d, limit) f = Dropout(x) g = Greater(f, limit) "
                           "fifth = NonZero(g)"}) {
    CAPTURE(std::string{node});
    const std::string text = node;
    auto names = std::vector<std::string>{"first.1"};
    if (text.find("fifth") != text.npos) {
      names.push_back("fifth.1");
    }
    names.push_back("fourth.1");
    CHECK(asked(read(other + node + " fourth = NonZero(b) y = Neg(fourth) }")) == names);
  }
  // The state of a loop is another one in each iteration.
  const auto loop = read("(float[9] x) => (int64[] y) {" + kept + R"(n = Constant<value_int = 3>()
    t = Constant<value = bool {1}>() s = Loop<body = b (int64 i, bool go, float[] v) => (bool go2, float[] v2) {
    go2 = Identity(go) w = Div(v, two) u = Greater(w, limit) found = NonZero(u) v2 = Identity(w) }>(n, t, x)
    y = Neg(first) })");
  CHECK(asked(loop) == std::vector<std::string>{"first.1", "found.1"});
}

TEST_CASE("onnx: the name of a type gives all that ops of it decide and that have no size of their own") {
  const std::string text = R"((float[9] x, float[7] z) => (int64[] y) { first = NonZero(x) second = NonZero(z)
    y = Concat<axis = 1>(first, second) e = Neg(y) })";
  CHECK(work_of(read(text, {{"NonZero", 4}}), "Neg") == 4 + 4);
  const auto m = read(text, {{"NonZero", 4}, {"second.1", 2}});
  CHECK(work_of(m, "Neg") == 4 + 2);
  CHECK(m.assumed.empty());
  CHECK_THROWS_WITH_AS((void)read(text, {{"Compress", 4}}), doctest::Contains("no open dimension is called 'Compress'"),
                       parse_error);
}

// An extent that data decide, `n`, with others that are known.
const std::string parts = R"((float[4, 6] x, float[1, 3, 8, 9] image, int64 number) => (float[] y) {
  z = Constant<value_ints = [0]>() two = Constant<value_ints = [2]>() n = Unsqueeze(number, z) )";

TEST_CASE("onnx: of extents that a model puts together, those that are known are, and the others are asked for") {
  struct one {
    const char* nodes;
    std::vector<std::string> open;
    std::vector<double> sizes; ///< of y, for open extents of 1 and of 5
  };
  const one all[] = {
    {"a = Concat<axis = 0>(two, n) y = ConstantOfShape(a)", {"y.1"}, {2, 10}},
    {"s = Shape(image) head = Slice(s, z, two, z) a = Concat<axis = 0>(head, n, two) c = Cast<to = 7>(a) "
     "y = Resize<mode = \"linear\">(image, , , c)", {"y.2"}, {6, 30}},
    {"a = Concat<axis = 0>(n, two) b = Slice(a, z, two, z) k = Constant<value_ints = [1, 0]>() c = Gather(b, k) "
     "y = ConstantOfShape(c)", {"y.1"}, {2, 10}},
    {"a = Concat<axis = 0>(n, two) b, c = Split(a) y = ConstantOfShape(c)", {}, {2, 2}}, // the part that is known
    {"a = Concat<axis = 0>(n, two) y = Reshape(x, a)", {}, {24, 24}}, // 12 rows, whatever is asked for
    {"a = Concat<axis = 0>(n, z, two) y = Reshape(x, a)", {}, {24, 24}},
    {"k = Constant<value_ints = [1, 1]>() t = Unsqueeze(x, z) a = Concat<axis = 0>(n, k) y = Expand(t, a)", {"y.0"},
     {24, 120}},
    {"k = Constant<value_ints = [5, 1]>() t = Unsqueeze(x, z) a = Concat<axis = 0>(k, n) y = Expand(t, a)", {},
     {120, 120}}, // of which it has 6 already
    {"m = Mul(n, two) k = Constant<value_ints = [1]>() y = Slice(x, n, m, k)", {"y.1"}, {4, 20}},
    {"m = Mul(n, two) y = Slice(x, n, m)", {"y.0"}, {6, 30}},
  };
  for (const auto& o : all) {
    CAPTURE(std::string{o.nodes});
    for (std::size_t i = 0; i < o.sizes.size(); ++i) {
      sizes given;
      for (const auto& name : o.open) {
        given[name] = i == 0 ? 1 : 5;
      }
      const auto m = read(parts + o.nodes + " e = Exp(y) }", given);
      CHECK(m.assumed.empty());
      CHECK(m.notes.size() <= 1); // of parameters
      CHECK(work_of(m, "Exp") == o.sizes[i]);
    }
    CHECK(asked(read(parts + o.nodes + " e = Exp(y) }")) == o.open);
  }
}

/// A random list of extents that a model puts together of known ones and of one that data decide.
class random_list {
public:
  random_list(std::mt19937& random, onnx_model& m, std::int64_t truth) : random_{random}, m_{m} {
    m.integers("z", {0}).integers("one", {1}).integers("two", {2}).integers("last", {-1}).integers("least", {-99});
    m.input("number", {}, ::onnx::TensorProto::INT64);
    m.node("Unsqueeze", {"number", "z"}, {"n"});
    lists_ = {{"n", {truth}}, {"two", {2}}, {"one", {1}}};
    for (int i = 0; i < 6; ++i) {
      step();
    }
    auto all = lists_.back().second; // with the open one in it at any rate
    all.push_back(truth);
    onnx_model::set(m.node("Concat", {lists_.back().first, "n"}, {"all"}), "axis", 0);
    lists_.emplace_back("all", all);
  }
  const std::string& name() const { return lists_.back().first; }
  const std::vector<std::int64_t>& truth() const { return lists_.back().second; }

private:
  std::size_t below(std::size_t n) { return random_() % n; }

  void step() {
    const auto& [x, of_x] = lists_[below(lists_.size())];
    const auto& [other, of_other] = lists_[below(lists_.size())];
    const auto made = "l" + std::to_string(lists_.size());
    auto to = of_x;
    const auto k = below(of_x.size());
    switch (below(5)) {
    case 0: // backwards
      m_.node("Slice", {x, "last", "least", "z", "last"}, {made});
      std::reverse(to.begin(), to.end());
      break;
    case 1: // from element k on
      m_.integers(made + "_k", {static_cast<std::int64_t>(k)}).integers(made + "_end", {99});
      m_.node("Slice", {x, made + "_k", made + "_end"}, {made});
      to.erase(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(k));
      break;
    case 2: // element k twice
      m_.integers(made + "_k", {static_cast<std::int64_t>(k),
                                static_cast<std::int64_t>(k) - static_cast<std::int64_t>(of_x.size())});
      m_.node("Gather", {x, made + "_k"}, {made});
      to = {of_x[k], of_x[k]};
      break;
    default:
      onnx_model::set(m_.node("Concat", {x, other}, {made}), "axis", 0);
      to.insert(to.end(), of_other.begin(), of_other.end());
      if (to.size() > 4) { // enough
        m_.m.mutable_graph()->mutable_node()->RemoveLast();
        return;
      }
    }
    lists_.emplace_back(made, to);
  }

  std::mt19937& random_;
  onnx_model& m_;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> lists_ = {};
};

TEST_CASE("onnx: a tensor in a shape of which data decide more than one extent is as large as it was") {
  const auto m = read(parts + "rest = Constant<value_ints = [-1]>() a = Concat<axis = 0>(n, rest) y = Reshape(x, a) "
                              "e = Exp(y) }");
  CHECK(m.assumed.empty());
  CHECK(work_of(m, "Exp") == 24);
}

TEST_CASE("onnx: extents beside those that data decide are those that the model has, in random ones") {
  std::mt19937 random{7}; // the same everywhere
  std::size_t num_partly = 0;
  for (int round = 0; round < 600; ++round) {
    onnx_model m{13};
    const random_list list{random, m, 1 + round % 4};
    auto truth = list.truth();
    const auto total = std::accumulate(truth.begin(), truth.end(), std::int64_t{1}, std::multiplies<>{});
    if (round % 3 == 0) {
      m.node("ConstantOfShape", {list.name()}, {"y"});
    } else if (round % 3 == 1) {
      m.input("x", {total}).node("Reshape", {"x", list.name()}, {"y"});
    } else {
      auto dims = truth; // some of them 1, which are stretched
      for (auto& d : dims) {
        d = random() % 2 == 0 ? 1 : d;
      }
      m.input("x", dims).node("Expand", {"x", list.name()}, {"y"});
    }
    sizes given;
    const auto open = m.read();
    const auto names = asked(open);
    if (!open.notes.empty() && open.notes[0].find("unknown shape") != std::string::npos) {
      CHECK(round % 3 != 0); // as much as `x`, whatever its shape
      continue;
    }
    for (const auto& name : names) {
      REQUIRE(name.starts_with("y."));
      given[name] = static_cast<std::uint64_t>(truth.at(std::stoul(name.substr(2))));
    }
    const auto read = m.read({.dimensions = given});
    CAPTURE(m.m.ShortDebugString());
    CHECK(read.assumed.empty());
    CHECK(read.ops.bytes(*read.ops.outputs(static_cast<op_id>(read.ops.num_ops() - 1)).begin()) ==
          static_cast<byte_count>(4 * total));
    num_partly += !names.empty() && names.size() < truth.size() ? 1u : 0u;
  }
  CHECK(num_partly > 50);
}

} // namespace interop_onnx_detection_test
