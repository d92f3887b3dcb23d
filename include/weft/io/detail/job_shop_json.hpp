// SPDX-License-Identifier: BSL-1.0
/// Job shops in JSON: lists of jobs with their operations, or matrices of machines and times.
#pragma once

#include "weft/io/detail/json_document.hpp"
#include "weft/io/detail/shop_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Operations are objects `{"machine": …, "duration": …}`, pairs of the two, or lists of alternatives of either kind.
/// Names for the same thing differ between collections.
class job_shop_json {
public:
  explicit job_shop_json(const json_document& document) : root_{document} {}

  static bool recognises(std::string_view text) {
    if (const auto jobs = outermost_value(text, "jobs")) {
      return *jobs == "[" && !outermost_value(text, "format");
    }
    json_tokens tokens{text};
    const char first = tokens.next().kind;
    const char second = tokens.next().kind;
    const char third = tokens.next().kind;
    if (first == '[') {
      return second == '[' && (third == '[' || third == '{');
    }
    const auto begin = text.substr(0, 4096);
    return first == '{' && (begin.find("\"duration_matrix\"") != begin.npos ||
                            begin.find("\"machines_matrix\"") != begin.npos);
  }

  shop_parts read() && {
    if (root_.is_array()) {
      read_jobs(root_);
    } else {
      read_instance(root_.object());
    }
    build();
    return std::move(parts_);
  }

private:
  using keys = std::span<const std::string_view>;
  struct alternative {
    std::uint32_t machine;
    double time;
  };
  struct operation {
    std::uint32_t job;
    std::uint32_t number;
    std::size_t first; ///< of its alternatives
  };

  static constexpr std::string_view machine_keys[]{"machine", "machine_id", "machineId", "resource", "m"};
  static constexpr std::string_view time_keys[]{"duration", "processing_time", "processingTime", "time", "p"};
  static constexpr std::string_view machines_keys[]{"machines", "num_machines", "n_machines", "nb_machines",
                                                    "number_of_machines"};
  static constexpr std::string_view machine_labels[]{"id", "name", "machine_id"};
  static constexpr std::string_view matrix_keys[]{"duration_matrix", "durations_matrix"};
  static constexpr std::string_view operations_keys[]{"operations", "tasks", "ops"};
  static constexpr std::string_view alternatives_keys[]{"alternatives", "machines", "modes", "options"};
  static constexpr std::string_view times_keys[]{"durations", "processing_times", "times", "duration",
                                                 "processing_time"};
  static constexpr std::string_view labels[]{"name",    "id",  "job_id",   "operation_id",
                                             "task_id", "job", "position", "metadata"};

  static std::optional<json_value> find(const json_value& in, keys names) {
    for (const auto name : names) {
      if (auto found = in.find(name)) {
        return found;
      }
    }
    return std::nullopt;
  }
  static json_value at(const json_value& in, keys names) {
    const auto found = find(in, names);
    if (!found) {
      in.fail("the key '" + std::string{names.front()} + "' is missing");
    }
    return *found;
  }

  void read_instance(const json_value& shop) {
    if (const auto jobs = shop.find("jobs"); jobs && jobs->is_array()) {
      read_machines(shop);
      read_jobs(*jobs);
    } else if (shop.has("machines_matrix") || shop.has("duration_matrix")) {
      read_matrices(shop);
    } else {
      read_only_one(shop);
    }
  }

  /// A collection of instances by their names.
  void read_only_one(const json_value& all) {
    std::string names;
    std::size_t count = 0;
    for (const json_value& one : all) {
      count += one.is_object() && one.has("machines_matrix") ? 1u : 0u;
      names += count <= 3 ? (names.empty() ? "" : ", ") + one.key() : "";
    }
    if (count != 1 || all.size() != 1) {
      all.fail("a collection of " + std::to_string(count) + " job shops (" + on_one_line(names) +
               (count > 3 ? ", …" : "") + "); put one of them into a file of its own");
    }
    const auto one = all[0];
    read_matrices(one);
  }

