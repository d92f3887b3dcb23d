// SPDX-License-Identifier: BSL-1.0
/// Output shapes of ops that trade extents for each other, take matrices apart, or sum rows by their numbers.
///
/// Source: the shape functions in tensorflow/core/ops/{array, linalg, math, nn, list, image, spectral}_ops.cc and
/// tensorflow/core/framework/common_shape_fns.cc.
#pragma once

#include "weft/interop/tensorflow/movement_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace weft::tensorflow::detail {

/// The rules of these ops; `shape_rules` chooses among them.
class structure_rules : public movement_rules {
public:
  using movement_rules::movement_rules;

protected:
  static std::int64_t over(std::int64_t a, std::int64_t b) { return b > 0 ? a / b : -1; }

  /// Blocks of each padded extent become examples (SpaceToBatch), or examples blocks, whose edges are cut off.
  void batch_of_blocks(bool to_batch) {
    const auto d = dims(0);
    const bool named = n_.op.ends_with("ND"); // the others have one block size, for height and width
    const auto size = integer_attribute(n_, "block_size", 1);
    const auto* const given = values(1);
    const auto blocks = !named             ? std::optional{list{size, size}}
                        : given != nullptr ? std::optional{*given}
                                           : std::nullopt;
    const auto* const edges = values(named ? 2 : 1);
    if (!d || !blocks || d->size() <= blocks->size()) {
      return;
    }
    auto shape = *d;
    for (std::size_t i = 0; i < blocks->size(); ++i) {
      const auto b = (*blocks)[i];
      const bool known = edges != nullptr && edges->size() == 2 * blocks->size();
      const auto edge = known ? plus((*edges)[2 * i], (*edges)[2 * i + 1]) : 0;
      shape[0] = to_batch ? times(shape[0], b) : over(shape[0], b);
      shape[i + 1] = !known ? -1 : to_batch ? over(plus(shape[i + 1], edge), b) : plus(times(shape[i + 1], b), -edge);
    }
    set(0, std::move(shape));
  }
  /// Blocks of height and width become channels, or the other way round.
  void channels_of_blocks(bool to_channels) {
    auto shape = dims(0);
    const auto format = text_attribute(n_, "data_format");
    const auto b = integer_attribute(n_, "block_size", 1);
    if (!shape || shape->size() < 4 || b < 1) {
      return;
    }
    const bool first = format.starts_with("NC");
    const std::size_t at = first ? 2 : 1;
    auto& channels = (*shape)[first ? 1 : 3];
    channels = to_channels ? times(channels, times(b, b)) : over(channels, times(b, b));
    for (const auto i : {at, at + 1}) {
      (*shape)[i] = to_channels ? over((*shape)[i], b) : times((*shape)[i], b);
    }
    set(0, shape);
  }

  /// Windows whose sizes are in `ksizes`, or in a filter's extents; each becomes one example, with all that is in it as
  /// channels, or one number per channel.
  void patches(bool filters) {
    const auto d = dims(0);
    const auto f = filters ? dims(1) : std::nullopt;
    const auto sizes = integers_attribute(n_, "ksizes");
    const auto strides = integers_attribute(n_, "strides");
    const auto rates = integers_attribute(n_, "rates");
    if (!d || d->size() < 3 || (filters ? !f || f->size() + 1 != d->size() : sizes.size() != d->size())) {
      return;
    }
    auto shape = *d;
    for (std::size_t i = 1; i + 1 < d->size(); ++i) {
      const auto width = std::clamp<std::int64_t>(filters ? (*f)[i - 1] : sizes[i], 1, 1 << 30);
      const auto stride = std::max<std::int64_t>(1, i < strides.size() ? strides[i] : 1);
      const auto rate = std::clamp<std::int64_t>(i < rates.size() ? rates[i] : 1, 1, 1 << 30);
      const auto reach = (width - 1) * rate + 1;
      const auto extent = std::min<std::int64_t>(shape[i], std::int64_t{1} << 60);
      const bool same = text_attribute(n_, "padding").starts_with("SAME");
      shape[i] = same ? (extent - 1) / stride + 1 : std::max<std::int64_t>(-stride, extent - reach) / stride + 1;
      shape.back() = filters ? shape.back() : times(shape.back(), width);
    }
    set(0, std::move(shape));
  }

