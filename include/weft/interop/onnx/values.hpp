// SPDX-License-Identifier: BSL-1.0
/// Facts about a model's tensors, and constant folding of small integer tensors: extents that a model computes with
/// Shape, Gather, Concat and the like, on which the shapes of other tensors depend.
#pragma once

#include "weft/interop/onnx/proto.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weft::onnx::detail {

using numbers = std::vector<std::int64_t>;

/// No tensor has more axes in earnest. Ops such as Gather add up the axes of what they read, so that without a limit a
/// chain of them would double the axes at each step.
inline constexpr int max_axes = 64;

/// Whether a type is one of tensors with more axes than that, in sequences too.
inline bool has_too_many_axes(const ::onnx::TypeProto& type) {
  const auto* inner = &type;
  for (int depth = 0; depth < 100 && (inner->has_sequence_type() || inner->has_optional_type()); ++depth) {
    inner = inner->has_sequence_type() ? &inner->sequence_type().elem_type() : &inner->optional_type().elem_type();
  }
  return inner->has_tensor_type() && inner->tensor_type().shape().dim_size() > max_axes;
}

/// Whether there are texts in what a type is of: in a tensor, in sequences, optionals and maps, or as their keys.
inline bool has_text(const ::onnx::TypeProto& type) {
  const auto* inner = &type;
  for (int depth = 0; depth < 100; ++depth) {
    switch (inner->value_case()) {
    case ::onnx::TypeProto::kTensorType: return inner->tensor_type().elem_type() == ::onnx::TensorProto::STRING;
    case ::onnx::TypeProto::kSparseTensorType:
      return inner->sparse_tensor_type().elem_type() == ::onnx::TensorProto::STRING;
    case ::onnx::TypeProto::kSequenceType: inner = &inner->sequence_type().elem_type(); break;
    case ::onnx::TypeProto::kOptionalType: inner = &inner->optional_type().elem_type(); break;
    case ::onnx::TypeProto::kMapType:
      if (inner->map_type().key_type() == ::onnx::TensorProto::STRING) {
        return true;
      }
      inner = &inner->map_type().value_type();
      break;
    default: return false;
    }
  }
  return false;
}

/// A tensor of a model.
struct value {
  ::onnx::TypeProto type = {};               ///< what is known of it
  const ::onnx::TensorProto* data = nullptr; ///< its elements, if the file has them
  std::optional<numbers> integers = {};      ///< its elements, if they are few whole numbers that are known
  bool parameter = false;                    ///< known before the model runs
  bool guessed = false;                      ///< its shape was assumed, or follows from one that was
  const value* storage = nullptr;            ///< the parameter that it is a view of, or null
};

/// The tensors that nodes of one graph can name.
struct scope {
  const scope* outer = nullptr;
  const std::map<std::string, std::int64_t>* versions = nullptr; ///< of operator sets, by domain
  std::unordered_map<std::string_view, value> values = {};
  std::unordered_map<std::string_view, const ::onnx::TypeProto*> declared = {};

  const value* find(std::string_view name) const {
    for (const scope* s = this; s != nullptr && !name.empty(); s = s->outer) {
      if (const auto found = s->values.find(name); found != s->values.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }
};

/// The extents of a tensor of which all are known.
inline std::optional<numbers> extents_of(const ::onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) {
    return std::nullopt;
  }
  numbers dims;
  for (const auto& d : type.tensor_type().shape().dim()) {
    if (!d.has_dim_value() || d.dim_value() < 0) {
      return std::nullopt;
    }
    dims.push_back(d.dim_value());
  }
  return dims;
}

inline const ::onnx::AttributeProto* attribute(const ::onnx::NodeProto& n, std::string_view name) {
  for (const auto& a : n.attribute()) {
    if (a.name() == name) {
      return &a;
    }
  }
  return nullptr;
}

inline std::int64_t number_attribute(const ::onnx::NodeProto& n, std::string_view name, std::int64_t otherwise) {
  const auto* a = attribute(n, name);
  return a != nullptr && a->has_i() ? a->i() : otherwise;
}

inline std::optional<numbers> list_attribute(const ::onnx::NodeProto& n, std::string_view name) {
  const auto* a = attribute(n, name);
  return a == nullptr ? std::nullopt : std::optional<numbers>{std::in_place, a->ints().begin(), a->ints().end()};
}

/// The type of an op: with its domain, unless that is ONNX's own or weft's.
inline std::string type_of(const ::onnx::NodeProto& n) {
  const auto& d = n.domain();
  return d.empty() || d == "ai.onnx" || d == "ai.weft" ? n.op_type() : d + "." + n.op_type();
}

/// All names that a body takes from around it, its bodies included.
inline void add_captures(const ::onnx::GraphProto& g, std::set<std::string_view>& captured) {
  std::set<std::string_view> own;
  for (const auto& x : g.input()) {
    own.insert(x.name());
  }
  for (const auto& x : g.initializer()) {
    own.insert(x.name());
  }
  for (const auto& x : g.sparse_initializer()) {
    own.insert(x.values().name());
  }
  for (const auto& n : g.node()) {
    own.insert(n.output().begin(), n.output().end());
  }
  const auto use = [&](std::string_view name) {
    if (!name.empty() && !own.contains(name)) {
      captured.insert(name);
    }
  };
  for (const auto& n : g.node()) {
    for (const auto& x : n.input()) {
      use(x);
    }
    for (const auto& a : n.attribute()) {
      std::set<std::string_view> inner;
      if (a.has_g()) {
        add_captures(a.g(), inner);
      }
      for (const auto& body : a.graphs()) {
        add_captures(body, inner);
      }
      std::for_each(inner.begin(), inner.end(), use);
    }
  }
  for (const auto& x : g.output()) {
    use(x.name());
  }
}

/// Computes the whole numbers in the first output of a node from those in its inputs.
class integer_evaluation {
public:
  /// Longer lists are no shapes.
  static constexpr std::size_t most = 32;

