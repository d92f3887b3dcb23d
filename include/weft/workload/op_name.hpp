// SPDX-License-Identifier: BSL-1.0
/// The layer that an op belongs to, read from its name.
#pragma once

#include "weft/core/numbering.hpp"
#include "weft/workload/detail/name_prefix.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

/// The parts of an op's name, as views of it. A scope of a model's own that is called like a copy counts as one.
struct op_name {
  std::string_view copy = {};  ///< `data_1/`, `micro_0/` or `tensor_2/`, or several: which copy or part of an op it is
  std::string_view scope = {}; ///< the name without that and a leading `gradients/`, `gradients_1/` or `recompute/`
  bool is_gradient = false;    ///< or made again for gradients: it is of the backward pass

  op_name() = default;
  explicit op_name(std::string_view name) {
    const detail::name_prefix prefix{name};
    copy = prefix.copy;
    scope = prefix.scope;
    is_gradient = prefix.is_gradient;
  }

  /// The name, in TensorFlow's form, of the op of which this is a gradient: what stands before the first `_grad`; empty
  /// if nothing does.
  std::string_view origin() const {
    const auto at = scope.find("_grad/");
    return is_gradient && at != scope.npos ? scope.substr(0, at) : std::string_view{};
  }

  /// The name of the op of which this is one of several gradients, in the form of `training_step` of a workload: what
  /// stands before a last `/input`, `/operand`, `/weights` or `/AddN`; empty if nothing does.
  std::string_view origin_of_part() const {
    for (const std::string_view part : {"/input", "/operand", "/weights/AddN", "/weights", "/AddN"}) {
      if (is_gradient && scope.ends_with(part)) {
        return scope.substr(0, scope.size() - part.size());
      }
    }
    return {};
  }

  /// The scope up to and including the outermost (or the innermost) one that is one of several of its kind: that bears
  /// a number, such as `encoder/layer_3`, `h12` or `model.layers.7`, or is among `firsts`, as `conv2d` is where there
  /// is a `conv2d_1`. Empty if none is. The last part, the op's own name, does not count.
  std::string_view layer(bool outermost, const numbering<std::string_view>& firsts = {}) const {
    std::string_view found;
    each_scope([&](std::string_view s) {
      if ((found.empty() || !outermost) && (is_digit(s.back()) || firsts.contains(s))) {
        found = s;
      }
    });
    return found;
  }

  /// The scope up to and including the outermost numbered one, also with a letter after the number as in `mixed_5b`,
  /// for whose kind `accepts(kind)` holds: the scope with `#` for the numbers of its last part.
  template <class Accepts>
  std::string_view layer_of_kind(const numbering<std::string_view>& firsts, const Accepts& accepts) const {
    std::string_view found;
    each_numbered(firsts, [&](std::string_view s, const std::string& kind) {
      if (found.empty() && accepts(kind)) {
        found = s;
      }
    });
    return found;
  }

  /// Calls `found(scope, kind)` for each numbered scope, from the outermost inwards.
  template <class Found>
  void each_numbered(const numbering<std::string_view>& firsts, const Found& found) const {
    std::string kind;
    std::size_t known = 0;
    each_scope([&](std::string_view s) {
      const bool lettered = s.size() > 1 && is_digit(s[s.size() - 2]) && s.back() >= 'a' && s.back() <= 'z';
      const bool first = firsts.contains(s);
      for (std::size_t i = known; i < s.size(); ++i) { // numbers of any digits are one sign
        if (!is_digit(s[i])) {
          kind += s[i];
        } else if (i == known || !is_digit(s[i - 1])) {
          kind += '#';
        }
      }
      known = s.size();
      if (is_digit(s.back()) || lettered || first) {
        found(s, lettered ? kind.substr(0, kind.size() - 1) : first ? kind + "_#" : kind);
      }
    });
  }

  /// The scopes around the op, each with those around it, from the outermost inwards; of a name that nests deeper than
  /// any model does, the outer 64.
  template <class Found>
  void each_scope(const Found& found) const {
    std::size_t begin = 0;
    int depth = 0;
    for (auto end = scope.find_first_of("/."); end != scope.npos && depth < 64;
         end = scope.find_first_of("/.", begin)) {
      if (end > begin) {
        ++depth;
        found(scope.substr(0, end));
      }
      begin = end + 1;
    }
  }

  /// Adds what its numbered scopes are called where a framework gives the first of a kind no number.
  void add_firsts(numbering<std::string_view>& firsts) const {
    each_scope([&](std::string_view s) {
      const auto last = s.find_last_not_of("0123456789");
      if (is_digit(s.back()) && last != s.npos && last > 0 && s[last] == '_') {
        firsts.insert(s.substr(0, last));
      }
    });
  }

private:
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
};

} // namespace weft
