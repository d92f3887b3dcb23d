// SPDX-License-Identifier: BSL-1.0
/// The data of the HTML report's charts as compact JSON: flat arrays in place of objects.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/lanes.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/gantt.hpp"
#include "weft/report/quality.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::report::detail {

/// Ten digits: more than a screen can show, less than a double has.
inline std::string compact(double x) {
  return std::isfinite(x) ? significant(x, 10) : "null";
}

/// Writes `[a,b,…]`, each item by `write(item)`.
template <class Range, class Write>
void write_array(std::ostream& out, const Range& items, Write write) {
  out << '[';
  const char* separator = "";
  for (const auto& item : items) {
    out << separator;
    write(item);
    separator = ",";
  }
  out << ']';
}

inline void write_strings(std::ostream& out, const std::vector<std::string>& strings) {
  write_array(out, strings, [&](const std::string& s) { out << quote_json(s); });
}

/// Where each op and send of a run is drawn: lanes within its device.
struct gantt_lanes {
  std::vector<std::uint32_t> op;   // by op
  std::vector<std::uint32_t> send; // by transfer
  std::vector<std::size_t> count;  // by device

  explicit gantt_lanes(const gantt_run& run)
      : op(run.trace.ops.size(), 0), send(run.trace.transfers.size(), 0), count(run.num_devices(), 1) {
    std::vector<std::vector<std::pair<double, double>>> intervals(count.size());
    std::vector<std::vector<std::uint32_t*>> lanes(count.size());
    const auto add = [&](device_id d, double start, double finish, std::uint32_t& lane) {
      intervals[d].emplace_back(start, finish);
      lanes[d].push_back(&lane);
    };
    for (std::size_t v = 0; v < op.size(); ++v) {
      if (const auto& r = run.trace.ops[v]; r.device != none) {
        add(r.device, r.start, r.finish, op[v]);
      }
    }
    for (std::size_t i = 0; i < send.size(); ++i) {
      if (const auto& r = run.trace.transfers[i]; r.send_finish > r.send_start) {
        add(r.from, r.send_start, r.send_finish, send[i]);
      }
    }
    for (std::size_t d = 0; d < count.size(); ++d) {
      const auto [lane, number] = assign_lanes(intervals[d]);
      for (std::size_t k = 0; k < lane.size(); ++k) {
        *lanes[d][k] = lane[k];
      }
      count[d] = std::max<std::size_t>(number, 1);
    }
  }
};

/// Appends a column of numbers as a JSON string: a letter for the type, then the little-endian bytes in base 64.
/// `Number` is one of the types that `columnTypes` of the script knows.
template <class Number>
void append_column(std::string& out, const std::vector<Number>& numbers) {
  static_assert(std::is_same_v<Number, std::uint8_t> || std::is_same_v<Number, std::uint16_t> ||
                std::is_same_v<Number, std::uint32_t> || std::is_same_v<Number, float> ||
                std::is_same_v<Number, double>);
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  using bits =
    std::conditional_t<sizeof(Number) == 1, std::uint8_t,
                       std::conditional_t<sizeof(Number) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>>>;
  out += '"';
  out += std::is_same_v<Number, float> ? 'f'
         : sizeof(Number) == 8         ? 'd'
         : sizeof(Number) == 4         ? 'i'
         : sizeof(Number) == 2         ? 'h'
                                       : 'b';
  const std::size_t size = numbers.size() * sizeof(Number);
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < size ? static_cast<std::uint32_t>(std::bit_cast<bits>(numbers[i / sizeof(Number)]) >>
                                                 (8 * (i % sizeof(Number)))) &
                        0xffu
                    : 0u;
  };
  for (std::size_t i = 0; i < size; i += 3) {
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += {digits[three >> 18], digits[three >> 12 & 63], i + 1 < size ? digits[three >> 6 & 63] : '=',
            i + 2 < size ? digits[three & 63] : '='};
  }
  out += '"';
}

