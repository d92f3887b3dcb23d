// SPDX-License-Identifier: BSL-1.0
// Random models whose shapes are computed by the graph itself, against an interpreter of ONNX's definitions that shares
// nothing with the reader's rules: dense tensors, one element after the other.
#include "interop/onnx_models.hpp"
#include "support/rounds.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace interop_onnx_random_shapes_test {

using list = std::vector<std::int64_t>;
using names = std::vector<std::string>;
using weft_test::onnx_model;
using T = ::onnx::TensorProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

struct impossible {}; ///< no such node in a model: another one is tried
void require(bool holds) {
  if (!holds) {
    throw impossible{};
  }
}

struct tensor {
  std::int32_t type = T::INT64;
  list shape = {};
  std::vector<double> x = {};
  bool fixed = false;  ///< follows from constants alone
  bool hidden = false; ///< data, of which the reader knows the shape only

  std::size_t rank() const { return shape.size(); }
};
using tensors = std::vector<tensor>;

std::size_t count(const list& shape) {
  std::int64_t n = 1;
  for (const auto d : shape) {
    require(d >= 0 && d <= 300);
    n *= d;
    require(n <= 200);
  }
  return static_cast<std::size_t>(n);
}
bool is_real(std::int32_t type) {
  return type == T::FLOAT || type == T::DOUBLE;
}
/// A number as an element of a type, which must hold it.
double fit(std::int32_t type, double v) {
  static const std::map<std::int32_t, std::pair<double, double>> ranges{
    {T::INT64, {-0x1p40, 0x1p40}}, {T::UINT64, {0, 0x1p40}},    {T::INT32, {-0x1p31, 0x1p31 - 1}},
    {T::UINT32, {0, 0x1p32 - 1}},  {T::INT16, {-32768, 32767}}, {T::UINT16, {0, 65535}},
    {T::INT8, {-128, 127}},        {T::UINT8, {0, 255}},        {T::BOOL, {0, 1}},
    {T::FLOAT, {-1e9, 1e9}},       {T::DOUBLE, {-1e9, 1e9}}};
  const auto [least, greatest] = ranges.at(type);
  require(v >= least && v <= greatest); // neither infinite nor no number
  return type == T::FLOAT ? static_cast<double>(static_cast<float>(v)) : v;
}

