// SPDX-License-Identifier: BSL-1.0
/// Output shapes of ops that move, cut, join and describe tensors.
#pragma once

#include "weft/interop/tensorflow/op_shapes.hpp"
#include "weft/workload/strided_slice.hpp"

#include <limits>
#include <string_view>
#include <utility>

namespace weft::tensorflow::detail {

/// The rules of these ops; `shape_rules` chooses among them.
class movement_rules : public op_shapes {
public:
  using op_shapes::op_shapes;

protected:
  /// Sums and products that wrap around.
  static std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }

  /// As the values of one input say, else like another one if that has more than one extent.
  void shape_from(std::size_t i, std::size_t otherwise) {
    if (const auto* const v = values(i)) {
      all(*v);
    } else if (has(otherwise) && in_[otherwise]->dims.size() > 1) {
      all(dims(otherwise));
    } else if (has(i) && in_[i]->dims.size() == 1 && in_[i]->dims[0] <= max_axes) {
      all(list(static_cast<std::size_t>(in_[i]->dims[0]), -1)); // as many extents as the shape has entries
    }
  }
  void remove_axis(std::size_t i, std::int64_t which) {
    if (auto d = dims(i)) {
      if (const auto a = axis(which, d->size())) {
        d->erase(d->begin() + static_cast<std::ptrdiff_t>(*a));
        all(d);
      }
    }
  }
  void each() {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      out_[i] = {dims(ports_[i])};
    }
  }
  void merge() {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (has(i)) {
        set(0, dims(i));
        break;
      }
    }
    set(1, list{});
  }

  void shape() {
    if (has(0)) {
      set(0, list{rank_of(0)});
    }
  }
  void shape_n() {
    for (const auto port : ports_) {
      if (has(port)) {
        set(port, list{rank_of(port)});
      }
    }
  }
  void reshape() {
    const auto* const target = values(1);
    if (target == nullptr) {
      return shape_from(1, 2);
    }
    auto shape = *target;
    const auto open = std::ranges::find(shape, -1);
    if (open != shape.end() && has(0)) {
      double rest = 1;
      for (const auto d : shape) {
        rest *= d == -1 ? 1 : static_cast<double>(std::max<std::int64_t>(d, 1));
      }
      const double count = elements(in_[0]->dims) / rest;
      *open = count < 1e18 ? static_cast<std::int64_t>(count) : -1;
    }
    set(0, std::move(shape));
  }
  void concat(std::size_t axis_input, std::size_t first, std::size_t last) {
    auto shape = first < last ? dims(first) : std::nullopt;
    const auto which = scalar(axis_input);
    const auto at = shape && which ? axis(*which, shape->size()) : std::nullopt;
    if (!at) {
      return;
    }
    std::uint64_t extent = 0;
    for (auto i = first; i < last; ++i) {
      const auto part = dims(i);
      if (!part || part->size() != shape->size()) {
        return set(0, std::nullopt);
      }
      extent += static_cast<std::uint64_t>((*part)[*at]);
    }
    (*shape)[*at] = static_cast<std::int64_t>(extent & (~std::uint64_t{0} >> 1));
    set(0, shape);
  }
  void pack() {
    auto shape = dims(0);
    const auto at = shape ? axis(integer_attribute(n_, "axis"), shape->size() + 1) : std::nullopt;
    if (!at) {
      return;
    }
    shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(*at), static_cast<std::int64_t>(in_.size()));
    set(0, shape);
  }
  void split() {
    auto shape = dims(1);
    const auto parts = integer_attribute(n_, "num_split", 1);
    const auto at = shape ? axis(scalar(0).value_or(0), shape->size()) : std::nullopt;
    if (at && parts > 0) {
      (*shape)[*at] /= parts;
      all(shape);
    }
  }
  void split_v() {
    const auto shape = dims(0);
    const auto which = scalar(2);
    const auto at = shape && which ? axis(*which, shape->size()) : std::nullopt;
    const auto* const sizes = values(1);
    for (std::size_t i = 0; at && sizes != nullptr && i < ports_.size(); ++i) {
      if (ports_[i] < sizes->size()) {
        auto part = *shape;
        part[*at] = (*sizes)[ports_[i]];
        out_[i].dims = part;
      }
    }
  }

  void slice() {
    auto shape = dims(0);
    const auto* const begin = values(1);
    const auto* const size = values(2);
    if (!shape && size != nullptr) {
      return set(0, *size);
    }
    if (!shape || size == nullptr || size->size() != shape->size()) {
      return set(0, shape); // at most that large
    }
    const bool placed = begin != nullptr && begin->size() == shape->size();
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const auto from = placed ? std::clamp<std::int64_t>((*begin)[i], 0, (*shape)[i]) : 0;
      (*shape)[i] = (*size)[i] >= 0 ? std::min((*size)[i], (*shape)[i] - from) : (*shape)[i] - from;
    }
    set(0, shape);
  }
  void strided_slice() {
    const auto d = dims(0);
    const auto *const begin = values(1), *const end = values(2), *const stride = values(3);
    if (!d || begin == nullptr || end == nullptr) {
      return;
    }
    op_call o;
    for (const auto* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
      o.numbers[mask] = {integer_attribute(n_, mask)};
    }
    if (const auto s = strided_slice_of(o, *d, *begin, *end, stride != nullptr ? *stride : list{})) {
      set(0, s->dims);
    }
  }
  void transpose() {
    const auto d = dims(0);
    const auto* const order = values(1);
    if (!d) {
      return;
    }
    list shape;
    for (std::size_t i = 0; i < d->size(); ++i) {
      const auto at = order != nullptr && i < order->size() ? axis((*order)[i], d->size()) : d->size() - 1 - i;
      shape.push_back(at ? (*d)[*at] : -1);
    }
    set(0, std::move(shape));
  }
  void gather() {
    const auto x = dims(0);
    const auto i = dims(1);
    const auto at = x && !x->empty() ? axis(scalar(2).value_or(0), x->size()) : std::nullopt;
    if (!i || !at) {
      return;
    }
    auto shape = *x;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*at));
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*at), i->begin(), i->end());
    set(0, std::move(shape));
  }
  void gather_nd() {
    const auto x = dims(0);
    auto shape = dims(1);
    if (x && shape && !shape->empty() && shape->back() >= 0 && shape->back() <= rank_of(0)) {
      const auto depth = shape->back();
      shape->pop_back();
      shape->insert(shape->end(), x->begin() + depth, x->end());
      set(0, shape);
    }
  }
  void tile() {
    auto shape = dims(0);
    const auto* const repeats = values(1);
    if (shape && repeats != nullptr && repeats->size() == shape->size()) {
      for (std::size_t i = 0; i < shape->size(); ++i) {
        (*shape)[i] = times((*shape)[i], (*repeats)[i]);
      }
      set(0, shape);
    }
  }
  void expand_dims() {
    auto shape = dims(0);
    const auto which = scalar(1);
    const auto at = shape && which ? axis(*which, shape->size() + 1) : std::nullopt;
    if (at) {
      shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(*at), 1);
      set(0, shape);
    }
  }
  void squeeze() {
    const auto d = dims(0);
    if (!d) {
      return;
    }
    auto axes = integers_attribute(n_, "squeeze_dims");
    const auto more = integers_attribute(n_, "axis");
    axes.insert(axes.end(), more.begin(), more.end());
    std::vector<bool> gone(d->size(), axes.empty());
    for (const auto a : axes) {
      if (const auto at = axis(a, d->size())) {
        gone[*at] = true;
      }
    }
    list shape;
    for (std::size_t i = 0; i < d->size(); ++i) {
      if (!gone[i] || (*d)[i] != 1) {
        shape.push_back((*d)[i]);
      }
    }
    set(0, std::move(shape));
  }
  void pad() {
    auto shape = dims(0);
    const auto* const by = values(1);
    if (shape && by != nullptr && by->size() == 2 * shape->size()) {
      for (std::size_t i = 0; i < shape->size(); ++i) {
        (*shape)[i] = plus((*shape)[i], plus((*by)[2 * i], (*by)[2 * i + 1]));
      }
      set(0, shape);
    }
  }
  void one_hot() {
    auto shape = dims(0);
    const auto at = shape ? axis(integer_attribute(n_, "axis", -1), shape->size() + 1) : std::nullopt;
    if (at) {
      shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(*at), scalar(1).value_or(-1));
      set(0, shape);
    }
  }
  void range() {
    const auto first = scalar(0);
    const auto last = scalar(1);
    const auto step = scalar(2);
    if (!first || !last || !step || *step == 0) {
      return set(0, list{-1});
    }
    const double count =
      std::max(0.0, (static_cast<double>(*last) - static_cast<double>(*first)) / static_cast<double>(*step));
    const auto n = count < 1e15 ? static_cast<std::int64_t>(count) +
                                    (count > static_cast<double>(static_cast<std::int64_t>(count)) ? 1 : 0)
                                : -1;
    set(0, list{n});
  }
  void segment_sum() {
    const auto x = dims(0);
    const auto segments = scalar(2);
    if (x && rank_of(1) >= 0 && rank_of(1) <= rank_of(0)) {
      list shape{segments.value_or(-1)};
      shape.insert(shape.end(), x->begin() + rank_of(1), x->end());
      set(0, std::move(shape));
    }
  }
  void resize() {
    auto shape = dims(0);
    const auto* const to = values(1);
    if (shape && shape->size() == 4) {
      for (std::size_t i = 0; i < 2; ++i) {
        (*shape)[i + 1] = to != nullptr && to->size() == 2 ? (*to)[i] : -1;
      }
      set(0, shape);
    }
  }

  /// Shapes from a list attribute, each behind a leading extent if there is one.
  void listed(std::string_view key, std::optional<std::int64_t> leading) { listed(n_, key, leading); }
  void listed(const node& n, std::string_view key, std::optional<std::int64_t> leading) {
    const auto shapes = shapes_attribute(n, key);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      auto shape = ports_[i] < shapes.size() ? shape_of(shapes[ports_[i]]) : std::nullopt;
      if (shape && leading) {
        shape->insert(shape->begin(), *leading);
      }
      out_[i].dims = shape;
    }
  }
  /// The queue knows the shapes of its entries.
  void dequeue() {
    if (!sources_.empty()) {
      const bool many = n_.op.find("Many") != n_.op.npos || n_.op.find("UpTo") != n_.op.npos;
      listed(g_[sources_[0].from], "shapes", many ? std::optional{scalar(1).value_or(-1)} : std::nullopt);
    }
  }
};

} // namespace weft::tensorflow::detail
