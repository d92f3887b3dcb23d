// SPDX-License-Identifier: BSL-1.0
/// The extents that a model leaves open: values given by options, and assumptions.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/onnx/reader_options.hpp"
#include "weft/interop/onnx/values.hpp"
#include "weft/io/tally.hpp"
#include "weft/ops/call.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace weft::onnx::detail {

/// Gives extents to the tensors of a model, and remembers what for.
class open_extents {
public:
  open_extents(const ::onnx::GraphProto& g, const reader& options, io::tally& noted)
      : options_{options}, noted_{noted} {
    set_batch(g);
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
      if (const auto given = options_.dimensions.find(d.dim_param());
          !d.dim_param().empty() && given != options_.dimensions.end()) {
        d.set_dim_value(limited(given->second));
      } else if (!d.dim_param().empty() && d.dim_param() == batch_symbol_) {
        d.set_dim_value(open_batch());
      } else if (d.has_dim_value() && (d.dim_value() > 0 || (d.dim_value() == 0 && (!input || i > 0)))) {
        if (i == 0 && old_batch_ && d.dim_value() == *old_batch_) {
          d.set_dim_value(batch());
        }
      } else if (input && i == 0) {
        d.set_dim_value(open_batch());
      } else if (input) {
        d.set_dim_value(given_or_assumed(name_of(d, name, i), {}).first);
      } else {
        d.clear_value();
      }
    }
    return type;
  }

  /// Whether options change extents that a model gives, so that shapes that it declares may be out of date.
  bool changes_extents() const {
    return gives_inputs_ || (options_.batch != 0 && old_batch_ != batch());
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
        noted_.add("{declared shape is taken, though another follows|declared shapes are taken, though others follow} "
                 "from the inputs", name);
      }
      *shape.mutable_shape() = wanted;
      for (int i = 0; i < wanted.dim_size(); ++i) {
        const auto& named = raw.tensor_type().shape().dim(i);
        take_name(named, *shape.mutable_shape()->mutable_dim(i));
        add_name(named);
      }
      return false;
    }
    bool differs = false;
    bool all_declared = true;
    for (int i = 0; i < wanted.dim_size(); ++i) {
      auto& d = *shape.mutable_shape()->mutable_dim(i);
      const auto& by_file = wanted.dim(i);
      const bool is_open = !is_static(d);
      const bool fixed = is_static(raw.tensor_type().shape().dim(i));
      take_name(raw.tensor_type().shape().dim(i), d);
      all_declared = all_declared && by_file.has_dim_value();
      if (by_file.has_dim_value() && (is_open || guessed || (fixed && !changes_extents()))) {
        differs = differs || (!is_open && !guessed && d.dim_value() != by_file.dim_value());
        d.set_dim_value(by_file.dim_value());
        add_name(raw.tensor_type().shape().dim(i));
      }
    }
    if (differs) {
      noted_.add("{declared shape is taken, though another follows|declared shapes are taken, though others follow} "
                 "from the inputs", name);
    }
    return guessed && !all_declared;
  }

  /// Gives a tensor the extents that were decided for an equal one. Returns whether they were assumed.
  bool take_decided(value& v) const {
    const auto found = decided_.find(v.number);
    if (found == decided_.end() || !v.type.has_tensor_type()) {
      return false;
    }
    const auto& [dims, is_guessed] = found->second;
    auto& shape = *v.type.mutable_tensor_type()->mutable_shape();
    const auto rank = static_cast<int>(dims.size());
    bool any = false;
    for (int i = 0; i < rank && shape.dim_size() == rank; ++i) {
      auto& d = *shape.mutable_dim(i);
      any = any || !is_static(d);
      d.set_dim_value(is_static(d) ? d.dim_value() : dims[static_cast<std::size_t>(i)]);
    }
    return any && is_guessed;
  }
  /// Remembers the extents of a tensor of which inference left some open, for those that are equal to it.
  void decide(const value& v) {
    if (auto dims = extents_of(v.type)) {
      decided_.try_emplace(v.number, std::move(*dims), v.guessed);
    }
  }

  /// Gives what is still not known of output `name` of a node, or assumes it. Returns whether anything was assumed.
  bool assume(::onnx::TypeProto& type, const ::onnx::NodeProto& n, std::string_view name,
              std::span<const value* const> inputs) {
    if (type.has_tensor_type() && type.tensor_type().has_shape()) {
      if (type.tensor_type().elem_type() == 0) {
        type.mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
      }
      bool any = false;
      auto& dims = *type.mutable_tensor_type()->mutable_shape();
      for (int i = 0; i < dims.dim_size(); ++i) {
        if (!is_static(dims.dim(i))) {
          const auto [extent, is_assumed] = given_or_assumed(name_of(dims.dim(i), name, i), n.op_type());
          any = any || is_assumed;
          dims.mutable_dim(i)->set_dim_value(extent);
        }
      }
      return any;
    }
    if (type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type()) {
      return false;
    }
    noted_.add("{output with an unknown shape|outputs with unknown shapes}: taken to be as large as the largest input",
               n.op_type());
    const auto element = type.tensor_type().elem_type();
    const value* largest = nullptr;
    double most = -1;
    for (const value* v : inputs) {
      const auto dims = v != nullptr && !v->parameter ? extents_of(v->type) : std::nullopt;
      if (dims && ops::call::elements(*dims) > most) {
        most = ops::call::elements(*dims);
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
    noted_.add("{constant shape is|constant shapes are} adapted to the batch", n.op_type());
    return to;
  }

  /// Says that a loop, of which nobody tells how often it runs, counts once.
  void assume_trips(const std::string& name, const std::string& type) {
    assumed_.add({assumed_size::option::trips, name, type, 1});
  }

  /// Sizes that nobody gave, each once, in the order in which they were met.
  const std::vector<assumed_size>& assumed() const { return assumed_.list(); }

  /// Throws `parse_error` for a batch or an extent that is given and that nothing has.
  void check_given(const std::string& file) const {
    if (no_batch_) {
      throw parse_error(file, 0, "the batch cannot be chosen: the model has no input with a first extent; leave out "
                                 "what chooses it");
    }
    for (const auto& [name, extent] : options_.dimensions) {
      if (!names_.contains(name)) {
        throw parse_error(file, 0,
                          "no open dimension is called " + io::in_quotes(name) + "; " +
                            (names_.empty() ? "there is none"
                                            : "there is " + io::joined_first(12, names_, io::in_quotes)));
      }
    }
  }

private:
  void set_batch(const ::onnx::GraphProto& g) {
    std::set<std::string_view> given;
    for (const auto& x : g.initializer()) {
      given.insert(x.name());
    }
    bool found = false;
    for (const auto& x : g.input()) {
      const auto& shape = x.type().tensor_type().shape();
      if (given.contains(x.name()) || shape.dim_size() == 0) {
        continue;
      }
      for (int i = 0; i < shape.dim_size(); ++i) {
        gives_inputs_ = gives_inputs_ || options_.dimensions.contains(name_of(shape.dim(i), x.name(), i));
        add_name(shape.dim(i));
      }
      if (found) {
        continue;
      }
      found = true;
      const auto& first = shape.dim(0);
      batch_symbol_ = first.dim_param();
      if (first.has_dim_value() && first.dim_value() > 0 && options_.batch != 0) {
        old_batch_ = first.dim_value();
      }
    }
    no_batch_ = !found && options_.batch != 0;
  }

  std::int64_t batch() const {
    return static_cast<std::int64_t>(std::clamp<std::uint64_t>(options_.batch, 1, std::uint64_t{1} << 60));
  }

  static std::int64_t limited(std::uint64_t extent) {
    return static_cast<std::int64_t>(std::min(extent, std::uint64_t{1} << 60));
  }

  /// The batch where the model leaves it open.
  std::int64_t open_batch() {
    if (options_.batch == 0) {
      assumed_.add({.given_by = assumed_size::option::batch});
    }
    return batch();
  }

  /// An extent with the name of a dimension, or else with the type of the op that decides it, and true if it was
  /// assumed.
  std::pair<std::int64_t, bool> given_or_assumed(const std::string& name, std::string_view type) {
    for (const auto called : {std::string_view{name}, type}) {
      if (!called.empty()) {
        names_.emplace(called);
      }
      if (const auto given = options_.dimensions.find(called); given != options_.dimensions.end()) {
        return {limited(given->second), false};
      }
    }
    assumed_.add({assumed_size::option::dimension, name, std::string{type}, options_.unknown_dimension});
    return {limited(options_.unknown_dimension), true};
  }

  /// The name of an open extent: the file's, or else the tensor's with the number of the axis, such as `boxes.0`.
  static std::string name_of(const ::onnx::TensorShapeProto::Dimension& d, std::string_view tensor, int axis) {
    return d.dim_param().empty() ? std::string{tensor} + '.' + std::to_string(axis) : d.dim_param();
  }

  void add_name(const ::onnx::TensorShapeProto::Dimension& d) {
    if (!d.dim_param().empty()) {
      names_.insert(d.dim_param());
    }
  }

  /// Gives an open extent the name that the file declares for it.
  static void take_name(const ::onnx::TensorShapeProto::Dimension& declared,
                        ::onnx::TensorShapeProto::Dimension& open) {
    if (!is_static(open) && !declared.dim_param().empty()) {
      open.set_dim_param(declared.dim_param());
    }
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
  bool gives_inputs_ = false; // extents that are open in the model
  io::assumed_sizes assumed_;
  std::set<std::string, std::less<>> names_; // that options may give extents by
  std::map<std::uint64_t, std::pair<numbers, bool>> decided_; // by the number of a tensor; true: assumed
  io::tally& noted_;
};

} // namespace weft::onnx::detail
