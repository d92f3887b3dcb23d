// SPDX-License-Identifier: BSL-1.0
/// Names that are given once only.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace weft::nn::detail {

/// Makes names unique as TensorFlow does: with `_1`, `_2`, … when a name is taken.
class name_table {
public:
  std::string unique(const std::string& wanted) {
    auto& uses = uses_[wanted];
    if (uses++ == 0) {
      return wanted;
    }
    for (;; ++uses) {
      auto name = wanted + "_" + std::to_string(uses - 1);
      if (uses_[name]++ == 0) {
        return name;
      }
    }
  }

private:
  std::map<std::string, std::uint32_t> uses_;
};

} // namespace weft::nn::detail
