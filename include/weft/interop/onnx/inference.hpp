// SPDX-License-Identifier: BSL-1.0
/// The types and shapes of one node's outputs: what the schema of its op says, and rules for ops that have none.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/onnx/values.hpp"

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

namespace weft::onnx::detail {

/// Infers what a body of a control-flow op gives from what it takes; nulls where a type is not known.
using body_inference = std::function<std::vector<const ::onnx::TypeProto*>(
  const ::onnx::GraphProto& body, const std::vector<const ::onnx::TypeProto*>& inputs)>;

/// One node as ONNX's inference functions see it.
class node_context final : public ::onnx::InferenceContext {
public:
  node_context(const ::onnx::NodeProto& n, std::span<const value* const> inputs, const body_inference& infer_body)
      : n_{n}, inputs_{inputs}, infer_body_{infer_body}, data_(inputs.size()),
        outputs_(static_cast<std::size_t>(n.output_size())) {}

  /// Takes these for the elements of an input, whatever is known of it.
  void replace(std::size_t i, const numbers& elements) {
    data_[i] = tensor_of(elements, ::onnx::TensorProto::INT64, false);
  }

  std::vector<::onnx::TypeProto> take() { return std::move(outputs_); }

  const ::onnx::AttributeProto* getAttribute(const std::string& name) const override { return attribute(n_, name); }
  std::size_t getNumInputs() const override { return inputs_.size(); }
  const ::onnx::TypeProto* getInputType(std::size_t i) const override {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    return v == nullptr || v->type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET ? nullptr : &v->type;
  }
  const ::onnx::TensorProto* getInputData(std::size_t i) const override {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    if (v == nullptr) {
      return nullptr;
    }
    if (!data_[i] && v->integers && v->type.has_tensor_type()) {
      const auto dims = extents_of(v->type);
      data_[i] = tensor_of(*v->integers, v->type.tensor_type().elem_type(), dims && dims->empty());
    }
    return data_[i] ? data_[i].get() : v->data;
  }
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  ::onnx::TypeProto* getOutputType(std::size_t i) override { return &outputs_.at(i); }
  ::onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    const auto* a = attribute(n_, name);
    if (a == nullptr || !a->has_g()) {
      throw std::runtime_error{"there is no body '" + name + "'"};
    }
    bodies_.push_back(std::make_unique<body>(a->g(), infer_body_));
    return bodies_.back().get();
  }
  const ::onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const ::onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

private:
  class body final : public ::onnx::GraphInferencer {
  public:
    body(const ::onnx::GraphProto& g, const body_inference& infer) : g_{g}, infer_{infer} {}
    std::vector<const ::onnx::TypeProto*> doInferencing(const std::vector<const ::onnx::TypeProto*>& types,
                                                        const std::vector<const ::onnx::TensorProto*>&) override {
      static const ::onnx::TypeProto unknown; // inference functions read what they are given without a check
      auto outputs = infer_(g_, types);
      for (auto& type : outputs) {
        type = type == nullptr ? &unknown : type;
      }
      return outputs;
    }

  private:
    const ::onnx::GraphProto& g_;
    const body_inference& infer_;
  };

  static std::unique_ptr<::onnx::TensorProto> tensor_of(const numbers& elements, std::int32_t type, bool scalar) {
    if (type != ::onnx::TensorProto::INT64 && type != ::onnx::TensorProto::INT32) {
      return nullptr;
    }
    auto t = std::make_unique<::onnx::TensorProto>();
    t->set_data_type(type);
    if (!scalar) {
      t->add_dims(static_cast<std::int64_t>(elements.size()));
    }
    for (const auto x : elements) {
      if (type == ::onnx::TensorProto::INT64) {
        t->add_int64_data(x);
      } else {
        t->add_int32_data(static_cast<std::int32_t>(x));
      }
    }
    return t;
  }

  const ::onnx::NodeProto& n_;
  std::span<const value* const> inputs_;
  const body_inference& infer_body_;
  mutable std::vector<std::unique_ptr<::onnx::TensorProto>> data_; // made when asked for
  std::vector<std::unique_ptr<body>> bodies_;
  std::vector<::onnx::TypeProto> outputs_;
};

