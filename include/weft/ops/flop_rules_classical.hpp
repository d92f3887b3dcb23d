// SPDX-License-Identifier: BSL-1.0
/// FLOP rules of signal transforms, classical models, boxes and optimisers.
#pragma once

#include "weft/ops/call.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace weft::ops::flop_rules {

/// 5 n log2 n per transform. Source: Frigo, Johnson, *The Design and Implementation of FFTW3*, 2005, footnote on FLOPS.
inline double transform(double n) {
  return n > 1 ? 5 * n * std::log2(n) : 0;
}

/// The axis is an attribute up to operator set 19, then an input; the innermost extent holds one or two parts of a
/// number. Half a spectrum of n / 2 + 1 numbers becomes a signal of n.
inline double fourier(const call& o) {
  const bool as_input = o.version >= 20 || (!o.numbers.contains("axis") && o.value(2));
  const double extent = o.extent(0, as_input ? o.value(2).value_or(-2) : o.number("axis", 1));
  const bool from_half = o.number("onesided", 0) != 0 && o.number("inverse", 0) != 0;
  const auto given = static_cast<double>(o.value(1).value_or(0));
  const double n = given > 0 ? given : from_half ? 2 * (extent - 1) : extent;
  return o.in(0) / std::max(o.extent(0, -1), 1.0) / std::max(extent, 1.0) * transform(n);
}
/// One transform per frame (batch × frames × spectrum × 2), after a product with the window, if there is one.
inline double short_time_fourier(const call& o) {
  if (!o.has_output() || o.outputs[0]->size() != 4) {
    return 0;
  }
  const auto& dims = *o.outputs[0];
  const double spectrum = static_cast<double>(std::max<std::int64_t>(dims[2], 1));
  const double named = static_cast<double>(std::max<std::int64_t>(o.value(3).value_or(0), 0));
  const bool half = o.number("onesided", 1) != 0;
  const double frame = named > 0 ? named : o.rank(2) == 1 ? o.extent(2, 0) : half ? 2 * (spectrum - 1) : spectrum;
  return o.out() / (2 * spectrum) * (transform(frame) + (o.has_input(2) ? frame : 0));
}

/// Of boxes (batch × boxes × 4) with scores per class (batch × classes × boxes): they are sorted, and each that is
/// taken is compared with all, 12 per pair for corners, areas and their ratio. As many are taken as input 2 allows.
inline double suppression(const call& o) {
  const double boxes = o.extent(0, 1);
  const auto most = static_cast<double>(std::max<std::int64_t>(o.value(2).value_or(1), 0));
  const bool shaped = o.rank(0) == 3 && o.rank(1) == 3;
  return shaped ? o.in(1) * (std::log2(std::max(boxes, 2.0)) + 12 * std::min(boxes, most)) : 0;
}

/// Runs of up to so many elements, with gaps, are looked up.
inline double n_grams(const call& o) {
  const auto number = [&](std::string_view name) { return static_cast<double>(o.number(name, 1)); };
  const double lengths = std::max(number("max_gram_length") - number("min_gram_length"), 0.0) + 1;
  const double gaps = o.numbers.contains("max_skip_count") ? std::max(number("max_skip_count"), 0.0) : 0;
  return o.in(0) * lengths * (gaps + 1);
}

/// Examples in the first input: rows of features.
inline double examples(const call& o) {
  return o.rank(0) == 0 ? 0 : o.in(0) / std::max(o.extent(0, -1), 1.0);
}
/// Scores into probabilities: exponential, sum and division, if that is asked for.
inline double post_transform(const call& o) {
  return o.text("post_transform", "NONE") == "NONE" ? 0 : 3 * std::max(o.out(0), o.out(1));
}
/// A row of coefficients per class, and what is added to it.
inline double linear_model(const call& o) {
  const auto coefficients = static_cast<double>(o.length("coefficients"));
  return examples(o) * (2 * coefficients + static_cast<double>(o.length("intercepts"))) + post_transform(o);
}
/// A kernel of the example and each support vector (a product, or with `RBF` a distance and an exponential), weighted.
inline double support_vectors(const call& o) {
  const auto elements = static_cast<double>(o.length("support_vectors"));
  const auto coefficients = static_cast<double>(o.length("coefficients"));
  const bool distances = o.text("kernel_type", "LINEAR") == "RBF";
  const double vectors = elements / std::max(o.rank(0) > 0 ? o.extent(0, -1) : 1, 1.0);
  return examples(o) * ((distances ? 3 : 2) * elements + (distances ? 2 : 1) * vectors + 2 * coefficients) +
         post_transform(o);
}
/// One comparison per level of each tree, and an addition of what its leaf says. Trees are taken to be balanced, so
/// that 2^(d + 1) - 1 nodes have d levels above the leaves.
inline double trees(const call& o) {
  std::map<std::int64_t, double> nodes; // of each tree
  if (const auto of = o.numbers.find("nodes_treeids"); of != o.numbers.end()) {
    for (const auto tree : of->second) {
      ++nodes[tree];
    }
  } else if (const auto count = o.length("tree_roots"); count != 0) { // nodes above the leaves are listed alone
    const double inner = static_cast<double>(o.length("nodes_splits")) / static_cast<double>(count);
    return examples(o) * static_cast<double>(count) * (std::log2(inner + 1) + 1) + post_transform(o);
  }
  double steps = 0;
  for (const auto& [tree, count] : nodes) {
    steps += std::log2(count + 1); // the levels and the addition
  }
  return examples(o) * steps + post_transform(o);
}

/// FLOP per element of all outputs.
template <int Flop>
double per_outputs(const call& o) {
  double elements = 0;
  for (std::size_t i = 0; i < o.outputs.size(); ++i) {
    elements += o.out(i);
  }
  return Flop * elements;
}
/// FLOP per element of what is trained, of which there are `Results` outputs: itself, and the optimiser's state.
template <int Flop, int Results>
double optimiser(const call& o) {
  return per_outputs<Flop>(o) / Results;
}

} // namespace weft::ops::flop_rules
