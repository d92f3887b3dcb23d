// SPDX-License-Identifier: BSL-1.0
/// Command-line parsing that all tools share.
#pragma once

#include "help.hpp"

#include "weft/core/budget.hpp"
#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/plan/contention.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tool {

/// CLI11's sentence on a wrong argument, as other messages would say it.
inline std::string in_our_words(std::string what) {
  constexpr std::size_t max_length = 500; // std::regex takes some of the stack for each character
  struct wording {
    const char* theirs;
    const char* ours;
  };
  constexpr wording wordings[]{
    {R"(^(\S+): 1 required (\S+) missing$)", "$1 needs a value: $2"},
    {R"(^(\S+): (.*) not in \{(.*)\}$)", "$1: there is no '$2'; give one of $3"},
    {R"(^(\S+): Value (.*) not in range (-?\d+(?:\.\d*?[1-9])?)(?:\.0+|0*) to (-?\d+(?:\.\d*?[1-9])?)(?:\.0+|0*)$)",
     "$1: $2 is not from $3 to $4"},
    {R"(^(\S+) excludes (\S+)$)", "$1 and $2 exclude each other; leave one of them out"},
  };
  if (what.size() > max_length) {
    return what;
  }
  for (const auto& [theirs, ours] : wordings) {
    what = std::regex_replace(what, std::regex{theirs}, ours);
  }
  return what;
}

/// The number of letters that have to be put in, left out or exchanged to make `b` of `a`.
inline std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto exchanged = diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u);
      diagonal = row[j];
      row[j] = std::min({exchanged, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// `; did you mean --platform?` for an option that begins with `word` or has at most two other letters; else empty.
inline std::string did_you_mean(const CLI::App& app, std::string_view word) {
  const auto letters = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const auto name = letters.substr(0, letters.find('='));
  std::string best;
  std::size_t least = 3;
  for (const auto* option : app.get_options()) {
    for (const auto& known : option->get_lnames()) {
      const auto apart = name.size() > 2 && known.starts_with(name) ? 0 : letters_apart(name, known);
      if (apart < least && apart < name.size()) {
        least = apart;
        best = known;
      }
    }
  }
  return best.empty() ? best : fmt::format("; did you mean --{}?", best);
}

/// Reads the command line. Throws `CLI::Success` for `--help` and `--version`, and `weft::error` of one line for what
/// is wrong.
inline void read_command_line(CLI::App& app, const char* program, int argc, char** argv, help_pages pages = {}) {
  app.set_version_flag("--version",
                       fmt::format("{} (weft {}.{}.{})", program, WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
                                   WEFT_VERSION_PATCH),
                       "Print the version and exit");
  answer_help(app, program, std::move(pages), argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
      throw; // a CLI::Success
    }
    // A required option that is misspelt, or left out before its value, is what CLI11 misses first.
    const auto left = app.remaining();
    const auto option = std::ranges::find_if(left, [](const auto& word) { return word.starts_with('-'); });
    if (option != left.end()) {
      throw weft::error(fmt::format("unknown option '{0}'{2} ({1} --help all lists them)", *option, program,
                                    did_you_mean(app, *option)));
    }
    throw weft::error(fmt::format("{}{} ({} --help says more)", in_our_words(e.what()),
                                  left.empty() || dynamic_cast<const CLI::RequiredError*>(&e) == nullptr
                                    ? ""
                                    : fmt::format("; '{}' follows no option", left.front()),
                                  program));
  }
}

/// The same, but prints what `--help` and `--version` ask for, and ends the program.
inline void parse(CLI::App& app, const char* program, int argc, char** argv, help_pages pages = {}) {
  try {
    read_command_line(app, program, argc, argv, std::move(pages));
  } catch (const CLI::Success& e) {
    std::exit(app.exit(e));
  }
}

/// `10` or `10s`: seconds. `5000moves`: moves, so that results do not depend on the machine's speed.
inline weft::budget parse_budget(const std::string& text, const char* program) {
  double amount = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, amount);
  const std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
  const bool moves = unit == "moves";
  if (failed != std::errc{} || !(amount > 0 && amount < 1e18) || !(moves || unit.empty() || unit == "s") ||
      (moves && amount < 1)) {
    throw weft::error(fmt::format(
      "--budget: '{}' is not a budget; write seconds, as in 10, or moves, as in 5000moves ({} --help says more)", text,
      program));
  }
  return moves ? weft::budget{.moves = static_cast<std::uint64_t>(amount)} : weft::budget{.seconds = amount};
}

/// Adds --contention, which sets `model` when `app` parses. The help says `otherwise` of what holds without it.
inline CLI::Option* add_contention_option(CLI::App& app, weft::contention_model& model,
                                          const char* otherwise = "none") {
  return app
    .add_option_function<std::string>(
      "--contention",
      [&model](const std::string& name) {
        model = name == "port"   ? weft::contention_model::port
                : name == "fair" ? weft::contention_model::fair
                                 : weft::contention_model::none;
      },
      "How transfers share links: not at all, one at a time per device port, or all at once by\n"
      "max-min fairness along the platform's routes")
    ->check(CLI::IsMember({"none", "port", "fair"}).description(""))
    ->type_name("none|port|fair")
    ->default_str(otherwise);
}

} // namespace tool
