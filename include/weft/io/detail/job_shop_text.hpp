// SPDX-License-Identifier: BSL-1.0
/// The text formats of job shops: with one machine per operation or with several, with machines numbered from 0 or 1.
#pragma once

#include "weft/io/detail/shop_parts.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// A line of `jobs machines`, and then a line per job, or two matrices, of times and of machines. Before and behind
/// them there may be lines of text; what follows a `#` is a comment.
class job_shop_text {
public:
  job_shop_text(std::string_view text, std::string file) : file_{std::move(file)} {
    line_reader lines{text, file_};
    while (const auto line = lines.next()) {
      const auto said = trim(line->substr(0, line->find('#')));
      if (first_.text.empty()) {
        first_ = {said, lines.line(), true};
      }
      if (!said.empty() && (!lines_.empty() || is_numbers(said))) {
        lines_.push_back({said, lines.line(), !begins_with_number(said)});
      }
    }
    last_ = lines.line();
  }

  /// Whether the first lines of a text are those of a job shop: of what is long and something else, not all is looked
  /// at.
  static bool recognises(std::string_view text) {
    line_reader lines{text, ""};
    std::optional<std::string_view> header;
    for (std::size_t i = 0; i < 1000; ++i) {
      const auto line = lines.next();
      if (!line) {
        return false;
      }
      const auto said = trim(line->substr(0, line->find('#')));
      if (header && !said.empty()) {
        return begins_so(*header, said, lines);
      }
      if (is_numbers(said)) {
        header = said;
      }
    }
    return false;
  }

  shop_parts read() && {
    read_header();
    if (lines_.size() > 1 && says(1, "times")) {
      read_matrices();
    } else {
      const auto jobs = std::span{lines_}.subspan(1, count_jobs());
      choose_layout(jobs);
      for (std::size_t job = 0; job < jobs.size(); ++job) {
        at_ = jobs[job].number;
        layout_.flexible ? read_flexible(jobs[job].text, job + 1) : read_plain(jobs[job].text, job + 1);
      }
    }
    return std::move(parts_);
  }

private:
  struct numbered_line {
    std::string_view text;
    std::size_t number;
    bool is_text;
  };
  /// How operations are written: `count` and so often `machine time`, after their number; or `machine time` each, once
  /// for each machine or as the job has it.
  struct layout {
    bool flexible;
    std::uint32_t first; ///< number of the first machine
    bool each_machine;
  };

  static bool begins_with_number(std::string_view text) {
    const auto word = text.substr(0, text.find_first_of(" \t"));
    return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
  }
  static bool is_numbers(std::string_view text) {
    return begins_with_number(text) && text.find_first_not_of("0123456789. \t") == text.npos;
  }
  bool says(std::size_t line, std::string_view word) const {
    return lines_[line].is_text && lower(lines_[line].text) == word;
  }

  [[noreturn]] void fail(const std::string& problem) const { throw parse_error(file_, at_, problem); }

  /// A whole number below a million, if the word is one.
  static std::optional<std::uint32_t> small(std::string_view word) {
    std::uint32_t value = 0;
    for (const char c : word.substr(0, 7)) {
      if (c < '0' || c > '9') {
        return std::nullopt;
      }
      value = 10 * value + static_cast<std::uint32_t>(c - '0');
    }
    return !word.empty() && value < 1'000'000 ? std::optional{value} : std::nullopt;
  }

  static bool is_machine(std::string_view word, std::uint32_t machines, std::uint32_t first) {
    const auto machine = small(word);
    return machine && *machine >= first && *machine - first < machines;
  }

  /// Whether the line of a job has operations as they are in flexible shops.
  static bool fits_flexible(std::string_view job, std::uint32_t machines, std::uint32_t first) {
    const auto operations = small(next_word(job));
    for (std::uint32_t i = 0; i < operations.value_or(0); ++i) {
      const auto count = small(next_word(job)).value_or(0);
      if (count == 0 || count > machines) {
        return false;
      }
      for (std::uint32_t k = 0; k < count; ++k) {
        if (!is_machine(next_word(job), machines, first) || next_word(job).empty()) {
          return false;
        }
      }
    }
    return operations && trim(job).empty();
  }

  /// Whether it has one machine per operation.
  static bool fits_plain(std::string_view job, std::uint32_t machines, const layout& how) {
    const auto words = count_words(job);
    if (words % 2 != 0 || (how.each_machine && words != 2 * std::size_t{machines})) {
      return false;
    }
    std::vector<bool> seen(machines, false);
    for (std::size_t i = 0; i < words; i += 2) {
      const auto word = next_word(job);
      (void)next_word(job);
      if (!is_machine(word, machines, how.first) || (how.each_machine && seen[*small(word) - how.first])) {
        return false;
      }
      seen[*small(word) - how.first] = true;
    }
    return true;
  }

  static bool fits(std::string_view job, std::uint32_t machines, const layout& how) {
    return how.flexible ? fits_flexible(job, machines, how.first) : fits_plain(job, machines, how);
  }

