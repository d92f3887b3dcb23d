// SPDX-License-Identifier: BSL-1.0
/// `--help` by topic: a first page with the usual options and the list of topics, and a page for each topic.
#pragma once

#include "help_text.hpp"

#include "weft/core/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

/// A page of `--help`, with the options whose group in CLI11 has its name.
struct help_topic {
  std::string name;      ///< what follows `--help`
  std::string summary;   ///< what it is about, in a line
  std::string text = {}; ///< what follows its options, such as a list of names
};

/// The text of `--help` besides the options.
struct help_pages {
  std::vector<help_topic> topics = {};      ///< empty: all options are on one page
  std::vector<std::string_view> usual = {}; ///< options of the first page, in its order
  std::string ending = {};                  ///< the end of the first page
};

/// Writes the pages of `--help`.
class help_formatter : public CLI::Formatter {
public:
  help_formatter(std::string program, help_pages pages) : program_{std::move(program)}, pages_{std::move(pages)} {}

  /// Takes the page that `make_help` is to write: a topic, the one of an option, or `all`. Throws `weft::error` of one
  /// line with all topics if there is no such page.
  void choose(const CLI::App& app, const std::string& name) {
    const auto is = [](std::string_view wanted) { return [=](const help_topic& t) { return t.name == wanted; }; };
    const auto* const option = app.get_option_no_throw(name.starts_with('-') ? name : "--" + name);
    if (name == "all" || std::ranges::any_of(pages_.topics, is(name))) {
      topic_ = name;
    } else if (option != nullptr && !pages_.topics.empty()) {
      topic_ = option->get_group();
    } else if (!pages_.topics.empty()) {
      std::string names;
      for (const auto& t : pages_.topics) {
        names += t.name + ", ";
      }
      throw weft::error(fmt::format("--help: there is no topic '{}'; there are {}and all", name, names));
    }
  }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const auto found = std::ranges::find(pages_.topics, topic_, &help_topic::name);
    if (found != pages_.topics.end()) {
      return fmt::format("{} --help {}: {}\n\n{}", program_, found->name, found->summary, page_of(*app, *found));
    }
    std::string page = help_wrapped({}, app->get_description(), 0) + '\n' + usage_of(*app) + '\n';
    if (pages_.topics.empty()) {
      for (const auto* option : app->get_options()) {
        page += entry_of(*option, option->get_description());
      }
    } else if (topic_ == "all") {
      for (const auto& t : pages_.topics) {
        page += fmt::format("{}: {}\n{}\n", t.name, t.summary, page_of(*app, t));
      }
      return page;
    } else {
      for (const auto name : pages_.usual) {
        const auto* option = app->get_option(std::string{name});
        page += entry_of(*option, help_summary(option->get_description()));
      }
      page += fmt::format("\nMore options, by topic: {} --help TOPIC\n", program_);
      for (const auto& t : pages_.topics) {
        page += help_entry(t.name, fmt::format("{}\n\n{}", t.summary, fmt::join(names_of(*app, t), " ")), topic_indent);
      }
      page += help_entry("all", "all of these", topic_indent);
    }
    return page + '\n' + (pages_.ending.empty() ? make_footer(app) : pages_.ending);
  }

