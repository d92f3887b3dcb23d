// SPDX-License-Identifier: BSL-1.0
/// The frame of the HTML reports: head, policy that nothing is fetched, data, scripts.
#pragma once

#include "weft/report/detail/html_style.hpp"
#include "weft/report/detail/text.hpp"

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>

namespace weft::report::detail {

/// Writes a script that stands inside an HTML element, which `</script` and `<!--` would end or confuse. In a script
/// these stand in strings and comments only, where the escaped form means the same.
inline void write_inline_script(std::ostream& out, std::string_view script) {
  const auto starts_with = [](std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char l, char c) {
             return l == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
           });
  };
  while (!script.empty()) {
    const std::size_t at = std::min(script.find('<'), script.size());
    out << script.substr(0, at);
    script.remove_prefix(at);
    if (!script.empty()) {
      const bool end_tag = starts_with(script, "</script"), comment = starts_with(script, "<!--");
      out << (end_tag ? "<\\/" : comment ? "<\\x21" : "<");
      script.remove_prefix(end_tag || comment ? 2 : 1);
    }
  }
}

/// Everything up to the title, inside an open `<header>`.
inline void write_page_begin(std::ostream& out, std::string_view title) {
  const std::string name = escape_html(title);
  out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         // The page fetches nothing, and this makes a browser refuse if a name managed to ask it to.
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
         "<title>"
      << name << "</title>\n<style>" << html_style << ":root[data-theme=dark] {" << html_dark_colours
      << "}\n@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {" << html_dark_colours
      << "} }\n</style>\n</head>\n<body>\n<header>\n<div class=\"title\"><h1>" << name
      << "</h1><button type=\"button\" id=\"theme\" hidden></button></div>\n";
}

/// Ends the page, whose `<footer>` is closed: the charts' data, as `write_data` writes it, then the scripts.
template <class WriteData>
void write_page_end(std::ostream& out, WriteData write_data, std::string_view library,
                    std::initializer_list<std::string_view> scripts) {
  out << "<div id=\"tip\" role=\"tooltip\" hidden></div>\n<script type=\"application/json\" id=\"data\">";
  write_data();
  out << "</script>\n";
  if (!library.empty()) {
    out << "<script>";
    write_inline_script(out, library);
    out << "</script>\n";
  }
  out << "<script>";
  for (const auto script : scripts) {
    out << script;
  }
  out << "</script>\n</body>\n</html>\n";
}

} // namespace weft::report::detail
