// SPDX-License-Identifier: BSL-1.0
/// The JSON of exported programs, within bounds of memory and depth.
#pragma once

#include "weft/core/error.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace weft::pytorch::detail {

using json = nlohmann::json;

/// Counts what the values of a JSON text would take in memory.
class document_size : public nlohmann::json_sax<json> {
public:
  static constexpr std::size_t max_depth = 500;

  explicit document_size(std::uint64_t most) : most_{most} {}

  bool null() override { return add(); }
  bool boolean(bool) override { return add(); }
  bool number_integer(number_integer_t) override { return add(); }
  bool number_unsigned(number_unsigned_t) override { return add(); }
  bool number_float(number_float_t, const string_t&) override { return add(); }
  bool string(string_t& s) override { return add(48 + s.size()); }
  bool binary(binary_t&) override { return add(); }
  bool key(string_t& s) override { return add(96 + s.size()); }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }

  bool is_large() const { return bytes_ > most_; }
  bool is_deep() const { return depth_ > max_depth; }
  std::size_t position() const { return position_; }

private:
  bool add(std::uint64_t bytes = 0) {
    bytes_ += 40 + bytes; // a value, in a list that has room for more
    return bytes_ <= most_;
  }
  bool enter() { return add(48) && ++depth_ <= max_depth; }
  bool leave() {
    --depth_;
    return true;
  }

  std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  std::size_t depth_ = 0;
  std::size_t position_ = 0;
};

/// Throws `parse_error` for what is not JSON, is nested too deep, or would take over 20 times its size.
inline json parse_document(std::string_view text, const std::string& file) {
  document_size size{20 * std::uint64_t{text.size()} + (std::uint64_t{64} << 20)};
  const bool zero = text.find('\0') != text.npos; // which the library takes for the end
  if (zero || !json::sax_parse(text, &size)) {
    if (size.is_large()) {
      throw parse_error(file, 0, "the JSON has so many small values that reading it would take over 20 times its size");
    }
    if (size.is_deep()) {
      throw parse_error(file, 0, "lists and objects are nested more than 500 deep");
    }
    const auto at = std::min(zero ? text.find('\0') : size.position(), text.size());
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw parse_error(file, static_cast<std::size_t>(line) + 1,
                      "not valid JSON after " + std::to_string(at) + " bytes; the program is damaged or truncated");
  }
  return json::parse(text);
}

} // namespace weft::pytorch::detail
