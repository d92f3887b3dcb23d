// SPDX-License-Identifier: BSL-1.0
/// The equations of Einsum: the letters that name the extents of operands and result.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ops {

/// An equation such as `bij,bjk->bik`, as in NumPy: an ellipsis stands for the extents of an operand that no letter
/// names, which are broadcast. Without an arrow, the result has the ellipsis and, in their order, the letters that are
/// used once.
class einsum_equation {
public:
  explicit einsum_equation(std::string_view equation) {
    std::string text;
    for (std::size_t i = 0; i < equation.size(); ++i) {
      if (equation.substr(i, 3) == "...") {
        text += ellipsis;
        i += 2;
      } else if (equation[i] != ' ') {
        text += equation[i];
      }
    }
    const auto arrow = text.find("->");
    terms_.emplace_back();
    for (const char c : text.substr(0, arrow)) {
      if (c == ',') {
        terms_.emplace_back();
      } else {
        terms_.back() += c;
      }
    }
    if (arrow != text.npos) {
      result_ = text.substr(arrow + 2);
      return;
    }
    std::map<char, int> uses;
    for (const auto& term : terms_) {
      for (const char c : term) {
        ++uses[c];
      }
    }
    result_ = uses.contains(ellipsis) ? std::string(1, ellipsis) : "";
    for (const auto& [letter, count] : uses) {
      result_ += count == 1 && letter != ellipsis ? std::string(1, letter) : "";
    }
  }

  std::size_t num_operands() const { return terms_.size(); }

  /// Learns the extents of an operand. False, and nothing is learned, if they are not as many as its letters name.
  bool add(std::size_t operand, const std::vector<std::int64_t>& dims) {
    if (operand >= terms_.size()) {
      return false;
    }
    const auto& term = terms_[operand];
    const auto dots = static_cast<std::size_t>(std::count(term.begin(), term.end(), ellipsis));
    const auto named = term.size() - dots;
    if (dots > 1 || named > dims.size() || (dots == 0 && named != dims.size())) {
      return false;
    }
    auto at = dims.begin();
    for (const char c : term) {
      if (c != ellipsis) {
        auto& e = extents_[c];
        e = std::max(e, *at++);
        continue;
      }
      const auto count = dims.size() - named;
      unnamed_.insert(unnamed_.begin(), count - std::min(count, unnamed_.size()), 1);
      for (auto e = unnamed_.end() - static_cast<std::ptrdiff_t>(count); e != unnamed_.end(); ++e) {
        *e = std::max(*e == 1 ? *at : *e, *at == 1 ? *e : *at);
        ++at;
      }
    }
    return true;
  }

  /// The extents of the result; nothing if it names one that no operand has.
  std::optional<std::vector<std::int64_t>> result() const {
    std::vector<std::int64_t> dims;
    for (const char c : result_) {
      if (c == ellipsis) {
        dims.insert(dims.end(), unnamed_.begin(), unnamed_.end());
      } else if (const auto e = extents_.find(c); e != extents_.end()) {
        dims.push_back(e->second);
      } else {
        return std::nullopt;
      }
    }
    return dims;
  }

  /// The number of combinations of all indices.
  double combinations() const {
    double all = 1;
    for (const auto extent : unnamed_) {
      all *= static_cast<double>(extent);
    }
    for (const auto& [letter, extent] : extents_) {
      all *= static_cast<double>(extent);
    }
    return all;
  }

  /// Whether the result lacks an index of the operands.
  bool sums() const {
    const auto lacks = [this](char c) { return result_.find(c) == result_.npos; };
    return std::any_of(terms_.begin(), terms_.end(),
                       [&](const std::string& term) { return std::any_of(term.begin(), term.end(), lacks); });
  }

private:
  static constexpr char ellipsis = '.';

  std::vector<std::string> terms_; // without blanks, an ellipsis as one character
  std::string result_;
  std::map<char, std::int64_t> extents_;
  std::vector<std::int64_t> unnamed_; // what an ellipsis stands for
};

} // namespace weft::ops
