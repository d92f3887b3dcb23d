// SPDX-License-Identifier: BSL-1.0
// Chooses a variant for every op of a problem of the operator-sharding contest, and says how far from the best it is.
//
// shard FILE --budget SECONDS [--jobs N] [-o solution.json]
#include "weft/core/budget.hpp"
#include "weft/interop/gzip.hpp"
#include "weft/io/iopddl.hpp"
#include "weft/shard/best.hpp"

#include "tool/command_line.hpp"
#include "tool/main.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <ostream>
#include <string>

namespace {

struct arguments {
  std::string file, solution;
  weft::shard::options search;
};

arguments parse(int argc, char** argv) {
  arguments a;
  std::string budget = "60";
  CLI::App app{"Chooses a variant for every op, so that the costs of ops and edges add up to as little as possible\n"
               "and the bytes of the ops that are live at a time stay within the limit, and proves how far from\n"
               "the least that is."};
  app.footer("Prints a row when a better choice or bound is found; the longer it runs, the rarer.\n\n"
             "Examples:\n"
             "  shard asplos-2025-iopddl-A.json.gz --budget 60 --jobs 2 -o solution.json\n"
             "  shard problem.json --budget 20000moves      # the same on every machine\n\n"
             "Exit status: 0 with a choice, 1 if none exists or none was found, 2 for wrong arguments or files.");
  app.add_option("FILE", a.file, "A problem in the contest's JSON, compressed by gzip or not")
    ->required()
    ->type_name("FILE");
  app.add_option("--budget", budget, "Seconds, as in 10, or moves, as in 20000moves")->capture_default_str();
  app.add_option("--jobs", a.search.jobs, "Threads")->check(CLI::Range(1u, 1024u).description(""))
    ->type_name("N")->capture_default_str();
  app.add_option("--seed", a.search.seed, "The search is random; another seed takes another course")
    ->type_name("N")->capture_default_str();
  app.add_option("-o,--output", a.solution, "Where to write the variant of each op")->type_name("FILE");
  tool::parse(app, "shard", argc, argv);
  a.search.budget = tool::parse_budget(budget, "shard");
  return a;
}

/// A table of what was found, by seconds, or by moves if these are the budget: then a command always prints the
/// same.
class table {
public:
  table(std::int64_t limit, bool timed) : limit_{limit}, timed_{timed} {}

  void offer(const weft::shard::state& s) {
    if (rows_ == 0 || spent(s) >= next_) {
      print(s);
    }
  }
  /// The last row, unless it was printed already.
  void end(const weft::shard::state& s) {
    if (rows_ == 0 || s.cost != last_.cost || s.bound != last_.bound || s.moves != last_.moves) {
      print(s);
    }
  }

private:
  void print(const weft::shard::state& s) {
    const bool found = s.cost < weft::shard::never;
    if (rows_++ == 0) {
      fmt::print("{:>8}  {:>16}  {:>16}  {:>9}  {:>16}  {:>16}\n", timed_ ? "seconds" : "moves", "cost", "bound", "gap",
                 "peak", "limit");
    }
    fmt::print("{:>8}  {:>16}  {:>16}  {:>9}  {:>16}  {:>16}\n",
               timed_ ? fmt::format("{:.1f}", s.seconds) : fmt::to_string(s.moves),
               found ? fmt::to_string(s.cost) : "none", s.bound,
               found ? fmt::format("{:.3f} %", 100 * weft::shard::gap_of(s.cost, s.bound)) : "",
               found ? fmt::to_string(s.peak) : "",
               limit_ == weft::shard::variant_problem::no_limit ? "none" : fmt::to_string(limit_));
    std::fflush(stdout);
    next_ = 1.25 * spent(s) + (timed_ ? 0.05 : 1);
    last_ = s;
  }
  double spent(const weft::shard::state& s) const { return timed_ ? s.seconds : static_cast<double>(s.moves); }

  std::int64_t limit_;
  bool timed_;
  int rows_ = 0;
  weft::shard::state last_;
  double next_ = 0;
};

int run(int argc, char** argv) {
  const weft::stopwatch clock;
  auto a = parse(argc, argv);
  if (!a.solution.empty()) {
    weft::io::require_writable(a.solution);
  }
  weft::interop::gzip_stream in{a.file};
  const auto p = weft::io::read_iopddl(in, a.file);
  fmt::print("{} ops, {} variants, {} edges\n", p.num_ops(), p.num_variants(), p.num_edges());
  a.search.budget.seconds -= clock.seconds(); // reading counts
  const bool timed = a.search.budget.seconds < std::numeric_limits<double>::infinity();
  table rows{p.limit(), timed};
  a.search.on_state = [&](weft::shard::state s) {
    s.seconds = clock.seconds();
    rows.offer(s);
  };
  const auto found = weft::shard::best(p, a.search);
  if (!found.has_choice()) {
    fmt::print(stderr, "shard: {}: {}\n", a.file,
               found.status == weft::shard::status::infeasible
                 ? "it is proven that no choice keeps to the limit and to what may be taken"
                 : fmt::format("no choice was found, and it is not proven that there is none; try more than {:.3g} s",
                               clock.seconds()));
    return 1;
  }
  rows.end({clock.seconds(), found.moves, found.cost, found.bound, found.peak});
  for (const auto& part : found.tried) {
    fmt::print("{}: {}, of which {} gave a better choice\n", part.method, part.tries, part.successes);
  }
  if (!a.solution.empty()) {
    weft::io::write_file(a.solution, [&](std::ostream& out) { weft::io::write_iopddl_solution(out, found.choice); });
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("shard", argc, argv, run);
}