  /// How many there are, or their names.
  void read_machines(const json_value& shop) {
    const auto machines = find(shop, machines_keys);
    if (!machines) {
      return;
    }
    if (!machines->is_array()) {
      declared_ = static_cast<std::uint32_t>(machines->whole(1, max_job_shop_machines));
      return;
    }
    declared_ = static_cast<std::uint32_t>(machines->size());
    for (const json_value& machine : *machines) {
      const auto label = machine.is_object() ? find(machine, machine_labels) : std::optional{machine};
      if (label && label->is_string()) {
        (void)named(*label);
      }
    }
  }

  std::uint32_t named(const json_value& machine) {
    const auto name = machine.text();
    const auto [found, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) {
      names_.push_back(name);
    }
    return found->second;
  }

  std::uint32_t machine(const json_value& value) {
    if (value.is_string()) {
      return named(value);
    }
    const auto number = static_cast<std::uint32_t>(value.whole(0, max_job_shop_machines));
    least_ = std::min(least_, number);
    most_ = std::max(most_, number);
    return number;
  }

  void read_jobs(const json_value& jobs) {
    std::uint32_t number = 0;
    for (const json_value& job : jobs.array("a list of jobs")) {
      ++number;
      if (job.is_object()) {
        note_others(job, {operations_keys});
        const auto operations = at(job, operations_keys);
        read_job(operations, number);
      } else {
        read_job(job, number);
      }
    }
  }

  void read_job(const json_value& job, std::uint32_t number) {
    std::uint32_t i = 0;
    for (const json_value& value : job.array("a list of operations")) {
      begin(number, ++i);
      add_alternatives(value);
      end(value);
    }
  }

  static bool is_pair(const json_value& value) {
    return value.is_array() && value.size() == 2 && !value[0].is_array() && !value[0].is_object() &&
           value[1].is_number();
  }

  void add_alternatives(const json_value& value) {
    if (is_pair(value)) {
      const auto on = value[0];
      const auto time = value[1];
      add(on, time);
    } else if (value.is_array()) {
      for (const json_value& each : value) {
        if (!is_pair(each) && !each.is_object()) {
          each.fail("expected a machine and its time, as in {\"machine\": 0, \"duration\": 3} or [0, 3]");
        }
        add_alternatives(each);
      }
    } else if (const auto on = find(value.object(), machine_keys); on && !on->is_array()) {
      note_others(value, {machine_keys, time_keys});
      const auto time = at(value, time_keys);
      add(*on, time);
    } else if (const auto several = on ? on : find(value, alternatives_keys)) {
      note_others(value, {machine_keys, alternatives_keys, times_keys});
      add_list(value, *several);
    } else {
      value.fail("an operation has a 'machine' and a 'duration', or 'alternatives' of them");
    }
  }

  /// Alternatives, or machines whose times are in another list of the operation, or the same for all.
  void add_list(const json_value& value, const json_value& several) {
    const auto times = find(value, times_keys);
    std::size_t i = 0;
    for (const json_value& each : several.array("a list of alternatives")) {
      if (each.is_object() || each.is_array()) {
        add_alternatives(each);
        continue;
      }
      if (!times || (times->is_array() && i >= times->size())) {
        each.fail("there is no time for this machine");
      }
      const auto time = times->is_array() ? (*times)[i] : *times;
      add(each, time);
      ++i;
    }
  }

  void begin(std::uint32_t job, std::uint32_t number) { operations_.push_back({job, number, can_.size()}); }
  void end(const json_value& where) const {
    if (can_.size() == operations_.back().first) {
      where.fail("no machine can do this operation");
    }
  }

  /// An alternative of the operation that was begun.
  void add(const json_value& on, const json_value& time) {
    const auto m = machine(on);
    if (std::any_of(can_.begin() + static_cast<std::ptrdiff_t>(operations_.back().first), can_.end(),
                    [&](const auto& a) { return a.machine == m; })) {
      on.fail("the operation has this machine twice");
    }
    time.expect(time.number() < 1e300, "a time below 1e300");
    can_.push_back({m, time.number()});
  }

