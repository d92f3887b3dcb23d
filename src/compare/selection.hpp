// SPDX-License-Identifier: BSL-1.0
/// The strategies that `compare` runs, once incompatible choices are refused.
#pragma once

#include "energy.hpp"
#include "options.hpp"
#include "setting.hpp"

#include "weft/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace comparison {

struct selection {
  std::vector<std::string> partitions; ///< `best` among them stands for a partition and a schedule at once
  std::vector<std::string> schedules;  ///< without `best`
  std::vector<std::string> refiners;   ///< `none` for the plan as it is
};

/// Joins names for a message.
inline std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Replaces `all` by all names, and refuses unknown ones. Each name once.
inline std::vector<std::string> expand(const std::vector<std::string>& wanted, const std::vector<std::string>& known,
                                       std::string_view what) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const auto& name : wanted) {
    if (name == "all") {
      std::for_each(known.begin(), known.end(), add);
    } else if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw weft::error(fmt::format("unknown {} '{}'; known are: all, {}", what, name, list(known)));
    } else {
      add(name);
    }
  }
  return names;
}

inline bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether an objective looks at the placement alone.
inline bool without_schedule(objective o, const setting& s) {
  return o == objective::period || s.placement_study != nullptr;
}

/// Throws `error` with one line for unknown names and for what does not go together.
inline selection select(const options& o, const strategy_names& all, const std::vector<setting>& settings) {
  const auto take_best = [](std::vector<std::string> names) {
    names.erase(std::remove(names.begin(), names.end(), best), names.end());
    return names;
  };
  selection chosen;
  chosen.schedules = expand(take_best(o.schedules), all.policies, "ready policy");
  std::vector<std::string> known = all.partitioners;
  for (const auto& name : o.partitions) {
    if (name == best) {
      chosen.partitions.emplace_back(best);
    } else {
      const auto more = expand({name}, known, "partitioner");
      chosen.partitions.insert(chosen.partitions.end(), more.begin(), more.end());
    }
  }
  known = all.refiners;
  known.emplace(known.begin(), no_name);
  chosen.refiners = expand(o.refiners, known, "refiner");
  std::vector<std::string> once;
  for (const auto& name : chosen.partitions) {
    if (!has(once, name)) {
      once.push_back(name);
    }
  }
  chosen.partitions = once;

  const bool whole = has(chosen.partitions, best);
  const bool refined = chosen.refiners != std::vector<std::string>{std::string{no_name}};
  const bool plans =
    std::any_of(settings.begin(), settings.end(), [&](const setting& s) { return !without_schedule(o.objective, s); });
  if (plans && whole != has(o.schedules, best)) {
    throw weft::error(whole ? "--partition best decides the schedule, too; give --schedule best with it"
                            : "--schedule best decides the placement, too; give --partition best with it");
  }
  if (plans && chosen.schedules.empty() && chosen.partitions.size() > 1) {
    throw weft::error(
      "there is no ready policy for the partitioners other than best; name one, as in --schedule static_order,best");
  }
  if (refined && o.objective == objective::period) {
    throw weft::error("--refine makes schedules shorter, and --objective period has none; leave it out");
  }
  if (o.objective == objective::period && o.contention != weft::contention_model::none) {
    throw weft::error("--contention makes transfers of a run wait, and --objective period has no run: it is the "
                      "largest load of a device or link; leave --contention out");
  }
  if (o.memory == weft::memory_rule::over_time && !(plans && whole)) {
    throw weft::error(plans ? "--memory over_time is for --partition best --schedule best, as the other partitioners "
                              "reserve memory"
                            : "--memory over_time is of schedules, and there is none; leave it out");
  }
  if (refined && take_best(chosen.partitions).empty()) {
    throw weft::error("--refine is for partitioners; best refines its own plans");
  }
  for (const auto& s : settings) {
    if (s.placement_study != nullptr &&
        ((o.objective != objective::period && o.objective != objective::latency) || refined ||
         !take_best(chosen.partitions).empty())) {
      throw weft::error(fmt::format("'{}' is a problem of the device-placement study: use --objective period or "
                                    "--objective latency with --partition best --schedule best",
                                    s.workload_name));
    }
    if (s.placement_study != nullptr && o.contention != weft::contention_model::none) {
      throw weft::error(fmt::format("--contention makes transfers of a run wait, and '{}', a problem of the "
                                    "device-placement study, has no run; leave --contention out",
                                    s.workload_name));
    }
    if (o.objective == objective::energy && !draws_power(*s.task)) {
      const bool own = s.platform_name == own_devices;
      throw weft::error(fmt::format("--objective energy: nothing says what power the devices of '{}' draw; take a {} "
                                    "with idle_watts and active_watts of devices and joules_per_byte of links",
                                    own ? s.workload_name : s.platform_name,
                                    own ? "workload that is placed on a platform" :
                                          "platform that does, such as workstation_2gpu, or a file"));
    }
  }
  return chosen;
}

} // namespace comparison