/// Whether a node is such that inference functions can be let at it: they divide by attributes, loop to them and read
/// extents without a look at whether they are there.
class plausibility {
public:
  plausibility(const ::onnx::NodeProto& n, std::span<const value* const> inputs) : n_{n}, inputs_{inputs} {}

  bool operator()() const {
    return n_.op_type() != "STFT" && // reads elements of its inputs even if they are not known
           std::all_of(n_.attribute().begin(), n_.attribute().end(), [](const auto& a) { return in_range(a); }) &&
           has_types() && has_extents() && axis_exists();
  }

private:
  static bool in_range(const ::onnx::AttributeProto& a) {
    constexpr std::int64_t large = std::int64_t{1} << 40;
    static constexpr std::string_view positive[] = {"strides",     "dilations",    "kernel_shape",  "blocksize",
                                                    "group",       "num_outputs",  "output_height", "output_width",
                                                    "hidden_size", "pooled_shape", "sample_size",   "num_scan_inputs"};
    if (a.name() == "starts" || a.name() == "ends" || a.name() == "seed") { // any number means something
      return true;
    }
    const bool above_zero = std::find(std::begin(positive), std::end(positive), a.name()) != std::end(positive);
    const std::int64_t least = above_zero ? 1 : a.name() == "batch_dims" ? 0 : -large;
    const auto within = [least](std::int64_t x) { return x >= least && x <= large; };
    return std::all_of(a.ints().begin(), a.ints().end(), within) && (!a.has_i() || within(a.i()));
  }

  bool has_types() const {
    const auto known = [this](std::size_t i) {
      return inputs_[i] != nullptr && inputs_[i]->type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET;
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool optional = n_.input(static_cast<int>(i)).empty() && (i > 0 || n_.op_type() == "Loop");
      if (!optional && !known(i)) {
        return false;
      }
    }
    return true;
  }

  /// The rank of an input; nothing if it is absent or not known.
  std::optional<int> rank(std::size_t i) const {
    const value* v = i < inputs_.size() ? inputs_[i] : nullptr;
    return v != nullptr && v->type.has_tensor_type() && v->type.tensor_type().has_shape()
             ? std::optional{v->type.tensor_type().shape().dim_size()}
             : std::nullopt;
  }

  bool has_extents() const {
    struct least_rank {
      std::string_view type;
      std::size_t input;
      int rank;
    };
    static constexpr least_rank needed[] = {
      {"Conv", 0, 2},      {"ConvInteger", 0, 2}, {"QLinearConv", 0, 2}, {"ConvTranspose", 0, 2},
      {"MaxUnpool", 0, 2}, {"Gemm", 0, 2},        {"Gemm", 1, 2},        {"LSTM", 0, 3},
      {"LSTM", 1, 3},      {"LSTM", 2, 3},        {"GRU", 0, 3},         {"GRU", 1, 3},
      {"GRU", 2, 3},       {"RNN", 0, 3},         {"RNN", 1, 3},         {"RNN", 2, 3}};
    const bool filters = n_.op_type() == "Conv" || n_.op_type() == "ConvInteger" || n_.op_type() == "QLinearConv" ||
                         n_.op_type() == "ConvTranspose" || n_.op_type() == "MaxUnpool";
    const auto x = rank(0);
    const auto filter = rank(n_.op_type() == "QLinearConv" ? 3 : 1);
    return (!filters || !x || !filter || *x == *filter) &&
           std::all_of(std::begin(needed), std::end(needed), [this](const least_rank& l) {
             return l.type != n_.op_type() || rank(l.input).value_or(l.rank) >= l.rank;
           });
  }

  bool axis_exists() const {
    const auto r = rank(0);
    const auto axis = number_attribute(n_, "axis", 0);
    const int beyond = n_.op_type() == "LayerNormalization" ? 0 : 1; // some may name the end, or a new axis
    return !r || (axis >= -*r - beyond && axis < *r + beyond) || (axis == 0 && beyond == 1);
  }