/// Calls f(index) for each index into a shape.
template <class F>
void each(const list& shape, const F& f) {
  list at(shape.size());
  for (auto k = count(shape); k > 0; --k) {
    f(at);
    for (auto i = shape.size(); i-- > 0 && ++at[i] == shape[i];) {
      at[i] = 0;
    }
  }
}
/// The number of the element at an index, of a tensor that is stretched to the shape of the index.
std::size_t position(const list& shape, const list& at) {
  std::int64_t k = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    k = k * shape[i] + (shape[i] == 1 ? 0 : at[at.size() - shape.size() + i]);
  }
  return static_cast<std::size_t>(k);
}
double element(const tensor& t, const list& at) {
  const auto k = position(t.shape, at);
  require(k < t.x.size());
  return t.x[k];
}
list stretched(const list& a, const list& b) {
  list c(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 1; i <= c.size(); ++i) {
    const auto p = i <= a.size() ? a[a.size() - i] : 1, q = i <= b.size() ? b[b.size() - i] : 1;
    require(p == q || p == 1 || q == 1);
    c[c.size() - i] = p == 1 ? q : p;
  }
  return c;
}
std::size_t axis_in(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  require(axis >= -r && axis < r);
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}
std::int64_t index_in(double index, std::int64_t extent) {
  const auto i = static_cast<std::int64_t>(index);
  require(i >= -extent && i < extent);
  return i < 0 ? i + extent : i;
}
std::int64_t volume(const list& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}
double only(const tensor& t) {
  require(t.x.size() == 1 && !t.hidden);
  return t.x[0];
}
list numbers(const tensor& t) {
  require(!is_real(t.type) && !t.hidden);
  return {t.x.begin(), t.x.end()};
}
list up_to(std::size_t n) {
  list all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct machine;

/// A node that runs.
struct call {
  const NodeProto& n;
  std::vector<const tensor*> in; ///< null where it has no such input
  const machine* runs = nullptr;
  double* flop = nullptr; ///< of its bodies

  const std::string& op() const { return n.op_type(); }
  bool has(std::size_t i) const { return i < in.size() && in[i] != nullptr; }
  const tensor& operator[](std::size_t i) const {
    require(has(i));
    return *in[i];
  }
  const ::onnx::AttributeProto* attribute(const std::string& name) const {
    const auto at =
      std::find_if(n.attribute().begin(), n.attribute().end(), [&](const auto& a) { return a.name() == name; });
    return at == n.attribute().end() ? nullptr : &*at;
  }
  std::int64_t number(const std::string& name, std::int64_t otherwise) const {
    const auto* a = attribute(name);
    return a == nullptr ? otherwise : a->i();
  }
  bool is_hidden() const {
    return op() != "Shape" && op() != "Size" &&
           std::any_of(in.begin(), in.end(), [](auto* t) { return t != nullptr && t->hidden; });
  }
  /// An output with the element f(index) at each index, if it is known.
  template <class F>
  tensor made(std::int32_t type, const list& shape, const F& f) const {
    tensor t{.type = type, .shape = shape, .hidden = is_hidden()};
    t.hidden ? void() : each(shape, [&](const list& at) { t.x.push_back(f(at)); });
    return t;
  }
  tensor reshaped(tensor t, const list& shape) const {
    require(volume(shape) == volume(t.shape));
    t.shape = shape;
    return t;
  }
  std::size_t axis() const { return axis_in(number("axis", 0), (*this)[0].rank()); }
  /// A list in an input, or in an attribute.
  list given(std::size_t i, const std::string& name, const list& otherwise) const {
    const auto* a = attribute(name);
    return has(i) ? numbers(*in[i]) : a == nullptr ? otherwise : list{a->ints().begin(), a->ints().end()};
  }
};
tensors evaluated(const call& c);

/// Runs nodes one after the other, and counts the FLOP of what does not follow from constants alone.
struct machine {
  std::int64_t version = 17;
  const machine* around = nullptr;
  std::map<std::string, tensor> env = {};
  double flop = 0;

  const tensor& at(const std::string& name) const {
    const auto found = env.find(name);
    return found != env.end() ? found->second : around != nullptr ? around->at(name) : env.at(name);
  }
  void run(const NodeProto& n) {
    double inner = 0;
    call c{n, {}, this, &inner};
    const bool has_body = n.op_type() == "If" || n.op_type() == "Loop";
    bool fixed = !has_body;
    weft::ops::call op{.type = n.op_type(), .version = version};
    for (const auto& name : n.input()) {
      c.in.push_back(name.empty() ? nullptr : &at(name));
      fixed = fixed && (name.empty() || at(name).fixed);
      op.inputs.push_back(name.empty() ? std::nullopt : std::optional{at(name).shape});
    }
    auto results = evaluated(c);
    for (std::size_t i = 0; i < results.size(); ++i) {
      op.outputs.emplace_back(results[i].shape);
      for (auto& v : results[i].x) {
        v = fit(results[i].type, v);
      }
      results[i].fixed = fixed;
      env[n.output(static_cast<int>(i))] = std::move(results[i]);
    }
    flop += fixed ? 0 : has_body ? inner : weft::onnx::flop_of(op).value();
  }
  tensors run(const GraphProto& g, double& counted) const {
    machine inside{version, this};
    std::for_each(g.node().begin(), g.node().end(), [&](const auto& n) { inside.run(n); });
    counted += inside.flop;
    tensors all;
    for (const auto& x : g.output()) {
      all.push_back(inside.at(x.name()));
    }
    return all;
  }
};

tensors looped(const call& c) {
  const auto& g = c.attribute("body")->g();
  const auto trips = c.has(0) ? only(c[0]) : 50;
  bool go = !c.has(1) || only(c[1]) != 0;
  machine inside{c.runs->version, c.runs};
  const auto once = [&](double i, const tensor& state, double& counted) {
    inside.env[g.input(0).name()] = {.x = {i}};
    inside.env[g.input(1).name()] = {.type = T::BOOL, .x = {go ? 1.0 : 0.0}};
    (inside.env[g.input(2).name()] = state).fixed = false;
    return inside.run(g, counted);
  };
  double uncounted = 0;
  auto stacked = once(0, c[2], uncounted)[2]; // its type and shape, of no iteration
  stacked.shape.insert(stacked.shape.begin(), 0);
  stacked.x.clear();
  auto state = c[2];
  for (double i = 0; go && i < trips; ++i) {
    require(i < 40);
    const auto now = once(i, state, *c.flop);
    go = only(now[0]) != 0;
    require(now[1].type == state.type && list(stacked.shape.begin() + 1, stacked.shape.end()) == now[2].shape);
    state = now[1];
    ++stacked.shape[0];
    stacked.x.insert(stacked.x.end(), now[2].x.begin(), now[2].x.end());
  }
  return {state, stacked};
}

// What ops give for their inputs.

tensors constant(const call& c) {
  const auto& a = c.n.attribute(0);
  tensor t{.type = a.name().starts_with("value_float") ? T::FLOAT : T::INT64};
  const auto add = [&t](const auto& all) { t.x.insert(t.x.end(), all.begin(), all.end()); };
  if (a.has_t()) {
    t.shape.assign(a.t().dims().begin(), a.t().dims().end());
    add(a.t().int64_data());
  } else if (a.name().ends_with("s")) {
    add(a.ints());
    add(a.floats());
    t.shape = {static_cast<std::int64_t>(t.x.size())};
  } else {
    t.x = {a.has_i() ? static_cast<double>(a.i()) : static_cast<double>(a.f())};
  }
  return {t};
}
tensors shape(const call& c) {
  const auto r = static_cast<std::int64_t>(c[0].rank());
  const auto edge = [&](std::int64_t k) { return std::clamp<std::int64_t>(k < 0 ? k + r : k, 0, r); };
  const auto from = edge(c.number("start", 0)), to = std::max(from, edge(c.number("end", r)));
  const auto begin = c[0].shape.begin();
  return {{.shape = {to - from}, .x = {begin + from, begin + to}}};
}
tensors size(const call& c) {
  return {{.x = {static_cast<double>(count(c[0].shape))}}};
}
tensors cast(const call& c) {
  const auto to = static_cast<std::int32_t>(c.number("to", 0));
  return {c.made(to, c[0].shape, [&](const list& at) {
    const auto v = element(c[0], at);
    return to == T::BOOL ? static_cast<double>(v != 0) : is_real(to) ? v : std::trunc(v);
  })};
}
tensors of_one(const call& c) {
  const auto type = c[0].type;
  const auto of_each = [&](bool is_defined, double (*f)(double)) {
    require(is_defined);
    return tensors{c.made(type, c[0].shape, [&](const list& at) { return f(element(c[0], at)); })};
  };
  return c.op() == "Floor"  ? of_each(is_real(type), [](double v) { return std::floor(v); })
         : c.op() == "Ceil" ? of_each(is_real(type), [](double v) { return std::ceil(v); })
         : c.op() == "Neg"  ? of_each(type != T::BOOL, [](double v) { return -v; })
         : c.op() == "Abs"  ? of_each(type != T::BOOL, [](double v) { return std::abs(v); })
         : c.op() == "Not"  ? of_each(type == T::BOOL, [](double v) { return v == 0 ? 1.0 : 0.0; })
         : c.op() == "Exp"  ? of_each(is_real(type), [](double v) { return std::exp(v); })
                            : of_each(c.op() == "Identity", [](double v) { return v; });
}
double combined(const call& c, double a, double b) {
  const auto& op = c.op();
  const bool fmod = c.number("fmod", 0) != 0;
  const auto v = op == "Add" || op == "ReduceSum"    ? a + b
                 : op == "Sub"                       ? a - b
                 : op == "Mul" || op == "ReduceProd" ? a * b
                 : op == "Div"                       ? a / b
                 : op == "Mod" && fmod               ? std::fmod(a, b)
                 : op == "Mod"                       ? a - b * std::floor(a / b)
                 : op == "Min" || op == "ReduceMin"  ? std::min(a, b)
                 : op == "Max" || op == "ReduceMax"  ? std::max(a, b)
                 : op == "Equal"                     ? static_cast<double>(a == b)
                 : op == "Less"                      ? static_cast<double>(a < b)
                 : op == "Greater"                   ? static_cast<double>(a > b)
                 : op == "And"                       ? a * b
                                                     : std::max(a, b); // Or
  return is_real(c[0].type) ? v : std::trunc(v);
}
tensors of_two(const call& c) {
  const auto& op = c.op();
  const auto t = c[0].type;
  const bool logic = op == "And" || op == "Or", compares = op == "Equal" || op == "Less" || op == "Greater";
  require(c[1].type == t && (logic ? t == T::BOOL : op == "Equal" || t != T::BOOL));
  require(op != "Mod" || c.number("fmod", 0) != 0 || !is_real(t));
  return {c.made(logic || compares ? std::int32_t{T::BOOL} : t, stretched(c[0].shape, c[1].shape),
               [&](const list& at) { return combined(c, element(c[0], at), element(c[1], at)); })};
}
tensors where(const call& c) {
  require(c[0].type == T::BOOL && c[1].type == c[2].type);
  return {c.made(c[1].type, stretched(c[0].shape, stretched(c[1].shape, c[2].shape)),
               [&](const list& at) { return element(c[element(c[0], at) != 0 ? 1 : 2], at); })};
}
tensors gather(const call& c) {
  const auto axis = static_cast<std::ptrdiff_t>(c.axis());
  const auto &t = c[0], &which = c[1];
  auto shape = t.shape;
  const auto d = *(shape.begin() + axis);
  for (const auto i : numbers(which)) {
    (void)index_in(static_cast<double>(i), d);
  }
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, which.shape.begin(), which.shape.end());
  return {c.made(t.type, shape, [&](list at) {
    const auto first = at.begin() + axis, last = first + std::ssize(which.shape);
    const auto i = index_in(element(which, {first, last}), d);
    at.insert(at.erase(first, last), i);
    return element(t, at);
  })};
}
tensors slice(const call& c) {
  const auto& t = c[0];
  const auto starts = c.given(1, "starts", {}), ends = c.given(2, "ends", {});
  const auto axes = c.given(3, "axes", up_to(std::min(t.rank(), starts.size())));
  const auto steps = c.given(4, "steps", list(starts.size(), 1));
  require(starts.size() == ends.size() && axes.size() == starts.size() && steps.size() == starts.size());
  auto shape = t.shape;
  list first(t.rank(), 0), by(t.rank(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_in(axes[i], t.rank());
    const auto d = t.shape[axis], step = steps[i];
    require(step != 0 && std::count(axes.begin(), axes.end(), axes[i]) == 1);
    const auto edge = [&](std::int64_t k) {
      return std::clamp<std::int64_t>(k < 0 ? k + d : k, step < 0 ? -1 : 0, step < 0 ? d - 1 : d);
    };
    first[axis] = std::max<std::int64_t>(edge(starts[i]), 0);
    by[axis] = step;
    shape[axis] = 0;
    for (auto k = first[axis]; d > 0 && (step > 0 ? k < edge(ends[i]) : k > edge(ends[i])); k += step) {
      ++shape[axis];
    }
  }
  return {c.made(t.type, shape, [&](list at) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] = first[i] + by[i] * at[i];
    }
    return element(t, at);
  })};
}
tensors concat(const call& c) {
  const auto axis = c.axis();
  auto shape = c[0].shape;
  shape[axis] = 0;
  for (const auto* t : c.in) {
    require(t->type == c[0].type && t->rank() == c[0].rank());
    auto other = t->shape;
    shape[axis] += std::exchange(other[axis], c[0].shape[axis]);
    require(other == c[0].shape);
  }
  return {c.made(c[0].type, shape, [&](list at) {
    std::size_t i = 0;
    for (; at[axis] >= c[i].shape[axis]; ++i) {
      at[axis] -= c[i].shape[axis];
    }
    return element(c[i], at);
  })};
}
tensors split(const call& c) {
  const auto axis = c.axis();
  const auto d = c[0].shape[axis], n = static_cast<std::int64_t>(c.n.output_size());
  auto parts = c.given(1, "split", {});
  require(!parts.empty() || c.attribute("num_outputs") || d % n == 0);
  for (std::int64_t left = d; std::ssize(parts) < n; left -= parts.back()) {
    parts.push_back(std::min(left, (d + n - 1) / n));
  }
  require(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == d);
  tensors all;
  std::int64_t from = 0;
  for (const auto part : parts) {
    auto shape = c[0].shape;
    shape[axis] = part;
    all.push_back(c.made(c[0].type, shape, [&](list at) {
      at[axis] += from;
      return element(c[0], at);
    }));
    from += part;
  }
  return all;
}
tensors transpose(const call& c) {
  auto order = up_to(c[0].rank());
  std::reverse(order.begin(), order.end());
  order = c.given(1, "perm", order);
  require(order.size() == c[0].rank());
  list shape;
  for (const auto i : order) {
    shape.push_back(c[0].shape.at(static_cast<std::size_t>(i)));
  }
  return {c.made(c[0].type, shape, [&](const list& at) {
    list from(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      from[static_cast<std::size_t>(order[i])] = at[i];
    }
    return element(c[0], from);
  })};
}
tensors reshape(const call& c) {
  auto shape = numbers(c[1]);
  std::int64_t product = 1;
  require(std::count(shape.begin(), shape.end(), -1) <= 1 && c[1].rank() == 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && c.number("allowzero", 0) == 0) {
      require(i < c[0].rank());
      shape[i] = c[0].shape[i];
    }
    product *= shape[i] == -1 ? 1 : shape[i];
    require(shape[i] >= -1 && product <= 1000);
  }
  for (auto& d : shape) {
    require(d != -1 || product > 0);
    d = d == -1 ? volume(c[0].shape) / product : d;
  }
  return {c.reshaped(c[0], shape)};
}
tensors with_ones(const call& c) { // Squeeze, Unsqueeze
  const auto axes = c.given(1, "axes", {});
  const bool adds = c.op() == "Unsqueeze";
  std::vector<bool> is_named(c[0].rank() + (adds ? axes.size() : 0), axes.empty());
  for (const auto axis : axes) {
    const auto at = axis_in(axis, is_named.size());
    require(!is_named[at] && (adds || c[0].shape[at] == 1));
    is_named[at] = true;
  }
  list shape;
  for (std::size_t i = 0, next = 0; i < is_named.size(); ++i) {
    if (adds) {
      shape.push_back(is_named[i] ? 1 : c[0].shape[next++]);
    } else if (!is_named[i] || c[0].shape[i] != 1) {
      shape.push_back(c[0].shape[i]);
    }
  }
  return {c.reshaped(c[0], shape)};
}
tensors expand(const call& c) {
  require(c[1].rank() == 1);
  return {c.made(c[0].type, stretched(c[0].shape, numbers(c[1])), [&](const list& at) { return element(c[0], at); })};
}
tensors tile(const call& c) {
  auto shape = numbers(c[1]);
  require(c[1].rank() == 1 && shape.size() == c[0].rank());
  std::transform(shape.begin(), shape.end(), c[0].shape.begin(), shape.begin(), std::multiplies<>{});
  return {c.made(c[0].type, shape, [&](list at) {
    std::transform(at.begin(), at.end(), c[0].shape.begin(), at.begin(), std::modulus<>{});
    return element(c[0], at);
  })};
}
tensors filled(const call& c) { // ConstantOfShape
  require(c[0].rank() == 1);
  const auto* a = c.attribute("value");
  return {c.made(a == nullptr ? std::int32_t{T::FLOAT} : a->t().data_type(), numbers(c[0]),
               [&](const list&) { return a == nullptr ? 0.0 : static_cast<double>(a->t().int64_data(0)); })};
}
tensors range(const call& c) {
  const double from = only(c[0]), to = only(c[1]), by = only(c[2]);
  require(by != 0 && c[1].type == c[0].type && c[2].type == c[0].type && (to - from) / by < 100);
  const auto n = std::max(0.0, std::ceil((to - from) / by));
  return {c.made(c[0].type, {static_cast<std::int64_t>(n)},
               [&](const list& at) { return from + static_cast<double>(at[0]) * by; })};
}
tensors scatter(const call& c) { // ScatterND
  const auto &t = c[0], &where = c[1], &updates = c[2];
  require(where.rank() >= 1 && where.shape.back() >= 1 && updates.type == t.type);
  const auto depth = where.shape.back();
  require(depth <= std::ssize(t.shape));
  list shape(where.shape.begin(), where.shape.end() - 1);
  shape.insert(shape.end(), t.shape.begin() + depth, t.shape.end());
  require(updates.shape == shape);
  tensor changed = t;
  each(updates.shape, [&](const list& at) {
    const auto split = at.begin() + std::ssize(where.shape) - 1;
    list from(at.begin(), split), to;
    for (from.push_back(0); from.back() < depth; ++from.back()) {
      to.push_back(index_in(element(where, from), t.shape[to.size()]));
    }
    to.insert(to.end(), split, at.end());
    changed.x[position(t.shape, to)] = element(updates, at);
  });
  return {changed};
}
tensors running_sums(const call& c) { // CumSum
  const auto axis = axis_in(static_cast<std::int64_t>(only(c[1])), c[0].rank());
  return {c.made(c[0].type, c[0].shape, [&](list at) {
    double sum = 0;
    for (; at[axis] >= 0; --at[axis]) {
      sum += element(c[0], at);
    }
    return sum;
  })};
}
tensors places(const call& c) { // NonZero
  std::vector<list> all;
  each(c[0].shape, [&](const list& at) { element(c[0], at) != 0 ? all.push_back(at) : void(); });
  return {c.made(T::INT64, {std::ssize(c[0].shape), std::ssize(all)}, [&](const list& at) {
    return static_cast<double>(all[static_cast<std::size_t>(at[1])][static_cast<std::size_t>(at[0])]);
  })};
}
tensors reduced(const call& c) {
  const auto& t = c[0];
  const auto axes = c.given(1, "axes", {});
  if (axes.empty() && c.number("noop_with_empty_axes", 0) != 0) {
    return {t};
  }
  list wide = axes.empty() ? list(t.rank(), 1) : t.shape, left;
  std::vector<bool> gone(t.rank(), axes.empty());
  for (const auto axis : axes) {
    wide[axis_in(axis, t.rank())] = 1;
    gone[axis_in(axis, t.rank())] = true;
  }
  for (std::size_t i = 0; i < t.rank(); ++i) {
    !gone[i] || c.number("keepdims", 1) != 0 ? left.push_back(wide[i]) : void();
  }
  require(t.hidden || !t.x.empty());
  std::map<std::size_t, double> results;
  t.hidden ? void() : each(t.shape, [&](const list& at) {
    const auto [found, is_first] = results.try_emplace(position(wide, at), element(t, at));
    found->second = is_first ? found->second : fit(t.type, combined(c, found->second, element(t, at)));
  });
  return {c.reshaped(c.made(t.type, wide, [&](const list& at) { return results.at(position(wide, at)); }), left)};
}