  /// Rows that are summed by the number that each has. The numbers ascend, so the last one tells how many come out.
  /// `ids` is the input with them.
  void segments(std::size_t ids) {
    auto shape = dims(0);
    if (!shape || shape->empty() || rank_of(ids) != 1) {
      return;
    }
    if (const auto given = scalar(ids + 1); n_.op.ends_with("WithNumSegments")) {
      shape->front() = given.value_or(-1);
    } else if (const auto* const all = values(ids); all != nullptr && !all->empty()) {
      shape->front() = plus(all->back(), 1);
    } else {
      shape->front() = dims(ids)->front();
      at_most_ = true;
    }
    set(0, shape);
  }
  /// As many rows as there are elements that are true or differ; `columns` each, or none if that is negative.
  void chosen_rows(std::int64_t columns) {
    if (const auto d = dims(0)) {
      const double count = elements(in_[0]->dims);
      const auto rows = count < 1e18 ? static_cast<std::int64_t>(count) : -1;
      all(d);
      set(0, columns < 0 ? list{rows} : list{rows, columns});
      at_most_ = true;
    }
  }

  /// Matrices with these diagonals. Source: MatrixDiagV2Shape.
  void matrix_of_diagonals() {
    const auto d = dims(0);
    const auto band = diagonals();
    if (!d || d->empty() || !band) {
      return;
    }
    const auto [low, high] = *band;
    auto shape = *d;
    const auto length = shape.back();
    shape.pop_back();
    if (low != high && !shape.empty()) {
      shape.pop_back();
    }
    const auto rows = plus(length, -std::min<std::int64_t>(high, 0));
    const auto columns = plus(length, std::max<std::int64_t>(low, 0));
    const auto wanted = [&](std::size_t i) { return scalar(i).value_or(-1); };
    const bool square = wanted(2) < 0 && wanted(3) < 0;
    shape.push_back(square ? std::max(rows, columns) : wanted(2) < 0 ? rows : wanted(2));
    shape.push_back(square ? std::max(rows, columns) : wanted(3) < 0 ? columns : wanted(3));
    set(0, std::move(shape));
  }
  /// The diagonals of matrices. Source: MatrixDiagPartV2Shape.
  void diagonals_of_matrix() {
    auto shape = dims(0);
    const auto band = diagonals();
    if (!shape || shape->size() < 2 || !band) {
      return;
    }
    const auto [low, high] = *band;
    const auto columns = shape->back();
    shape->pop_back();
    const auto rows = shape->back();
    shape->pop_back();
    if (low != high) {
      shape->push_back(plus(plus(high, -low), 1));
    }
    const auto below = plus(rows, std::min<std::int64_t>(high, 0));
    const auto beside = plus(columns, std::min<std::int64_t>(-low, 0));
    shape->push_back(std::min(below, beside));
    set(0, shape);
  }
  /// Lowest and highest; the main one if the op does not say.
  std::optional<std::pair<std::int64_t, std::int64_t>> diagonals() const {
    constexpr std::int64_t most = 1 << 30;
    if (n_.op.find('V') == n_.op.npos) {
      return std::pair<std::int64_t, std::int64_t>{0, 0};
    }
    const auto* const k = values(1);
    if (k == nullptr || k->empty()) {
      return std::nullopt;
    }
    return std::pair{std::clamp(k->front(), -most, most), std::clamp(k->back(), -most, most)};
  }
  /// A tensor with another one on its diagonal, or that diagonal.
  void diagonal(bool part) {
    if (auto d = dims(0); d && d->size() <= max_axes / 2) {
      const auto half = part ? d->size() / 2 : d->size();
      d->resize(half);
      if (!part) {
        d->insert(d->end(), d->begin(), d->begin() + static_cast<std::ptrdiff_t>(half));
      }
      set(0, d);
    }
  }

