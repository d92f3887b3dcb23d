// SPDX-License-Identifier: BSL-1.0
// Random models whose shapes are computed by the graph itself, against an interpreter of ONNX's definitions that shares
// nothing with the reader's rules: dense tensors, one element after the other.
#include "interop/onnx_models.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace interop_onnx_random_shapes_test {

using list = std::vector<std::int64_t>;
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
};

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
double fit(std::int32_t type, double v) {
  static const std::map<std::int32_t, std::pair<double, double>> ranges{
    {T::INT64, {-0x1p40, 0x1p40}}, {T::UINT64, {0, 0x1p40}},    {T::INT32, {-0x1p31, 0x1p31 - 1}},
    {T::UINT32, {0, 0x1p32 - 1}},  {T::INT16, {-32768, 32767}}, {T::UINT16, {0, 65535}},
    {T::INT8, {-128, 127}},        {T::UINT8, {0, 255}},        {T::BOOL, {0, 1}}};
  if (is_real(type)) {
    require(std::abs(v) < 1e9);
    return type == T::FLOAT ? static_cast<double>(static_cast<float>(v)) : v;
  }
  const auto [least, greatest] = ranges.at(type);
  require(v >= least && v <= greatest);
  return v;
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
/// These indices along an axis.
tensor chosen(const tensor& t, std::size_t axis, const list& which) {
  tensor made{.type = t.type, .shape = t.shape};
  made.shape[axis] = static_cast<std::int64_t>(which.size());
  each(made.shape, [&](list at) {
    at[axis] = which[static_cast<std::size_t>(at[axis])];
    made.x.push_back(element(t, at));
  });
  return made;
}
tensor reshaped(tensor t, const list& shape) {
  require(count(shape) == t.x.size());
  t.shape = shape;
  return t;
}
tensor integers(list x) {
  return {.shape = {static_cast<std::int64_t>(x.size())}, .x = {x.begin(), x.end()}};
}
double only(const tensor& t) {
  require(t.x.size() == 1 && !t.hidden);
  return t.x[0];
}
list numbers(const tensor& t) {
  require(!is_real(t.type) && !t.hidden);
  return {t.x.begin(), t.x.end()};
}

double combined(const std::string& op, bool real, double a, double b, bool fmod) {
  if (op == "Div" || op == "Mod") {
    require(b != 0);
  }
  return op == "Add" || op == "ReduceSum"    ? a + b
         : op == "Sub"                       ? a - b
         : op == "Mul" || op == "ReduceProd" ? a * b
         : op == "Div"                       ? (real ? a / b : std::trunc(a / b))
         : op == "Mod"                       ? (fmod ? std::fmod(a, b) : a - b * std::floor(a / b))
         : op == "Min" || op == "ReduceMin"  ? std::min(a, b)
         : op == "Max" || op == "ReduceMax"  ? std::max(a, b)
         : op == "Equal"                     ? a == b
         : op == "Less"                      ? a < b
         : op == "Greater"                   ? a > b
         : op == "And"                       ? a != 0 && b != 0
                                             : (require(op == "Or"), a != 0 || b != 0);
}

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

  static const ::onnx::AttributeProto* attribute(const NodeProto& n, const std::string& name) {
    const auto at =
      std::find_if(n.attribute().begin(), n.attribute().end(), [&](const auto& a) { return a.name() == name; });
    return at == n.attribute().end() ? nullptr : &*at;
  }
  static std::int64_t number(const NodeProto& n, const std::string& name, std::int64_t otherwise) {
    const auto* a = attribute(n, name);
    return a == nullptr ? otherwise : a->i();
  }
  bool has(const NodeProto& n, int i) const { return i < n.input_size() && !n.input(i).empty(); }
  const tensor& in(const NodeProto& n, int i) const { return at(n.input(i)); }
  /// A list in an input, or in an attribute.
  list given(const NodeProto& n, int i, const std::string& name, const list& otherwise) const {
    const auto* a = attribute(n, name);
    return has(n, i) ? numbers(in(n, i)) : a == nullptr ? otherwise : list{a->ints().begin(), a->ints().end()};
  }

  void run(const NodeProto& n) {
    double inner = 0;
    auto made = n.op_type() == "If" ? branch(n, inner) : n.op_type() == "Loop" ? loop(n, inner) : evaluated(n);
    weft::onnx::op_call call{.type = n.op_type(), .version = version};
    const bool has_body = n.op_type() == "If" || n.op_type() == "Loop";
    bool fixed = !has_body;
    for (const auto& name : n.input()) {
      call.inputs.push_back(name.empty() ? std::nullopt : std::optional{at(name).shape});
      fixed = fixed && (name.empty() || at(name).fixed);
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
      call.outputs.emplace_back(made[i].shape);
      for (auto& v : made[i].x) {
        v = fit(made[i].type, v);
      }
      made[i].fixed = fixed;
      env[n.output(static_cast<int>(i))] = made[i];
    }
    flop += fixed ? 0 : has_body ? inner : weft::onnx::flop_of(call).value();
  }
  std::vector<tensor> run(const GraphProto& g, double& counted) const {
    machine inside{version, this};
    std::for_each(g.node().begin(), g.node().end(), [&](const auto& n) { inside.run(n); });
    counted += inside.flop;
    std::vector<tensor> made;
    for (const auto& x : g.output()) {
      made.push_back(inside.at(x.name()));
    }
    return made;
  }
  std::vector<tensor> branch(const NodeProto& n, double& inner) const {
    return run(attribute(n, only(in(n, 0)) != 0 ? "then_branch" : "else_branch")->g(), inner);
  }
  std::vector<tensor> loop(const NodeProto& n, double& inner) const {
    const auto& g = attribute(n, "body")->g();
    const auto trips = has(n, 0) ? only(in(n, 0)) : 50;
    bool go = !has(n, 1) || only(in(n, 1)) != 0;
    machine inside{version, this};
    const auto states = n.input_size() - 2;
    const auto once = [&](double i, double& counted) {
      inside.env[g.input(0).name()] = {.x = {i}};
      inside.env[g.input(1).name()] = {.type = T::BOOL, .x = {go ? 1.0 : 0.0}};
      return inside.run(g, counted);
    };
    double uncounted = 0;
    for (int k = 0; k < states; ++k) {
      inside.env[g.input(k + 2).name()] = in(n, k + 2);
      inside.env[g.input(k + 2).name()].fixed = false;
    }
    auto all = once(0, uncounted); // the types of what is stacked, of no iteration
    all.erase(all.begin());
    for (int k = 0; k < static_cast<int>(all.size()); ++k) {
      auto& t = all[static_cast<std::size_t>(k)];
      if (k < states) {
        t = in(n, k + 2);
      } else {
        t.shape.insert(t.shape.begin(), 0);
        t.x.clear();
      }
    }
    for (double i = 0; go && i < trips; ++i) {
      require(i < 40);
      const auto made = once(i, inner);
      go = only(made[0]) != 0;
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (k < static_cast<std::size_t>(states)) {
          require(made[k + 1].type == all[k].type);
          all[k] = made[k + 1];
          all[k].fixed = false;
          inside.env[g.input(static_cast<int>(k) + 2).name()] = all[k];
        } else {
          require(list(all[k].shape.begin() + 1, all[k].shape.end()) == made[k + 1].shape);
          ++all[k].shape[0];
          all[k].x.insert(all[k].x.end(), made[k + 1].x.begin(), made[k + 1].x.end());
        }
      }
    }
    return all;
  }

  std::vector<tensor> evaluated(const NodeProto& n) const {
    const auto& op = n.op_type();
    if (op == "Constant") {
      const auto& a = n.attribute(0);
      if (a.name() == "value") {
        const auto& t = a.t();
        tensor made{t.data_type(), {t.dims().begin(), t.dims().end()}, {}};
        made.x.assign(t.int64_data().begin(), t.int64_data().end());
        made.x.insert(made.x.end(), t.float_data().begin(), t.float_data().end());
        return {made};
      }
      tensor made{a.name().starts_with("value_float") ? T::FLOAT : T::INT64, {}, {}};
      made.x.assign(a.ints().begin(), a.ints().end());
      made.x.insert(made.x.end(), a.floats().begin(), a.floats().end());
      if (a.name().ends_with("s")) {
        made.shape = {static_cast<std::int64_t>(made.x.size())};
      } else {
        made.x = {a.name() == "value_int" ? static_cast<double>(a.i()) : static_cast<double>(a.f())};
      }
      return {made};
    }
    const tensor& t = in(n, 0);
    const auto rank = t.shape.size();
    if (op == "Shape") {
      const auto r = static_cast<std::int64_t>(rank);
      const auto edge = [&](std::int64_t k) { return std::clamp<std::int64_t>(k < 0 ? k + r : k, 0, r); };
      const auto from = edge(number(n, "start", 0)), to = std::max(from, edge(number(n, "end", r)));
      return {integers(list(t.shape.begin() + from, t.shape.begin() + to))};
    }
    if (op == "Size") {
      return {{.x = {static_cast<double>(count(t.shape))}}};
    }
    require(!t.hidden);
    for (int i = 1; i < n.input_size(); ++i) {
      require(!has(n, i) || !in(n, i).hidden);
    }
    if (op == "Identity") {
      return {t};
    }
    if (op == "Cast") {
      tensor made = t;
      made.type = static_cast<std::int32_t>(number(n, "to", 0));
      for (auto& v : made.x) {
        v = made.type == T::BOOL ? v != 0 : is_real(made.type) ? v : std::trunc(v);
      }
      return {made};
    }
    if (op == "Floor" || op == "Ceil" || op == "Neg" || op == "Abs" || op == "Not") {
      require(op == "Not" ? t.type == T::BOOL : op == "Neg" || op == "Abs" ? t.type != T::BOOL : is_real(t.type));
      tensor made = t;
      for (auto& v : made.x) {
        v = op == "Floor"  ? std::floor(v)
            : op == "Ceil" ? std::ceil(v)
            : op == "Neg"  ? -v
            : op == "Abs"  ? std::abs(v)
                           : v == 0;
      }
      return {made};
    }
    if (op == "Where") {
      const auto &a = in(n, 1), &b = in(n, 2);
      require(t.type == T::BOOL && a.type == b.type);
      tensor made{.type = a.type, .shape = stretched(t.shape, stretched(a.shape, b.shape))};
      each(made.shape,
           [&](const list& at) { made.x.push_back(element(t, at) != 0 ? element(a, at) : element(b, at)); });
      return {made};
    }
    if (op == "Gather") {
      const auto axis = axis_in(number(n, "axis", 0), rank);
      auto which = numbers(in(n, 1));
      for (auto& i : which) {
        require(i >= -t.shape[axis] && i < t.shape[axis]);
        i += i < 0 ? t.shape[axis] : 0;
      }
      auto made = chosen(t, axis, which);
      auto shape = t.shape;
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), in(n, 1).shape.begin(), in(n, 1).shape.end());
      return {reshaped(made, shape)};
    }
    if (op == "Slice") {
      list all(rank);
      std::iota(all.begin(), all.end(), 0);
      const auto starts = given(n, 1, "starts", {}), ends = given(n, 2, "ends", {});
      all.resize(std::min(rank, starts.size()));
      const auto axes = given(n, 3, "axes", all), steps = given(n, 4, "steps", list(starts.size(), 1));
      require(starts.size() == ends.size() && axes.size() == starts.size() && steps.size() == starts.size());
      tensor made = t;
      std::vector<bool> seen(rank, false);
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_in(axes[i], rank);
        require(!seen[axis] && steps[i] != 0);
        seen[axis] = true;
        const auto d = made.shape[axis], step = steps[i];
        const auto edge = [&](std::int64_t k) {
          return std::clamp<std::int64_t>(k < 0 ? k + d : k, step < 0 ? -1 : 0, step < 0 ? d - 1 : d);
        };
        list which;
        for (auto k = std::max<std::int64_t>(edge(starts[i]), 0);
             d > 0 && (step > 0 ? k < edge(ends[i]) : k > edge(ends[i])); k += step) {
          which.push_back(k);
        }
        made = chosen(made, axis, which);
      }
      return {made};
    }
    if (op == "Concat") {
      const auto axis = axis_in(number(n, "axis", 0), rank);
      tensor made{.type = t.type, .shape = t.shape};
      made.shape[axis] = 0;
      list of, from; // which tensor is at an index, and where in it
      for (int i = 0; i < n.input_size(); ++i) {
        auto shape = in(n, i).shape;
        require(in(n, i).type == t.type && shape.size() == rank);
        for (std::int64_t k = 0; k < shape[axis]; ++k) {
          of.push_back(i);
          from.push_back(k);
        }
        made.shape[axis] += std::exchange(shape[axis], t.shape[axis]);
        require(shape == t.shape);
      }
      each(made.shape, [&](list at) {
        const auto k = static_cast<std::size_t>(at[axis]);
        at[axis] = from[k];
        made.x.push_back(element(in(n, static_cast<int>(of[k])), at));
      });
      return {made};
    }
    if (op == "Split") {
      const auto axis = axis_in(number(n, "axis", 0), rank);
      auto parts = given(n, 1, "split", {});
      for (auto left = t.shape[axis]; parts.empty() || static_cast<int>(parts.size()) < n.output_size();) {
        const auto part = (t.shape[axis] + n.output_size() - 1) / n.output_size();
        parts.push_back(std::min(left, part));
        left -= parts.back();
      }
      require(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == t.shape[axis] &&
              static_cast<int>(parts.size()) == n.output_size());
      require(has(n, 1) || attribute(n, "split") || attribute(n, "num_outputs") ||
              t.shape[axis] % n.output_size() == 0);
      std::vector<tensor> made;
      std::int64_t from = 0;
      for (const auto part : parts) {
        require(part >= 0);
        list which(static_cast<std::size_t>(part));
        std::iota(which.begin(), which.end(), from);
        from += part;
        made.push_back(chosen(t, axis, which));
      }
      return made;
    }
    if (op == "Transpose") {
      list order(rank);
      std::iota(order.rbegin(), order.rend(), 0);
      order = given(n, 1, "perm", order);
      tensor made{.type = t.type};
      require(order.size() == rank);
      for (const auto i : order) {
        made.shape.push_back(t.shape.at(static_cast<std::size_t>(i)));
      }
      each(made.shape, [&](const list& at) {
        list from(rank);
        for (std::size_t i = 0; i < rank; ++i) {
          from[static_cast<std::size_t>(order[i])] = at[i];
        }
        made.x.push_back(element(t, from));
      });
      return {made};
    }
    if (op == "Reshape") {
      auto shape = numbers(in(n, 1));
      std::int64_t product = 1;
      require(std::count(shape.begin(), shape.end(), -1) <= 1 && in(n, 1).shape.size() == 1);
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0 && number(n, "allowzero", 0) == 0) {
          require(i < rank);
          shape[i] = t.shape[i];
        }
        product *= shape[i] == -1 ? 1 : shape[i];
        require(shape[i] >= -1 && product <= 1000);
      }
      for (auto& d : shape) {
        require(d != -1 || product > 0);
        d = d == -1 ? static_cast<std::int64_t>(t.x.size()) / product : d;
      }
      return {reshaped(t, shape)};
    }
    if (op == "Unsqueeze" || op == "Squeeze") {
      auto axes = given(n, 1, "axes", {});
      const bool adds = op == "Unsqueeze";
      require(!adds || !axes.empty());
      list shape;
      std::vector<bool> is_named(adds ? rank + axes.size() : rank, axes.empty());
      for (const auto axis : axes) {
        const auto at = axis_in(axis, is_named.size());
        require(!is_named[at] && (adds || t.shape[at] == 1));
        is_named[at] = true;
      }
      for (std::size_t i = 0, next = 0; i < is_named.size(); ++i) {
        if (adds) {
          shape.push_back(is_named[i] ? 1 : t.shape[next++]);
        } else if (!is_named[i] || t.shape[i] != 1) {
          shape.push_back(t.shape[i]);
        }
      }
      return {reshaped(t, shape)};
    }
    if (op == "Expand" || op == "Tile" || op == "ConstantOfShape") {
      const auto& to_of = op == "ConstantOfShape" ? t : in(n, 1);
      const auto to = numbers(to_of);
      require(to_of.shape.size() == 1);
      tensor fill{.type = T::FLOAT, .x = {0}};
      if (const auto* a = attribute(n, "value")) {
        fill = {a->t().data_type(), {}, {static_cast<double>(a->t().int64_data(0))}};
      }
      tensor made = op == "ConstantOfShape" ? fill : t;
      for (std::size_t i = 0; op == "Tile" && i < std::max(rank, to.size()); ++i) {
        require(rank == to.size() && to[i] >= 0 && to[i] < 50);
        list which;
        for (std::int64_t k = 0; k < to[i] * t.shape[i]; ++k) {
          which.push_back(k % t.shape[i]);
        }
        made = chosen(made, i, which);
      }
      if (op != "Tile") {
        tensor wide{.type = made.type, .shape = op == "Expand" ? stretched(t.shape, to) : to};
        each(wide.shape, [&](const list& at) { wide.x.push_back(element(made, at)); });
        made = wide;
      }
      return {made};
    }
    if (op == "Range") {
      const double from = only(t), to = only(in(n, 1)), by = only(in(n, 2));
      require(by != 0 && in(n, 1).type == t.type && in(n, 2).type == t.type && (to - from) / by < 100);
      tensor made{.type = t.type,
                  .shape = {std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil((to - from) / by)))}};
      for (std::int64_t i = 0; i < made.shape[0]; ++i) {
        made.x.push_back(from + static_cast<double>(i) * by);
      }
      return {made};
    }
    if (op == "ScatterND") {
      tensor made = t;
      const auto &where = in(n, 1), &updates = in(n, 2);
      require(where.shape.size() >= 1 && where.shape.back() >= 1 && updates.type == t.type);
      const auto depth = static_cast<std::size_t>(where.shape.back());
      require(depth <= rank);
      list shape(where.shape.begin(), where.shape.end() - 1);
      shape.insert(shape.end(), t.shape.begin() + static_cast<std::ptrdiff_t>(depth), t.shape.end());
      require(updates.shape == shape);
      each(updates.shape, [&](const list& at) {
        const auto split = at.begin() + static_cast<std::ptrdiff_t>(where.shape.size()) - 1;
        list from(at.begin(), split), to;
        from.push_back(0);
        for (; from.back() < where.shape.back(); ++from.back()) {
          const auto k = static_cast<std::int64_t>(element(where, from)), d = t.shape[to.size()];
          require(k >= -d && k < d);
          to.push_back(k < 0 ? k + d : k);
        }
        to.insert(to.end(), split, at.end());
        made.x[position(t.shape, to)] = element(updates, at);
      });
      return {made};
    }
    if (op == "CumSum") {
      const auto axis = axis_in(static_cast<std::int64_t>(only(in(n, 1))), rank);
      tensor made = t;
      std::int64_t stride = 1;
      for (auto i = axis + 1; i < rank; ++i) {
        stride *= t.shape[i];
      }
      for (std::size_t i = 0; i < made.x.size(); ++i) {
        const auto s = static_cast<std::size_t>(stride);
        made.x[i] += i / s % static_cast<std::size_t>(t.shape[axis]) == 0 ? 0 : made.x[i - s];
      }
      return {made};
    }
    if (op == "NonZero") {
      tensor made;
      std::vector<list> all;
      each(t.shape, [&](const list& at) { element(t, at) != 0 ? all.push_back(at) : void(); });
      for (std::size_t i = 0; i < rank; ++i) {
        for (const auto& at : all) {
          made.x.push_back(static_cast<double>(at[i]));
        }
      }
      return {reshaped(made, {static_cast<std::int64_t>(rank), static_cast<std::int64_t>(all.size())})};
    }
    if (op.starts_with("Reduce")) {
      const auto axes = given(n, 1, "axes", {});
      if (axes.empty() && number(n, "noop_with_empty_axes", 0) != 0) {
        return {t};
      }
      std::vector<bool> gone(rank, axes.empty());
      for (const auto axis : axes) {
        gone[axis_in(axis, rank)] = true;
      }
      tensor made{.type = t.type, .shape = t.shape};
      for (std::size_t i = 0; i < rank; ++i) {
        made.shape[i] = gone[i] ? 1 : made.shape[i];
      }
      std::vector<bool> seen(count(made.shape), false);
      made.x.resize(seen.size());
      require(!t.x.empty());
      each(t.shape, [&](const list& at) {
        const auto k = position(made.shape, at);
        made.x[k] =
          seen[k] ? fit(t.type, combined(op, is_real(t.type), made.x[k], element(t, at), false)) : element(t, at);
        seen[k] = true;
      });
      list left;
      for (std::size_t i = 0; i < rank; ++i) {
        if (!gone[i] || number(n, "keepdims", 1) != 0) {
          left.push_back(made.shape[i]);
        }
      }
      return {reshaped(made, left)};
    }
    tensor made = t;
    for (int i = 1; i < n.input_size(); ++i) {
      const auto& u = in(n, i);
      const bool logic = op == "And" || op == "Or", compares = op == "Equal" || op == "Less" || op == "Greater";
      require(u.type == t.type && (logic ? t.type == T::BOOL : op == "Equal" || t.type != T::BOOL));
      tensor next{.type = logic || compares ? std::int32_t{T::BOOL} : t.type, .shape = stretched(made.shape, u.shape)};
      const bool fmod = number(n, "fmod", 0) != 0;
      require(op != "Mod" || fmod || !is_real(t.type));
      each(next.shape, [&](const list& at) {
        next.x.push_back(combined(op, is_real(t.type), element(made, at), element(u, at), fmod));
      });
      made = next;
    }
    return {made};
  }
};

