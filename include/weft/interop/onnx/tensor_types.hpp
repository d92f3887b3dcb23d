// SPDX-License-Identifier: BSL-1.0
/// The types of a model's tensors as the model itself has them: extents that it leaves open stay open.
#pragma once

#include "weft/interop/onnx/graph_of_model.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::onnx::detail {

/// Types as a model declares them, else as they follow from its inputs. Where inputs have open extents, all shapes are
/// worked out for several choices of these: an extent of which any two differ is open as well, and has the name of the
/// one that it is equal to for all of them. Two choices are usual extents; small and large ones tell what is clamped,
/// such as the first 32 of N, from what is fixed, and are left out where the model is none with them. The model and the
/// name of its file must outlive this.
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
    for (const choice& c : choices) {
      if (auto p = std::make_unique<point>(m, options_for(g, c), c, file); p->valid) {
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
    if (inner != &type || v->guessed || hidden_ || (open_ && !compare(*inner->mutable_tensor_type(), name))) {
      inner->mutable_tensor_type()->clear_shape();
    }
    return type;
  }

private:
  /// Extents for what is open: those with a name, by its number, the batch, and all others.
  struct choice {
    std::uint64_t (*extent)(std::uint64_t name);
    std::uint64_t batch;
    std::uint64_t other;
  };
  /// Of the first two, extents are in the usual range, with many divisors. Their pairs are different for each name, and
  /// no multiple of one, nor one with something added, is another.
  static constexpr choice choices[] = {{[](std::uint64_t name) { return 64 * (name + 1); }, 6, 32},
                                       {[](std::uint64_t name) { return 64 * (name + 1) + 16 * (name + 2); }, 10, 96},
                                       {[](std::uint64_t name) { return 2 * (name + 1); }, 2, 4},
                                       {[](std::uint64_t name) { return 1024 * (name + 2); }, 1024, 2048}};

  /// The model with one choice of its open extents.
  struct point {
    point(const ::onnx::ModelProto& m, reader o, const choice& c, const std::string& file)
        : chosen{c}, options{std::move(o)}, graph{m, options, file} {
      try {
        graph.infer();
      } catch (const error&) { // such as a shape that is impossible with these extents
        valid = false;
      }
    }
    const choice& chosen;
    reader options;
    mutable graph_of_model graph;
    bool valid = true;
  };

  reader options_for(const ::onnx::GraphProto& g, const choice& c) {
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
          options.dimensions[d.dim_param()] = c.extent(number);
          if (names_.size() == number) {
            names_.push_back(d.dim_param());
          }
        }
        if (i == 0 && !found && !given.contains(x.name())) { // the one that is the batch for the reader
          found = true;
          options.batch = fixed ? 0 : c.batch;
        } else if (i == 0 && !fixed && !named && options.batch == 0) {
          hidden_ = true; // 1 whatever is chosen
        }
      }
    }
    options.unknown_dimension = c.other;
    return options;
  }

  /// Opens the extents of a tensor that depend on what is chosen. False if nothing is known to compare them with, or if
  /// their number depends on it.
  bool compare(::onnx::TypeProto_Tensor& type, std::string_view name) const {
    struct seen {
      const point* at;
      const ::onnx::TensorShapeProto* shape;
    };
    const auto own = type.shape();
    std::vector<seen> all{{points_.front().get(), &own}};
    for (std::size_t k = 1; k < points_.size(); ++k) {
      if (const value* v = points_[k]->graph.find(name); v != nullptr && !v->guessed) {
        all.push_back({points_[k].get(), &v->type.tensor_type().shape()});
      }
    }
    const auto same_rank = [&](const seen& s) { return s.shape->dim_size() == own.dim_size(); };
    if (all.size() < 2 || !std::all_of(all.begin(), all.end(), same_rank)) {
      return false;
    }
    for (int i = 0; i < own.dim_size(); ++i) {
      const auto extent = [i](const seen& s) { return static_cast<std::uint64_t>(s.shape->dim(i).dim_value()); };
      if (std::all_of(all.begin(), all.end(), [&](const seen& s) { return extent(s) == extent(all.front()); })) {
        continue;
      }
      auto& d = *type.mutable_shape()->mutable_dim(i);
      d.clear_value();
      const auto number = number_of(extent(all.front()), points_.front()->chosen);
      const auto is_number = [&](const seen& s) { return extent(s) == s.at->chosen.extent(number); };
      if (number < names_.size() && std::all_of(all.begin(), all.end(), is_number)) {
        d.set_dim_param(names_[number]);
      }
    }
    return true;
  }

  /// The number of the name with that extent, or one that no name has.
  std::uint64_t number_of(std::uint64_t extent, const choice& c) const {
    const auto all = std::views::iota(std::uint64_t{0}, std::uint64_t{names_.size()}); // with ascending extents
    return static_cast<std::uint64_t>(std::ranges::lower_bound(all, extent, {}, c.extent) - all.begin());
  }

  std::unordered_map<std::string_view, const ::onnx::TypeProto*> declared_;
  std::vector<std::string> names_; // of open extents, by number
  std::vector<std::unique_ptr<point>> points_;
  bool open_ = false;
  bool hidden_ = false; // there are open extents of which the reader makes the same for all choices
};

} // namespace weft::onnx::detail