  /// The likelier first.
  static constexpr std::array<layout, 6> layouts{
    {{true, 1, false}, {false, 0, true}, {false, 1, true}, {true, 0, false}, {false, 0, false}, {false, 1, false}}};

  /// Whether that is the first line and the first job, before the rest of the lines: rather one too many, so that
  /// errors are about what it is meant to be, but hyperdags have three numbers, too.
  static bool begins_so(std::string_view header, std::string_view job, line_reader& rest_of_lines) {
    const auto words = count_words(header);
    auto rest = header;
    const auto jobs = small(next_word(rest)).value_or(0);
    const auto machines = small(next_word(rest)).value_or(0);
    if (words < 2 || machines == 0 || machines > max_job_shop_machines) {
      return false;
    }
    if (lower(job) == "times") {
      return true;
    }
    if (words > 3 || !is_numbers(job)) {
      return false;
    }
    if (job.front() != '0' && fits_flexible(job, max_job_shop_machines, 0)) {
      return true;
    }
    if (words == 2) {
      return count_words(job) == 2 * std::size_t{machines} ||
             std::any_of(layouts.begin(), layouts.end(), [&](const layout& how) {
               return !how.flexible && fits(job, machines, how);
             });
    }
    std::uint32_t lines = 1;
    while (lines <= jobs && rest_of_lines.next()) {
      ++lines;
    }
    return lines == jobs && count_words(job) > 3;
  }

  template <class T>
  T number(std::string_view word, const char* what) const {
    if (word.empty()) {
      fail(std::string{what} + " is missing: the line ends before it");
    }
    return parse_number<T>(word, what, [this](const std::string& problem) { fail(problem); });
  }

  void read_header() {
    const auto& header = lines_.empty() ? first_ : lines_[0];
    at_ = header.number;
    const auto words = lines_.empty() ? 0 : count_words(header.text);
    const bool matrices = lines_.size() > 1 && says(1, "times"); // seeds and bounds follow
    if (words < 2 || (words > 3 && !matrices)) {
      fail("expected 'jobs machines' or 'jobs machines alternatives' on the first line" +
           (header.text.empty() ? "" : ", got " + in_quotes(header.text)));
    }
    auto rest = header.text;
    jobs_ = number<std::uint32_t>(next_word(rest), "number of jobs");
    parts_.machines = number<std::uint32_t>(next_word(rest), "number of machines");
    if (parts_.machines == 0 || parts_.machines > max_job_shop_machines) {
      fail("there must be 1 to " + std::to_string(max_job_shop_machines) + " machines, not " +
           std::to_string(parts_.machines));
    }
    if (!trim(rest).empty()) {
      (void)number<double>(next_word(rest), matrices ? "seed" : "mean number of alternatives");
    }
  }

  /// Checks that as many lines of numbers follow as there are jobs, and nothing but text after them.
  std::size_t count_jobs() {
    std::size_t count = 0;
    while (count + 1 < lines_.size() && !lines_[count + 1].is_text) {
      ++count;
    }
    const auto more = std::find_if(lines_.begin() + static_cast<std::ptrdiff_t>(count) + 1, lines_.end(),
                                   [](const numbered_line& l) { return !l.is_text; });
    at_ = more != lines_.end() ? more->number : last_;
    if (count < jobs_) {
      fail("the first line says " + std::to_string(jobs_) + " jobs, but only " + std::to_string(count) + " follow");
    }
    if (count > jobs_) {
      at_ = lines_[jobs_ + 1].number;
      fail("the first line says " + std::to_string(jobs_) + " jobs, but more lines follow");
    }
    if (more != lines_.end()) {
      fail("another instance begins here; keep one of them in a file");
    }
    return count;
  }

  void choose_layout(std::span<const numbered_line> jobs) {
    const auto all = [&](const auto& holds) { return std::all_of(jobs.begin(), jobs.end(), holds); };
    const bool may_be_plain = count_words(lines_[0].text) == 2;
    const auto fits_all = [&](const layout& how) {
      return all([&](const numbered_line& l) { return fits(l.text, parts_.machines, how); });
    };
    auto found = std::find_if(layouts.begin(), layouts.end(), [&](const layout& how) { // few numbers fit several
      return (how.flexible || (may_be_plain && (how.each_machine || jobs.size() > 1))) && fits_all(how);
    });
    if (found == layouts.end()) { // the third number may be a makespan
      found = std::find_if(layouts.begin(), layouts.end(),
                           [&](const layout& how) { return how.each_machine && fits_all(how); });
    }
    if (found != layouts.end()) {
      layout_ = *found;
    } else if (may_be_plain && jobs.size() > 1 && // says what is wrong with what it is most likely
               all([&](const numbered_line& l) { return count_words(l.text) == 2 * std::size_t{parts_.machines}; }) &&
               !all([&](const numbered_line& l) { return fits_flexible(l.text, max_job_shop_machines, 0); })) {
      layout_ = {false, 0, true};
    } else if (std::any_of(jobs.begin(), jobs.end(), [](const numbered_line& l) {
                 return fits_flexible(l.text, max_job_shop_machines, 0) &&
                        !fits_flexible(l.text, max_job_shop_machines, 1);
               })) {
      layout_.first = 0;
    }
    if (layout_.first == (layout_.flexible ? 0u : 1u)) {
      parts_.notes.push_back("machines are numbered from " + std::to_string(layout_.first));
    }
  }