/// Makes models node by node, each of which the machine has run.
class generator {
public:
  explicit generator(unsigned seed) : random_{seed} {
    const list versions{9, 11, 13, 17, 18, 21};
    v_ = machine_.version = versions[pick(versions.size())];
    model.m.mutable_opset_import(0)->set_version(v_);
    list shape(1 + pick(4));
    std::generate(shape.begin(), shape.end(), [&] { return 1 + some(6); });
    model.input("x", shape);
    know("x", {.type = T::FLOAT, .shape = shape, .hidden = true});
    node("Shape", {"x"});
    constant({2}, true);
    steps(6 + pick(10));
    data();
  }

  onnx_model model;
  const machine& ran() const { return machine_; }
  std::vector<double> flop = {}; ///< of each node

private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_()) % n; }
  std::int64_t some(std::int64_t n) { return static_cast<std::int64_t>(pick(static_cast<std::size_t>(n))); }
  bool maybe() { return pick(2) == 0; }
  GraphProto& graph() { return graph_ != nullptr ? *graph_ : *model.m.mutable_graph(); }
  std::string fresh() { return "t" + std::to_string(next_++); }
  /// A tensor of which that holds.
  template <class Is>
  std::string a(const Is& is) {
    std::vector<std::string> all;
    for (const auto& [name, t] : machine_.env) {
      if (is(t)) {
        all.push_back(name);
      }
    }
    require(!all.empty());
    return all[pick(all.size())];
  }
  std::string any() {
    return a([](const tensor& t) { return !t.hidden; });
  }
  std::string with_axes() {
    return a([](const tensor& t) { return !t.hidden && !t.shape.empty(); });
  }
  std::string of(std::int32_t type) {
    return a([&](const tensor& t) { return !t.hidden && t.type == type; });
  }
  const tensor& at(const std::string& name) const { return machine_.env.at(name); }
  std::int64_t rank(const std::string& name) const { return static_cast<std::int64_t>(at(name).shape.size()); }
  std::int64_t an_axis(const std::string& name) { // negative ones from operator set 11 on
    return some((v_ < 11 ? 1 : 2) * std::max<std::int64_t>(rank(name), 1)) - (v_ < 11 ? 0 : rank(name));
  }

  /// Adds a node; `change` gives it attributes.
  std::string node(
    const std::string& type, const std::vector<std::string>& inputs,
    const std::function<void(NodeProto&)>& change = [](NodeProto&) {}) {
    NodeProto n;
    n.set_op_type(type);
    std::for_each(inputs.begin(), inputs.end(), [&](const auto& x) { n.add_input(x); });
    n.add_output(fresh());
    change(n);
    const auto before = machine_.flop;
    machine_.run(n);
    names_.insert(names_.end(), n.output().begin(), n.output().end());
    *graph().add_node() = n;
    if (graph_ == nullptr) {
      flop.push_back(machine_.flop - before);
    }
    return n.output(0);
  }
  template <class X>
  static auto with(const std::string& name, const X& x) {
    return [=](NodeProto& n) { onnx_model::set(n, name, x); };
  }
  std::string cast(const std::string& x, std::int32_t to) { return node("Cast", {x}, with("to", std::int64_t{to})); }
  std::string constant(const list& x, bool scalar = false) {
    return node("Constant", {}, [&](NodeProto& n) {
      if (v_ >= 12 && scalar && maybe()) {
        return onnx_model::set(n, "value_int", x[0]);
      }
      if (v_ >= 12 && !scalar && maybe()) {
        return onnx_model::set(n, "value_ints", x);
      }
      auto& value = *n.add_attribute();
      value.set_name("value");
      value.set_type(::onnx::AttributeProto::TENSOR);
      value.mutable_t()->set_data_type(T::INT64);
      for (const auto i : x) {
        value.mutable_t()->add_int64_data(i);
      }
      scalar ? void() : value.mutable_t()->add_dims(static_cast<std::int64_t>(x.size()));
    });
  }
  std::string real_constant() {
    return node("Constant", {}, [&](NodeProto& n) {
      const bool one = maybe();
      auto& value = *n.add_attribute();
      value.set_name(one ? "value_float" : "value_floats");
      value.set_type(one ? ::onnx::AttributeProto::FLOAT : ::onnx::AttributeProto::FLOATS);
      const auto x = static_cast<float>(some(20) - 6) / 4;
      one ? value.set_f(x) : (value.add_floats(x), value.add_floats(1.5F), void());
    });
  }
  /// A list as an attribute before an operator set, and as an input from it on.
  std::string node_with(
    const std::string& type, std::vector<std::string> inputs, const std::string& name, const list& x,
    std::int64_t since, const std::function<void(NodeProto&)>& change = [](NodeProto&) {}) {
    if (v_ >= since) {
      inputs.push_back(constant(x));
    }
    return node(type, inputs, [&](NodeProto& n) {
      v_ < since ? onnx_model::set(n, name, x) : void();
      change(n);
    });
  }
  /// Whole numbers between two, made of those of a tensor.
  std::string clamped(const std::string& x, std::int64_t least, std::int64_t greatest) {
    if (v_ >= 12) {
      const auto whole = at(x).type == T::INT64 ? x : cast(x, T::INT64);
      return node("Min", {node("Max", {whole, constant({least}, true)}), constant({greatest}, true)});
    }
    const auto real = cast(x, T::FLOAT); // Min and Max take whole numbers from operator set 12 on
    return cast(node("Min", {node("Max", {real, cast(constant({least}, true), T::FLOAT)}),
                             cast(constant({greatest}, true), T::FLOAT)}),
                T::INT64);
  }
  std::string number(std::int64_t least, std::int64_t greatest) {
    return clamped(a([](const tensor& t) { return !t.hidden && t.shape.empty() && t.x.size() == 1; }), least, greatest);
  }
  std::string extents(std::int64_t least, std::int64_t greatest) {
    return clamped(
      a([](const tensor& t) { return !t.hidden && t.shape.size() == 1 && t.x.size() > 0 && t.x.size() < 5; }), least,
      greatest);
  }

  void know(const std::string& name, tensor t) {
    machine_.env[name] = std::move(t);
    names_.push_back(name);
  }
  void forget(std::size_t after, double counted) {
    for (; names_.size() > after; names_.pop_back()) {
      machine_.env.erase(names_.back());
    }
    machine_.flop = counted;
  }

  void steps(std::size_t n) {
    for (std::size_t i = 0, tries = 0; i < n && tries < 20 * n; ++tries) {
      const auto before = graph().node_size();
      const auto known = names_.size();
      const auto counted = machine_.flop;
      try {
        step();
        ++i;
      } catch (const impossible&) {
        graph().mutable_node()->DeleteSubrange(before, graph().node_size() - before);
        forget(known, counted);
        graph_ == nullptr ? flop.resize(static_cast<std::size_t>(before)) : void();
      }
    }
  }

  void step() {
    static const std::vector<std::string> unary{"Floor", "Ceil", "Neg", "Abs", "Not", "Identity", "Size", "NonZero"};
    static const std::vector<std::string> binary{"Add", "Sub",   "Mul",  "Div",     "Mod", "Min",
                                                 "Max", "Equal", "Less", "Greater", "And", "Or"};
    static const std::vector<std::string> reductions{"ReduceSum", "ReduceProd", "ReduceMin", "ReduceMax"};
    static const list types{T::INT64, T::INT64, T::INT32, T::FLOAT,  T::DOUBLE, T::BOOL,
                            T::INT8,  T::UINT8, T::INT16, T::UINT16, T::UINT32, T::UINT64};
    switch (pick(26)) {
    case 0:
    case 1: {
      node("Shape", {a([](const tensor&) { return true; })}, [&](NodeProto& n) {
        if (v_ >= 15 && maybe()) {
          onnx_model::set(n, "start", some(5) - 2);
          onnx_model::set(n, "end", some(6) - 2);
        }
      });
      break;
    }
    case 2: node(unary[pick(unary.size())], {any()}); break;
    case 3:
    case 4:
    case 5: {
      const auto& op = binary[pick(binary.size())];
      require(op != "Mod" || v_ >= 10);
      const auto x = op == "And" || op == "Or" ? of(T::BOOL) : any();
      node(op, {x, of(at(x).type)},
           [&](NodeProto& n) { op == "Mod" && maybe() ? onnx_model::set(n, "fmod", 1) : void(); });
      break;
    }
    case 6: {
      list x(1 + pick(3));
      std::generate(x.begin(), x.end(), [&] { return some(8) - 2; });
      constant(x, x.size() == 1 && maybe());
      break;
    }
    case 7: v_ >= 12 ? real_constant() : cast(any(), T::FLOAT); break;
    case 8: {
      const auto x = with_axes();
      const auto axis = an_axis(x);
      const auto d = at(x).shape[axis_in(axis, at(x).shape.size())];
      require(d > 0);
      node("Gather", {x, maybe() ? constant({some(2 * d) - d}, maybe()) : of(T::INT64)}, with("axis", axis));
      break;
    }
    case 9:
    case 10: {
      const auto x = with_axes();
      const auto axis = an_axis(x);
      const list from{some(9) - 4}, to{pick(4) == 0 ? INT64_MAX : some(9) - 4}, step{maybe() ? 1 : some(6) - 3};
      if (v_ < 10) {
        node("Slice", {x}, [&](NodeProto& n) {
          onnx_model::set(n, "starts", from);
          onnx_model::set(n, "ends", to);
          onnx_model::set(n, "axes", list{axis});
        });
      } else {
        node("Slice", {x, constant(from), constant(to), constant({axis}), constant(step)});
      }
      break;
    }
    case 11: {
      const auto x = with_axes();
      std::vector<std::string> all{x};
      for (auto i = pick(3); i-- > 0;) {
        all.push_back(a(
          [&](const tensor& t) { return !t.hidden && t.type == at(x).type && t.shape.size() == at(x).shape.size(); }));
      }
      node("Concat", all, with("axis", an_axis(x)));
      break;
    }
    case 12: {
      const auto x = with_axes();
      const auto axis = an_axis(x), d = at(x).shape[axis_in(axis, at(x).shape.size())];
      const auto parts = 1 + some(3);
      list sizes(static_cast<std::size_t>(parts), d / parts);
      sizes.back() += d % parts;
      const auto more = [&](NodeProto& n) {
        onnx_model::set(n, "axis", axis);
        for (std::int64_t i = 1; i < parts; ++i) {
          n.add_output(fresh());
        }
      };
      if (maybe()) {
        node_with("Split", {x}, "split", sizes, 13, more);
      } else {
        node("Split", {x}, [&](NodeProto& n) {
          more(n);
          v_ >= 18 ? onnx_model::set(n, "num_outputs", parts) : void();
        });
      }
      break;
    }
    case 13: {
      const auto x = with_axes();
      list order(at(x).shape.size());
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[pick(i)]);
      }
      node("Transpose", {x}, [&](NodeProto& n) { maybe() ? onnx_model::set(n, "perm", order) : void(); });
      break;
    }
    case 14: {
      list to(1 + pick(3));
      std::generate(to.begin(), to.end(), [&] { return some(4) - 1; });
      node("Reshape", {any(), maybe() ? constant(to) : of(T::INT64)},
           [&](NodeProto& n) { v_ >= 14 && maybe() ? onnx_model::set(n, "allowzero", 1) : void(); });
      break;
    }
    case 15: cast(any(), static_cast<std::int32_t>(types[pick(types.size())])); break;
    case 16: {
      const auto x = any();
      node_with("Unsqueeze", {x}, "axes", {some(rank(x) + 1) - (v_ < 11 ? 0 : rank(x) + 1)}, 13);
      break;
    }
    case 17: {
      const auto x = a([](const tensor& t) { return !t.hidden && std::count(t.shape.begin(), t.shape.end(), 1) > 0; });
      maybe() ? node("Squeeze", {x}) : node_with("Squeeze", {x}, "axes", {an_axis(x)}, 13);
      break;
    }
    case 18: {
      const auto x = any();
      const auto& op = reductions[pick(4)];
      const auto change = [&](NodeProto& n) {
        maybe() ? onnx_model::set(n, "keepdims", some(2)) : void();
        v_ >= 18 && maybe() ? onnx_model::set(n, "noop_with_empty_axes", some(2)) : void();
      };
      rank(x) > 0 && maybe() ? node_with(op, {x}, "axes", {an_axis(x)}, op == "ReduceSum" ? 13 : 18, change)
                             : node(op, {x}, change);
      break;
    }
    case 19: {
      require(v_ >= 11);
      node("Range", {number(-2, 3), number(0, 7), constant({maybe() ? 1 : some(5) - 2}, true)});
      break;
    }
    case 20: {
      const auto x = any();
      node("Where", {of(T::BOOL), x, of(at(x).type)});
      break;
    }
    case 21: {
      require(v_ >= 11);
      const auto x = with_axes();
      const auto d = at(x).shape[0];
      require(d > 0);
      const auto where = node("Reshape", {constant({some(2 * d) - d}), constant({1, 1})});
      node(
        "ScatterND",
        {x, where,
         cast(a([&](const tensor& t) { return !t.hidden && t.shape.size() == at(x).shape.size() && t.shape[0] == 1; }),
              at(x).type)});
      break;
    }
    case 22: {
      const auto x = with_axes();
      v_ >= 11 ? node("CumSum", {x, constant({an_axis(x)}, maybe())}) : node("Identity", {x});
      break;
    }
    case 23: {
      const auto to = extents(0, 4);
      switch (pick(3)) {
      case 0: node("Expand", {any(), to}); break;
      case 1: node("Tile", {any(), to}); break;
      default:
        node("ConstantOfShape", {to}, [&](NodeProto& n) {
          auto& value = *n.add_attribute();
          value.set_name("value");
          value.set_type(::onnx::AttributeProto::TENSOR);
          value.mutable_t()->set_data_type(T::INT64);
          value.mutable_t()->add_dims(1);
          value.mutable_t()->add_int64_data(some(4));
        });
      }
      break;
    }
    case 24: {
      require(depth_ < 2);
      const auto condition = cast(a([](const tensor& t) { return !t.hidden && t.x.size() == 1; }), T::BOOL);
      node("If", {condition}, [&](NodeProto& n) {
        for (const auto* name : {"then_branch", "else_branch"}) {
          body(onnx_model::body(n, name), [&] { return std::vector<std::string>{cast(any(), T::INT64)}; });
        }
      });
      break;
    }
    default: {
      require(depth_ < 2);
      const bool counts = maybe();
      std::vector<std::string> inputs{maybe() || !counts ? number(0, 5) : "",
                                      maybe() ? "" : cast(constant({some(5)}, true), T::BOOL), with_axes()};
      const auto type = at(inputs[2]).type;
      node("Loop", inputs, [&](NodeProto& n) {
        n.add_output(fresh());
        auto& g = onnx_model::body(n, "body");
        const auto known = names_.size();
        for (auto t : std::vector<tensor>{{.x = {0}}, {.type = T::BOOL, .x = {1}}, at(inputs[2])}) {
          g.add_input()->set_name(fresh());
          t.fixed = false;
          know(g.input(g.input_size() - 1).name(), std::move(t));
        }
        body(g, [&] {
          const auto before = g.input(2).name();
          const auto changed = maybe()   ? node("Concat", {before, before}, with("axis", std::int64_t{0}))
                               : maybe() ? node("Add", {before, cast(g.input(0).name(), type)})
                                         : cast(any(), type);
          const auto go =
            counts ? node("Less", {cast(node("Size", {changed}), T::FLOAT), cast(constant({12}, true), T::FLOAT)})
                   : node("Identity", {g.input(1).name()});
          return std::vector<std::string>{go, changed, any()};
        });
        forget(known, machine_.flop);
      });
    }
    }
  }
  /// Nodes of a body, and its outputs.
  template <class Outputs>
  void body(GraphProto& g, const Outputs& outputs) {
    const auto known = names_.size();
    const auto counted = machine_.flop;
    auto* const outer = std::exchange(graph_, &g);
    ++depth_;
    const auto leave = [&] {
      --depth_;
      graph_ = outer;
      forget(known, counted);
    };
    try {
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

  /// A node on data, of which the shape is told.
  std::string data(
    const std::string& type, const std::vector<std::string>& inputs, const list& shape,
    const std::function<void(NodeProto&)>& change = [](NodeProto&) {}) {
    auto& n = model.node(type, {}, {fresh()});
    std::for_each(inputs.begin(), inputs.end(), [&](const auto& x) { n.add_input(x); });
    change(n);
    weft::onnx::op_call call{.type = n.op_type(), .outputs = {shape}, .version = v_};
    for (const auto& x : inputs) {
      call.inputs.push_back(x.empty() ? std::nullopt : std::optional{at(x).shape});
    }
    flop.push_back(weft::onnx::flop_of(call).value());
    know(n.output(0), {.type = T::FLOAT, .shape = shape, .hidden = true});
    return n.output(0);
  }

  /// Data of computed shapes, and an elementwise op on each.
  void data() {
    const auto mean = data("ReduceMean", {"x"}, {}, with("keepdims", std::int64_t{0}));
    const auto e = extents(1, 4);
    const auto shape = numbers(at(e));
    const auto base = data("Expand", {mean, e}, shape);
    const auto each_of = [&](const auto& change) {
      auto made = shape;
      for (auto& d : made) {
        d = change(d);
      }
      return made;
    };
    const auto all = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
    std::vector<std::string> made{
      base,
      data("Reshape",
           {base, node("Concat", {node("Gather", {e, constant({0})}), constant({-1})}, with("axis", std::int64_t{0}))},
           {shape[0], all / shape[0]}),
      data("Tile", {base, e}, each_of([](auto d) { return d * d; })),
      data("Mul", {node("ConstantOfShape", {e}), mean}, shape)};
    if (v_ >= 11) {
      made.push_back(data("Pad", {base, node("Concat", {e, e}, with("axis", std::int64_t{0}))},
                          each_of([](auto d) { return 3 * d; })));
      made.push_back(data("Resize", {base, "", "", node("Add", {e, e})}, each_of([](auto d) { return 2 * d; })));
      const auto scales = node("Div", {cast(e, T::FLOAT), cast(constant({2}), T::FLOAT)});
      made.push_back(data("Resize", {base, "", scales}, each_of([](auto d) { return d * d / 2; })));
      const auto from = number(-3, 3), to = number(-3, 3), one = constant({1});
      tensor line{.shape = {shape.back()}, .x = std::vector<double>(static_cast<std::size_t>(shape.back()))};
      const std::vector<std::string> range{node("Reshape", {from, one}), node("Reshape", {to, one}), constant({-1}),
                                           constant({maybe() ? 1 : -1})};
      machine_.env["line"] = line;
      NodeProto n;
      n.set_op_type("Slice");
      for (const auto& x : {std::string{"line"}, range[0], range[1], range[2], range[3]}) {
        n.add_input(x);
      }
      auto sliced = shape;
      sliced.back() = machine_.evaluated(n)[0].shape[0];
      machine_.env.erase("line");
      made.push_back(data("Slice", {base, range[0], range[1], range[2], range[3]}, sliced));
    }
    for (const auto& x : made) {
      data("Exp", {x}, at(x).shape);
    }
  }

  std::mt19937 random_;
  machine machine_;
  std::int64_t v_ = 17;
  std::vector<std::string> names_; // in their order
  GraphProto* graph_ = nullptr;    // null: the model's own
  int next_ = 0, depth_ = 0;
};

std::string text(const std::vector<double>& x) {
  std::string all;
  for (const auto v : x) {
    all += " " + std::to_string(v);
  }
  return all;
}

/// A node a line: `y z = Op name=(1 2) (a b)`.
std::string text(const GraphProto& g, const std::string& indent = "\n") {
  std::string all;
  for (const auto& n : g.node()) {
    all += indent;
    std::for_each(n.output().begin(), n.output().end(), [&](const auto& x) { all += x + " "; });
    all += "= " + n.op_type();
    std::string bodies;
    for (const auto& a : n.attribute()) {
      bodies += a.has_g() ? indent + "  " + a.name() + text(a.g(), indent + "    ") : "";
      auto brief = a;
      brief.clear_g();
      brief.clear_type();
      all += " " + brief.ShortDebugString();
    }
    all += " (";
    std::for_each(n.input().begin(), n.input().end(), [&](const auto& x) { all += " " + x; });
    all += " )" + bodies;
  }
  all += indent + "->";
  std::for_each(g.output().begin(), g.output().end(), [&](const auto& x) { all += " " + x.name(); });
  return all;
}

/// The first thing that the reader sees otherwise than the machine; empty if there is none.
std::string difference(const generator& g) {
  const weft::onnx::reader options;
  weft::onnx::detail::workload_of_graph reading{g.model.m, options, "random.onnx"};
  const auto read = reading();
  weft::op_id v = 0;
  for (const auto& n : g.model.m.graph().node()) {
    for (const auto& name : n.output()) {
      const auto& wanted = g.ran().env.at(name);
      const auto* found = reading.find(name);
      const auto dims = found == nullptr ? std::nullopt : weft::onnx::detail::extents_of(found->type);
      if (!dims || *dims != wanted.shape) {
        return "shape of " + name + " of " + n.op_type() + ": " + (dims ? text({dims->begin(), dims->end()}) : "none") +
               " for" + text({wanted.shape.begin(), wanted.shape.end()});
      }
      if (found->type.tensor_type().elem_type() != wanted.type) {
        return "type of " + name + " of " + n.op_type();
      }
      const auto* x = wanted.hidden ? nullptr : found->elements();
      if (!wanted.hidden && (x == nullptr || x->as_reals() != wanted.x)) {
        return "elements of " + name + " of " + n.op_type() + ":" + (x == nullptr ? " none" : text(x->as_reals())) +
               " for" + text(wanted.x);
      }
    }
    if (std::abs(read.ops.work(v) - g.flop[v]) > 1e-6 * g.flop[v]) {
      return "FLOP of " + n.op_type() + " " + n.output(0) + ": " + std::to_string(read.ops.work(v)) + " for " +
             std::to_string(g.flop[v]);
    }
    ++v;
  }
  for (const auto& note : read.notes) {
    if (note.find("ops make parameters from parameters alone") == note.npos) {
      return note;
    }
  }
  return {};
}

TEST_CASE("onnx: shapes that a model computes are those that its ops define") {
  int made = 0;
  for (unsigned seed = 0; made < 1500; ++seed) {
    try {
      const generator g{seed};
      ++made;
      if (const auto problem = difference(g); !problem.empty()) {
        FAIL("seed " << seed << ": " << problem << text(g.model.m.graph()));
      }
    } catch (const impossible&) { // no data at the end
    }
  }
}

} // namespace interop_onnx_random_shapes_test