/// Writes `,"name":` and a column of `count` numbers, `value(i)` each.
template <class Number, class Value>
void write_column_as(std::ostream& out, std::string_view name, std::size_t count, Value value) {
  std::vector<Number> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<Number>(value(i));
  }
  std::string text;
  append_column(text, numbers);
  out << ",\"" << name << "\":" << text;
}

/// The same for whole numbers up to 2^32 − 1, in as few bytes as the largest needs.
template <class Value>
void write_column(std::ostream& out, std::string_view name, std::size_t count, Value value) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, static_cast<std::uint32_t>(value(i)));
  }
  largest < 0x100     ? write_column_as<std::uint8_t>(out, name, count, value)
  : largest < 0x10000 ? write_column_as<std::uint16_t>(out, name, count, value)
                      : write_column_as<std::uint32_t>(out, name, count, value);
}

/// `types`: the type names; `type`: one index per op.
inline void write_types(std::ostream& out, const std::vector<std::string>& types) {
  std::map<std::string_view, std::size_t> index;
  for (const auto& t : types) {
    index.emplace(t, 0);
  }
  std::vector<std::string> names;
  for (auto& [name, i] : index) {
    i = names.size();
    names.emplace_back(name);
  }
  out << ",\"types\":";
  write_strings(out, names);
  write_column(out, "type", types.size(), [&](std::size_t v) { return index.at(types[v]); });
}

/// The names of a run's devices; those that have none go by their number.
inline std::vector<std::string> device_names(const gantt_run& run) {
  auto devices = run.device_names;
  for (std::size_t d = devices.size(); d < run.num_devices(); ++d) {
    devices.push_back("device " + std::to_string(d));
  }
  return devices;
}

/// The members of an object that describes a run: columns by op (`device`, which is the number of devices if the op did
/// not run, `lane`, `start`, `length`) and by transfer (`producer`, `from`, `to`, `bytes` (−1 where unknown),
/// `moveStart`, `moveLength`; with sends also `sendLane`, `sendStart`, `sendLength`). Times in seconds.
inline void write_run_data(std::ostream& out, const gantt_run& run, std::size_t names) {
  const gantt_lanes lanes{run};
  const auto& ops = run.trace.ops;
  const auto& moves = run.trace.transfers;
  const auto devices = device_names(run);
  out << "\"title\":" << quote_json(run.title) << ",\"makespan\":" << compact(run.trace.makespan)
      << ",\"bound\":" << compact(run.lower_bound) << ",\"boundName\":" << quote_json(run.lower_bound_name)
      << ",\"names\":" << std::to_string(names) << ",\"devices\":";
  write_strings(out, devices);
  out << ",\"lanes\":";
  write_array(out, lanes.count, [&](std::size_t n) { out << std::to_string(n); });
  out << ",\"load\":";
  write_array(out, device_loads(run), [&](const device_load& l) { out << fixed(l.utilisation, 4); });
  write_types(out, run.op_types);
  const auto ran = [&](std::size_t v) { return ops[v].device != none; };
  write_column(out, "device", ops.size(), [&](std::size_t v) { return ran(v) ? ops[v].device : devices.size(); });
  write_column(out, "lane", ops.size(), [&](std::size_t v) { return lanes.op[v]; });
  write_column_as<double>(out, "start", ops.size(), [&](std::size_t v) { return ran(v) ? ops[v].start : 0; });
  write_column_as<float>(out, "length", ops.size(),
                         [&](std::size_t v) { return ran(v) ? ops[v].finish - ops[v].start : 0; });
  const auto known = [&](std::size_t k) { return moves[k].tensor < run.producers.size(); };
  write_column(out, "producer", moves.size(),
               [&](std::size_t k) { return known(k) ? run.producers[moves[k].tensor] : ops.size(); });
  write_column(out, "from", moves.size(), [&](std::size_t k) { return moves[k].from; });
  write_column(out, "to", moves.size(), [&](std::size_t k) { return moves[k].to; });
  write_column_as<float>(out, "bytes", moves.size(), [&](std::size_t k) {
    return moves[k].tensor < run.tensor_bytes.size() ? static_cast<double>(run.tensor_bytes[moves[k].tensor]) : -1.0;
  });
  write_column_as<double>(out, "moveStart", moves.size(), [&](std::size_t k) { return moves[k].start; });
  write_column_as<float>(out, "moveLength", moves.size(),
                         [&](std::size_t k) { return moves[k].arrival - moves[k].start; });
  if (std::any_of(moves.begin(), moves.end(), [](const auto& x) { return x.send_finish > x.send_start; })) {
    write_column(out, "sendLane", moves.size(), [&](std::size_t k) { return lanes.send[k]; });
    write_column_as<double>(out, "sendStart", moves.size(), [&](std::size_t k) { return moves[k].send_start; });
    write_column_as<float>(out, "sendLength", moves.size(),
                           [&](std::size_t k) { return moves[k].send_finish - moves[k].send_start; });
  }
}