tensors padded(const call& c) { // of data: by so many elements before and behind
  auto shape = c[0].shape;
  const auto pads = numbers(c[1]);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] += pads.at(i) + pads.at(i + shape.size());
  }
  return {c.made(c[0].type, shape, [](const list&) { return 0.0; })};
}
tensors resized(const call& c) { // of data: by factors, or to sizes
  auto shape = c.has(3) ? numbers(c[3]) : c[0].shape;
  for (std::size_t i = 0; i < shape.size() && !c.has(3); ++i) {
    shape[i] = static_cast<std::int64_t>(static_cast<double>(shape[i]) * c[2].x.at(i));
  }
  return {c.made(c[0].type, shape, [](const list&) { return 0.0; })};
}
tensors branch(const call& c) {
  return c.runs->run(c.attribute(only(c[0]) != 0 ? "then_branch" : "else_branch")->g(), *c.flop);
}

struct maker;

/// An attribute of ops.
struct drawn_attribute {
  std::string name;
  list (*draw)(maker& m, const std::string& x);
  bool is_list = false;
  bool is_needed = true;
  std::int64_t since = 1; ///< the operator set that brings it …
  std::int64_t until = 1000; ///< … and the one from which on it is an input
};
/// Ops that are drawn and evaluated in one way.
struct op_row {
  names types;
  std::size_t times; ///< of about a hundred
  std::int64_t since;
  tensors (*evaluate)(const call&);
  std::vector<std::string (*)(maker& m, const std::string& x)> inputs; ///< `x` is the first
  std::vector<drawn_attribute> attributes = {};
  void (*change)(maker& m, NodeProto& n) = nullptr;
};
const std::vector<op_row>& op_rows();

