// SPDX-License-Identifier: BSL-1.0
/// Plans and traces as JSON, `"format": "weft.plan"` and `"weft.trace"`; see docs/formats.md and docs/schema/.
#pragma once

#include "weft/io/detail/json_document.hpp"
#include "weft/io/files.hpp"
#include "weft/io/plan_record.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"

#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

inline std::uint32_t id_from_json(const json_value& value) {
  return static_cast<std::uint32_t>(value.whole(0, none - 1));
}

inline std::uint32_t id_or_null_from_json(const json_value& value) {
  return value.is_null() ? none : id_from_json(value);
}

/// An id, or null for `none`.
inline nlohmann::ordered_json id_or_null(std::uint32_t id) {
  return id == none ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(id);
}

inline std::vector<std::string> texts_from_json(const json_value& list) {
  std::vector<std::string> texts;
  list.array("a list of strings");
  for (const json_value& text : list) {
    texts.push_back(text.text());
  }
  return texts;
}

inline plan_origin origin_from_json(const json_value& value) {
  value.object({"weft", "model", "platform", "options", "notes", "objective", "step_seconds"});
  plan_origin origin{.weft = value.at("weft").text(), .platform = value.at("platform").text()};
  const auto model = value.at("model");
  model.object({"name", "format", "sha256"});
  origin.model = model.at("name").text();
  origin.model_format = model.at("format").text();
  if (const auto digest = model.find("sha256")) {
    origin.model_sha256 = digest->text();
  }
  const auto options = value.at("options");
  for (const json_value& option : options.object()) {
    origin.options[option.key()] = texts_from_json(option);
  }
  origin.notes = texts_from_json(value.at("notes"));
  const auto objective = value.at("objective");
  objective.object({"name", "value", "unit"});
  origin.objective = objective.at("name").text();
  origin.value = objective.at("value").number();
  origin.unit = objective.at("unit").text();
  origin.step_seconds = value.at("step_seconds").number();
  return origin;
}

inline plan placed_from_json(const json_value& root) {
  plan result;
  const auto placement = root.at("placement");
  placement.array("a list with a device for each op");
  for (const json_value& device : placement) {
    result.placement.push_back(id_or_null_from_json(device));
  }
  if (!root.has("order")) {
    return result;
  }
  const auto order = root.at("order");
  order.array("a list of steps");
  std::vector<bool> runs(result.placement.size(), false);
  const auto check_op = [&](const json_value& value) {
    const op_id v = id_from_json(value);
    if (v >= runs.size()) {
      value.fail("there is no op " + std::to_string(v) + "; the placement has " + std::to_string(runs.size()) + " ops");
    }
    return v;
  };
  for (const json_value& entry : order) {
    if (entry.is_object()) {
      entry.object({"op", "tensor", "to"});
      const op_id v = check_op(entry.at("op"));
      result.order.push_back(step::send(v, id_from_json(entry.at("tensor")), id_from_json(entry.at("to"))));
      continue;
    }
    const op_id v = check_op(entry);
    if (runs[v]) {
      entry.fail("op " + std::to_string(v) + " is in the order twice");
    }
    runs[v] = true;
    result.order.push_back(step::run(v));
  }
  for (const op_id v : ids(runs.size())) {
    if (!runs[v] && !result.order.empty()) {
      order.fail("op " + std::to_string(v) + " is missing; an order has every op once");
    }
  }
  return result;
}

inline plan_record plan_from_json(const json_document& document) {
  const json_value root{document};
  check_format(root, "weft.plan");
  root.object({"$schema", "format", "version", "description", "origin", "devices", "ops", "placement", "order"});
  plan_record result{.plan = placed_from_json(root)};
  if (const auto origin = root.find("origin")) {
    result.origin = origin_from_json(*origin);
  }
  if (const auto devices = root.find("devices")) {
    result.devices = texts_from_json(*devices);
  }
  if (const auto ops = root.find("ops")) {
    result.ops = texts_from_json(*ops);
    if (result.ops.size() != result.plan.placement.size()) {
      ops->fail("there are " + std::to_string(result.ops.size()) + " names of ops, and the placement has " +
                std::to_string(result.plan.placement.size()) + " ops");
    }
  }
  return result;
}

inline trace trace_from_json(const json_document& document) {
  const json_value root{document};
  check_format(root, "weft.trace");
  root.object({"$schema", "format", "version", "description", "makespan", "ops", "transfers"});
  trace result;
  result.makespan = root.at("makespan").number();
  const auto ops = root.at("ops");
  ops.array("a list with a record for each op");
  for (const json_value& r : ops) {
    r.object({"device", "start", "finish", "threads"});
    const auto threads = r.has("threads") ? r.at("threads").whole(1, 1u << 20) : 1;
    result.ops.push_back({id_or_null_from_json(r.at("device")), r.at("start").number(), r.at("finish").number(),
                          static_cast<std::uint32_t>(threads)});
  }
  const auto transfers = root.at("transfers");
  transfers.array("a list of transfers");
  for (const json_value& r : transfers) {
    r.object({"tensor", "from", "to", "send_start", "send_finish", "start", "arrival"});
    result.transfers.push_back({id_from_json(r.at("tensor")), id_from_json(r.at("from")), id_from_json(r.at("to")),
                                r.at("send_start").number(), r.at("send_finish").number(), r.at("start").number(),
                                r.at("arrival").number()});
  }
  return result;
}

