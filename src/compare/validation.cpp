// SPDX-License-Identifier: BSL-1.0
#include "validation.hpp"

#include "weft/core/readable.hpp"
#include "weft/io/json_schedule.hpp"
#include "weft/io/text.hpp"
#include "weft/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace comparison {
namespace {

/// The transfers that a schedule leaves unsaid: each tensor leaves for each device that needs it when it is made. What
/// the placement does not say is left to the validator.
void add_transfers(const problem& p, const std::string& file, weft::io::given_plan& given) {
  auto& run = *given.run;
  const auto& w = p.workload();
  const auto placed = [&](weft::op_id v) { return run.ops[v].device < p.num_devices(); };
  std::set<std::pair<weft::tensor_id, weft::device_id>> sent;
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    for (const weft::tensor_id t : w.inputs(v)) {
      const weft::op_id u = w.producer(t);
      const auto from = run.ops[u].device, to = run.ops[v].device;
      if (!placed(u) || !placed(v) || from == to || !sent.emplace(t, to).second) {
        continue;
      }
      if (p.send_time(t, from, to) > 0) {
        throw weft::error(fmt::format("{}: senders are busy while they send on this platform, so the schedule must say "
                                      "when: give transfers", file));
      }
      const double start = run.ops[u].finish;
      const double arrival = start + p.transfer_time(t, from, to);
      run.transfers.push_back({t, from, to, start, start, start, arrival});
      if (!given.has_makespan) {
        run.makespan = std::max(run.makespan, arrival);
      }
    }
  }
}

/// The names of the op and the device that a line of the validator has numbers of.
std::string names_of(const problem& p, const weft::violation& x) {
  std::string names;
  const auto add = [&](const char* what, std::uint32_t id, std::size_t count, const auto& name_of) {
    if (id < count && !name_of(id).empty()) {
      names += fmt::format("{}{} {} is {}", names.empty() ? " (" : ", ", what, id, weft::io::in_quotes(name_of(id)));
    }
  };
  const auto op_name = [&](weft::op_id v) { return std::string{p.workload().name(v)}; };
  add("op", x.op, p.num_ops(), op_name);
  add("op", x.other, p.num_ops(), op_name);
  add("device", x.device, p.num_devices(), [&](weft::device_id d) { return std::string{p.platform().name(d)}; });
  return names.empty() ? names : names + ")";
}

} // namespace

int validate(const options& o, const registry& all, const std::vector<setting>& settings) {
  if (settings.size() != 1 || !settings.front().task) {
    throw weft::error(settings.size() != 1
                        ? fmt::format("--validate: a plan is of one workload on one platform, and these are {}",
                                      settings.size())
                        : std::string{"--validate: the placement study's problems have no schedules"});
  }
  const auto& s = settings.front();
  const auto& p = *s.task;
  auto given = weft::io::read_given_plan_json(o.validate, p.workload(), p.platform());
  std::vector<weft::violation> found;
  if (!given.run) {
    found = weft::validate(p, given.plan, weft::memory_rule::over_time);
    if (found.empty()) {
      given.run = rerun(o, all, s, given.plan, "static_order");
      given.has_transfers = true;
    }
  } else if (!given.has_transfers) {
    if (o.contention != weft::contention_model::none) {
      throw weft::error(o.validate +
                        ": under --contention port and fair, transfers wait for each other, so the schedule "
                        "must say when they start and arrive: give transfers");
    }
    add_transfers(p, o.validate, given);
  }
  if (given.run) {
    found = weft::validate(p, given.plan.placement, *given.run,
                           {.contention = o.contention,
                            .tolerance = o.tolerance,
                            .memory = weft::memory_rule::over_time});
  }
  std::vector<std::string> broken;
  for (const auto& x : found) {
    const bool unsaid =
      x.what == weft::violation::kind::unplaced && std::binary_search(given.unsaid.begin(), given.unsaid.end(), x.op);
    broken.push_back((unsaid ? fmt::format("op {} has no record", x.op) : to_string(x)) + names_of(p, x));
  }
  std::string verdict;
  if (given.run) {
    const auto seconds = [&](double time) { return weft::readable_number(time * s.unit_seconds) + " s"; };
    const double makespan = given.run->makespan, bound = s.bound.value;
    verdict = "; makespan " + seconds(makespan);
    if (found.empty() && std::isfinite(bound) && bound > 0) {
      const auto limit = fmt::format("the lower bound of {} ({})", seconds(bound), to_string(s.bound.which));
      const double below = 100 * (1 - makespan / bound);
      if (makespan < bound * (1 - o.tolerance)) {
        broken.push_back(fmt::format("the makespan of {} is {:.1f} % below {}, which no schedule is", seconds(makespan),
                                     below, limit));
      } else {
        verdict += makespan < bound * (1 - 1e-9)
                     ? fmt::format(", {:.1g} % below {}, as far as --tolerance allows", below, limit)
                     : fmt::format(", {:.1f} % above {}", 100 * weft::gap_above(bound, makespan), limit);
      }
    }
  }
  for (const auto& line : broken) {
    fmt::print("{}: {}\n", o.validate, line);
  }
  fmt::print("{}: {}{}\n", o.validate,
             broken.empty()       ? "valid"
             : broken.size() == 1 ? "not valid: 1 rule is broken"
                                  : fmt::format("not valid: {} rules are broken", broken.size()),
             verdict);
  return broken.empty() ? 0 : 1;
}

} // namespace comparison