  const ::onnx::NodeProto& n_;
  std::span<const value* const> inputs_;
};

/// Shapes of ops that the schemas at hand do not describe: those of the domain com.microsoft and of newer operator
/// sets. Nothing where there is no rule.
class own_rules {
public:
  own_rules(const ::onnx::NodeProto& n, std::span<const value* const> inputs) : n_{n}, inputs_{inputs} {}

  std::vector<::onnx::TypeProto> operator()() const {
    std::vector<::onnx::TypeProto> outputs(static_cast<std::size_t>(n_.output_size()));
    if (outputs.empty() || inputs_.empty() || inputs_[0] == nullptr) {
      return outputs;
    }
    const auto dims = extents_of(inputs_[0]->type);
    const std::string& type = n_.op_type();
    if (!dims) {
      return outputs;
    }
    if (type.starts_with("Reduce")) {
      set(outputs[0], reduced(*dims));
    } else if (type == "FusedMatMul" || type == "TransposeMatMul" || type == "MatMulIntegerToFloat" ||
               type == "DynamicQuantizeMatMul") {
      set(outputs[0], product(*dims),
          type == "FusedMatMul" || type == "TransposeMatMul" ? 0 : ::onnx::TensorProto::FLOAT);
    } else if (type == "MatMulNBits") {
      set(outputs[0], with_last(*dims, number_attribute(n_, "N", 0)));
    } else if (type == "Attention" && n_.domain() == "com.microsoft") {
      const auto weights = extents(1);
      set(outputs[0], with_last(*dims, weights && weights->size() == 2 ? (*weights)[1] / 3
                                       : dims->empty()                 ? 0
                                                                       : dims->back()));
    } else if (type == "QAttention") {
      const auto weights = extents(1);
      set(outputs[0], with_last(*dims, weights && weights->size() == 2 ? (*weights)[1] / 3 : 0),
          ::onnx::TensorProto::FLOAT);
    } else if (type == "EmbedLayerNormalization") {
      const auto words = extents(2);
      if (words && words->size() == 2) {
        auto embedded = *dims;
        embedded.push_back(words->back());
        set(outputs[0], embedded, inputs_[2]->type.tensor_type().elem_type());
      }
    } else if (type == "Dropout") {
      set(outputs[0], dims);
      if (outputs.size() > 1) {
        set(outputs[1], dims, ::onnx::TensorProto::BOOL); // the mask, which older schemas leave open
      }
    } else if (type == "Split" && number_attribute(n_, "num_outputs", 0) == n_.output_size()) { // operator set 18
      const auto parts = static_cast<std::int64_t>(outputs.size());
      const auto rank = static_cast<std::int64_t>(dims->size());
      const auto axis = number_attribute(n_, "axis", 0);
      if (axis >= -rank && axis < rank) {
        const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
        const auto whole = (*dims)[at];
        const auto part = whole / parts + (whole % parts != 0 ? 1 : 0);
        for (std::int64_t i = 0; i < parts; ++i) { // the last is smaller if they cannot be equal
          auto shape = *dims;
          shape[at] = std::clamp<std::int64_t>(whole - std::min(whole, i * part), 0, part);
          set(outputs[static_cast<std::size_t>(i)], shape);
        }
      }
    } else if (like_first(type)) {
      set(outputs[0], dims);
      if (type == "SkipLayerNormalization" && outputs.size() > 3) {
        set(outputs[3], dims); // the sum before normalisation
      }
    }
    return outputs;
  }

private:
  static bool like_first(std::string_view type) {
    for (const std::string_view known : {"Gelu",
                                         "FastGelu",
                                         "BiasGelu",
                                         "QuickGelu",
                                         "BiasAdd",
                                         "BiasSoftmax",
                                         "SkipLayerNormalization",
                                         "SkipSimplifiedLayerNormalization",
                                         "SimplifiedLayerNormalization",
                                         "LayerNormalization",
                                         "RMSNormalization",
                                         "GroupNormalization",
                                         "GroupNorm",
                                         "RotaryEmbedding",
                                         "MultiHeadAttention",
                                         "GroupQueryAttention",
                                         "Attention",
                                         "Mish",
                                         "Swish",
                                         "BitwiseNot",
                                         "QLinearSigmoid",
                                         "QLinearLeakyRelu",
                                         "QLinearAdd",
                                         "QLinearMul"}) {
      if (type == known) {
        return true;
      }
    }
    return false;
  }