  /// What is left of matrices, their batch first.
  void matrix_parts() {
    const auto d = dims(0);
    if (!d || d->size() < 2) {
      return;
    }
    const auto batch = list(d->begin(), d->end() - 2);
    const auto rows = (*d)[d->size() - 2];
    const auto columns = d->back();
    const auto with = [&](std::initializer_list<std::int64_t> extents) {
      auto shape = batch;
      shape.insert(shape.end(), extents);
      return shape;
    };
    const auto least = std::min(rows, columns);
    const bool full = bool_attribute(n_, "full_matrices");
    const auto told = [&](std::string_view key) { return !attribute(n_, key) || bool_attribute(n_, key); }; // else true
    switch (family_.shape) {
    case shape_rule::svd: {
      const bool vectors = told("compute_uv");
      set(0, with({least}));
      set(1, vectors ? with({rows, full ? rows : least}) : list{0});
      set(2, vectors ? with({columns, full ? columns : least}) : list{0});
      break;
    }
    case shape_rule::qr:
      set(0, with({rows, full ? rows : least}));
      set(1, with({full ? rows : least, columns}));
      break;
    case shape_rule::eigen:
      set(0, with({rows}));
      set(1, told("compute_v") ? with({rows, rows}) : list{0});
      break;
    case shape_rule::lu:
      set(0, d);
      set(1, with({rows}));
      break;
    default: all(batch); break; // determinants
    }
  }
  /// x of A x = b: rows as A has rows, or columns where only the smallest error is asked for.
  void solve() {
    set_product(n_.op.ends_with("SolveLs"), false);
  }
  /// A real signal's spectrum has half as many numbers, and one more.
  void real_spectrum(bool inverse) {
    auto shape = dims(0);
    const auto* const lengths = values(1);
    if (!shape || lengths == nullptr || lengths->size() > shape->size()) {
      return;
    }
    std::ranges::copy(*lengths, shape->end() - static_cast<std::ptrdiff_t>(lengths->size()));
    if (!inverse && !lengths->empty()) {
      shape->back() = shape->back() / 2 + 1;
    }
    set(0, shape);
  }

  /// A list of tensors is known by what all its tensors would be as one, the number first.
  void list_of(partial_shape element, std::int64_t count) {
    if (element) {
      element->insert(element->begin(), count);
      set(0, element);
    }
  }
  void list_from_tensor() { all(dims(0)); }
  void list_reserve() {
    const auto* const element = values(0);
    list_of(element != nullptr ? partial_shape{*element} : std::nullopt, scalar(1).value_or(-1));
  }
  /// One tensor of a list, or all as one, of the shape that input `at` says as far as it does.
  void list_elements(std::size_t at, bool stacked) {
    auto shape = dims(0);
    const auto* const element = values(at);
    if (shape && !shape->empty()) {
      const auto count = shape->front();
      shape->erase(shape->begin());
      for (std::size_t i = 0; element != nullptr && element->size() == shape->size() && i < shape->size(); ++i) {
        (*shape)[i] = (*element)[i] >= 0 ? (*element)[i] : (*shape)[i];
      }
      const auto told = integer_attribute(n_, "num_elements", -1);
      if (stacked) {
        shape->insert(shape->begin(), told >= 0 ? told : count);
      }
    } else if (element != nullptr && !stacked) {
      shape = *element;
    }
    set(0, shape);
  }

  /// Boxes of images, each scaled to one size.
  void crop_and_resize() {
    const auto d = dims(0);
    const auto boxes = dims(1);
    const auto* const size = values(3);
    if (d && d->size() == 4 && boxes && !boxes->empty() && size != nullptr && size->size() == 2) {
      set(0, list{boxes->front(), size->front(), size->back(), d->back()});
    }
  }
  /// All steps of a recurrence: like x (input 1), with as many numbers as the state (input 2) has.
  void all_steps() {
    auto shape = dims(1);
    const auto state = dims(2);
    if (shape && !shape->empty() && state && !state->empty()) {
      shape->back() = state->back();
      all(shape);
    }
  }

  bool at_most_ = false; ///< whether what is proposed is the most that is possible, as data decide
};

} // namespace weft::tensorflow::detail