/// Makes models node by node, each of which the machine has run.
struct maker {
  explicit maker(unsigned seed) : random{seed} {
    const list versions{9, 11, 13, 17, 18, 21};
    version = ran.version = versions[pick(versions.size())];
    model.m.mutable_opset_import(0)->set_version(version);
    const auto shape = some_of(1 + pick(4), 1, 6);
    model.input("x", shape);
    ran.env["x"] = {.type = T::FLOAT, .shape = shape, .hidden = true};
    node("Shape", {"x"});
    constant({2}, true);
    steps(6 + pick(10));
    data();
  }

  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random()) % n; }
  bool maybe() { return pick(2) == 0; }
  /// A number from `least` on that is one of so many.
  std::int64_t some(std::int64_t least, std::int64_t n) {
    return least + static_cast<std::int64_t>(pick(static_cast<std::size_t>(n)));
  }
  list some_of(std::size_t count, std::int64_t least, std::int64_t n) {
    list all(count);
    std::generate(all.begin(), all.end(), [&] { return some(least, n); });
    return all;
  }
  GraphProto& graph() { return inner != nullptr ? *inner : *model.m.mutable_graph(); }
  std::string fresh() { return "t" + std::to_string(next++); }
  const tensor& at(const std::string& name) const { return ran.env.at(name); }
  /// An axis of a tensor of that rank; negative ones are there from operator set 11 on.
  std::int64_t an_axis(std::size_t rank) {
    const auto r = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
    return version < 11 ? some(0, r) : some(-r, 2 * r);
  }
  /// A tensor of which that holds.
  template <class Is>
  std::string a(const Is& is) {
    names all;
    for (const auto& [name, t] : ran.env) {
      is(t) ? all.push_back(name) : void();
    }
    require(!all.empty());
    return all[pick(all.size())];
  }
  std::string any() {
    return a([](const tensor& t) { return !t.hidden; });
  }
  std::string of(std::int32_t type) {
    return a([type](const tensor& t) { return !t.hidden && t.type == type; });
  }
  /// Whole numbers between two, made of those of a tensor.
  std::string clamped(const std::string& x, std::int64_t least, std::int64_t greatest) {
    const auto type = version >= 12 ? T::INT64 : T::FLOAT; // Min and Max take whole numbers from operator set 12 on
    const auto limit = [&](std::int64_t k) { return cast(constant({k}, true), type); };
    return cast(node("Min", {node("Max", {cast(x, type), limit(least)}), limit(greatest)}), T::INT64);
  }
  std::string number(std::int64_t least, std::int64_t greatest) {
    return clamped(a([](const tensor& t) { return !t.hidden && t.shape.empty(); }), least, greatest);
  }
  std::string extents(std::int64_t least, std::int64_t greatest) {
    const auto is_short = [](const tensor& t) { return !t.hidden && t.rank() == 1 && !t.x.empty() && t.x.size() < 5; };
    return clamped(a(is_short), least, greatest);
  }

  std::string add(NodeProto n) {
    const auto before = ran.flop;
    n.output().empty() ? n.add_output(fresh()) : void();
    ran.run(n);
    *graph().add_node() = n;
    inner == nullptr ? flop.push_back(ran.flop - before) : void();
    return n.output(0);
  }
  static NodeProto bare(const std::string& type, const names& inputs) {
    NodeProto n;
    n.set_op_type(type);
    n.mutable_input()->Add(inputs.begin(), inputs.end());
    return n;
  }
  std::string node(const std::string& type, const names& inputs) { return add(bare(type, inputs)); }
  template <class X>
  std::string node(const std::string& type, const names& inputs, const std::string& attribute, const X& x) {
    auto n = bare(type, inputs);
    onnx_model::set(n, attribute, x);
    return add(n);
  }
  std::string cast(const std::string& x, std::int32_t to) {
    return at(x).type == to ? x : node("Cast", {x}, "to", std::int64_t{to});
  }
  std::string constant(const list& x, bool scalar = false) {
    auto n = bare("Constant", {});
    if (version >= 12 && !x.empty() && maybe()) { // ONNX infers no type for a list without elements
      scalar ? onnx_model::set(n, "value_int", x[0]) : onnx_model::set(n, "value_ints", x);
    } else {
      auto& t = onnx_model::tensor(n, "value");
      t.set_data_type(T::INT64);
      t.mutable_int64_data()->Add(x.begin(), x.end());
      scalar ? void() : t.add_dims(std::ssize(x));
    }
    return add(n);
  }

  /// Adds a node of any op.
  void step() {
    const auto add_times = [](std::size_t sum, const op_row& r) { return sum + r.times; };
    auto left = pick(std::accumulate(op_rows().begin(), op_rows().end(), std::size_t{0}, add_times));
    auto row = op_rows().begin();
    for (; left >= row->times; ++row) {
      left -= row->times;
    }
    require(version >= row->since);
    auto n = bare(row->types[pick(row->types.size())], {});
    for (auto* const draw : row->inputs) {
      n.add_input(draw(*this, n.input().empty() ? "" : n.input(0)));
    }
    for (const auto& a : row->attributes) {
      if (version < a.since || (!a.is_needed && maybe())) {
        continue;
      }
      const auto x = a.draw(*this, n.input().empty() ? "" : n.input(0));
      if (version >= a.until) {
        n.add_input(constant(x));
      } else if (a.is_list) {
        onnx_model::set(n, a.name, x);
      } else {
        onnx_model::set(n, a.name, x.at(0));
      }
    }
    row->change != nullptr ? row->change(*this, n) : void();
    add(n);
  }
  /// Adds nodes; one that is not possible is given up, with those made for it.
  void steps(std::size_t n) {
    for (std::size_t i = 0, tries = 0; i < n && tries < 20 * n; ++tries) {
      const auto before = graph().node_size();
      const auto saved = ran;
      try {
        step();
        ++i;
      } catch (const impossible&) {
        graph().mutable_node()->DeleteSubrange(before, graph().node_size() - before);
        ran = saved;
        inner == nullptr ? flop.resize(static_cast<std::size_t>(before)) : void();
      }
    }
  }
  /// Nodes of a body, and its outputs, of which nothing is known outside.
  void body(GraphProto& g, const tensors& inputs, const std::function<names()>& outputs) {
    const auto saved = ran;
    auto* const outer = std::exchange(inner, &g);
    ++depth;
    const auto leave = [&] {
      --depth;
      inner = outer;
      ran = saved;
    };
    try {
      for (const auto& t : inputs) {
        g.add_input()->set_name(fresh());
        ran.env[g.input(g.input_size() - 1).name()] = t;
      }
      steps(1 + pick(4));
      for (const auto& name : outputs()) {
        g.add_output()->set_name(name);
      }
    } catch (...) {
      leave();
      throw;
    }
    leave();
  }
  /// A reduction of data, which has no elements that would tell its shape.
  std::string reduction(const std::string& x) {
    const names types{"ReduceSum", "ReduceMean", "ReduceMax"};
    auto n = bare(types[pick(types.size())], {x});
    const std::int64_t axes_as_input = n.op_type() == "ReduceSum" ? 13 : 18;
    auto axes = up_to(at(x).rank());
    axes.resize(pick(axes.size() + 1));
    for (auto& axis : axes) {
      axis -= version >= 11 && maybe() ? std::ssize(at(x).shape) : 0;
    }
    if (version < axes_as_input) {
      axes.empty() ? void() : onnx_model::set(n, "axes", axes);
    } else if (!axes.empty() || maybe()) {
      n.add_input(constant(axes));
    }
    maybe() ? void() : onnx_model::set(n, "keepdims", some(0, 2));
    version < axes_as_input || maybe() ? void() : onnx_model::set(n, "noop_with_empty_axes", some(0, 2));
    return add(n);
  }
  /// Data of computed shapes, and an elementwise op on each.
  void data() {
    const auto mean = node("ReduceMean", {"x"}, "keepdims", std::int64_t{0});
    const auto e = extents(1, 4);
    const auto base = node("Expand", {mean, e});
    const auto first = node("Gather", {e, constant({0})});
    names all{base, node("Reshape", {base, node("Concat", {first, constant({-1})}, "axis", std::int64_t{0})}),
              node("Tile", {base, e}), node("Mul", {node("ConstantOfShape", {e}), mean})};
    if (version >= 11) {
      const auto one = constant({1}), from = node("Reshape", {number(-3, 3), one});
      const auto to = node("Reshape", {number(-3, 3), one});
      all.push_back(node("Pad", {base, node("Concat", {e, e}, "axis", std::int64_t{0})}));
      all.push_back(node("Resize", {base, "", "", node("Add", {e, e})}));
      all.push_back(node("Resize", {base, "", node("Div", {cast(e, T::FLOAT), cast(constant({2}), T::FLOAT)})}));
      all.push_back(node("Slice", {base, from, to, constant({-1}), constant({maybe() ? 1 : -1})}));
    }
    for (auto i = 1 + pick(3); i-- > 0;) {
      all.push_back(reduction(base));
    }
    for (const auto& x : all) {
      node("Exp", {x});
    }
  }

  onnx_model model;
  machine ran;
  std::vector<double> flop = {}; ///< of each node
  std::mt19937 random;
  std::int64_t version = 17;
  GraphProto* inner = nullptr; ///< null: the model's own
  int next = 0, depth = 0;
};

