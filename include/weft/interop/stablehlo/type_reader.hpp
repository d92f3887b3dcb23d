// SPDX-License-Identifier: BSL-1.0
/// Reads the types in the text of a StableHLO program, and gives them numbers.
#pragma once

#include "weft/interop/stablehlo/cursor.hpp"
#include "weft/interop/stablehlo/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::stablehlo {

/// Extents that a text leaves open.
struct open_extents {
  std::int64_t outermost = 1;
  std::int64_t other = 1;
};

namespace detail {

/// Equal types have the same number, the position in `types`.
class type_reader {
public:
  type_reader(cursor& in, program& p, open_extents open) : in_{in}, p_{p}, types_{p.types}, open_{open} {}

  /// `!name = type`: what comes after the sign of equality.
  void define(std::string_view name) { aliases_.emplace(name, text()); }

  /// The number of the type that is next.
  std::uint32_t read() {
    const auto at = in_.position();
    const auto written = text();
    const auto [entry, is_new] = numbers_.try_emplace(written, static_cast<std::uint32_t>(types_.size()));
    if (is_new) {
      auto t = parsed(written, at);
      for (std::size_t i = 0; i < t.dims.size(); ++i) {
        if (t.dims[i] == value_type::dynamic) {
          t.dims[i] = i == 0 ? open_.outermost : open_.other;
          (i == 0 ? p_.has_open_batch : p_.has_open_others) = true;
        }
      }
      if (t.dims.size() > 256) {
        in_.fail("a type has more than 256 extents", at);
      }
      if (t.bytes() > max_total_bytes) {
        in_.fail("a type has more than 2^62 bytes: " + io::in_quotes(written), at);
      }
      types_.push_back(std::move(t));
    }
    return entry->second;
  }
  /// Types in brackets, with attributes and locations that may follow each.
  std::vector<std::uint32_t> read_in_brackets() {
    std::vector<std::uint32_t> types;
    in_.list("(", ")", [&] {
      types.push_back(read());
      if (in_.peek() == '{') {
        in_.balanced();
      }
      in_.location();
    });
    return types;
  }
  std::vector<std::uint32_t> read_results() {
    return in_.peek() == '(' ? read_in_brackets() : std::vector<std::uint32_t>{read()};
  }

private:
  value_type parsed(std::string_view written, std::size_t at) const {
    try {
      return parse_type(written);
    } catch (const error& e) {
      in_.fail("type " + io::in_quotes(written) + ": " + e.what(), at);
    }
  }

  /// `tensor<8xf32>`, `!quant.uniform<…>`, `(f32) -> f32`, …
  std::string_view text() {
    const char c = in_.peek();
    const auto start = in_.position();
    if (c == '(') {
      in_.balanced();
      if (in_.accept("->")) {
        text();
      }
      return in_.since(start);
    }
    const bool marked = in_.accept("!");
    const auto word = marked ? in_.name() : in_.word();
    if (word.empty()) {
      in_.fail("expected a type, but found " + in_.what_is_next());
    }
    if (in_.peek() == '<') {
      in_.balanced();
    } else if (const auto alias = aliases_.find(word); marked && alias != aliases_.end()) {
      return alias->second;
    }
    return in_.since(start);
  }

  cursor& in_;
  program& p_;
  std::vector<value_type>& types_;
  open_extents open_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::unordered_map<std::string_view, std::string_view> aliases_;
};

} // namespace detail
} // namespace weft::stablehlo
