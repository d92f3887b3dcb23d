// SPDX-License-Identifier: BSL-1.0
/// Plans and schedules that another program made, as JSON: `weft.plan`, `weft.schedule` and `weft.trace`; see
/// docs/formats.md and docs/schema/.
#pragma once

#include "weft/io/json_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// A plan that somebody hands in, in the numbers of a workload and a platform.
struct given_plan {
  weft::plan plan = {};            ///< the placement, and the order if the file has one
  std::optional<trace> run = {};   ///< when ops run, if the file says so
  bool has_transfers = false;      ///< … and when tensors move
  bool has_makespan = false;       ///< … and when all is over
  std::vector<op_id> unsaid = {};  ///< ops of which a schedule has no record
};

namespace detail {

/// Ids by name; of a name that several have, `none`.
inline std::map<std::string, std::uint32_t> ids_by_name(const std::vector<std::string>& names) {
  std::map<std::string, std::uint32_t> found;
  for (const std::uint32_t i : ids(names.size())) {
    if (const auto [at, added] = found.try_emplace(names[i], i); !added) {
      at->second = none;
    }
  }
  return found;
}

/// An op or a device, by its number or by a name that only it has.
inline std::uint32_t id_by_number_or_name(const json_value& value, const std::map<std::string, std::uint32_t>& by_name,
                                          std::size_t count, const std::string& thing) {
  if (value.is_string()) {
    const auto name = value.text();
    if (name.empty()) {
      value.fail("is an empty name; give the number of the " + thing);
    }
    const auto at = by_name.find(name);
    if (at == by_name.end()) {
      value.fail("there is no " + thing + " " + in_quotes(name));
    }
    if (at->second == none) {
      value.fail("several " + thing + "s are called " + in_quotes(name) + "; give its number instead");
    }
    return at->second;
  }
  const auto id = id_from_json(value);
  if (id >= count) {
    value.fail("there is no " + thing + " " + std::to_string(id) + "; there are " + std::to_string(count));
  }
  return id;
}

inline given_plan schedule_from_json(const json_value& root, const std::vector<std::string>& ops,
                                     const std::vector<std::string>& devices) {
  root.object({"$schema", "format", "version", "description", "makespan", "ops", "transfers"});
  const auto op_of = ids_by_name(ops);
  const auto device_of = ids_by_name(devices);
  given_plan given{.run = trace{.ops = std::vector<op_record>(ops.size(), {none, 0, 0})}};
  auto& run = *given.run;
  const auto device = [&](const json_value& value) {
    return id_by_number_or_name(value, device_of, devices.size(), "device");
  };
  const auto listed = root.at("ops");
  listed.array("a list with a record for each op");
  std::vector<bool> seen(ops.size(), false);
  std::uint32_t position = 0;
  double last = 0;
  for (const json_value& r : listed) {
    r.object({"op", "device", "start", "finish", "threads"});
    const auto told = r.find("op");
    if (!told && position >= ops.size()) {
      r.fail("there is no op " + std::to_string(position) + "; there are " + std::to_string(ops.size()));
    }
    const op_id v = told ? id_by_number_or_name(*told, op_of, ops.size(), "op") : position;
    ++position;
    if (seen[v]) {
      r.fail("op " + std::to_string(v) + " is listed twice");
    }
    seen[v] = true;
    const auto where = r.at("device");
    auto& record = run.ops[v];
    record = {where.is_null() ? none : device(where), r.at("start").number(), r.at("finish").number()};
    if (const auto threads = r.find("threads")) {
      record.threads = static_cast<std::uint32_t>(threads->whole(1, 1u << 20));
    }
    last = std::max(last, record.finish);
  }
  if (const auto transfers = root.find("transfers")) {
    given.has_transfers = true;
    transfers->array("a list of transfers");
    for (const json_value& r : *transfers) {
      r.object({"tensor", "from", "to", "send_start", "send_finish", "start", "arrival"});
      const double start = r.at("start").number();
      const auto sent = [&](const char* key) {
        const auto time = r.find(key);
        return time ? time->number() : start;
      };
      run.transfers.push_back({id_from_json(r.at("tensor")), device(r.at("from")), device(r.at("to")),
                               sent("send_start"), sent("send_finish"), start, r.at("arrival").number()});
      last = std::max(last, run.transfers.back().arrival);
    }
  }
  const auto makespan = root.find("makespan");
  given.has_makespan = makespan.has_value();
  run.makespan = makespan ? makespan->number() : last;
  for (const op_id v : ids(ops.size())) {
    if (!seen[v]) {
      given.unsaid.push_back(v);
    }
  }
  for (const auto& record : run.ops) {
    given.plan.placement.push_back(record.device);
  }
  return given;
}

} // namespace detail

/// Reads a plan, a schedule or a trace, and finds ops and devices by their numbers or names. Of a plan that is what
/// `plan_for` does. In a schedule, ops that the file leaves out have no device, and a makespan that it leaves out is
/// when the last op or transfer ends. Whether what it says can be is for validate/ to find out. `file` is what errors
/// call the input. Throws `parse_error` with file, line and the path of the value, and `error` where a plan is of
/// another model or platform. Complexity: O(n log n).
template <class Workload, class Platform>
given_plan read_given_plan_json(std::istream& in, const Workload& w, const Platform& q,
                                const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  const detail::json_document document{text, file};
  const detail::json_value root{document};
  root.object();
  const auto format = root.at("format").text();
  if (format == "weft.plan") {
    return {.plan = plan_for(detail::plan_from_json(document), w, q)};
  }
  detail::check_format(root, format == "weft.trace" ? "weft.trace" : "weft.schedule");
  return detail::schedule_from_json(root, op_names(w), device_names(q));
}
/// The same from a file. Throws `error` if it cannot be opened.
template <class Workload, class Platform>
given_plan read_given_plan_json(const std::filesystem::path& path, const Workload& w, const Platform& q) {
  auto in = open_for_reading(path);
  return read_given_plan_json(in, w, q, path.string());
}

} // namespace weft::io