using first = const std::string&; // input of a node
// Inputs.
std::string even_data(maker& m, first) {
  return m.a([](const tensor&) { return true; });
}
std::string any(maker& m, first) { return m.any(); }
std::string with_axes(maker& m, first) {
  return m.a([](const tensor& t) { return !t.hidden && !t.shape.empty(); });
}
std::string with_one(maker& m, first) {
  return m.a([](const tensor& t) { return !t.hidden && std::count(t.shape.begin(), t.shape.end(), 1) > 0; });
}
std::string truth(maker& m, first) { return m.of(T::BOOL); }
std::string like_first(maker& m, first x) { return m.of(m.at(x).type); }
std::string extents(maker& m, first) { return m.extents(0, 4); }
std::string index(maker& m, first) {
  return m.maybe() ? m.constant(m.some_of(1, -3, 6), m.maybe()) : m.of(T::INT64);
}
std::string new_shape(maker& m, first) {
  return m.maybe() ? m.constant(m.some_of(1 + m.pick(3), -1, 4)) : m.of(T::INT64);
}
std::string place(maker& m, first) {
  return m.node("Reshape", {m.constant(m.some_of(1, -3, 6)), m.constant({1, 1})});
}
std::string row_like(maker& m, first x) {
  const auto rank = m.at(x).rank();
  return m.cast(m.a([&](const tensor& t) { return !t.hidden && t.rank() == rank && rank != 0 && t.shape[0] == 1; }),
                m.at(x).type);
}
std::string axis_input(maker& m, first x) {
  return m.constant({m.an_axis(m.at(x).rank())}, m.maybe());
}
std::string range_from(maker& m, first) { return m.number(-2, 3); }
std::string range_to(maker& m, first) { return m.number(0, 7); }
std::string range_by(maker& m, first) { return m.constant({m.maybe() ? 1 : m.some(-2, 5)}, true); }
// Attributes.
list axis(maker& m, first x) { return {m.an_axis(m.at(x).rank())}; }
list new_axis(maker& m, first x) { return {m.an_axis(m.at(x).rank() + 1)}; }
list flag(maker& m, first) { return m.some_of(1, 0, 2); }
list small(maker& m, first) { return m.some_of(1, -4, 9); }
list end(maker& m, first) { return m.pick(4) == 0 ? list{1'000'000'000'000} : m.some_of(1, -4, 9); }
list stride(maker& m, first) { return m.maybe() ? list{1} : m.some_of(1, -3, 6); }
list order(maker& m, first x) {
  auto all = up_to(m.at(x).rank());
  for (std::size_t i = all.size(); i > 1; --i) {
    std::swap(all[i - 1], all[m.pick(i)]);
  }
  return all;
}
list type(maker& m, first) {
  const list types{T::INT64, T::INT64, T::INT32, T::FLOAT,  T::DOUBLE, T::BOOL,
                   T::INT8,  T::UINT8, T::INT16, T::UINT16, T::UINT32, T::UINT64};
  return {types[m.pick(types.size())]};
}
// What else nodes have.
void whole_numbers(maker& m, NodeProto& n) {
  const auto x = m.some_of(m.pick(4), -2, 8);
  auto& t = onnx_model::tensor(n, "value");
  t.set_data_type(T::INT64);
  t.mutable_int64_data()->Add(x.begin(), x.end());
  x.size() == 1 && m.maybe() ? void() : t.add_dims(std::ssize(x));
}
void real_numbers(maker& m, NodeProto& n) {
  using kind = ::onnx::AttributeProto;
  const auto x = static_cast<float>(m.some(-6, 20)) / 4;
  if (m.maybe()) {
    return onnx_model::attribute(n, "value_float", kind::FLOAT).set_f(x);
  }
  auto& a = onnx_model::attribute(n, "value_floats", kind::FLOATS);
  a.add_floats(x);
  a.add_floats(1.5F);
}
void fill(maker& m, NodeProto& n) {
  auto& t = onnx_model::tensor(n, "value");
  t.set_data_type(T::INT64);
  t.add_dims(1);
  t.add_int64_data(m.some(0, 4));
}
void more_parts(maker& m, NodeProto& n) {
  const auto& x = m.at(n.input(0));
  const auto k = axis_in(n.attribute(0).i(), x.rank());
  const auto parts = m.some(1, 3);
  for (std::int64_t i = 0; i < parts; ++i) {
    n.add_output(m.fresh());
  }
  list sizes(static_cast<std::size_t>(parts), x.shape[k] / parts);
  sizes.back() += x.shape[k] % parts;
  if (m.maybe()) {
    m.version < 18 ? void() : onnx_model::set(n, "num_outputs", parts);
  } else {
    m.version < 13 ? onnx_model::set(n, "split", sizes) : n.add_input(m.constant(sizes));
  }
}
void one_or_other(maker& m, NodeProto& n) {
  n.add_input(m.any());
  n.add_input(m.of(m.at(n.input(1)).type));
}
void more_tensors(maker& m, NodeProto& n) {
  const auto& x = m.at(n.input(0));
  for (auto i = m.pick(3); i-- > 0;) {
    n.add_input(m.a([&](const tensor& t) { return !t.hidden && t.type == x.type && t.rank() == x.rank(); }));
  }
}
void branches(maker& m, NodeProto& n) {
  require(m.depth < 2);
  n.add_input(m.cast(m.a([](const tensor& t) { return !t.hidden && t.x.size() == 1; }), T::BOOL));
  for (const auto* name : {"then_branch", "else_branch"}) {
    m.body(onnx_model::body(n, name), {}, [&] { return names{m.cast(m.any(), T::INT64)}; });
  }
}
void iterations(maker& m, NodeProto& n) {
  require(m.depth < 2);
  const bool counts = m.maybe();
  n.add_input(m.maybe() || !counts ? m.number(0, 5) : "");
  n.add_input(m.maybe() ? "" : m.cast(m.constant(m.some_of(1, 0, 5), true), T::BOOL));
  n.add_input(with_axes(m, ""));
  n.add_output(m.fresh());
  n.add_output(m.fresh());
  auto state = m.at(n.input(2));
  state.fixed = false;
  auto& g = onnx_model::body(n, "body");
  m.body(g, {{.x = {0}}, {.type = T::BOOL, .x = {1}}, state}, [&] {
    const auto before = g.input(2).name();
    const auto after = m.maybe()   ? m.node("Concat", {before, before}, "axis", std::int64_t{0})
                       : m.maybe() ? m.node("Add", {before, m.cast(g.input(0).name(), state.type)})
                                   : m.cast(m.any(), state.type);
    const auto limit = m.cast(m.constant({12}, true), T::FLOAT);
    const auto go = counts ? m.node("Less", {m.cast(m.node("Size", {after}), T::FLOAT), limit})
                           : m.node("Identity", {g.input(1).name()});
    return names{go, after, m.any()};
  });
}

