// SPDX-License-Identifier: BSL-1.0
/// Contiguous blocks of equally many layers per device, as frameworks split models that are too large for one.
#pragma once

#include "weft/partition/concepts.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/partition/layers.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::partition {

/// Cuts a network into blocks of consecutive layers, equally many per accelerator (the first ones get one more if they
/// do not divide evenly): the usual model parallelism. Layers come from the names of ops, see `op_name::layer`:
/// the outermost scopes of which there are several of a kind, if there are as many as accelerators, else the innermost
/// ones; ordered by their ops with the longest path to the end, so that parameters are where they are read. A
/// colocation group has one block: of the layer that its op with the longest path to the end names, or the op by which
/// it reads from outside. Then
/// - gradient ops go with the op of which they are a gradient;
/// - other ops go where their inputs come from: to the last of these blocks, gradients to the first; what is made from
///   nothing, such as parameters with their updates, to the first block that needs it. So embeddings come first, the
///   head and the loss last.
///
/// Without such names (fewer than two layers) groups and ops in the order of their longest paths to the end are cut
/// into blocks of equal work, gradients counted with their ops. A baseline: it respects kinds and groups, not memory; a
/// component that does not allow its block's device goes to the next accelerator that it allows, else to the first
/// device. Complexity: O(n log n + m + components · devices), plus reading the names.
struct layer_split {
  template <class Problem>
  outcome<placement> operator()(const Problem& p) const {
    const auto devices = accelerators(p);
    const std::size_t k = devices.size();
    const auto finder = layers_for(p, k);
    const bool named = finder.layers().size() >= 2;
    const std::size_t parts = named ? finder.layers().size() : k;
    const auto part = finder.fill_in(named ? finder.named_parts() : finder.parts_of_equal_work(k, devices.front()),
                                     static_cast<std::uint32_t>(parts));
    return first_device::place(p, devices, [&](component_id c) {
      return block_of(std::clamp<std::size_t>(part[c], 1, parts) - 1, parts, k);
    });
  }

  /// Whether names tell layers, so that blocks have equally many of them and not equal work.
  template <class Problem>
  static bool finds_layers(const Problem& p) {
    return layers_for(p, accelerators(p).size()).layers().size() >= 2;
  }

private:
  template <class Problem>
  static detail::layer_finder<Problem> layers_for(const Problem& p, std::size_t devices) {
    detail::layer_finder<Problem> finder{p};
    finder.by_scopes(devices);
    return finder;
  }

  /// The block of part i of `parts`, of which the first blocks get one more if they do not divide evenly.
  static std::size_t block_of(std::size_t i, std::size_t parts, std::size_t blocks) {
    const std::size_t each = parts / blocks;
    const std::size_t more = parts % blocks; // blocks with one more
    const std::size_t in_larger = more * (each + 1);
    return i < in_larger ? i / (each + 1) : more + (i - in_larger) / each;
  }
};

} // namespace weft::partition
