// SPDX-License-Identifier: BSL-1.0
/// Generated workloads and platforms on a command line, as in `random:layered,ops=100,ccr=1,count=50`.
#pragma once

#include "weft/platform/platform.hpp"
#include "weft/workload/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

inline constexpr std::string_view random_prefix = "random:";

/// The families with their parameters and defaults, for a help text.
std::string list_random_graphs();
std::string list_random_platforms();

/// Puts together what the commas of a list have cut: `random:layered`, `ops=100`, `a.json` is two items. Spaces around
/// items do not count. Throws `weft::error` for a parameter without a family.
std::vector<std::string> join_parameters(const std::vector<std::string>& items);

/// A text for each graph or platform that one with a `count` asks for, with a seed of its own. Throws
/// `weft::value_error` of one line for what is wrong.
std::vector<std::string> random_graphs(std::string_view spec);
std::vector<std::string> random_platforms(std::string_view spec);

struct random_graph {
  std::string name; ///< such as `random:layered ops=100 ccr=1/7`, with the seed behind the slash
  weft::model model;
  std::optional<double> ccr; ///< to be kept on the platform
};

/// The graph of a text. Throws as `random_graphs` does, and if the text asks for several.
random_graph make_random_graph(std::string_view spec);

/// The platform of a text, and a name for it without commas. Throws as `make_random_graph` does.
weft::platform<> make_random_platform(std::string_view spec);
std::string random_platform_name(std::string_view spec);

} // namespace tool
