// SPDX-License-Identifier: BSL-1.0
/// Reads flexible job shops, as the benchmark sets of production scheduling have them.
#pragma once

#include "weft/cost/alternatives.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/identical.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// Jobs whose operations follow each other, each on one of the machines that can do it. **Times are in the file's
/// unit**, and so is every result.
struct flexible_job_shop {
  using problem_type = weft::problem<workload, platform<>, cost::alternatives>;

  workload ops;       ///< job by job; a chain of control edges each
  platform<> devices; ///< the machines, between which nothing takes time
  weft::cost::alternatives cost;

  /// The problem to solve; refers to this object, which must outlive it and stay where it is.
  problem_type problem() const { return {ops, devices, cost}; }
};

/// The largest number of machines that a file may ask for.
inline constexpr std::uint32_t max_job_shop_machines = 1000;

namespace detail {

/// `jobs machines [alternatives of an operation in the mean]`, and then a line per job.
class job_shop_file {
public:
  job_shop_file(std::string_view text, const std::string& file) : lines_{text, file} {}

  flexible_job_shop read() {
    const auto first = lines_.next();
    if (!first || count_words(*first) < 2 || count_words(*first) > 3) {
      fail("expected 'jobs machines' or 'jobs machines alternatives' on the first line" +
           (first ? ", got " + in_quotes(*first) : ""));
    }
    auto rest = *first;
    const auto jobs = number<std::uint32_t>(next_word(rest), "number of jobs");
    machines_ = number<std::uint32_t>(next_word(rest), "number of machines");
    if (machines_ == 0 || machines_ > max_job_shop_machines) {
      fail("there must be 1 to " + std::to_string(max_job_shop_machines) + " machines, not " + std::to_string(machines_));
    }
    if (!trim(rest).empty()) {
      (void)number<double>(next_word(rest), "mean number of alternatives");
    }
    for (std::uint32_t job = 0; job < jobs; ++job) {
      const auto line = lines_.next();
      if (!line) {
        fail("the first line says " + std::to_string(jobs) + " jobs, but only " + std::to_string(job) + " follow");
      }
      read_job(*line, job + 1);
    }
    if (lines_.next()) {
      fail("the first line says " + std::to_string(jobs) + " jobs, but more lines follow");
    }
    return {std::move(ops_).build(), presets::identical(machines_), std::move(times_).build()};
  }

  /// Whether two lines are the first of a file and a job of it.
  static bool begins_so(std::string_view first, std::string_view job) {
    (void)next_word(first);
    const auto machines = small(next_word(first));
    const auto operations = small(next_word(job));
    for (std::uint32_t i = 0; i < operations; ++i) {
      const auto count = small(next_word(job));
      if (count == 0 || count > machines) {
        return false;
      }
      for (std::uint32_t k = 0; k < count; ++k) {
        const auto machine = small(next_word(job));
        if (machine == 0 || machine > machines || next_word(job).empty()) {
          return false;
        }
      }
    }
    return operations > 0 && trim(job).empty();
  }

private:
  [[noreturn]] void fail(const std::string& problem) const { lines_.fail(problem); }

  /// A whole number below a million; 0 if the word is something else.
  static std::uint32_t small(std::string_view word) {
    std::uint32_t value = 0;
    for (const char c : word.substr(0, 7)) {
      if (c < '0' || c > '9') {
        return 0;
      }
      value = 10 * value + static_cast<std::uint32_t>(c - '0');
    }
    return value < 1'000'000 ? value : 0;
  }

  template <class T>
  T number(std::string_view word, const char* what) const {
    if (word.empty()) {
      fail(std::string{what} + " is missing: the line ends before it");
    }
    return parse_number<T>(word, what, [this](const std::string& problem) { fail(problem); });
  }

  void read_job(std::string_view rest, std::uint32_t job) {
    const auto operations = number<std::uint32_t>(next_word(rest), "number of operations");
    for (std::uint32_t i = 0; i < operations; ++i) {
      const auto place = "operation " + std::to_string(i + 1) + " of job " + std::to_string(job);
      const auto count = number<std::uint32_t>(next_word(rest), "number of machines");
      if (count == 0 || count > machines_) {
        fail(place + " must have 1 to " + std::to_string(machines_) + " machines, not " + std::to_string(count));
      }
      can_.clear();
      for (std::uint32_t k = 0; k < count; ++k) {
        const auto machine = number<std::uint32_t>(next_word(rest), "machine");
        if (machine == 0 || machine > machines_) {
          fail(place + " has machine " + std::to_string(machine) + "; machines are numbered from 1 to " +
               std::to_string(machines_));
        }
        if (std::any_of(can_.begin(), can_.end(), [&](const auto& e) { return e.device == machine - 1; })) {
          fail(place + " has machine " + std::to_string(machine) + " twice");
        }
        can_.push_back({machine - 1, number<double>(next_word(rest), "time")});
      }
      try {
        times_.add_op(can_);
      } catch (const error& e) {
        fail(place + ": " + e.what());
      }
      const auto least = std::min_element(can_.begin(), can_.end(), [](const auto& a, const auto& b) {
        return a.seconds < b.seconds;
      });
      const auto v = ops_.add_op({.work = least->seconds, .name = std::to_string(job) + "." + std::to_string(i + 1)});
      if (i > 0) {
        ops_.add_control_edge(v - 1, v);
      }
    }
    if (!trim(rest).empty()) {
      fail("job " + std::to_string(job) + " says " + std::to_string(operations) + " operations, but after them follows " +
           in_quotes(trim(rest)));
    }
  }

  line_reader lines_;
  std::uint32_t machines_ = 0;
  workload_builder ops_;
  weft::cost::alternatives::builder times_;
  std::vector<weft::cost::alternatives::entry> can_;
};

} // namespace detail

/// Reads a flexible job shop: the numbers of jobs and machines on the first line, perhaps with the mean number of
/// alternatives, and then a line per job, `operations`, and for each operation `count` and so often `machine time`,
/// machines numbered from 1. Op "2.3" is the third operation of the second job; its work is the shortest of its times.
/// Throws `parse_error` with file and line. Complexity: linear. `file` is what errors call the input.
/// Source: Brandimarte, Routing and scheduling in a flexible job shop by tabu search, Annals of Operations Research 41,
/// 1993, whose format other sets have taken over.
inline flexible_job_shop read_job_shop(std::string_view bytes, const std::string& file) {
  return detail::job_shop_file{bytes, file}.read();
}
/// The same from a file. Throws `error` if it cannot be opened.
inline flexible_job_shop read_job_shop(const std::filesystem::path& path) {
  return read_job_shop(read_file(path), path.string());
}

/// Reads the operations of such a file for `read_model`. Which machines can do them, and how long that takes each, is in
/// the file, but not in a workload.
struct job_shop_reader {
  static constexpr std::string_view format() { return "flexible job shop"; }
  /// Two or three numbers, and then a job of operations on so many machines.
  static bool recognises(std::string_view bytes) {
    line_reader lines{bytes, ""};
    const auto first = lines.next();
    const auto second = first ? lines.next() : first;
    return second && first->find_first_not_of("0123456789. \t") == first->npos && count_words(*first) >= 2 &&
           count_words(*first) <= 3 && detail::job_shop_file::begins_so(*first, *second);
  }
  static model read(std::string_view bytes, const std::string& file) {
    model m;
    m.ops = read_job_shop(bytes, file).ops;
    m.format = format();
    m.unit = work_unit::own;
    m.notes.push_back("work is the shortest time of an operation, in the file's unit; which machines can do it, and how "
                      "long that takes each, is left out");
    return m;
  }
};

} // namespace weft::io
