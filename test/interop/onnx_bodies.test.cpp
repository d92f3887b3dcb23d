// SPDX-License-Identifier: BSL-1.0
// FLOP of models that compute their shapes and trip counts, as exporters write them, against closed formulas.
#include "interop/onnx_models.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <onnx/defs/parser.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace interop_onnx_bodies_test {

using namespace weft;

struct figure {
  const char* what;
  std::string text;      ///< inputs and nodes, in ONNX's text format
  double flop;           ///< of all ops of the types below
  const char* types[3] = {"MatMul", "", ""};
  const char* loop = ""; ///< of which nobody tells how often it runs; empty: none
};

/// Inputs whose extents are given by `sequence` = 6.
::onnx::ModelProto parsed(const std::string& text) {
  ::onnx::ModelProto m;
  const auto status = ::onnx::OnnxParser::Parse(m, ("<ir_version: 8, opset_import: [\"\" : 17]> g " + text).c_str());
  REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
  return m;
}

const std::string loop_body = "body = b (int64 i, bool go, float[] s) => (bool go2, float[] n, float[] n2) "
                              "{ go2 = Identity(go) n = MatMul(s, w) n2 = Identity(n) }";
const std::string x_and_w = "(float[sequence, 8] x, float[8, 8] w, bool c) => (float[] y) ";
constexpr double product = 2.0 * 6 * 8 * 8;

