// SPDX-License-Identifier: BSL-1.0
/// Output shapes of ops that move, cut, join and describe tensors.
#pragma once

#include "weft/interop/tensorflow/op_shapes.hpp"

#include <limits>
#include <string_view>
#include <utility>

namespace weft::tensorflow::detail {

/// The rules of these ops; `shape_rules` chooses among them.
class movement_rules : public op_shapes {
public:
  using op_shapes::op_shapes;

protected:
  /// As the values of one input say, else like another one if that has more than one extent.
  void shape_from(std::size_t i, std::size_t otherwise) {
    if (const auto* const v = values(i)) {
      all(*v);
    } else if (has(otherwise) && in_[otherwise]->dims.size() > 1) {
      all(dims(otherwise));
    } else if (has(i) && in_[i]->dims.size() == 1 && in_[i]->dims[0] <= max_values) {
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
  void identity(std::size_t i) {
    for (auto& o : out_) {
      o = {dims(i), i < in_.size() ? in_[i]->values : nullptr};
    }
  }
  void each() {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      out_[i] = {dims(ports_[i]), ports_[i] < in_.size() ? in_[ports_[i]]->values : nullptr};
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
      known(0, {rank_of(0)}, *dims(0));
    }
  }
  void shape_n() {
    for (const auto port : ports_) {
      if (has(port)) {
        known(port, {rank_of(port)}, *dims(port));
      }
    }
  }
  void size() {
    const double count = has(0) ? elements(in_[0]->dims) : -1;
    known(0, {}, {count < 1e18 ? static_cast<std::int64_t>(count) : -1});
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
    set(0, std::move(shape), in_[0]->values);
  }
  void fill() {
    shape_from(0, in_.size());
    const auto value = scalar(1);
    if (value && out_.size() == 1 && out_[0].dims && out_[0].dims->size() == 1 &&
        out_[0].dims->front() <= static_cast<std::int64_t>(max_values) && out_[0].dims->front() >= 0) {
      out_[0].values = make_values(list(static_cast<std::size_t>(out_[0].dims->front()), *value));
    }
  }

  void concat(std::size_t axis_input, std::size_t first, std::size_t last) {
    auto shape = first < last ? dims(first) : std::nullopt;
    const auto which = scalar(axis_input);
    const auto at = shape && which ? axis(*which, shape->size()) : std::nullopt;
    if (!at) {
      return;
    }
    list joined;
    bool sure = true;
    std::uint64_t extent = 0;
    for (auto i = first; i < last; ++i) {
      const auto part = dims(i);
      if (!part || part->size() != shape->size()) {
        return set(0, std::nullopt);
      }
      extent += static_cast<std::uint64_t>((*part)[*at]);
      const auto* const v = values(i);
      sure = sure && v != nullptr && shape->size() == 1 && joined.size() + v->size() <= max_values;
      if (sure) {
        joined.insert(joined.end(), v->begin(), v->end());
      }
    }
    (*shape)[*at] = static_cast<std::int64_t>(extent & (~std::uint64_t{0} >> 1));
    set(0, shape, sure ? make_values(std::move(joined)) : nullptr);
  }
  void pack() {
    auto shape = dims(0);
    const auto at = shape ? axis(integer_attribute(n_, "axis"), shape->size() + 1) : std::nullopt;
    if (!at) {
      return;
    }
    list joined;
    for (std::size_t i = 0; shape->empty() && i < in_.size() && i < max_values; ++i) {
      if (const auto v = scalar(i)) {
        joined.push_back(*v);
      }
    }
    shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(*at), static_cast<std::int64_t>(in_.size()));
    const bool sure = joined.size() == in_.size() && shape->size() == 1;
    set(0, shape, sure ? make_values(std::move(joined)) : nullptr);
  }
  void unpack() {
    remove_axis(0, integer_attribute(n_, "axis"));
    const auto* const v = values(0);
    for (std::size_t i = 0; v != nullptr && i < ports_.size(); ++i) {
      if (rank_of(0) == 1 && ports_[i] < v->size()) {
        out_[i].values = make_values({(*v)[ports_[i]]});
      }
    }
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
    values_of part;
    if (const auto* const v = values(0); v != nullptr && shape->size() == 1 && placed) {
      const auto from = std::clamp<std::int64_t>(begin->front(), 0, static_cast<std::int64_t>(v->size()));
      const auto first = v->begin() + from;
      part = make_values(list(first, first + std::min<std::int64_t>(shape->front(), v->end() - first)));
    }
    set(0, shape, part);
  }
  /// begin:end:stride per extent, where masks say which bounds are open, which extents vanish and where new ones are.
  void strided_slice() {
    const auto d = dims(0);
    const auto *const begin = values(1), *const end = values(2), *const stride = values(3);
    if (!d || begin == nullptr || end == nullptr || begin->size() != end->size() || begin->size() > 60) {
      return;
    }
    const auto mask = [&](std::string_view key) { return static_cast<std::uint64_t>(integer_attribute(n_, key)); };
    const auto open_begin = mask("begin_mask"), open_end = mask("end_mask"), ellipsis = mask("ellipsis_mask"),
               added = mask("new_axis_mask"), shrunk = mask("shrink_axis_mask");
    list shape;
    list picked;
    std::size_t at = 0;
    std::size_t taken = 0; // extents of x that the entries name
    for (std::size_t i = 0; i < begin->size(); ++i) {
      taken += (ellipsis >> i & 1) || (added >> i & 1) ? 0 : 1;
    }
    for (std::size_t i = 0; i < begin->size(); ++i) {
      if (ellipsis >> i & 1) {
        for (auto left = d->size() - std::min(d->size(), taken); left > 0 && at < d->size(); --left) {
          shape.push_back((*d)[at++]);
        }
      } else if (added >> i & 1) {
        shape.push_back(1);
      } else if (at < d->size()) {
        const auto n = (*d)[at++];
        const auto step = stride != nullptr && i < stride->size() && (*stride)[i] != 0 ? (*stride)[i] : 1;
        const auto bound = [&](std::int64_t b) {
          return std::clamp(b < 0 ? b + n : b, step > 0 ? 0 : std::int64_t{-1}, step > 0 ? n : n - 1);
        };
        const auto from = open_begin >> i & 1 ? (step > 0 ? 0 : n - 1) : bound((*begin)[i]);
        const auto to = open_end >> i & 1 ? (step > 0 ? n : -1) : bound((*end)[i]);
        const auto distance = step > 0 ? to - from : from - to;
        const auto width = step > 0 ? step : step == std::numeric_limits<std::int64_t>::min() ? 1 : -step;
        const bool single = shrunk >> i & 1;
        const auto count = single ? 1 : distance > 0 ? (distance - 1) / width + 1 : 0;
        if (const auto* const v = values(0); v != nullptr && d->size() == 1) {
          for (std::int64_t k = 0; k < count; ++k) {
            const auto index = from + k * step;
            if (index >= 0 && index < static_cast<std::int64_t>(v->size())) {
              picked.push_back((*v)[static_cast<std::size_t>(index)]);
            }
          }
        }
        if (!single) {
          shape.push_back(count);
        }
      }
    }
    shape.insert(shape.end(), d->begin() + static_cast<std::ptrdiff_t>(at), d->end());
    double count = 1;
    for (const auto s : shape) {
      count *= static_cast<double>(s);
    }
    const bool sure = values(0) != nullptr && d->size() == 1 && static_cast<double>(picked.size()) == count;
    set(0, shape.size() <= max_values ? partial_shape{std::move(shape)} : std::nullopt,
        sure ? make_values(std::move(picked)) : nullptr);
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
    values_of picked;
    if (const auto* const from = values(0), * const which = values(1);
        from != nullptr && which != nullptr && x->size() == 1) {
      list result;
      for (const auto k : *which) {
        if (const auto a = axis(k, from->size())) {
          result.push_back((*from)[*a]);
        }
      }
      picked = result.size() == which->size() ? make_values(std::move(result)) : nullptr;
    }
    set(0, std::move(shape), std::move(picked));
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
    const auto* const times = values(1);
    if (shape && times != nullptr && times->size() == shape->size()) {
      for (std::size_t i = 0; i < shape->size(); ++i) {
        (*shape)[i] = *integer_arithmetic("Mul", (*shape)[i], (*times)[i]);
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
      set(0, shape, in_[0]->values);
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
    set(0, std::move(shape), in_[0]->values);
  }
  void pad() {
    auto shape = dims(0);
    const auto* const by = values(1);
    if (shape && by != nullptr && by->size() == 2 * shape->size()) {
      for (std::size_t i = 0; i < shape->size(); ++i) {
        (*shape)[i] =
          *integer_arithmetic("Add", (*shape)[i], *integer_arithmetic("Add", (*by)[2 * i], (*by)[2 * i + 1]));
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
    list numbers;
    for (std::int64_t i = 0; i < n && n <= static_cast<std::int64_t>(max_values); ++i) {
      numbers.push_back(*integer_arithmetic("Add", *first, *integer_arithmetic("Mul", i, *step)));
    }
    set(0, list{n}, static_cast<std::int64_t>(numbers.size()) == n ? make_values(std::move(numbers)) : nullptr);
  }
  void broadcast_args() {
    const auto* const a = values(0);
    const auto* const b = values(1);
    if (a != nullptr && b != nullptr) {
      const auto [first, second] = repeated_axes(*a, *b);
      known(0, {static_cast<std::int64_t>(first.size())}, first);
      known(1, {static_cast<std::int64_t>(second.size())}, second);
    } else {
      all(list{-1});
    }
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
