// SPDX-License-Identifier: BSL-1.0
/// The types of a model's tensors as the model itself has them: extents that it leaves open stay open.
#pragma once

#include "weft/interop/onnx/workload_of_graph.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::onnx::detail {

/// Types as a model declares them, else as they follow from its inputs. Where inputs have open extents, all shapes are
/// worked out for two choices of these: an extent that differs is open as well, and has the name of the one that it is
/// equal to. The model and the name of its file must outlive this.
class tensor_types {
public:
  tensor_types(const ::onnx::ModelProto& m, const std::string& file) {
    const auto& g = m.graph();
    for (const auto* list : {&g.input(), &g.output(), &g.value_info()}) {
      for (const auto& x : *list) {
        const bool tensor = x.type().has_tensor_type();
        if (tensor ? x.type().tensor_type().has_shape() && x.type().tensor_type().elem_type() != 0
                   : x.type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET) {
          declared_.emplace(x.name(), &x.type());
        }
      }
    }
    for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}}) {
      if (auto p = std::make_unique<point>(m, choice(g, shift), file); p->valid) {
        points_.push_back(std::move(p));
      }
      if (!open_) {
        break;
      }
    }
  }

  /// The type; without a shape where that is not known, and nothing at all where there is no type either.
  ::onnx::TypeProto operator()(std::string_view name) const {
    if (const auto found = declared_.find(name); found != declared_.end()) {
      return *found->second;
    }
    const value* v = points_.empty() ? nullptr : points_.front()->graph.find(name);
    if (v == nullptr) {
      return {};
    }
    auto type = v->type;
    auto* inner = &type;
    while (inner->has_sequence_type() || inner->has_optional_type()) {
      inner = inner->has_sequence_type() ? inner->mutable_sequence_type()->mutable_elem_type()
                                         : inner->mutable_optional_type()->mutable_elem_type();
    }
    if (!inner->has_tensor_type()) {
      return type;
    }
    if (inner != &type || v->guessed || hidden_ || points_.size() < (open_ ? 2u : 1u)) {
      inner->mutable_tensor_type()->clear_shape();
    } else if (open_) {
      compare(*inner->mutable_tensor_type(), points_.back()->graph.find(name)->type.tensor_type());
    }
    return type;
  }

private:
  /// The model with one choice of its open extents.
  struct point {
    point(const ::onnx::ModelProto& m, reader o, const std::string& file)
        : options{std::move(o)}, graph{m, options, file} {
      try {
        graph();
      } catch (const error&) { // such as a shape that is impossible with these extents
        valid = false;
      }
    }
    reader options;
    mutable workload_of_graph graph;
    bool valid = true;
  };

  /// Extents in the usual range, with many divisors. The pairs of the two choices are different for each name, and no
  /// multiple of one, nor one with something added, is another.
  static std::uint64_t extent(std::uint64_t name, std::uint64_t shift) { return 64 * (name + 1) + 16 * (name + 2) * shift; }

  reader choice(const ::onnx::GraphProto& g, std::uint64_t shift) {
    std::set<std::string_view> given;
    for (const auto& x : g.initializer()) {
      given.insert(x.name());
    }
    reader options;
    bool found = false;
    for (const auto& x : g.input()) {
      const auto& shape = x.type().tensor_type().shape();
      for (int i = 0; i < shape.dim_size(); ++i) {
        const auto& d = shape.dim(i);
        const bool fixed = d.has_dim_value() && d.dim_value() > 0;
        const bool named = !d.dim_param().empty();
        open_ = open_ || !fixed;
        if (named && options.dimensions.try_emplace(d.dim_param(), 0).second) {
          const auto number = options.dimensions.size() - 1;
          options.dimensions[d.dim_param()] = extent(number, shift);
          names_[{extent(number, 0), extent(number, 1)}] = d.dim_param();
        }
        if (i == 0 && !found && !given.contains(x.name())) { // the one that is the batch for the reader
          found = true;
          options.batch = fixed ? 0 : 6 + 4 * shift;
        } else if (i == 0 && !fixed && !named && options.batch == 0) {
          hidden_ = true; // 1 for every choice
        }
      }
    }
    options.unknown_dimension = 32 + 64 * shift;
    return options;
  }

  void compare(::onnx::TypeProto_Tensor& type, const ::onnx::TypeProto_Tensor& other) const {
    if (other.shape().dim_size() != type.shape().dim_size()) {
      type.clear_shape();
      return;
    }
    for (int i = 0; i < type.shape().dim_size(); ++i) {
      auto& d = *type.mutable_shape()->mutable_dim(i);
      const auto a = static_cast<std::uint64_t>(d.dim_value());
      const auto b = static_cast<std::uint64_t>(other.shape().dim(i).dim_value());
      if (a != b) {
        d.clear_value();
        if (const auto name = names_.find({a, b}); name != names_.end()) {
          d.set_dim_param(name->second);
        }
      }
    }
  }

  std::unordered_map<std::string_view, const ::onnx::TypeProto*> declared_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_; // by the extents of both choices
  std::vector<std::unique_ptr<point>> points_;
  bool open_ = false;
  bool hidden_ = false; // there are open extents of which the reader makes the same for both choices
};

} // namespace weft::onnx::detail
