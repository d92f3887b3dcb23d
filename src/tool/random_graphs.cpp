// SPDX-License-Identifier: BSL-1.0
#include "random_graphs.hpp"

#include "help_text.hpp"

#include "weft/io/text.hpp"
#include "weft/workload/generate/named.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tool {
namespace {

using weft::generate::named_request;

auto graph_request(std::string_view spec) {
  return weft::generate::parse_named(spec.substr(random_prefix.size()), weft::generate::workload_families);
}

auto platform_request(std::string_view spec) {
  return weft::generate::parse_named(spec.substr(random_prefix.size()), weft::generate::platform_families);
}

/// A family and its parameters.
template <class Family>
std::string described(const Family& f) {
  auto text = fmt::format("{}\n\n", f.description);
  for (const auto& [name, value] : f.defaults()) {
    text += fmt::format("{}={} ", name, value);
  }
  return help_entry(fmt::format("{}{}", random_prefix, f.name), text);
}

/// The texts of all that a request asks for, each with a seed of its own.
template <class Made>
std::vector<std::string> each_of(const named_request<Made>& wanted) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < wanted.count; ++i) {
    all.push_back(std::string{random_prefix} + wanted.text(wanted.seed + i));
  }
  return all;
}

template <class Made>
void refuse_several(std::string_view spec, const named_request<Made>& wanted, const char* what) {
  if (wanted.count != 1) {
    throw weft::error(fmt::format("'{}' are {} {}; give one, by its seed, or compare them with compare", spec,
                                  wanted.count, what));
  }
}

/// Whether a text begins like `name=`.
bool is_assignment(std::string_view text) {
  const auto equals = text.find('=');
  return equals != text.npos && equals != 0 && std::all_of(text.begin(), text.begin() + equals, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

} // namespace

std::string list_random_graphs() {
  auto text = help_entry("random:FAMILY,NAME=VALUE,…",
                         "a generated graph: seed=S is the first seed, 0 if it is left out, and count=N makes N graphs "
                         "with the seeds S, S + 1, …; ccr=X scales tensors so that transfers take X times as long as "
                         "ops on average. The families, and their parameters where nothing is given:");
  for (const auto& f : weft::generate::workload_families) {
    text += described(f);
  }
  return text + help_paragraph("Of layered, levels takes the place of ops, and edge_probability of in_degree.");
}

std::string list_random_platforms() {
  std::string text;
  for (const auto& f : weft::generate::platform_families) {
    text += described(f);
  }
  return text + help_paragraph("seed=S and count=N as for graphs: N platforms with the seeds S, S + 1, …");
}

std::vector<std::string> join_parameters(const std::vector<std::string>& items) {
  std::vector<std::string> whole;
  for (const auto& item : items) {
    const std::string part{weft::io::trim(item)};
    const bool follows = !whole.empty() && whole.back().starts_with(random_prefix);
    if (part.empty() && follows) {
      continue; // `random:layered,ops=10, ccr=1` without quotes
    }
    if (!is_assignment(part)) {
      whole.push_back(part);
    } else if (follows) {
      whole.back() += "," + part;
    } else if (std::filesystem::exists(item)) {
      whole.push_back(item);
    } else {
      throw weft::error(fmt::format("'{0}' looks like a parameter, and there is no such file; parameters follow a "
                                    "family, as in random:layered,{0}", part));
    }
  }
  return whole;
}

std::vector<std::string> random_graphs(std::string_view spec) { return each_of(graph_request(spec)); }
std::vector<std::string> random_platforms(std::string_view spec) { return each_of(platform_request(spec)); }

random_graph make_random_graph(std::string_view spec) {
  const auto wanted = graph_request(spec);
  refuse_several(spec, wanted, "graphs");
  random_graph made{.name = std::string{random_prefix} + wanted.title(), .model = {}, .ccr = wanted.ccr};
  if (wanted.generator->drawn) {
    made.name += "/" + std::to_string(wanted.seed);
  }
  made.model.ops = wanted.make(wanted.seed);
  made.model.format = "generated graph";
  made.model.unit = wanted.generator->unit;
  return made;
}

weft::platform<> make_random_platform(std::string_view spec) {
  const auto wanted = platform_request(spec);
  refuse_several(spec, wanted, "platforms");
  return wanted.make(wanted.seed);
}

std::string random_platform_name(std::string_view spec) {
  const auto wanted = platform_request(spec);
  return std::string{random_prefix} + wanted.title() + (wanted.seed == 0 ? "" : "/" + std::to_string(wanted.seed));
}

} // namespace tool
