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

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tool {

/// What CLI11 says of a wrong argument, as other messages would say it.
inline std::string in_our_words(std::string what) {
  struct wording {
    const char* theirs;
    const char* ours;
  };
  constexpr wording wordings[]{
    {R"(^(\S+): (.*) not in \{(.*)\}$)", "$1: there is no '$2'; give one of $3"},
    {R"(^(\S+): Value (.*) not in range (-?\d+(?:\.\d*?[1-9])?)(?:\.0+|0*) to (-?\d+(?:\.\d*?[1-9])?)(?:\.0+|0*)$)",
     "$1: $2 is not from $3 to $4"},
    {R"(^(\S+) excludes (\S+)$)", "$1 and $2 exclude each other; leave one of them out"},
  };
  for (const auto& [theirs, ours] : wordings) {
    what = std::regex_replace(what, std::regex{theirs}, ours);
  }
  return what;
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
    // An option that is misspelt also lacks under its right name, which CLI11 says first.
    for (const auto& left : app.remaining()) {
      if (left.starts_with('-')) {
        throw weft::error(fmt::format("unknown option '{0}' ({1} --help all lists them)", left, program));
      }
    }
    throw weft::error(fmt::format("{} ({} --help says more)", in_our_words(e.what()), program));
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
