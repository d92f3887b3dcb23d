// SPDX-License-Identifier: BSL-1.0
/// The tool `compare` with strategies of your own beside the library's, for programs that link weft::compare.
#pragma once

#include "weft/instance.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/solve/registry.hpp"

#include <functional>

namespace weft::tool {

/// The strategies that `compare` runs, by name: `add_partitioner`, `add_policy` and `add_refiner` take more.
using strategies = registry<instance>;

/// The whole of a program's `main`: the tool `compare` (docs/compare.md). `add` is handed the library's strategies, to
/// add others under names that are not taken; these then stand wherever a name does: on the command line, for `all`, in
/// tables, files and reports.
/// ```
/// int main(int argc, char** argv) {
///   return weft::tool::compare(argc, argv, [](auto& all) { all.add_partitioner("mine", my_heuristic{}); });
/// }
/// ```
/// Returns 0, or 2 after one line on the standard error stream that says what is wrong. `--help` and `--version` end
/// the program.
int compare(int argc, char** argv, const std::function<void(strategies&)>& add = {});

} // namespace weft::tool
