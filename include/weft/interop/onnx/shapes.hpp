// SPDX-License-Identifier: BSL-1.0
/// The extents that a model leaves open: values given by options, and assumptions.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/onnx/reader_options.hpp"
#include "weft/interop/onnx/values.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/op_call.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace weft::onnx::detail {

/// Occurrences of what there is to tell, told in one line.
class tally {
public:
  void add(std::string_view what) { ++counts_[std::string{what}]; }
  /// Adds a line with all of them, if there is any.
  void tell(std::vector<std::string>& lines, const std::string& before, const std::string& after) const {
    if (!counts_.empty()) {
      lines.push_back(before + list() + after);
    }
  }

private:
  /// `a (3), b`, the first twelve of them.
  std::string list() const {
    std::string text;
    std::size_t shown = 0;
    for (const auto& [what, count] : counts_) {
      if (shown++ == 12) {
        return text + ", and " + std::to_string(counts_.size() - 12) + " more";
      }
      auto name = io::in_quotes(what);
      name = name.substr(1, name.size() - 2);
      text += (text.empty() ? "" : ", ") + name + (count > 1 ? " (" + std::to_string(count) + ")" : "");
    }
    return text;
  }

  std::map<std::string, std::size_t> counts_;
};

/// Gives extents to the tensors of a model, and remembers what for.
class open_extents {
public:
  open_extents(const ::onnx::GraphProto& g, const reader& options, const std::string& file) : options_{options} {
    set_batch(g, file);
  }

  /// A type with the extents that options give; of an input, all extents.
  ::onnx::TypeProto resolved(const ::onnx::TypeProto& declared, bool input, std::string_view name) {
    ::onnx::TypeProto type = declared;
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) {
      return type;
    }
    auto& shape = *type.mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      auto& d = *shape.mutable_dim(i);
      const auto given = options_.dimensions.find(d.dim_param());
      if (!d.dim_param().empty() && given != options_.dimensions.end()) {
        d.set_dim_value(static_cast<std::int64_t>(std::min<std::uint64_t>(given->second, std::uint64_t{1} << 60)));
      } else if (!d.dim_param().empty() && d.dim_param() == batch_symbol_) {
        d.set_dim_value(batch());
      } else if (d.has_dim_value() && (d.dim_value() > 0 || (d.dim_value() == 0 && (!input || i > 0)))) {
        if (i == 0 && old_batch_ && d.dim_value() == *old_batch_) {
          d.set_dim_value(batch());
        }
      } else if (input && i == 0) {
        d.set_dim_value(batch());
      } else if (input) {
        unknown_extents_.add("input " + std::string{name} + (d.dim_param().empty() ? "" : " (" + d.dim_param() + ")"));
        d.set_dim_value(
          static_cast<std::int64_t>(std::min<std::uint64_t>(options_.unknown_dimension, std::uint64_t{1} << 60)));
      } else {
        d.clear_value();
      }
    }
    return type;
  }

  /// Whether options change extents that a model gives, so that shapes that it declares may be out of date.
  bool changes_extents() const {
    return !options_.dimensions.empty() || (options_.batch != 0 && old_batch_ != batch());
  }

  /// Brings what inference found of a tensor and what the file declares of it together. A static shape that is declared
  /// counts, except where options change extents: there, an inferred one does. A shape that is `guessed`, because it
  /// follows from one that was assumed, counts only where nothing is declared. Returns whether it still is guessed.
  bool settle(::onnx::TypeProto& type, const scope& s, const std::string& name, bool guessed) {
    const auto found = s.declared.find(name);
    if (found == s.declared.end() || found->second->value_case() == ::onnx::TypeProto::VALUE_NOT_SET) {
      return guessed;
    }
    const auto& raw = *found->second;
    const auto declared = resolved(raw, false, name);
    const bool weak = guessed || type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET;
    if (!declared.has_tensor_type()) {
      if (weak || type.has_tensor_type()) {
        type = declared;
      }
      return false;
    }
    if (const auto element = declared.tensor_type().elem_type(); element != 0 && !is_container(type)) {
      type.mutable_tensor_type()->set_elem_type(element);
    }
    if (!declared.tensor_type().has_shape() || is_container(type)) {
      return guessed;
    }
    const auto& wanted = declared.tensor_type().shape();
    auto& shape = *type.mutable_tensor_type();
    if (!shape.has_shape() || shape.shape().dim_size() != wanted.dim_size()) {
      const bool is_inferred = extents_of(type).has_value() && !guessed;
      if (is_inferred && (changes_extents() || !is_static(raw))) {
        return guessed;
      }
      if (is_inferred) {
        overruled_.add(name);
      }
      *shape.mutable_shape() = wanted;
      return false;
    }
    bool differs = false;
    bool all_declared = true;
    for (int i = 0; i < wanted.dim_size(); ++i) {
      auto& d = *shape.mutable_shape()->mutable_dim(i);
      const auto& by_file = wanted.dim(i);
      const bool is_open = !d.has_dim_value() || d.dim_value() < 0;
      const bool fixed = is_static(raw.tensor_type().shape().dim(i));
      all_declared = all_declared && by_file.has_dim_value();
      if (by_file.has_dim_value() && (is_open || guessed || (fixed && !changes_extents()))) {
        differs = differs || (!is_open && !guessed && d.dim_value() != by_file.dim_value());
        d.set_dim_value(by_file.dim_value());
      }
    }
    if (differs) {
      overruled_.add(name);
    }
    return guessed && !all_declared;
  }

  /// Assumes what is still not known. Returns whether anything was.
  bool assume(::onnx::TypeProto& type, const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
    if (type.has_tensor_type() && type.tensor_type().has_shape()) {
      if (type.tensor_type().elem_type() == 0) {
        type.mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
      }
      bool any = false;
      for (auto& d : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (!d.has_dim_value() || d.dim_value() < 0) {
          unknown_extents_.add("outputs of " + n.op_type());
          any = true;
          d.set_dim_value(
            static_cast<std::int64_t>(std::min<std::uint64_t>(options_.unknown_dimension, std::uint64_t{1} << 60)));
        }
      }
      return any;
    }
    if (type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type()) {
      return false;
    }
    unknown_shapes_.add(n.op_type());
    const auto element = type.tensor_type().elem_type();
    const value* largest = nullptr;
    double most = -1;
    for (const value* v : inputs) {
      const auto dims = v != nullptr && !v->parameter ? extents_of(v->type) : std::nullopt;
      if (dims && op_call::elements(*dims) > most) {
        most = op_call::elements(*dims);
        largest = v;
      }
    }
    type.mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
    type.mutable_tensor_type()->mutable_shape();
    if (largest != nullptr) {
      type = largest->type;
    }
    if (element != 0) {
      type.mutable_tensor_type()->set_elem_type(element);
    } else if (has_text(type)) { // what makes something of texts makes numbers, unless its name or type says otherwise
      type.mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
    }
    return true;
  }

  /// A Reshape whose target was written for another batch.
  std::optional<numbers> rebatched(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
    if (!old_batch_ || n.op_type() != "Reshape" || inputs.size() != 2 || inputs[0] == nullptr || inputs[1] == nullptr ||
        inputs[0]->parameter || !inputs[1]->parameter) {
      return std::nullopt;
    }
    const auto from = extents_of(inputs[0]->type);
    auto to = inputs[1]->integers().value_or(numbers{});
    if (!from || from->empty() || to.empty() || to[0] <= 0 || from->front() % batch() != 0 ||
        to[0] % *old_batch_ != 0) {
      return std::nullopt;
    }
    if (to[0] / *old_batch_ > (std::int64_t{1} << 60) / batch()) {
      return std::nullopt;
    }
    to[0] = to[0] / *old_batch_ * batch();
    batched_.add(n.op_type());
    return to;
  }

  /// What was assumed.
  std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    if (no_batch_) {
      lines.push_back("the batch has no effect: the model has no input with a first extent");
    }
    unknown_extents_.tell(lines, "unknown extents of ", ": " + std::to_string(options_.unknown_dimension) + " assumed");
    unknown_shapes_.tell(lines, "shapes of outputs not known of ", ": that of the largest input assumed");
    overruled_.tell(lines, "declared shapes count, though other ones follow from the inputs, of ", "");
    batched_.tell(lines, "constant shapes adapted to the batch in ", "");
    return lines;
  }