/// `partition` (and refiner), `schedule, mean, min, max, runs, solved, reason` per combination; values in `unit`.
inline void write_section_data(std::ostream& out, const section& s) {
  const auto seconds = [&](double time) { return compact(time * s.unit_seconds); };
  out << "{\"title\":" << quote_json(s.title()) << ",\"objective\":" << quote_json(s.objective)
      << ",\"unit\":" << quote_json(s.unit)
      << ",\"bound\":" << seconds(s.lower_bound) << ",\"boundName\":" << quote_json(s.lower_bound_name) << ",\"rows\":";
  write_array(out, s.combinations, [&](const combination& c) {
    out << '[' << quote_json(c.planner()) << ',' << quote_json(c.schedule) << ',' << seconds(c.makespan_mean) << ','
        << seconds(c.makespan_min) << ',' << seconds(c.makespan_max) << ',' << std::to_string(c.runs) << ','
        << std::to_string(c.solved) << ',' << quote_json(c.reason.empty() ? c.status : c.reason) << ']';
  });
  out << '}';
}

/// A performance profile per strategy, of the first `most`: name, then factors and the shares within them by turns.
inline void write_profile_data(std::ostream& out, const quality& q, std::size_t most = 10) {
  const std::size_t count = std::min(most, q.strategies.size());
  write_array(out, ids(count), [&](std::uint32_t k) {
    const auto& s = q.strategies[k];
    out << '[' << quote_json(s.name);
    for (std::size_t i = 0; i < s.ratios.size(); ++i) {
      if (i + 1 == s.ratios.size() || s.ratios[i + 1] > s.ratios[i] * (1 + 1e-9)) { // one step for equal ones
        out << ',' << compact(s.ratios[i]) << ',' << significant(s.share_within(s.ratios[i]), 5);
      }
    }
    out << ']';
  });
}

/// Everything that the charts show. Runs of one workload share one list of op names.
inline void write_chart_data(std::ostream& out, const std::vector<section>& sections, const quality& q,
                             const std::vector<gantt_run>& runs) {
  out << "{\"sections\":";
  write_array(out, sections, [&](const section& s) { write_section_data(out, s); });
  out << ",\"profile\":";
  write_profile_data(out, q);
  std::vector<const std::vector<std::string>*> names;
  std::vector<std::size_t> names_of;
  for (const auto& run : runs) {
    std::size_t i = 0;
    while (i < names.size() && *names[i] != run.op_names) {
      ++i;
    }
    if (i == names.size()) {
      names.push_back(&run.op_names);
    }
    names_of.push_back(i);
  }
  out << ",\"names\":";
  write_array(out, names, [&](const std::vector<std::string>* list) { write_strings(out, *list); });
  out << ",\"gantts\":";
  write_array(out, ids(runs.size()), [&](std::uint32_t i) { 
    out << '{';
    write_run_data(out, runs[i], names_of[i]);
    out << '}';
  });
  out << '}';
}

} // namespace weft::report::detail
