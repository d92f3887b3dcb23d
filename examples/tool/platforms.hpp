// SPDX-License-Identifier: BSL-1.0
/// The platforms that a command line may name.
#pragma once

#include "weft/platform/platform.hpp"

#include <string>

namespace tool {

/// A named platform, with or without `preset:` before its name; `identical:P`; or a file. Throws `weft::error` of one
/// line for what is none of them.
weft::platform<> load_platform(const std::string& spec);

} // namespace tool
