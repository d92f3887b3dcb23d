// SPDX-License-Identifier: BSL-1.0
#include "replay.hpp"

#include "weft/bound/best.hpp"
#include "weft/core/config.hpp"
#include "weft/io/sha256.hpp"
#include "weft/io/text.hpp"
#include "weft/objective/energy.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/least_memory.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace place {
namespace {

using namespace weft;

/// The figure that was to be small, with its unit.
struct measure {
  double value;
  const char* unit;
};

measure measure_of(const options& o, const problem& p, const answer& a) {
  switch (o.objective) {
  case objective::period: return {throughput::period(p, a.plan.placement), "s"};
  case objective::energy: {
    double joules = 0;
    const auto use = energy_of(p, a.run);
    for (const auto& d : use.devices) {
      joules += d.idle + d.active;
    }
    return {joules + use.transfers, "J"};
  }
  case objective::memory: {
    simulate::memory_tracker<problem> memory{p};
    memory.follow(a.plan.placement, a.run);
    return {solve::largest_share(p, memory.peaks()), "of a device's memory"};
  }
  case objective::makespan: break;
  }
  return {a.run.makespan, "s"};
}

std::string digest_of(const tool::input& in) {
  return in.from->file ? io::sha256(in.from->bytes) : std::string{};
}

/// `'net.onnx' (SHA-256 1f2e…)`.
std::string described(const std::string& name, const std::string& digest) {
  return io::in_quotes(name) + (digest.empty() ? "" : fmt::format(" (SHA-256 {})", digest));
}

} // namespace

answer replay(const options& o, const tool::input& in, const problem& p) {
  answer a{.found = true, .bound = bound::best(p), .strategy = "plan of " + o.from_plan, .notes = o.other_assumptions};
  const io::plan_origin none_told;
  const auto& origin = o.made.origin ? *o.made.origin : none_told;
  std::string other_model;
  if (o.made.origin) {
    const auto digest = digest_of(in);
    if (digest != origin.model_sha256 || (digest.empty() && in.name != origin.model)) {
      other_model = fmt::format("made for {}, and this is {}", described(origin.model, origin.model_sha256),
                                described(in.name, digest));
      a.notes.push_back("the plan was " + other_model + "; their ops have the same names");
    }
    if (o.platform != origin.platform) {
      a.notes.push_back(fmt::format("the plan was made for the platform {}; devices are taken by their names",
                                    io::in_quotes(origin.platform)));
    }
  }
  if (o.made.ops.empty()) {
    a.notes.emplace_back("the plan does not name its ops; they are taken by their numbers");
  }
  try {
    a.plan = io::plan_for(o.made, p.workload(), p.platform());
  } catch (const error& e) {
    throw error(fmt::format("{}: {}{}", o.from_plan, e.what(), other_model.empty() ? "" : "; it was " + other_model));
  }
  for (const auto& x : validate(p, a.plan, memory_rule::over_time)) {
    if (x.what != violation::kind::capacity_exceeded) { // what lacks memory can be run here, and is told with the rest
      throw error(fmt::format("{}: the plan breaks a rule: {}", o.from_plan, to_string(x)));
    }
  }
  follow(o, p, a);
  const auto is = measure_of(o, p, a);
  if (o.objective == objective::energy) {
    a.result = fmt::format("energy of {:.4g} J a step", is.value);
  } else if (o.objective == objective::period) {
    a.result = fmt::format("period of {:.4g} ms when steps follow each other; below is one step alone", is.value * 1e3);
  }
  if (o.made.origin && a.run.makespan != origin.step_seconds) {
    a.notes.push_back(fmt::format("a step was expected to take {} s when the plan was made, and now {} s",
                                  origin.step_seconds, a.run.makespan));
  }
  a.baselines = baselines(o, p);
  return a;
}

io::plan_record record_of(const options& o, const tool::input& in, const problem& p, const answer& a,
                          std::vector<std::string> notes) {
  const auto is = measure_of(o, p, a);
  return {.plan = a.plan,
          .ops = io::op_names(p.workload()),
          .devices = io::device_names(p.platform()),
          .origin = io::plan_origin{
            .weft = fmt::format("{}.{}.{}", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH),
            .model = in.name,
            .model_format = in.model.format,
            .model_sha256 = digest_of(in),
            .platform = o.platform,
            .options = o.assumed,
            .notes = std::move(notes),
            .objective = objective_names[static_cast<std::size_t>(o.objective)],
            .value = is.value,
            .unit = is.unit,
            .step_seconds = a.run.makespan}};
}

} // namespace place