private:
  void set_batch(const ::onnx::GraphProto& g, const std::string& file) {
    std::set<std::string_view> given;
    for (const auto& x : g.initializer()) {
      given.insert(x.name());
    }
    std::set<std::string, std::less<>> symbols;
    bool found = false;
    for (const auto& x : g.input()) {
      const auto& shape = x.type().tensor_type().shape();
      for (const auto& d : shape.dim()) {
        if (!d.dim_param().empty()) {
          symbols.insert(d.dim_param());
        }
      }
      if (found || given.contains(x.name()) || shape.dim_size() == 0) {
        continue;
      }
      found = true;
      const auto& first = shape.dim(0);
      batch_symbol_ = first.dim_param();
      if (first.has_dim_value() && first.dim_value() > 0 && options_.batch != 0) {
        old_batch_ = first.dim_value();
      }
    }
    for (const auto& [name, extent] : options_.dimensions) {
      if (!symbols.contains(name)) {
        std::string known;
        for (const auto& s : symbols) {
          known += (known.empty() ? "" : ", ") + io::in_quotes(s);
        }
        throw parse_error(file, 0,
                          "no input has a dimension " + io::in_quotes(name) + "; " +
                            (known.empty() ? "the model names none" : "the model names " + known));
      }
    }
    no_batch_ = !found && options_.batch != 0;
  }

  std::int64_t batch() const {
    return static_cast<std::int64_t>(std::clamp<std::uint64_t>(options_.batch, 1, std::uint64_t{1} << 60));
  }

  static bool is_static(const ::onnx::TensorShapeProto::Dimension& d) {
    return d.has_dim_value() && d.dim_value() >= 0;
  }
  static bool is_static(const ::onnx::TypeProto& type) {
    const auto& dims = type.tensor_type().shape().dim();
    return std::all_of(dims.begin(), dims.end(), [](const auto& d) { return is_static(d); });
  }
  static bool is_container(const ::onnx::TypeProto& type) {
    return type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type();
  }

  const reader& options_;
  std::optional<std::int64_t> old_batch_; // of the model, if another is wanted
  std::string batch_symbol_;
  bool no_batch_ = false;
  tally unknown_extents_, unknown_shapes_, overruled_, batched_;
};

} // namespace weft::onnx::detail
