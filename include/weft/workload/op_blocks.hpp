// SPDX-License-Identifier: BSL-1.0
/// Blocks of layers, as names of ops tell them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/op_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {

/// The block of each op, `layer_3`, `h12` or `model.layers.7`, by their order among the first `count` ops; `none` of
/// others, such as those that a training step has beside the ops of its model. Complexity: O(n) in the names' lengths.
template <named_workload Workload>
std::vector<op_id> blocks_of_ops(const Workload& w, std::size_t count) {
  std::unordered_map<std::string_view, op_id> blocks;
  std::vector<op_id> block_of(w.num_ops(), none);
  for (const op_id v : ids(count)) {
    if (const auto layer = op_name{w.name(v)}.layer(true); !layer.empty()) {
      block_of[v] = blocks.try_emplace(layer, static_cast<op_id>(blocks.size())).first->second;
    }
  }
  return block_of;
}

/// The number of blocks of such a list.
inline std::uint32_t count_blocks(const std::vector<op_id>& block_of) {
  std::uint32_t count = 0;
  for (const op_id block : block_of) {
    count = block == none ? count : std::max(count, block + 1);
  }
  return count;
}

} // namespace weft
