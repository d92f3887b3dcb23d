// SPDX-License-Identifier: BSL-1.0
/// The platforms that a command line may name.
#pragma once

#include "weft/platform/platform.hpp"

#include <string>

namespace tool {

/// A platform, and what its speeds are.
struct target {
  std::string name; ///< as on the command line
  weft::platform<> devices;
  bool flops = false; ///< speeds are FLOP/s for certain; else they are in the unit of the work
  bool is_file = false;
};

/// A named platform, with or without `preset:` before its name; `identical:P`; `random:FAMILY,NAME=VALUE,…`; or a file.
/// Throws `weft::error` of one line for what is none of them.
target load_platform(const std::string& spec);

} // namespace tool
