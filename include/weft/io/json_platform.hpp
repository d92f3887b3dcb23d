// SPDX-License-Identifier: BSL-1.0
/// Platforms as JSON, `"format": "weft.platform"`; see docs/formats.md and docs/schema/weft.platform.schema.json.
#pragma once

#include "weft/io/detail/json_document.hpp"
#include "weft/io/detail/json_network.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/platform/platform.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <exception>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace weft::io {

/// Platforms are read with one link for each pair of devices, so their number is limited: to that many, or to as many
/// as a file has a link written down for each pair of.
inline constexpr std::size_t max_platform_devices = 1000;
/// No file may have more devices than that.
inline constexpr std::size_t max_listed_devices = 10'000;

namespace detail {

/// `latency`, `bandwidth` or `joules_per_byte` of a matrix: one number for all pairs, or rows of numbers; null means
/// the default.
template <class Set>
void matrix_from_json(const json_value& value, std::size_t n, bool positive, const Set& set) {
  const auto each_pair = [n](const auto& f) {
    for (const device_id d : ids(n)) {
      for (const device_id e : ids(n)) {
        f(d, e);
      }
    }
  };
  if (value.is_number()) {
    const double x = value.number(positive);
    each_pair([&](device_id d, device_id e) { set(d, e, x); });
    return;
  }
  const auto check_size = [n](const json_value& list, const char* what) {
    if (const auto size = list.array(what).size(); size != n) {
      list.fail("has " + std::to_string(size) + " entries for " + std::to_string(n) + " devices");
    }
  };
  check_size(value, "one number for all, or a row for each device");
  device_id d = 0;
  for (const json_value& row : value) {
    check_size(row, "a row with a number for each device");
    device_id e = 0;
    for (const json_value& entry : row) {
      if (!entry.is_null() && d != e) {
        set(d, e, entry.number(positive));
      }
      ++e;
    }
    ++d;
  }
}

/// A hierarchy of enclosures, the innermost first.
inline link_matrix levels_from_json(const json_value& levels, std::size_t n) {
  levels.array("a list of levels");
  const auto count = levels.size();
  levels.expect(count > 0, "at least one level");
  std::vector<link> links;
  std::vector<std::size_t> sizes;
  std::size_t span = 1;
  for (const json_value& level : levels) {
    level.object({"latency", "bandwidth", "joules_per_byte", "size"});
    links.push_back(link_from_json(level));
    if (links.size() < count) {
      sizes.push_back(level.at("size").whole(1, max_listed_devices));
      span *= sizes.back();
      if (span > max_listed_devices) {
        level.fail("an enclosure of this level would hold more than " + std::to_string(max_listed_devices) +
                   " devices");
      }
    } else if (level.has("size")) {
      level.at("size").fail("the last level holds everything; leave its size out");
    }
  }
  const hierarchical_links hierarchy{std::move(links), sizes, n};
  return {n, hierarchy};
}

inline link_matrix links_from_json(const json_value& root, const std::vector<std::string>& names,
                                   std::size_t text_size) {
  const std::size_t n = names.size();
  if (n > max_platform_devices && n * n > text_size / 2) {
    root.at("devices").fail(std::to_string(n) + " devices, but only up to " + std::to_string(max_platform_devices) +
                            " can do without a matrix that lists the link of each pair");
  }
  if (!root.has("links")) {
    if (n > 1) {
      root.fail(R"(the key 'links' is missing; if moving data costs nothing, write "links": {"uniform": {}})");
    }
    return link_matrix{n};
  }
  const auto links = root.at("links");
  links.object({"uniform", "matrix", "levels", "network"});
  links.expect(links.size() == 1, "one of 'uniform', 'matrix', 'levels' and 'network'");
  if (links.has("uniform")) {
    const auto uniform = links.at("uniform");
    return link_matrix{n, link_from_json(uniform.object({"latency", "bandwidth", "joules_per_byte"}))};
  }
  if (links.has("levels")) {
    return levels_from_json(links.at("levels"), n);
  }
  if (links.has("network")) {
    return link_matrix{network_from_json(links.at("network"), names, max_listed_devices)};
  }
  const auto matrix = links.at("matrix");
  matrix.object({"latency", "bandwidth", "joules_per_byte"});
  link_matrix result{n};
  const auto read = [&](const char* key, double link::* part) {
    if (const auto numbers = matrix.find(key)) {
      matrix_from_json(*numbers, n, part == &link::bandwidth, [&](device_id d, device_id e, double x) {
        link changed = result(d, e);
        changed.*part = x;
        result.set(d, e, changed);
      });
    }
  };
  read("latency", &link::latency);
  read("bandwidth", &link::bandwidth);
  read("joules_per_byte", &link::joules_per_byte);
  return result;
}

inline device device_from_json(const json_value& value) {
  value.object({"name", "kind", "speed", "narrow_speeds", "rates", "memory", "memory_of", "memory_bandwidth", "slots",
                "idle_watts", "active_watts", "send_overhead", "count"});
  device d;
  const auto kind = value.at("kind");
  const auto parsed = parse_device_kind(kind.text());
  if (!parsed) {
    kind.fail("unknown device kind " + in_quotes(kind.text()) +
              ": use cpu, gpu, tpu, npu, fpga, dsp or kind8 to kind63");
  }
  d.kind = *parsed;
  d.speed = value.at("speed").number(true);
  if (const auto narrow = value.find("narrow_speeds")) {
    narrow->object({"half", "fp8", "int8"});
    const auto read = [&](const char* key) {
      const auto speed = narrow->find(key);
      return speed ? speed->number(true) : 0;
    };
    d.narrow = {read("half"), read("fp8"), read("int8")};
  }
  if (const auto rates = value.find("rates")) {
    d.reached_rates = rates->text() == "reached";
    rates->expect(d.reached_rates || rates->text() == "peak", "\"peak\" or \"reached\"");
  }
  if (value.has("memory")) {
    d.memory_capacity = value.at("memory").whole(0, std::numeric_limits<byte_count>::max());
  }
  if (value.has("memory_bandwidth")) {
    d.memory_bandwidth = value.at("memory_bandwidth").number(true);
  }
  if (value.has("slots")) {
    d.slots = static_cast<std::uint32_t>(value.at("slots").whole(1, none));
  }
  if (value.has("idle_watts")) {
    d.idle_watts = value.at("idle_watts").number();
  }
  if (value.has("active_watts")) {
    d.active_watts = value.at("active_watts").number();
  }
  if (value.has("send_overhead")) {
    d.send_overhead = value.at("send_overhead").number();
  }
  if (d.active_watts < d.idle_watts) {
    value.fail("'active_watts', what the device draws while it is busy, must not be less than 'idle_watts'");
  }
  return d;
}

/// The device that an entry's `memory_of` names, or gives by its number.
inline device_id owner_from_json(const json_value& owner, const std::vector<std::string>& names) {
  if (owner.is_number()) {
    return static_cast<device_id>(owner.whole(0, names.size() - 1));
  }
  const auto at = std::find(names.begin(), names.end(), owner.text());
  if (at == names.end() || std::count(names.begin(), names.end(), *at) > 1) {
    owner.fail((at == names.end() ? "no device is called " : "several devices are called ") +
               in_quotes(owner.text()) + ": name the device whose memory it is, or give its number, from 0 on");
  }
  return static_cast<device_id>(at - names.begin());
}

/// Puts devices whose entries have `memory_of` into the memory of another one.
inline void share_memories(const json_value& list, const std::vector<std::string>& names,
                           std::vector<device>& devices) {
  device_id d = 0;
  for (const json_value& entry : list) {
    const std::size_t count = entry.has("count") ? entry.at("count").whole(1, max_listed_devices) : 1;
    if (const auto of = entry.find("memory_of")) {
      const device_id owner = owner_from_json(*of, names);
      if (owner >= d && owner < d + count) {
        of->fail("a device cannot share its own memory: name another device");
      }
      if (entry.has("memory") && devices[d].memory_capacity != 0) {
        entry.at("memory").fail("the device works in another one's memory, and has none of its own: write 0, or leave "
                                "it out");
      }
      for (device_id k = d; k < d + count; ++k) {
        devices[k].memory_of = owner;
        devices[k].memory_capacity = 0;
      }
    }
    d += static_cast<device_id>(count);
  }
  d = 0;
  for (const json_value& entry : list) {
    const auto of = entry.find("memory_of");
    if (of && devices[devices[d].memory_of].memory_of != none) {
      of->fail("that device works in the memory of yet another one: name that one");
    }
    d += static_cast<device_id>(entry.has("count") ? entry.at("count").whole(1, max_listed_devices) : 1);
  }
}

/// The file's notes on its figures, each on one line.
inline std::vector<std::string> notes_from_json(const json_value& root) {
  std::vector<std::string> notes;
  if (const auto list = root.find("notes")) {
    list->array("a list of lines");
    for (const json_value& line : *list) {
      notes.push_back(on_one_line(line.text()));
    }
  }
  return notes;
}

inline platform<> platform_from_json(const json_document& document) {
  const json_value root{document};
  check_format(root, "weft.platform");
  root.object({"$schema", "format", "version", "description", "notes", "devices", "links", "send_work"});
  const auto list = root.at("devices");
  list.array("a list of devices");
  std::vector<device> devices;
  std::vector<std::string> names;
  bool named = false;
  for (const json_value& entry : list) {
    const device d = device_from_json(entry);
    const std::size_t count = entry.has("count") ? entry.at("count").whole(1, max_listed_devices) : 1;
    if (devices.size() + count > max_listed_devices) {
      entry.fail("more than " + std::to_string(max_listed_devices) + " devices in all");
    }
    for (std::size_t k = 0; k < count; ++k) {
      devices.push_back(d);
      names.push_back(entry.has("name") ? entry.at("name").text() + (count > 1 ? std::to_string(k) : "") : "");
      named = named || !names.back().empty();
    }
  }
  if (devices.empty()) {
    list.fail("there is no device: add at least one");
  }
  share_memories(list, names, devices);
  auto links = links_from_json(root, names, document.text().size());
  auto notes = notes_from_json(root);
  const double send_work = root.has("send_work") ? root.at("send_work").number() : 0;
  try {
    platform<> p{std::move(devices), std::move(links), send_work};
    if (named) {
      p.set_names(std::move(names));
    }
    p.set_notes(std::move(notes));
    return p;
  } catch (const error& e) {
    std::throw_with_nested(root.located(e.what()));
  }
}

/// A finite number, or null for an infinite one.
inline nlohmann::ordered_json finite_or_null(double x) {
  return std::isfinite(x) ? json_number(x) : nlohmann::ordered_json(nullptr);
}

/// `owner`: the name or number of the device whose memory d works in, if it shares one.
inline nlohmann::ordered_json device_json(const device& d, const std::string& name, std::size_t count,
                                          const nlohmann::ordered_json& owner) {
  auto entry = nlohmann::ordered_json::object();
  if (!name.empty()) {
    entry["name"] = name;
  }
  entry["kind"] = to_string(d.kind);
  entry["speed"] = json_number(d.speed);
  auto narrow = nlohmann::ordered_json::object();
  for (const auto& [key, speed] : {std::pair{"half", d.narrow.half}, {"fp8", d.narrow.fp8}, {"int8", d.narrow.int8}}) {
    if (speed > 0) {
      narrow[key] = json_number(speed);
    }
  }
  if (!narrow.empty()) {
    entry["narrow_speeds"] = std::move(narrow);
  }
  if (d.reached_rates) {
    entry["rates"] = "reached";
  }
  if (d.memory_of != none) {
    entry["memory"] = 0;
    entry["memory_of"] = owner;
  } else if (d.memory_capacity != std::numeric_limits<byte_count>::max()) {
    entry["memory"] = d.memory_capacity;
  }
  if (std::isfinite(d.memory_bandwidth)) {
    entry["memory_bandwidth"] = json_number(d.memory_bandwidth);
  }
  if (d.slots != 1) {
    entry["slots"] = d.slots;
  }
  if (d.idle_watts != 0) {
    entry["idle_watts"] = json_number(d.idle_watts);
  }
  if (d.active_watts != 0) {
    entry["active_watts"] = json_number(d.active_watts);
  }
  if (d.send_overhead != 0) {
    entry["send_overhead"] = json_number(d.send_overhead);
  }
  if (count > 1) {
    entry["count"] = count;
  }
  return entry;
}

/// The word of `memory_of` for a device: its name, or its number if others have that name, or it has none.
template <class P>
nlohmann::ordered_json owner_json(const P& p, device_id owner) {
  const auto called = std::ranges::count_if(ids(p.num_devices()), [&](device_id d) {
    return p.name(d) == p.name(owner);
  });
  return p.name(owner).empty() || called > 1 ? nlohmann::ordered_json(owner)
                                             : nlohmann::ordered_json(std::string{p.name(owner)});
}

/// `latency`, `bandwidth` or `joules_per_byte` of all pairs: nothing if all are the default, one number if all are
/// equal, else rows.
template <class Get>
bool write_matrix(std::ostream& out, const char* before, const char* key, std::size_t n, double fallback,
                  const Get& get) {
  const double first = get(0, 1);
  bool equal = true;
  std::string rows;
  for (const device_id d : ids(n)) {
    auto row = nlohmann::ordered_json::array();
    for (const device_id e : ids(n)) {
      row.push_back(d == e ? nlohmann::ordered_json(nullptr) : finite_or_null(get(d, e)));
      equal = equal && (d == e || get(d, e) == first);
    }
    rows += (d == 0 ? "\n        " : ",\n        ") + one_line(row);
  }
  if (equal && first == fallback) {
    return false;
  }
  out << before << '"' << key << "\": " << (equal ? one_line(json_number(first)) : '[' + rows + "\n      ]");
  return true;
}

/// The links that devices share, if they share any.
template <class Links>
std::optional<interconnect> wiring_of(const Links& links, std::size_t n) {
  if constexpr (std::same_as<Links, link_matrix>) {
    return links.shares_links() ? std::optional{links.wiring()} : std::nullopt;
  } else if constexpr (std::same_as<Links, interconnect>) {
    return links;
  } else if constexpr (network_topology<Links>) {
    return interconnect{n, links};
  } else {
    return std::nullopt;
  }
}

template <class P>
void write_links(std::ostream& out, const P& p) {
  const auto n = p.num_devices();
  if (const auto wiring = wiring_of(p.links(), n)) {
    out << ",\n  \"links\": ";
    if (const auto levels = hierarchy_of(*wiring)) {
      write_levels(out, *levels);
    } else {
      write_network(out, *wiring, [&](device_id d) { return p.name(d); });
    }
    return;
  }
  bool uniform = true;
  for (const device_id d : ids(n)) {
    for (const device_id e : ids(n)) {
      uniform = uniform && (d == e || p.links()(d, e) == p.links()(0, 1));
    }
  }
  const char* indent = uniform ? "" : "\n      ";
  const char* next = uniform ? ", " : ",\n      ";
  out << ",\n  \"links\": {\"" << (uniform ? "uniform" : "matrix") << "\": {";
  bool any = false;
  const auto write = [&](const char* key, double link::* part) {
    any |= write_matrix(out, any ? next : indent, key, n, link{}.*part,
                        [&](device_id d, device_id e) { return p.links()(d, e).*part; });
  };
  write("latency", &link::latency);
  write("bandwidth", &link::bandwidth);
  write("joules_per_byte", &link::joules_per_byte);
  out << (uniform ? "}}" : "\n  }}");
}

} // namespace detail

