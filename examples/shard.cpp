// SPDX-License-Identifier: BSL-1.0
// Chooses a variant for every op of a problem of the operator-sharding contest, and says how far from the best it is.
//
// shard FILE --budget SECONDS [--jobs N] [-o solution.json]
#include <weft/core/budget.hpp>
#include <weft/interop/gzip.hpp>
#include <weft/io/iopddl.hpp>
#include <weft/shard/best.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace {

struct arguments {
  std::string file, solution;
  weft::shard::options search;
};

arguments parse(int argc, char** argv) {
  arguments a;
  const auto refuse = [](const std::string& problem) {
    return weft::error(problem + "; usage: shard FILE --budget SECONDS [--jobs N] [-o solution.json]");
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto fail = [&](const std::string& problem) { throw refuse(problem); };
    if (word == "--budget" || word == "--jobs" || word == "-o") {
      if (++i == argc) {
        throw refuse(std::string{word} + " needs a value");
      }
      if (word == "-o") {
        a.solution = argv[i];
      } else if (word == "--jobs") {
        a.search.jobs = weft::io::parse_number<unsigned>(argv[i], "--jobs", fail);
      } else {
        a.search.budget.seconds = weft::io::parse_number<double>(argv[i], "--budget", fail);
      }
    } else if (word.starts_with("-") || !a.file.empty()) {
      throw refuse("'" + std::string{word} + "' is not expected");
    } else {
      a.file = word;
    }
  }
  if (a.file.empty()) {
    throw refuse("FILE is missing");
  }
  return a;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const weft::stopwatch clock;
    auto a = parse(argc, argv);
    if (!a.solution.empty()) {
      weft::io::require_writable(a.solution);
    }
    weft::interop::gzip_stream in{a.file};
    const auto p = weft::io::read_iopddl(in, a.file);
    a.search.budget.seconds -= clock.seconds(); // reading counts
    const auto found = weft::shard::best(p, a.search);
    if (found.status == weft::shard::status::infeasible) {
      throw weft::error("no choice exists: it is proven that none keeps to the limit and to what may be taken");
    } else if (found.status == weft::shard::status::unknown) {
      throw weft::error("no choice was found in the time given, and it is not proven that there is none; give more");
    }
    const auto line = [](const char* name, const std::string& value) {
      std::printf("%-6s %s\n", name, value.c_str());
    };
    line("ops", std::to_string(p.num_ops()));
    line("edges", std::to_string(p.num_edges()));
    line("cost", std::to_string(found.cost));
    line("bound", std::to_string(found.bound));
    char gap[32];
    std::snprintf(gap, sizeof gap, "%.3f %%", 100 * found.gap());
    line("gap", gap);
    line("peak", std::to_string(found.peak));
    line("limit", p.limit() == weft::shard::variant_problem::no_limit ? "none" : std::to_string(p.limit()));
    if (!a.solution.empty()) {
      weft::io::write_file(a.solution,
                           [&](std::ostream& out) { weft::io::write_iopddl_solution(out, found.choice); });
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "shard: %s\n", e.what());
    return 1;
  }
}