  void read_matrices(const json_value& shop) {
    const auto times = at(shop, matrix_keys);
    const auto machines = shop.at("machines_matrix");
    if (times.array().size() != machines.array().size()) {
      machines.fail("expected a row per job, " + std::to_string(times.size()) + " as in the matrix of times");
    }
    read_machines(shop);
    auto row = machines.begin();
    std::uint32_t job = 0;
    for (const json_value& of_job : times) {
      ++job;
      const json_value on = *row;
      ++row;
      if (of_job.array().size() != on.array().size()) {
        on.fail("expected a machine for each of " + std::to_string(of_job.size()) + " operations");
      }
      auto next = on.begin();
      std::uint32_t i = 0;
      for (const json_value& time : of_job) {
        const json_value where = *next;
        ++next;
        begin(job, ++i);
        if (where.is_array()) {
          std::size_t k = 0;
          for (const json_value& each : where) {
            if (time.is_array() && k >= time.size()) {
              each.fail("there is no time for this machine");
            }
            const auto of_machine = time.is_array() ? time[k] : time;
            add(each, of_machine);
            ++k;
          }
        } else {
          add(where, time);
        }
        end(where);
      }
    }
  }

  /// Remembers keys that nothing here reads, and that may matter.
  void note_others(const json_value& object, std::initializer_list<keys> known) {
    for (const json_value& member : object) {
      const auto key = member.key();
      const auto is = [&](keys names) { return std::find(names.begin(), names.end(), key) != names.end(); };
      if (!is(labels) && std::none_of(known.begin(), known.end(), is) && others_.size() < 8) {
        others_.insert(on_one_line(key));
      }
    }
  }

  void build() {
    const bool by_name = !names_.empty();
    const bool by_number = most_ > 0 || least_ == 0;
    if (by_name && by_number) {
      root_.fail("some machines are named and some numbered; use one way for all");
    }
    // Where none is 0 and they end with how many there are, they begin with 1.
    const std::uint32_t first = by_number && least_ > 0 && (declared_ == 0 || most_ == declared_) ? 1 : 0;
    const auto used = by_name ? static_cast<std::uint32_t>(names_.size()) : by_number ? most_ + 1 - first : 1;
    if (declared_ != 0 && used > declared_) {
      root_.fail("there are " + std::to_string(declared_) + " machines, but operations name " +
                 (by_name ? "'" + on_one_line(names_.back()) + "' besides"
                          : "machine " + std::to_string(most_) + ", numbered from " + std::to_string(first)));
    }
    parts_.machines = std::max(declared_, used);
    if (parts_.machines > max_job_shop_machines) {
      root_.fail("there must be 1 to " + std::to_string(max_job_shop_machines) + " machines, not " +
                 std::to_string(parts_.machines));
    }
    if (by_name) {
      parts_.machine_names = std::move(names_);
      parts_.machine_names.resize(parts_.machines);
    }
    if (first == 1) {
      parts_.notes.push_back("machines are numbered from 1");
    }
    if (!others_.empty()) {
      std::string list;
      for (const auto& key : others_) {
        list += (list.empty() ? "" : ", ") + key;
      }
      parts_.notes.push_back("not read: " + list);
    }
    std::vector<cost::alternatives::entry> can;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const auto& o = operations_[i];
      can.clear();
      for (auto k = o.first; k < (i + 1 < operations_.size() ? operations_[i + 1].first : can_.size()); ++k) {
        can.push_back({can_[k].machine - first, can_[k].time});
      }
      parts_.add(o.job, o.number, can, [this](const std::string& problem) { root_.fail(problem); });
    }
  }

  json_value root_;
  shop_parts parts_;
  std::uint32_t declared_ = 0; // machines
  std::map<std::string, std::uint32_t> numbers_; // of machines that have names
  std::vector<std::string> names_;
  std::uint32_t least_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t most_ = 0;
  std::vector<operation> operations_;
  std::vector<alternative> can_; // of all operations
  std::set<std::string> others_;
};

} // namespace weft::io::detail