const std::vector<op_row>& op_rows() {
  const std::vector<drawn_attribute> along{{"axis", axis}};
  const auto reduces = [](std::int64_t axes_until) {
    return std::vector<drawn_attribute>{{"axes", axis, true, false, 1, axes_until},
                                        {"keepdims", flag, false, false},
                                        {"noop_with_empty_axes", flag, false, false, 18}};
  };
  static const std::vector<op_row> all{
    {{"Shape"}, 8, 1, shape, {even_data}, {{"start", small, false, false, 15}, {"end", small, false, false, 15}}},
    {{"Size"}, 1, 1, size, {any}},
    {{"NonZero"}, 1, 9, places, {any}},
    {{"Floor", "Ceil", "Neg", "Abs", "Not", "Identity"}, 3, 1, of_one, {any}},
    {{"Add", "Sub", "Mul", "Div", "Min", "Max", "Equal", "Less", "Greater"}, 9, 1, of_two, {any, like_first}},
    {{"And", "Or"}, 2, 1, of_two, {truth, truth}},
    {{"Mod"}, 1, 10, of_two, {any, like_first}, {{"fmod", flag, false, false}}},
    {{"Constant"}, 4, 1, constant, {}, {}, whole_numbers},
    {{"Constant"}, 4, 12, constant, {}, {}, real_numbers},
    {{"ConstantOfShape"}, 2, 9, filled, {extents}, {}, fill},
    {{"Cast"}, 4, 1, cast, {any}, {{"to", type}}},
    {{"Where"}, 4, 9, where, {truth}, {}, one_or_other},
    {{"Gather"}, 4, 1, gather, {with_axes, index}, along},
    {{"ScatterND"}, 4, 11, scatter, {with_axes, place, row_like}},
    {{"Slice"}, 8, 1, slice, {with_axes},
     {{"starts", small, true, true, 1, 10}, {"ends", end, true, true, 1, 10}, {"axes", axis, true, true, 1, 10},
      {"steps", stride, true, true, 10, 10}}},
    {{"Concat"}, 4, 1, concat, {with_axes}, along, more_tensors},
    {{"Split"}, 4, 1, split, {with_axes}, along, more_parts},
    {{"Transpose"}, 4, 1, transpose, {with_axes}, {{"perm", order, true, false}}},
    {{"Reshape"}, 4, 1, reshape, {any, new_shape}, {{"allowzero", flag, false, false, 14}}},
    {{"Unsqueeze"}, 4, 1, with_ones, {any}, {{"axes", new_axis, true, true, 1, 13}}},
    {{"Squeeze"}, 4, 1, with_ones, {with_one}, {{"axes", axis, true, false, 1, 13}}},
    {{"Expand"}, 1, 8, expand, {any, extents}},
    {{"Tile"}, 1, 6, tile, {any, extents}},
    {{"Range"}, 4, 11, range, {range_from, range_to, range_by}},
    {{"CumSum"}, 4, 11, running_sums, {with_axes, axis_input}},
    {{"ReduceSum"}, 1, 1, reduced, {any}, reduces(13)},
    {{"ReduceProd", "ReduceMin", "ReduceMax"}, 3, 1, reduced, {any}, reduces(18)},
    {{"If"}, 4, 1, branch, {}, {}, branches},
    {{"Loop"}, 4, 1, looped, {}, {}, iterations},
    // Of data.
    {{"ReduceMean"}, 0, 1, reduced, {}},
    {{"Exp"}, 0, 1, of_one, {}},
    {{"Pad"}, 0, 11, padded, {}},
    {{"Resize"}, 0, 11, resized, {}},
  };
  return all;
}