  integer_evaluation(const ::onnx::NodeProto& n, std::span<const value* const> inputs) : n_{n}, inputs_{inputs} {}

  std::optional<numbers> operator()() const {
    auto found = evaluate();
    return found && found->size() <= most ? found : std::nullopt;
  }

private:
  const numbers* in(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr && inputs_[i]->integers ? &*inputs_[i]->integers : nullptr;
  }
  /// Whether the first input has but one axis, as operations along axes ask for.
  bool is_list() const {
    const auto dims = shape_of_first();
    return !dims || dims->size() <= 1;
  }
  std::optional<numbers> shape_of_first() const {
    return !inputs_.empty() && inputs_[0] != nullptr ? extents_of(inputs_[0]->type) : std::nullopt;
  }

  std::optional<numbers> evaluate() const {
    const std::string& type = n_.op_type();
    if (type == "Constant") {
      return constant();
    }
    if (type == "ConstantOfShape") {
      return filled();
    }
    if (type == "Shape" || type == "Size") {
      return measured(type == "Size");
    }
    if (type == "Concat") {
      return joined();
    }
    const numbers* first = in(0);
    if (first == nullptr) {
      return std::nullopt;
    }
    if (type == "Cast" && number_attribute(n_, "to", 0) == ::onnx::TensorProto::BOOL) {
      return each(*first, [](std::int64_t x) { return std::int64_t{x != 0}; });
    }
    if (type == "Not") {
      return each(*first, [](std::int64_t x) { return std::int64_t{x == 0}; });
    }
    if (type == "Abs" || type == "Neg") {
      const bool absolute = type == "Abs";
      return each(*first, [&](std::int64_t x) { // the least number stays what it is
        return x == std::numeric_limits<std::int64_t>::min() || (absolute && x >= 0) ? x : -x;
      });
    }
    if (type == "Identity" || type == "Cast" || type == "Reshape" || type == "Squeeze" || type == "Unsqueeze" ||
        type == "Flatten") {
      return *first; // the elements and their order stay
    }
    if (type == "Gather") {
      return gathered(*first);
    }
    if (type == "Slice") {
      return sliced(*first);
    }
    for (const auto& [reduction, op] : {std::pair{"ReduceProd", "Mul"},
                                        {"ReduceSum", "Add"},
                                        {"ReduceMax", "Max"},
                                        {"ReduceMin", "Min"}}) {
      if (type == reduction && !first->empty() && is_list()) {
        std::optional<std::int64_t> result = first->front();
        for (std::size_t i = 1; i < first->size() && result; ++i) {
          result = combine(op, *result, (*first)[i]);
        }
        return result ? std::optional{numbers{*result}} : std::nullopt;
      }
    }
    return in(1) != nullptr ? combined(type, *first, *in(1)) : std::nullopt;
  }

  template <class Op>
  static numbers each(numbers list, const Op& op) {
    std::transform(list.begin(), list.end(), list.begin(), op);
    return list;
  }

  std::optional<numbers> constant() const {
    if (const auto* a = attribute(n_, "value"); a != nullptr && a->has_t()) {
      return integers_of(a->t(), most);
    }
    if (const auto* a = attribute(n_, "value_int"); a != nullptr) {
      return numbers{a->i()};
    }
    return list_attribute(n_, "value_ints");
  }

  std::optional<numbers> filled() const {
    const numbers* dims = in(0);
    const auto* a = attribute(n_, "value");
    const auto fill = a != nullptr && a->has_t() ? integers_of(a->t(), 1) : std::nullopt;
    if (dims == nullptr || !fill || fill->size() != 1) {
      return std::nullopt;
    }
    std::size_t count = 1;
    for (const auto d : *dims) {
      if (d < 0 || d > static_cast<std::int64_t>(most) || (count *= static_cast<std::size_t>(d)) > most) {
        return std::nullopt;
      }
    }
    return numbers(count, fill->front());
  }

  std::optional<numbers> measured(bool product) const {
    auto dims = shape_of_first();
    if (!dims) {
      return std::nullopt;
    }
    if (product) {
      std::int64_t size = 1;
      for (const auto d : *dims) {
        if (d != 0 && size > (std::int64_t{1} << 60) / d) {
          return std::nullopt;
        }
        size *= d;
      }
      return numbers{size};
    }
    const auto rank = static_cast<std::int64_t>(dims->size());
    const auto position = [rank](std::int64_t i) { return std::clamp(i < 0 ? i + rank : i, std::int64_t{0}, rank); };
    const auto first = position(number_attribute(n_, "start", 0));
    const auto last = std::max(first, position(number_attribute(n_, "end", rank)));
    return numbers(dims->begin() + first, dims->begin() + last);
  }