private:
  static constexpr std::size_t topic_indent = 14;

  std::string usage_of(const CLI::App& app) const {
    std::string line = "Usage: " + program_;
    for (const auto* option : app.get_options()) {
      if (option->get_required()) {
        line += ' ' + name_of(*option);
      }
    }
    return line + " [OPTION]…\n";
  }

  static std::vector<const CLI::Option*> options_of(const CLI::App& app, const help_topic& t) {
    return app.get_options([&](const CLI::Option* o) { return o->get_group() == t.name; });
  }

  static std::vector<std::string> names_of(const CLI::App& app, const help_topic& t) {
    std::vector<std::string> names;
    for (const auto* option : options_of(app, t)) {
      if (option->nonpositional()) {
        names.push_back("--" + option->get_single_name());
      }
    }
    return names;
  }

  static std::string page_of(const CLI::App& app, const help_topic& t) {
    std::string page;
    for (const auto* option : options_of(app, t)) {
      page += entry_of(*option, option->get_description());
    }
    return page + (page.empty() || t.text.empty() ? "" : "\n") + t.text;
  }

  /// The type that the option names, and the range that CLI11 adds to it, as in `N:UINT in [1 - 8]`.
  static std::pair<std::string, std::string> type_and_range(const CLI::Option& option) {
    const auto text = option.get_type_name();
    const auto range = text.find(" in [");
    if (range == text.npos) {
      return {text, ""};
    }
    auto values = text.substr(range + 5, text.find(']', range) - range - 5);
    if (const auto dash = values.find(" - "); dash != values.npos) {
      values.replace(dash, 3, " to ");
    }
    return {text.substr(0, text.rfind(':', range)), std::move(values)};
  }

  static std::string name_of(const CLI::Option& option) {
    const auto type = option.get_type_size() == 0 ? std::string{} : type_and_range(option).first;
    if (option.get_positional()) {
      return type + (option.get_expected_max() > 1 ? "…" : "");
    }
    std::string name;
    for (const auto& letter : option.get_snames()) {
      name += fmt::format("-{}, ", letter);
    }
    name += fmt::format("--{}", fmt::join(option.get_lnames(), ", --"));
    if (!option.get_option_text().empty()) {
      return name + option.get_option_text();
    }
    return type.empty()                     ? name
           : option.get_expected_min() == 0 ? fmt::format("{} [{}]", name, type)
                                            : fmt::format("{} {}", name, type);
  }

  /// The values that the option takes, and what it is if it is not given, behind what its summary says.
  static std::string entry_of(const CLI::Option& option, std::string_view text) {
    std::vector<std::string> limits;
    if (auto range = type_and_range(option).second; !range.empty()) {
      limits.push_back(std::move(range));
    }
    auto otherwise = option.get_type_size() == 0 ? std::string{} : option.get_default_str();
    std::erase_if(otherwise, [](char c) { return c == '[' || c == ']'; }); // around lists
    if (!otherwise.empty()) {
      limits.push_back("default: " + otherwise);
    }
    const auto summary = help_summary(text);
    return help_entry(name_of(option), fmt::format("{}{}{}", summary,
                                                   limits.empty() ? "" : fmt::format(" ({})", fmt::join(limits, "; ")),
                                                   text.substr(summary.size())));
  }

  std::string program_;
  help_pages pages_;
  std::string topic_ = {};
};

/// Throws `std::logic_error` for an option without a topic.
inline void require_topics(const CLI::App& app, const help_pages& pages) {
  for (const auto* option : app.get_options()) {
    if (std::ranges::find(pages.topics, option->get_group(), &help_topic::name) == pages.topics.end()) {
      throw std::logic_error(fmt::format("{} is on no page of --help", option->get_name()));
    }
  }
}

/// Gives the program its pages; `--help` and `--version` are on the last one. If the command line asks for help, throws
/// `CLI::CallForHelp` with the page chosen, or `weft::error` if there is none of that name.
inline void answer_help(CLI::App& app, const char* program, help_pages pages, int argc, char** argv) {
  if (!pages.topics.empty()) {
    app.get_help_ptr()->option_text(" [TOPIC]")->description("Print this page, or all that a topic or an option has");
    for (auto* const general : {app.get_help_ptr(), app.get_version_ptr()}) {
      general->group(pages.topics.back().name);
    }
    require_topics(app, pages);
  }
  const auto formatter = std::make_shared<help_formatter>(program, std::move(pages));
  app.formatter(formatter);
  for (int i = 1; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    const std::string_view word{argv[i]};
    constexpr std::string_view with_topic = "--help=";
    if (word.starts_with(with_topic)) {
      formatter->choose(app, std::string{word.substr(with_topic.size())});
    } else if (word != "--help" && word != "-h") {
      continue;
    } else if (i + 1 < argc && argv[i + 1][0] != '-') {
      formatter->choose(app, argv[i + 1]);
    }
    throw CLI::CallForHelp();
  }
}

} // namespace tool