  std::optional<numbers> extents(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr ? extents_of(inputs_[i]->type) : std::nullopt;
  }

  static std::optional<numbers> with_last(numbers dims, std::int64_t last) {
    if (dims.empty() || last <= 0) {
      return std::nullopt;
    }
    dims.back() = last;
    return dims;
  }

  /// Axes as an input, as they are from operator set 18 on (13 for ReduceSum).
  std::optional<numbers> reduced(const numbers& dims) const {
    auto axes = list_attribute(n_, "axes").value_or(numbers{});
    if (inputs_.size() > 1 && inputs_[1] != nullptr) {
      if (!inputs_[1]->integers) {
        return std::nullopt;
      }
      axes = *inputs_[1]->integers;
    }
    if (axes.empty() && number_attribute(n_, "noop_with_empty_axes", 0) != 0) {
      return dims;
    }
    std::vector<bool> gone(dims.size(), axes.empty());
    for (auto axis : axes) {
      axis += axis < 0 ? static_cast<std::int64_t>(dims.size()) : 0;
      if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) {
        return std::nullopt;
      }
      gone[static_cast<std::size_t>(axis)] = true;
    }
    const bool keep = number_attribute(n_, "keepdims", 1) != 0;
    numbers result;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (!gone[i] || keep) {
        result.push_back(gone[i] ? 1 : dims[i]);
      }
    }
    return result;
  }

  /// A product of (stacks of) matrices, either of which may be transposed first.
  std::optional<numbers> product(numbers a) const {
    const auto b = extents(1);
    if (!b || b->size() < 2 || a.size() < 2) {
      return std::nullopt;
    }
    const bool transposed_a = number_attribute(n_, "transA", 0) != 0;
    const bool transposed_b = number_attribute(n_, "transB", 0) != 0;
    const auto rows = transposed_a ? a[a.size() - 1] : a[a.size() - 2];
    const auto columns = transposed_b ? (*b)[b->size() - 2] : b->back();
    numbers dims(std::max(a.size(), b->size()), 1);
    for (std::size_t i = 3; i <= dims.size(); ++i) { // from the innermost of the stack
      const auto x = i <= a.size() ? a[a.size() - i] : 1;
      const auto y = i <= b->size() ? (*b)[b->size() - i] : 1;
      dims[dims.size() - i] = std::max(x, y);
    }
    dims[dims.size() - 2] = rows;
    dims[dims.size() - 1] = columns;
    return dims;
  }

  void set(::onnx::TypeProto& type, const std::optional<numbers>& dims, std::int32_t element = 0) const {
    if (dims) {
      auto& tensor = *type.mutable_tensor_type();
      tensor.set_elem_type(element != 0 ? element : inputs_[0]->type.tensor_type().elem_type());
      tensor.mutable_shape();
      for (const auto d : *dims) {
        tensor.mutable_shape()->add_dim()->set_dim_value(d);
      }
    }
  }

  const ::onnx::NodeProto& n_;
  std::span<const value* const> inputs_;
};

/// Makes of a node of an operator set newer than all that ONNX's library knows what the schema can take: without the
/// attributes and inputs that came later, most of which say nothing of shapes; where they do, inference refuses the
/// rest. False if nothing had to go.
inline bool trim_to(const ::onnx::OpSchema& schema, const ::onnx::NodeProto& n, std::int64_t version,
                    ::onnx::NodeProto& trimmed) {
  const auto& known = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto range = known.find(schema.domain());
  const auto later = [&](const auto& a) { return !schema.attributes().contains(a.name()); };
  const auto has_body = [](const auto& a) { return a.has_g() || a.graphs_size() != 0; };
  if (range == known.end() || version <= range->second.second ||
      std::any_of(n.attribute().begin(), n.attribute().end(), has_body) ||
      (n.input_size() <= schema.max_input() && std::none_of(n.attribute().begin(), n.attribute().end(), later))) {
    return false;
  }
  trimmed = n;
  auto& attributes = *trimmed.mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(), later), attributes.end());
  const int inputs = std::min(n.input_size(), schema.max_input());
  trimmed.mutable_input()->DeleteSubrange(inputs, n.input_size() - inputs);
  return true;
}

