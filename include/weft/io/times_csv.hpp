// SPDX-License-Identifier: BSL-1.0
/// Tables of what ops take on devices, as papers print them and `compare --problems` writes them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::io {

/// Writes a header and a row `op,device,seconds` for each op and each device where it may run, by their numbers.
/// `seconds(op_id, device_id)` is the time. Complexity: O(ops × devices).
template <class Seconds>
void write_times_csv(std::ostream& out, const workload& w, const platform<>& q, const Seconds& seconds) {
  out << "op,device,seconds\n";
  for (const op_id v : ids(w.num_ops())) {
    for (const device_id d : ids(q.num_devices())) {
      if (w.kinds(v).contains(q.kind(d))) {
        out << v << ',' << d << ',' << number_text(seconds(v, d)) << '\n';
      }
    }
  }
}

namespace detail {

/// The lines of a table of times; see `read_times_csv`.
class times_reader {
public:
  times_reader(std::string_view text, std::string file, const workload& w, const platform<>& q)
      : lines_{text, std::move(file)}, w_{w}, q_{q}, seconds_(w.num_ops() * q.num_devices(), unknown),
        ops_{w.num_ops(), [&](op_id v) { return w.name(v); }},
        devices_{q.num_devices(), [&](device_id d) { return std::string_view{q.name(d)}; }} {}

  std::vector<double> read() && {
    const auto first = lines_.next();
    const auto header = split(first.value_or(std::string_view{}), ',');
    by_name_ = lower(header.front()) == "name";
    if (header.size() < 2 || !(by_name_ || lower(header.front()) == "op")) {
      lines_.fail("the header is " + in_quotes(first.value_or("")) +
                  ": write op,device,seconds above a row for each op and device, or op,DEVICE,DEVICE,… above a row for "
                  "each op, with the devices' names or numbers; name in place of op says that rows begin with names "
                  "of ops, even where these are numbers");
    }
    const bool is_list = header.size() == 3 && lower(header[1]) == "device" && lower(header[2]) == "seconds";
    is_list ? read_list() : read_matrix(header);
    return finished();
  }

private:
  struct names {
    template <class Name>
    names(std::size_t num, const Name& name) : count{num} {
      for (const std::uint32_t i : ids(num)) {
        const auto [at, is_new] = number_of.try_emplace(name(i), i);
        at->second = is_new ? i : none;
      }
    }

    std::size_t count = 0;
    std::unordered_map<std::string_view, std::uint32_t> number_of; ///< `none` of names that several have
  };

  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  void read_list() {
    while (const auto line = lines_.next()) {
      const auto fields = fields_of(*line, 3);
      set(op_of(fields[0]), device_of(fields[1]), fields[2]);
    }
  }

  void read_matrix(const std::vector<std::string_view>& header) {
    std::vector<device_id> devices;
    for (std::size_t k = 1; k < header.size(); ++k) {
      devices.push_back(device_of(header[k]));
    }
    while (const auto line = lines_.next()) {
      const auto fields = fields_of(*line, header.size());
      const op_id v = op_of(fields[0]);
      for (std::size_t k = 0; k < devices.size(); ++k) {
        if (!fields[k + 1].empty() || may_run(v, devices[k])) {
          set(v, devices[k], fields[k + 1]);
        }
      }
    }
  }

  std::vector<std::string_view> fields_of(std::string_view line, std::size_t expected) const {
    auto fields = split(line, ',');
    if (fields.size() != expected) {
      lines_.fail("has " + std::to_string(fields.size()) + " columns, and the header has " + std::to_string(expected));
    }
    return fields;
  }

  bool may_run(op_id v, device_id d) const { return w_.kinds(v).contains(q_.kind(d)); }

  static bool is_number(std::string_view field) {
    return !field.empty() && field.find_first_not_of("0123456789") == field.npos;
  }

