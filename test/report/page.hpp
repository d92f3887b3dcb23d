// SPDX-License-Identifier: BSL-1.0
/// Looking into pages that reports write.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace weft::test {

/// How often a text has another one in it.
inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) {
    ++n;
  }
  return n;
}

/// The charts' data, taken out of the page as a browser would: up to the first end tag.
inline nlohmann::json chart_data(const std::string& html) {
  const std::string start = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = html.find(start) + start.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script", from) - from));
}

} // namespace weft::test