  std::uint32_t machine(std::string_view word, std::size_t job, std::size_t operation) const {
    const auto machine = number<std::uint32_t>(word, "machine");
    if (machine < layout_.first || machine - layout_.first >= parts_.machines) {
      fail(shop_parts::place(job, operation) + " has machine " + std::to_string(machine) +
           "; machines are numbered from " + std::to_string(layout_.first) + " to " +
           std::to_string(layout_.first + parts_.machines - 1));
    }
    return machine - layout_.first;
  }

  void add(std::size_t job, std::size_t operation) {
    parts_.add(job, operation, can_, [this](const std::string& problem) { fail(problem); });
  }

  void read_flexible(std::string_view rest, std::size_t job) {
    const auto operations = number<std::uint32_t>(next_word(rest), "number of operations");
    for (std::uint32_t i = 1; i <= operations; ++i) {
      const auto count = number<std::uint32_t>(next_word(rest), "number of machines");
      if (count == 0 || count > parts_.machines) {
        fail(shop_parts::place(job, i) + " must have 1 to " + std::to_string(parts_.machines) + " machines, not " +
             std::to_string(count));
      }
      can_.clear();
      for (std::uint32_t k = 0; k < count; ++k) {
        const auto on = machine(next_word(rest), job, i);
        if (std::any_of(can_.begin(), can_.end(), [&](const auto& e) { return e.device == on; })) {
          fail(shop_parts::place(job, i) + " has machine " + std::to_string(on + layout_.first) + " twice");
        }
        can_.push_back({on, number<double>(next_word(rest), "time")});
      }
      add(job, i);
    }
    if (!trim(rest).empty()) {
      fail("job " + std::to_string(job) + " says " + std::to_string(operations) +
           " operations, but after them follows " + in_quotes(trim(rest)));
    }
  }

  void read_plain(std::string_view rest, std::size_t job) {
    for (std::size_t i = 1; !trim(rest).empty(); ++i) {
      const auto on = machine(next_word(rest), job, i);
      can_.assign(1, {on, number<double>(next_word(rest), "time")});
      add(job, i);
    }
  }

  /// The line after a title and `jobs_` rows of a matrix.
  std::size_t skip_matrix(std::size_t title, const char* what) {
    for (std::size_t row = 1; row <= jobs_; ++row) {
      const auto at = title + row;
      at_ = at < lines_.size() ? lines_[at].number : last_;
      if (at >= lines_.size() || lines_[at].is_text || count_words(lines_[at].text) != parts_.machines) {
        fail("the matrix of " + std::string{what} + " must have " + std::to_string(jobs_) + " rows of " +
             std::to_string(parts_.machines) + " numbers");
      }
    }
    return title + jobs_ + 1;
  }

  void read_matrices() {
    const auto second = skip_matrix(1, "times");
    if (second >= lines_.size() || !says(second, "machines")) {
      at_ = second < lines_.size() ? lines_[second].number : last_;
      fail("expected the title 'Machines' and a matrix of them after that of times");
    }
    const auto end = skip_matrix(second, "machines");
    const auto more = std::find_if(lines_.begin() + static_cast<std::ptrdiff_t>(end), lines_.end(),
                                   [](const numbered_line& l) { return !l.is_text; });
    if (more != lines_.end()) {
      at_ = more->number;
      fail("another instance begins here; keep one of them in a file");
    }
    for (std::size_t job = 1; job <= jobs_; ++job) {
      auto row = lines_[second + job].text;
      for (auto word = next_word(row); !word.empty(); word = next_word(row)) {
        layout_.first = word == "0" ? 0 : layout_.first;
      }
    }
    for (std::size_t job = 1; job <= jobs_; ++job) {
      auto times = lines_[1 + job].text;
      auto machines = lines_[second + job].text;
      for (std::size_t i = 1; i <= parts_.machines; ++i) {
        at_ = lines_[second + job].number;
        const auto on = machine(next_word(machines), job, i);
        at_ = lines_[1 + job].number;
        can_.assign(1, {on, number<double>(next_word(times), "time")});
        add(job, i);
      }
    }
  }

  std::string file_;
  numbered_line first_{{}, 0, true};
  std::vector<numbered_line> lines_; // from the header on; without blank ones
  std::size_t last_ = 0;    // line of the file
  std::size_t at_ = 0;      // line that is being read
  std::uint32_t jobs_ = 0;
  layout layout_{true, 1, false};
  shop_parts parts_;
  std::vector<cost::alternatives::entry> can_;
};

} // namespace weft::io::detail