  /// The one of `names` that a field names.
  std::uint32_t one_of(std::string_view field, const char* what, const names& all, bool by_name) {
    const auto count = all.count;
    if (!by_name && is_number(field)) {
      const auto fail = [&](const std::string& problem) { lines_.fail(problem); };
      const auto id = parse_number<std::uint32_t>(field, what, fail);
      if (id >= count) {
        lines_.fail("there is no " + std::string{what} + " " + std::string{field} + ": numbers go from 0 to " +
                    std::to_string(count - 1));
      }
      return id;
    }
    const auto found = all.number_of.find(field);
    if (field.empty() || found == all.number_of.end()) {
      lines_.fail("there is no " + std::string{what} + " " + in_quotes(field) +
                  ": write its name or its number, from 0");
    }
    if (found->second == none) {
      lines_.fail("several " + std::string{what} + "s are called " + in_quotes(field) + ": write numbers, from 0");
    }
    return found->second;
  }

  op_id op_of(std::string_view field) {
    // Rows mostly come in the order of the ops.
    if (by_name_ && next_ < w_.num_ops() && w_.name(next_) == field && !field.empty()) {
      return next_++;
    }
    const op_id v = one_of(field, "op", ops_, by_name_);
    next_ = v + 1;
    return v;
  }
  device_id device_of(std::string_view field) {
    return one_of(field, "device", devices_, false);
  }

  void set(op_id v, device_id d, std::string_view field) {
    double& seconds = seconds_[v * q_.num_devices() + d];
    if (!std::isnan(seconds)) {
      lines_.fail(pair(v, d) + " has two times: leave one of them out");
    }
    const auto fail = [&](const std::string& problem) { lines_.fail(pair(v, d) + ": " + problem); };
    if (field.starts_with('-')) {
      fail("the time " + in_quotes(field) + " is negative: write seconds, or inf where the op cannot run");
    }
    const auto text = lower(field);
    seconds = text == "inf" || text == "infinity" || text == "∞" ? std::numeric_limits<double>::infinity()
                                                                 : parse_number<double>(field, "the time", fail);
  }

  std::string pair(op_id v, device_id d) const {
    const auto named = [](const char* what, std::uint32_t id, std::string_view name) {
      return what + std::to_string(id) + (name.empty() ? "" : " " + in_quotes(name));
    };
    return named("op ", v, w_.name(v)) + " on " + named("device ", d, q_.name(d));
  }

  std::vector<double> finished() {
    for (const op_id v : ids(w_.num_ops())) {
      for (const device_id d : ids(q_.num_devices())) {
        double& seconds = seconds_[v * q_.num_devices() + d];
        if (std::isnan(seconds) && may_run(v, d)) {
          throw parse_error(lines_.file(), 0,
                            pair(v, d) + " has no time: add one, or inf if the op cannot run there (" +
                              std::to_string(w_.num_ops()) + " ops × " + std::to_string(q_.num_devices()) +
                              " devices are needed)");
        }
        seconds = std::isnan(seconds) ? std::numeric_limits<double>::infinity() : seconds;
      }
    }
    return std::move(seconds_);
  }

  line_reader lines_;
  const workload& w_;
  const platform<>& q_;
  std::vector<double> seconds_;
  names ops_;
  names devices_;
  bool by_name_ = false;
  op_id next_ = 0; ///< the op that is likely to come next
};

} // namespace detail

/// The seconds of each op on each device, ops × devices, row-major; infinite where an op cannot run. Reads what
/// `write_times_csv` writes, and a table with a row per op and a column per device, `op,gpu0,gpu1` and `3,0.5,inf`.
/// Ops and devices stand there by number, from 0, or by name; where the first column is called `name` and not `op`, a
/// number is a name, too. Throws `parse_error` for what is no such table, a negative time, and a time that is there
/// twice or is missing where the op may run. Complexity: O(ops × devices).
inline std::vector<double> read_times_csv(std::string_view text, std::string file, const workload& w,
                                          const platform<>& q) {
  return detail::times_reader{text, std::move(file), w, q}.read();
}

} // namespace weft::io