const figure figures[] = {
  {"a loop over an extent",
   x_and_w + "{ n = Shape<start = 0, end = 1>(x) t = Constant<value = bool {1}>() y, all = Loop<" + loop_body +
     ">(n, t, x) z = MatMul(all, w) }",
   6 * product + 6 * product},
  {"a loop until its counter is there",
   x_and_w + R"({ n = Shape<start = 0, end = 1>(x) t = Constant<value = bool {1}>() zero = Constant<value_int = 0>()
     most = Constant<value_int = 9223372036854775807>() one = Constant<value_int = 1>()
     k, y = Loop<body = b (int64 i, bool go, int64 k) => (bool go2, int64 k2, float[] p)
       { k2 = Add(k, one) go2 = Less(k2, n) p = MatMul(x, w) }>(most, t, zero) })",
   6 * (product + 2)},
  {"a loop whose state grows",
   x_and_w + R"({ n = Constant<value_int = 4>() t = Constant<value = bool {1}>()
     y = Loop<body = b (int64 i, bool go, float[] s) => (bool go2, float[] s2)
       { go2 = Identity(go) s2 = Concat<axis = 0>(s, x) p = MatMul(s2, w) }>(n, t, x) z = MatMul(y, w) })",
   (2 + 3 + 4 + 5) * product + 5 * product},
  {"a loop in a loop, as often as the outer one has run",
   x_and_w + "{ n = Constant<value_int = 4>() t = Constant<value = bool {1}>() "
             "y = Loop<body = o (int64 k, bool go, float[] v) => (bool go3, float[] v2) "
             "{ go3 = Identity(go) v2, all = Loop<" + loop_body + ">(k, t, v) }>(n, t, x) }",
   (0 + 1 + 2 + 3) * product},
  {"a condition on the iteration",
   x_and_w + R"({ n = Constant<value_int = 5>() t = Constant<value = bool {1}>() two = Constant<value_int = 2>()
     y = Loop<body = o (int64 k, bool go, float[] v) => (bool go3, float[] v2)
       { go3 = Identity(go) early = Less(k, two)
         v2 = If<then_branch = a () => (float[] p) { p = MatMul(v, w) },
                 else_branch = e () => (float[] q) { q = Identity(v) }>(early) }>(n, t, x) })",
   2 * product + 5},
  {"branches that nobody knows: the dearer one",
   x_and_w + R"({ y = If<then_branch = a () => (float[] p) { p = MatMul(x, w) },
       else_branch = e () => (float[] r) { q = MatMul(x, w) r = MatMul(q, w) }>(c) })",
   2 * product},
  {"a loop that nobody knows the length of",
   x_and_w + "{ most = Constant<value_int = 9223372036854775807>() y, all = Loop<" + loop_body + ">(most, c, x) }",
   product, {"MatMul", "", ""}, "y"},
  {"a scan along two axes, backwards",
   R"((float[5, sequence, 8] a, float[sequence, 5, 8] b, float[8, 8] w) => (float[] y) {
     s = Constant<value = float[1] {0.0}>() e = Expand(s, d) d = Constant<value_ints = [5, 8]>()
     last, y = Scan<num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [1, 0],
       body = g (float[] s, float[] p, float[] q) => (float[] s2, float[] o)
       { t = Add(p, q) m = MatMul(t, w) s2 = Add(m, s) o = Identity(m) }>(e, a, b) z = MatMul(y, w) })",
   6 * (2.0 * 5 * 8 * 8 + 2 * 40) + 6 * 2.0 * 5 * 8 * 8},
  {"a body for each element of a sequence",
   R"((float[sequence, 4, 8] x, float[8, 8] w) => (float[] y) {
     parts = SplitToSequence<axis = 0, keepdims = 1>(x)
     made = SequenceMap<body = g (float[] p) => (float[] q) { q = MatMul(p, w) }>(parts) })",
   6 * 2.0 * 4 * 8 * 8},
  {"a product that is quantised when it runs",
   R"((float[sequence, 8] x, uint8[8, 5] w, float s) => (float[] y) { q, scale, zero = DynamicQuantizeLinear(x)
     z = Constant<value = uint8 {3}>() p = MatMulInteger(q, w, zero, z) f = Cast<to = 1>(p) a = Mul(scale, s)
     y = Mul(f, a) })",
   2.0 * 6 * 8 * 5 + 1 + 6 * 5, {"MatMulInteger", "Mul", "Cast"}},
  {"a convolution that is quantised when it runs",
   R"((float[2, 3, sequence, 6] x, uint8[4, 3, 3, 3] w, float s) => (float[] y) {
     q, scale, zero = DynamicQuantizeLinear(x) p = ConvInteger<pads = [1, 1, 1, 1]>(q, w, zero) f = Cast<to = 1>(p)
     y = Mul(f, scale) })",
   2.0 * 2 * 4 * 36 * 27 + 2 * 4 * 36, {"ConvInteger", "Mul", "Cast"}},
  {"windows of a picture",
   R"((float[2, sequence, 6, 8] x, float[8, 8] w) => (float[] y) { s = Shape(x) i0 = Constant<value_int = 0>()
     i1 = Constant<value_int = 1>() three = Constant<value_int = 3>() b = Gather(s, i0) h = Gather(s, i1)
     hn = Div(h, three) z = Constant<value_ints = [0]>() b1 = Unsqueeze(b, z) h1 = Unsqueeze(hn, z)
     k = Constant<value_ints = [3]>() two = Constant<value_ints = [2, 3, 8]>() to = Concat<axis = 0>(b1, h1, k, two)
     v = Reshape(x, to) t = Transpose<perm = [0, 1, 3, 2, 4, 5]>(v) flat = Constant<value_ints = [-1, 9, 8]>()
     windows = Reshape(t, flat) scores = MatMul(windows, w) turned = Transpose<perm = [0, 2, 1]>(windows)
     y = MatMul(scores, turned) })",
   2.0 * 8 * 9 * 8 * 8 + 2.0 * 8 * 9 * 9 * 8},
  {"positions and a mask",
   R"((int64[1, sequence] ids, float[99, 8] table, float[8, 8] w) => (float[] y) { s = Shape(ids)
     i1 = Constant<value_int = 1>() n = Gather(s, i1) zero = Constant<value_int = 0>() one = Constant<value_int = 1>()
     p = Range(zero, n, one) e = Gather(table, p) q = MatMul(e, w) n1 = Unsqueeze(n, z) z = Constant<value_ints = [0]>()
     nn = Concat<axis = 0>(n1, n1) f = ConstantOfShape(nn) m = Trilu(f) sums = CumSum(ids, i1) more = Gather(table, sums)
     y = MatMul(more, w) masked = Softmax(m) })",
   2 * product + 5 * 36, {"MatMul", "Softmax", ""}},
  {"a mask by ScatterND over a grid of positions",
   R"((float[sequence, 8] x, float[8, 8] w) => (float[] y) { s = Shape(x) f = ConstantOfShape(s)
     at = Constant<value = int64[2, 1] {0, 3}>() eight = Slice(s, a, b) a = Constant<value_ints = [1]>()
     b = Constant<value_ints = [2]>() two = Constant<value_ints = [2]>() rows = Concat<axis = 0>(two, eight)
     u = ConstantOfShape(rows) m = ScatterND(f, at, u) v = Add(x, m) y = MatMul(v, w) })",
   product + 48, {"MatMul", "Add", ""}},
  {"interpolation to computed sizes and by scales",
   R"((float[1, 2, sequence, 4] x, float s) => (float[] y) { n = Shape(x) z = Constant<value_ints = [0]>()
     t = Constant<value_ints = [2]>() head = Slice(n, z, t, z) i2 = Constant<value_int = 2>() h = Gather(n, i2)
     hf = Cast<to = 1>(h) k = Constant<value_float = 1.5>() scaled = Mul(hf, k) down = Floor(scaled)
     size = Cast<to = 7>(down) size1 = Unsqueeze(size, z) sizes = Concat<axis = 0>(head, size1, size1)
     r = Resize<mode = "nearest">(x, , , sizes) e = Exp(r)
     by = Constant<value_floats = [1.0, 1.0, 2.0, 0.5]>() u = Resize(x, , by) y = Exp(u) })",
   2 * 9 * 9 + 2 * 12 * 2, {"Exp", "", ""}},
  {"parts of a shape",
   R"((float[2, sequence, 8] x) => (float[] y) { s = Shape(x) k = Constant<value_ints = [1, 2]>() b, rest = Split(s, k)
     flat = ReduceProd(rest) to = Concat<axis = 0>(b, flat) r = Reshape(x, to) sum = ReduceSum(r, a)
     a = Constant<value_ints = [1]>() y = Exp(sum) })",
   2, {"Exp", "", ""}},
  {"pads as torch.onnx writes them",
   R"((float[2, sequence, 8] x) => (float[] y) { given = Constant<value_ints = [1, 2]>() four = Constant<value_ints = [4]>()
     zeros = ConstantOfShape(four) whole = Cast<to = 7>(zeros) all = Concat<axis = 0>(given, whole)
     pairs = Constant<value_ints = [-1, 2]>() p = Reshape(all, pairs) z = Constant<value_ints = [0]>()
     m = Constant<value_ints = [-1]>() least = Constant<value_ints = [-9223372036854775807]>() back = Slice(p, m, least, z, m)
     turned = Transpose<perm = [1, 0]>(back) flat = Reshape(turned, m) pads = Cast<to = 7>(flat) r = Pad(x, pads)
     y = Exp(r) })",
   2 * 6 * 11, {"Exp", "", ""}},
};