  std::optional<numbers> joined() const {
    numbers all;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (in(i) == nullptr || all.size() + in(i)->size() > most) {
        return std::nullopt;
      }
      all.insert(all.end(), in(i)->begin(), in(i)->end());
    }
    return all;
  }

  std::optional<numbers> gathered(const numbers& from) const {
    const numbers* positions = in(1);
    if (positions == nullptr || number_attribute(n_, "axis", 0) != 0 || !is_list()) {
      return std::nullopt;
    }
    numbers result;
    const auto size = static_cast<std::int64_t>(from.size());
    for (const auto i : *positions) {
      if (i < -size || i >= size) {
        return std::nullopt;
      }
      result.push_back(from[static_cast<std::size_t>(i < 0 ? i + size : i)]);
    }
    return result;
  }

  std::optional<numbers> sliced(const numbers& from) const {
    const auto argument = [this](std::size_t i, const char* name) -> std::optional<std::int64_t> {
      if (in(i) != nullptr && in(i)->size() == 1) {
        return in(i)->front();
      }
      const auto list = list_attribute(n_, name);
      return list && list->size() == 1 ? std::optional{list->front()} : std::nullopt;
    };
    const auto size = static_cast<std::int64_t>(from.size());
    const auto start = argument(1, "starts");
    const auto end = argument(2, "ends");
    const bool stepped = inputs_.size() > 4 && inputs_[4] != nullptr;
    const auto step = stepped ? argument(4, "steps") : std::optional<std::int64_t>{1};
    // backward slices of shapes are not worth the trouble
    if (!start || !end || !step || *step < 1 || *step > size || !is_list()) {
      return std::nullopt;
    }
    const auto position = [size](std::int64_t i) {
      return std::clamp(i < 0 ? std::max(i, -size) + size : i, std::int64_t{0}, size);
    };
    numbers result;
    for (auto i = position(*start); i < position(*end); i += *step) {
      result.push_back(from[static_cast<std::size_t>(i)]);
    }
    return result;
  }

  static std::optional<std::int64_t> combine(const std::string& type, std::int64_t a, std::int64_t b) {
    constexpr std::int64_t large = std::int64_t{1} << 61;
    if (a > large || a < -large || b > large || b < -large) {
      return std::nullopt;
    }
    if (type == "Add") {
      return a + b;
    }
    if (type == "Sub") {
      return a - b;
    }
    if (type == "Mul") {
      const auto limit = b == 0 ? large : large / (b < 0 ? -b : b);
      return a > limit || a < -limit ? std::nullopt : std::optional{a * b};
    }
    if (type == "Div") {
      return b == 0 ? std::nullopt : std::optional{a / b};
    }
    if (type == "Max") {
      return std::max(a, b);
    }
    if (type == "Min") {
      return std::min(a, b);
    }
    if (type == "Mod") { // of numbers that are not negative there is one kind of remainder
      return b <= 0 || a < 0 ? std::nullopt : std::optional{a % b};
    }
    if (type == "Equal") {
      return a == b ? 1 : 0;
    }
    if (type == "Less") {
      return a < b ? 1 : 0;
    }
    if (type == "LessOrEqual") {
      return a <= b ? 1 : 0;
    }
    if (type == "Greater") {
      return a > b ? 1 : 0;
    }
    if (type == "GreaterOrEqual") {
      return a >= b ? 1 : 0;
    }
    if (type == "And") {
      return a != 0 && b != 0 ? 1 : 0;
    }
    if (type == "Or") {
      return a != 0 || b != 0 ? 1 : 0;
    }
    if (type == "Xor") {
      return (a != 0) != (b != 0) ? 1 : 0;
    }
    return std::nullopt;
  }

  std::optional<numbers> combined(const std::string& type, const numbers& a, const numbers& b) const {
    if (type == "Where") {
      const numbers* c = in(2);
      if (c == nullptr || (b.size() != a.size() && b.size() != 1) || (c->size() != a.size() && c->size() != 1)) {
        return std::nullopt;
      }
      numbers result;
      for (std::size_t i = 0; i < a.size(); ++i) {
        result.push_back(a[i] != 0 ? b[b.size() == 1 ? 0 : i] : (*c)[c->size() == 1 ? 0 : i]);
      }
      return result;
    }
    if (inputs_.size() != 2 || (a.size() != b.size() && a.size() != 1 && b.size() != 1)) {
      return std::nullopt;
    }
    numbers result;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      if (a.empty() || b.empty()) {
        break;
      }
      const auto x = combine(type, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
      if (!x) {
        return std::nullopt;
      }
      result.push_back(*x);
    }
    return result;
  }

  const ::onnx::NodeProto& n_;
  std::span<const value* const> inputs_;
};

} // namespace weft::onnx::detail
