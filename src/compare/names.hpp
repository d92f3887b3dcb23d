// SPDX-License-Identifier: BSL-1.0
/// Names of workloads and platforms in the results, each for one thing.
#pragma once

#include "weft/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace comparison {

/// Something of the command line, and what the results are to call it.
struct named {
  std::string* name; ///< of a file, it is replaced
  bool is_file = false;
  std::filesystem::path path = {}; ///< of a file, as on the command line
};

/// The last `count` parts of a path, `a/b/g` of `/data/a/b/g.json`.
inline std::string last_parts(const std::filesystem::path& path, std::ptrdiff_t count, bool with_extension) {
  const auto whole = with_extension ? path : path.parent_path() / path.stem();
  std::filesystem::path end;
  for (auto part = std::prev(whole.end(), std::min(count, std::distance(whole.begin(), whole.end())));
       part != whole.end(); ++part) {
    end /= *part;
  }
  return end.generic_string();
}

/// Names files without folder and extension or, where several are called the same, each with so many folders, and the
/// extension if need be, that no two are. Throws `error` if one thing appears twice; `option` is what named it.
inline void name_apart(const char* option, const std::vector<named>& all) {
  const auto same = [&] {
    std::set<std::string> seen;
    for (const auto& x : all) {
      if (!seen.insert(*x.name).second) {
        return &x;
      }
    }
    return static_cast<const named*>(nullptr);
  };
  std::vector<std::filesystem::path> paths;
  std::ptrdiff_t most = 1;
  for (const auto& x : all) {
    auto path = x.is_file ? std::filesystem::absolute(x.path).lexically_normal() : std::filesystem::path{};
    paths.push_back(x.is_file && !path.has_filename() ? path.parent_path() : path); // a folder may end in a slash
    most = std::max(most, std::distance(paths.back().begin(), paths.back().end()));
  }
  for (std::ptrdiff_t parts = 1; parts <= most; ++parts) {
    for (const bool with_extension : {false, true}) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].is_file) {
          *all[i].name = last_parts(paths[i], parts, with_extension);
        }
      }
      if (same() == nullptr) {
        return;
      }
    }
  }
  if (const auto* x = same()) {
    throw weft::error(fmt::format("{}: '{}' is named twice; leave one of the two out", option,
                                  x->is_file ? x->path.string() : *x->name));
  }
}

} // namespace comparison