TEST_CASE("onnx: bodies, and shapes that models compute, have the FLOP of closed formulas") {
  for (const auto& f : figures) {
    CAPTURE(std::string{f.what});
    const auto r = weft::onnx::reader{.dimensions = {{"sequence", 6}}}.read(parsed(f.text).SerializeAsString(), "test");
    double flop = 0;
    for (op_id v = 0; v < r.ops.num_ops(); ++v) {
      const auto type = r.ops.type(v);
      const bool has_body = type == "Loop" || type == "If" || type == "Scan" || type == "SequenceMap";
      const bool counts = std::find(std::begin(f.types), std::end(f.types), type) != std::end(f.types);
      flop += counts || has_body ? r.ops.work(v) : 0;
    }
    CHECK(flop == f.flop);
    std::string notes;
    for (const auto& note : r.notes) {
      const auto has = [&](std::string_view text) { return note.find(text) != note.npos; };
      notes += has("parameters from parameters") || has(" out sizes") ? "" : note;
    }
    CHECK(notes.empty());
    const assumed_size loop{assumed_size::option::trips, f.loop, "Loop"};
    CHECK(r.assumed == (*f.loop == 0 ? std::vector<assumed_size>{} : std::vector{loop}));
  }
}

TEST_CASE("onnx: rounds of a loop that the model does not tell are given by its name, or for all") {
  const auto model = parsed(x_and_w + "{ most = Constant<value_int = 9223372036854775807>() y, all = Loop<" +
                            loop_body + ">(most, c, x) }").SerializeAsString();
  const auto flop = [&](const std::map<std::string, std::uint64_t, std::less<>>& trips) {
    const auto r = weft::onnx::reader{.dimensions = {{"sequence", 6}}, .trips = trips}.read(model, "test.onnx");
    CHECK(r.assumed.empty());
    return r.ops.work(1);
  };
  CHECK(flop({{"y", 5}}) == 5 * product);
  CHECK(flop({{"*", 7}}) == 7 * product);
  CHECK_THROWS_WITH_AS((void)flop({{"y", 5}, {"*", 7}}), doctest::Contains("the trips of all loops have no effect"),
                       parse_error); // there is no other loop
  CHECK_THROWS_WITH_AS((void)flop({{"x", 5}}),
                       "test.onnx: trips are given for 'x', which is not a loop that runs; there is 'y'", parse_error);
  const auto counted = parsed(x_and_w + "{ most = Constant<value_int = 10>() t = Constant<value = bool {1}>()" +
                              " y, all = Loop<" + loop_body + ">(most, t, x) }").SerializeAsString();
  const auto work = [&](const std::map<std::string, std::uint64_t, std::less<>>& trips) {
    return weft::onnx::reader{.dimensions = {{"sequence", 6}}, .trips = trips}.read(counted, "test.onnx").ops.work(2);
  };
  CHECK(work({}) == 10 * product); // the model tells it
  CHECK_THROWS_WITH_AS((void)work({{"*", 3}}), doctest::Contains("the trips of all loops"), parse_error);
  CHECK(work({{"y", 3}}) == 3 * product);
  const auto plain = parsed(x_and_w + "{ y = Relu(x) }").SerializeAsString();
  CHECK_THROWS_WITH_AS((void)(weft::onnx::reader{.trips = {{"*", 4}}}.read(plain, "test.onnx")),
                       doctest::Contains("the model has no loop that runs"), parse_error);
}

} // namespace interop_onnx_bodies_test