tensors evaluated(const call& c) {
  const auto row = std::find_if(op_rows().begin(), op_rows().end(), [&](const op_row& r) {
    return std::count(r.types.begin(), r.types.end(), c.op()) != 0;
  });
  require(row != op_rows().end());
  return row->evaluate(c);
}

std::string text(const std::vector<double>& x) {
  std::string all;
  for (const auto v : x) {
    all += " " + std::to_string(v);
  }
  return all;
}

/// The first thing that the reader sees otherwise than the machine; empty if there is none.
std::string difference(const maker& m) {
  const weft::onnx::reader options;
  weft::onnx::detail::graph_of_model reading{m.model.m, options, "random.onnx"};
  reading.infer();
  const auto read = reading.read();
  weft::op_id v = 0;
  for (const auto& n : m.model.m.graph().node()) {
    for (const auto& name : n.output()) {
      const auto& wanted = m.at(name);
      const auto* found = reading.find(name);
      const auto dims = found == nullptr ? std::nullopt : weft::onnx::detail::extents_of(found->type);
      if (!dims || *dims != wanted.shape) {
        return "shape of " + name + ": " + (dims ? text({dims->begin(), dims->end()}) : "none") + " for" +
               text({wanted.shape.begin(), wanted.shape.end()});
      }
      if (found->type.tensor_type().elem_type() != wanted.type) {
        return "type of " + name;
      }
      const auto* x = wanted.hidden ? nullptr : found->elements();
      if (!wanted.hidden && (x == nullptr || x->as_reals() != wanted.x)) {
        return "elements of " + name + ":" + (x == nullptr ? " none" : text(x->as_reals())) + " for" + text(wanted.x);
      }
    }
    const double flop = reading.makes_sizes(v) ? 0 : m.flop[v];
    if (std::abs(read.ops.work(v) - flop) > 1e-6 * flop) {
      return "FLOP of " + n.output(0) + ": " + std::to_string(read.ops.work(v)) + " for " + std::to_string(flop);
    }
    ++v;
  }
  const auto other = std::find_if(read.notes.begin(), read.notes.end(), [](const auto& note) {
    return note.find("parameters from parameters alone") == note.npos && note.find(" out sizes") == note.npos;
  });
  return other == read.notes.end() ? "" : *other;
}

TEST_CASE("onnx: shapes that a model computes are those that its ops define") {
  int models = 0;
  for (unsigned seed = 0; models < weft::test::rounds(2000); ++seed) {
    try {
      const maker m{seed};
      ++models;
      if (const auto problem = difference(m); !problem.empty()) {
        FAIL("seed " << seed << ": " << problem << "\n" << m.model.m.graph().DebugString());
      }
    } catch (const impossible&) { // no data at the end
    }
  }
}

} // namespace interop_onnx_random_shapes_test