/// What an op's schema infers, or own rules do if there is no schema for it or it refuses the node; unset types where
/// both have no answer. Why a schema refused what no rule knows is in `refused`. `shape` replaces the elements of the second input.
inline std::vector<::onnx::TypeProto> infer(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                                            std::int64_t version, const std::optional<numbers>& shape,
                                            const body_inference& infer_body, std::string& refused) {
  const bool fused = n.domain() == "com.microsoft" && (n.op_type() == "FusedConv" || n.op_type() == "FusedGemm");
  if (n.domain() == "ai.weft") { // its tensors are declared
    return std::vector<::onnx::TypeProto>(static_cast<std::size_t>(n.output_size()));
  }
  const bool axes_as_input = n.op_type().starts_with("Reduce") && inputs.size() > 1;
  if (axes_as_input || (n.domain() == "com.microsoft" && !fused)) {
    return own_rules{n, inputs}();
  }
  ::onnx::NodeProto standard;
  if (fused) { // as the op that it extends
    standard = n;
    standard.set_op_type(n.op_type().substr(5));
    standard.clear_domain();
    std::vector<std::string> own{"activation", "activation_params", "activation_alpha", "activation_beta",
                                 "activation_gamma"};
    auto& attributes = *standard.mutable_attribute();
    attributes.erase(
      std::remove_if(attributes.begin(), attributes.end(),
                     [&](const auto& a) { return std::find(own.begin(), own.end(), a.name()) != own.end(); }),
      attributes.end());
    if (n.op_type() == "FusedConv" && inputs.size() > 3) {
      standard.mutable_input()->DeleteSubrange(3, standard.input_size() - 3);
      inputs = inputs.first(3);
    }
  }
  const std::string domain = n.domain() == "ai.onnx" || fused ? "" : n.domain();
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(
    fused ? standard.op_type() : n.op_type(), static_cast<int>(std::clamp<std::int64_t>(version, 1, 1000)), domain);
  if (schema == nullptr || schema->Deprecated()) {
    return own_rules{n, inputs}();
  }
  const bool trimmed = !fused && trim_to(*schema, n, version, standard);
  inputs = inputs.first(trimmed ? static_cast<std::size_t>(standard.input_size()) : inputs.size());
  const auto& node = fused || trimmed ? standard : n;
  try {
    if (!plausibility{node, inputs}()) {
      throw std::runtime_error{"a type is not known, or an attribute or a rank is out of its range"};
    }
    schema->Verify(node);
    node_context context{node, inputs, infer_body};
    if (shape) {
      context.replace(1, *shape);
    }
    schema->GetTypeAndShapeInferenceFunction()(context);
    auto types = context.take();
    if (std::any_of(types.begin(), types.end(), [](const auto& t) { return !t.tensor_type().has_shape(); })) {
      const auto own = own_rules{node, inputs}();
      for (std::size_t i = 0; i < types.size(); ++i) {
        if (types[i].value_case() == ::onnx::TypeProto::VALUE_NOT_SET ||
            (types[i].has_tensor_type() && !types[i].tensor_type().has_shape() && own[i].has_tensor_type())) {
          types[i] = own[i];
        }
      }
    }
    return types;
  } catch (const error&) {
    throw; // of a body's inference
  } catch (const std::exception& e) {
    auto own = own_rules{n, inputs}();
    if (std::any_of(own.begin(), own.end(), [](const auto& t) { return !t.tensor_type().has_shape(); })) {
      refused = e.what();
    }
    return own;
  }
}

} // namespace weft::onnx::detail