/// Writes entries, several on a line.
template <class Range, class ToJson>
void write_list(std::ostream& out, const Range& range, std::size_t per_line, const ToJson& to_json) {
  std::size_t i = 0;
  for (const auto& entry : range) {
    out << (i == 0 ? "\n    " : i % per_line == 0 ? ",\n    " : ", ") << one_line(to_json(entry));
    ++i;
  }
}

} // namespace detail

/// Reads a plan with what its file says of it. Ops, tensors and devices are numbers; `plan_for` fits them to a model
/// and a platform by their names. `file` is what errors call the input. Throws `parse_error` with file, line and the
/// path of the value.
inline plan_record read_plan_record_json(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  return detail::plan_from_json({text, file});
}
/// The same from a file. Throws `error` if it cannot be opened.
inline plan_record read_plan_record_json(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_plan_record_json(in, path.string());
}

/// Reads a plan alone; whether it fits a problem is for validate/ to say. Throws as `read_plan_record_json` does.
inline plan read_plan_json(std::istream& in, const std::string& file = "<stream>") {
  return read_plan_record_json(in, file).plan;
}
/// The same from a file. Throws `error` if it cannot be opened.
inline plan read_plan_json(const std::filesystem::path& path) { return read_plan_record_json(path).plan; }

/// Writes a plan with what there is to say of it. Reading it back gives an equal record, but for bytes that are not
/// UTF-8, which become U+FFFD. Preconditions: `ops` is empty or has a name per op of the placement.
inline void write_plan_json(std::ostream& out, const plan_record& r) {
  using json = nlohmann::ordered_json;
  using detail::one_line;
  out << "{\n  \"format\": \"weft.plan\",\n  \"version\": 1,";
  const auto write_names = [&](const char* key, const std::vector<std::string>& names, std::size_t per_line) {
    if (!names.empty()) {
      out << "\n  \"" << key << "\": [";
      detail::write_list(out, names, per_line, [](const std::string& name) { return json(name); });
      out << "\n  ],";
    }
  };
  if (r.origin) {
    const auto& o = *r.origin;
    json model{{"name", o.model}, {"format", o.model_format}};
    if (!o.model_sha256.empty()) {
      model["sha256"] = o.model_sha256;
    }
    const std::pair<const char*, json> members[] = {
      {"weft", o.weft},
      {"model", std::move(model)},
      {"platform", o.platform},
      {"options", o.options},
      {"notes", o.notes},
      {"objective", {{"name", o.objective}, {"value", detail::json_number(o.value)}, {"unit", o.unit}}},
      {"step_seconds", detail::json_number(o.step_seconds)}};
    out << "\n  \"origin\": {";
    const char* separator = "\n    ";
    for (const auto& [key, value] : members) {
      out << separator << '"' << key << "\": " << one_line(value);
      separator = ",\n    ";
    }
    out << "\n  },";
  }
  write_names("devices", r.devices, 8);
  write_names("ops", r.ops, 1);
  out << "\n  \"placement\": [";
  detail::write_list(out, r.plan.placement, 24, detail::id_or_null);
  out << "\n  ]";
  if (!r.plan.order.empty()) {
    out << ",\n  \"order\": [";
    detail::write_list(out, r.plan.order, 12, [](const step& s) {
      return s.is_send() ? json{{"op", s.op}, {"tensor", s.tensor}, {"to", s.to}} : json(s.op);
    });
    out << "\n  ]";
  }
  out << "\n}\n";
}
/// Writes a plan alone.
inline void write_plan_json(std::ostream& out, const plan& p) { write_plan_json(out, plan_record{.plan = p}); }

/// Reads a trace; times in seconds. Throws as `read_plan_json` does.
inline trace read_trace_json(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  return detail::trace_from_json({text, file});
}
/// The same from a file. Throws `error` if it cannot be opened.
inline trace read_trace_json(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_trace_json(in, path.string());
}

/// Writes a trace. Reading it back gives an equal trace.
inline void write_trace_json(std::ostream& out, const trace& t) {
  using detail::json_number;
  out << "{\n  \"format\": \"weft.trace\",\n  \"version\": 1,\n  \"makespan\": "
      << detail::one_line(json_number(t.makespan)) << ",\n  \"ops\": [";
  detail::write_list(out, t.ops, 1, [](const op_record& r) {
    nlohmann::ordered_json record{
      {"device", detail::id_or_null(r.device)}, {"start", json_number(r.start)}, {"finish", json_number(r.finish)}};
    if (r.threads != 1) {
      record["threads"] = r.threads;
    }
    return record;
  });
  out << "\n  ],\n  \"transfers\": [";
  detail::write_list(out, t.transfers, 1, [](const transfer_record& r) {
    return nlohmann::ordered_json{{"tensor", r.tensor},
                                  {"from", r.from},
                                  {"to", r.to},
                                  {"send_start", json_number(r.send_start)},
                                  {"send_finish", json_number(r.send_finish)},
                                  {"start", json_number(r.start)},
                                  {"arrival", json_number(r.arrival)}};
  });
  out << "\n  ]\n}\n";
}

} // namespace weft::io
