// SPDX-License-Identifier: BSL-1.0
/// Data sheets of GPUs by what lists call them when it is not the name that drivers print, and options that say what a
/// list left open.
#pragma once

#include "weft/platform/data_sheets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data_sheets {

/// The name of GPUs that a batch system lists without a type: that of its generic resource.
inline constexpr const char* untyped_gpu = "gpu";

namespace detail {

/// A name as batch systems and drivers both could write it: in lower case, with blanks for `_` and `-`.
inline std::string with_blanks(std::string_view name) {
  std::string text{name};
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c == '_' || c == '-' ? ' ' : lower(c); });
  return text;
}
/// The same without the maker and the brand, which types of batch systems mostly leave out.
inline std::string without_brand(std::string_view name) {
  auto text = with_blanks(name);
  for (const std::string_view brand : {"nvidia ", "geforce "}) {
    text.erase(0, text.starts_with(brand) ? brand.size() : 0);
  }
  return text;
}

} // namespace detail

/// True if a name has the type in it as a word: a100 is in A100-SXM4-80GB, but l4 is not in L40.
inline bool has_word(std::string_view name, std::string_view type) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto in = detail::with_blanks(name);
  auto word = detail::with_blanks(type);
  word = word.starts_with("nvidia ") ? word.substr(7) : word;
  const auto at = in.find(word);
  return !word.empty() && at != in.npos && (at == 0 || !is_letter(in[at - 1])) &&
         (at + word.size() == in.size() || !is_letter(in[at + word.size()]));
}

/// True if a word with a digit that is no amount of memory is in both names: H100 and 80GB of H100-SXM5-80GB, the
/// first.
inline bool shares_number(std::string_view known, std::string_view name) {
  while (!name.empty()) {
    const auto end = std::min(name.find_first_of(" -_"), name.size());
    const auto word = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (word.find_first_of("0123456789") != word.npos && !word.ends_with("GB") && has_word(known, word)) {
      return true;
    }
  }
  return false;
}

/// The data sheets of GPUs that a name may mean.
inline std::vector<std::string> sheets_like(std::string_view name) {
  std::vector<std::string> found;
  for (const auto& g : gpus) {
    if (shares_number(g.name, name)) {
      found.emplace_back(g.name);
    }
  }
  return found;
}

/// The data sheets whose name has a batch system's type in it, or the GPUs of its slices (MIG); only one of those whose
/// slices are alike. A name that is the whole type wins: rtx_3080 is no GeForce RTX 3080 Ti.
inline std::vector<std::string> sheets_of_type(std::string_view type) {
  std::vector<std::string> found;
  std::vector<gpu> figures;
  const auto slice = slice_in(type);
  for (const auto& g : gpus) {
    if (slice.slices == 0 && detail::without_brand(g.name) == detail::without_brand(type)) {
      return {std::string{g.name}};
    }
    if (!has_word(g.name, slice.slices > 0 ? slice.whole : type)) {
      continue;
    }
    const auto some = slice.slices > 0 ? slice_figures(g, slice) : g.figures;
    const bool is_known = some && slice.slices > 0 && std::any_of(figures.begin(), figures.end(), [&](const auto& f) {
                            return f.tflops == some->tflops && f.gigabytes_per_second == some->gigabytes_per_second;
                          });
    if (some && !is_known) {
      found.push_back(std::string{g.name} + (slice.slices > 0 ? " MIG " + std::string{slice.profile} : ""));
      figures.push_back(*some);
    }
  }
  return found;
}

/// True if GPUs of that name have no memory of their own, but work in that of the processors beside them.
inline bool shares_memory(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"GB10", "Thor", "Orin", "Xavier", "Tegra"};
  return std::any_of(names.begin(), names.end(), [&](std::string_view known) { return has_word(name, known); });
}

/// `, which may be 'A', 'B'`, and how many more if there are more than a line should have; nothing for none.
inline std::string which_may_be(const std::vector<std::string>& names) {
  constexpr std::size_t max_names = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), max_names); ++i) {
    text += (i == 0 ? ", which may be '" : ", '") + names[i] + "'";
  }
  return text + (names.size() > max_names ? " or " + std::to_string(names.size() - max_names) + " others" : "");
}

/// An option that gives a GPU the figures that it lacks and needs, beside those that are known.
inline std::string figures_option(const std::string& name, const gpu& known, bool needs_memory,
                                  bool needs_nvlinks) {
  std::string figures;
  const auto lacks = [&](bool missing, const char* example) {
    figures += missing ? (figures.empty() ? "" : ",") + std::string{example} : "";
  };
  lacks(known.tflops == 0, "fp32:60");
  lacks(known.tflops == 0 && known.half == 0, "half:120");
  lacks(known.gigabytes_per_second == 0, "bandwidth:900");
  lacks(needs_memory && known.gibibytes == 0, "memory:24");
  lacks(needs_nvlinks && known.nvlink == 0, "nvlink:25");
  lacks(needs_nvlinks && known.nvlinks == 0, "nvlinks:12");
  return "--gpu '" + name + "=" + figures + "'";
}

/// An option that says which GPU a name or a type means: the first that it may be.
inline std::string name_option(const std::string& name, const std::vector<std::string>& may_be) {
  return "--gpu '" + name + "=" + (may_be.empty() ? "A100-SXM4-80GB" : may_be.front()) + "'";
}

} // namespace weft::data_sheets