/// Reads a platform, whatever its links look like in the file, into one with a link for each pair of devices, and with
/// the routes of `levels` and of a `network`.
/// `file` is what errors call the input. Throws `parse_error` with file, line and the path of the value.
inline platform<> read_platform_json(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  return detail::platform_from_json({text, file});
}
/// The same from a file. Throws `error` if it cannot be opened.
inline platform<> read_platform_json(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_platform_json(in, path.string());
}

/// Reads native platforms for `read_platform`.
struct json_platform_reader {
  static constexpr std::string_view format() { return "weft JSON"; }
  static bool recognises(std::string_view bytes) { return detail::has_json_format(bytes, "weft.platform"); }
  static platform<> read(std::string_view bytes, const std::string& file) {
    return detail::platform_from_json({bytes, file});
  }
};

/// Writes a platform: links that devices share as `levels` or as a `network`, others as uniform ones or a matrix.
/// Reading it back gives an equal platform with the same routes and notes; a link from a device to itself means nothing
/// and is not kept, and neither is `description`, a text for people.
/// Complexity: O(devices²), and the links on all routes.
template <link_model Links>
void write_platform_json(std::ostream& out, const platform<Links>& p, const std::string& description = {}) {
  out << "{\n  \"format\": \"weft.platform\",\n  \"version\": 1,\n  ";
  if (!description.empty()) {
    out << "\"description\": " << detail::one_line(description) << ",\n  ";
  }
  if (!p.notes().empty()) {
    out << "\"notes\": [";
    for (std::size_t i = 0; i < p.notes().size(); ++i) {
      out << (i == 0 ? "\n    " : ",\n    ") << detail::one_line(p.notes()[i]);
    }
    out << "\n  ],\n  ";
  }
  out << "\"devices\": [";
  for (device_id d = 0; d < p.num_devices();) {
    const std::string name{p.name(d)};
    device_id next = d + 1;
    while (name.empty() && next < p.num_devices() && p.name(next).empty() && p.devices()[next] == p.devices()[d]) {
      ++next; // equal devices without names share an entry
    }
    const auto entry = detail::device_json(p.devices()[d], name, next - d, detail::owner_json(p, p.memory_of(d)));
    out << (d == 0 ? "\n    " : ",\n    ") << detail::one_line(entry);
    d = next;
  }
  out << "\n  ]";
  if (p.num_devices() > 1) {
    detail::write_links(out, p);
  }
  if (p.send_work() != 0) {
    out << ",\n  \"send_work\": " << detail::one_line(detail::json_number(p.send_work()));
  }
  out << "\n}\n";
}

} // namespace weft::io
