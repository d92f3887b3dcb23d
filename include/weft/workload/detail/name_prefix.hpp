// SPDX-License-Identifier: BSL-1.0
/// The beginning of an op's name, before its scopes. Every workload looks at it, so this header is cheap to compile.
#pragma once

#include "weft/core/config.hpp"

#include <string_view>

namespace weft::detail {

/// The beginning of an op's name, and the rest.
struct name_prefix {
  std::string_view copy = {};  ///< `data_1/`, `micro_0/` or `tensor_2/`, or several
  std::string_view scope = {}; ///< the name without that and a leading `gradients/`, `gradients_1/` or `recompute/`
  bool is_gradient = false;    ///< there is one of these

  constexpr explicit name_prefix(std::string_view name) : scope{name} {
    while (is_copy_of(scope, "data_") || is_copy_of(scope, "micro_") || is_copy_of(scope, "tensor_")) {
      scope.remove_prefix(scope.find('/') + 1);
    }
    copy = name.substr(0, name.size() - scope.size());
    is_gradient = is_numbered(scope, "gradients", "_0123456789") || scope.starts_with("recompute/");
    scope.remove_prefix(is_gradient ? scope.find('/') + 1 : 0);
  }

private:
  /// True for a name that begins with `kind`, characters of `number` and a slash.
  static constexpr bool is_numbered(std::string_view name, std::string_view kind, std::string_view number) {
    if (!name.starts_with(kind)) {
      return false;
    }
    const auto end = name.find_first_not_of(number, kind.size());
    return end != name.npos && name[end] == '/';
  }
  static constexpr bool is_copy_of(std::string_view name, std::string_view kind) {
    return is_numbered(name, kind, "0123456789") && name[kind.size()] != '/';
  }
};

} // namespace weft::detail
