// SPDX-License-Identifier: BSL-1.0
/// Reads and writes lists of buffers with their lifetimes, as MiniMalloc has them, and writes offsets.
#pragma once

#include "weft/allocate/lifetime.hpp"
#include "weft/io/files.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::io {

/// Buffers that have to lie in one memory, and what the file calls them.
struct buffer_list {
  std::vector<std::string> names; ///< by buffer; need not differ
  std::vector<allocate::lifetime> lifetimes;

  friend bool operator==(const buffer_list&, const buffer_list&) = default;
};

namespace detail {

/// A header line with the names of columns, and a line of values per buffer.
class buffer_file {
public:
  buffer_file(std::string_view text, const std::string& file) : text_{text}, lines_{text, file} {}

  buffer_list read() {
    read_header();
    // Each line has at least four fields and the separators between them.
    const auto ends = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
    const auto most = std::min(ends, text_.size() / 7);
    buffer_list made;
    made.names.reserve(most + 1);
    made.lifetimes.reserve(most + 1);
    byte_count left = allocate::max_bytes;
    while (const auto line = lines_.next()) {
      const auto fields = split(*line, ',', num_columns_ + 1);
      if (fields.size() != num_columns_) {
        fail("expected " + std::to_string(num_columns_) + " fields, as the header has, got " +
             (fields.size() > num_columns_ ? "more" : std::to_string(fields.size())));
      }
      if (fields[at_[id]].empty()) {
        fail("the buffer has no id");
      }
      allocate::lifetime x{number<std::int64_t>(fields, lower), number<std::int64_t>(fields, upper),
                           number<byte_count>(fields, size)};
      if (end_is_inside_) {
        if (x.end == std::numeric_limits<std::int64_t>::max()) {
          fail("end " + in_quotes(fields[at_[upper]]) + " is too large");
        }
        ++x.end;
      }
      if (x.end < x.begin) {
        fail("the buffer ends before it begins");
      }
      if (at_[alignment] != absent) {
        x.alignment = number<byte_count>(fields, alignment);
        if (x.alignment == 0) {
          fail("alignment is 0: write 1 if any offset will do");
        }
      }
      if (x.bytes > left || x.alignment > left - x.bytes) {
        fail("sizes and alignments of all buffers add up to more than 2^60 bytes");
      }
      left -= x.bytes + x.alignment;
      made.names.emplace_back(fields[at_[id]]);
      made.lifetimes.push_back(x);
    }
    return made;
  }

private:
  enum column : std::size_t { id, lower, upper, size, alignment, offset, count };
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);
  static constexpr std::array<const char*, count> names{"id", "lower", "upper", "size", "alignment", "offset"};

  [[noreturn]] void fail(const std::string& problem) const { lines_.fail(problem); }

  void read_header() {
    const auto header = lines_.next();
    if (!header) {
      fail("there is no header line: expected 'id,lower,upper,size'");
    }
    at_.fill(absent);
    for (const auto name : split(*header, ',', 2 * count)) {
      const bool is_end = name == "end";
      const std::string_view known = name == "buffer" || name == "buffer_id" ? "id"
                                     : name == "start" || name == "begin"    ? "lower"
                                     : is_end                                ? "upper"
                                                                             : name;
      const auto c = static_cast<std::size_t>(std::find(names.begin(), names.end(), known) - names.begin());
      if (c == count) {
        fail("column " + in_quotes(name) + " is not known; there are id, lower, upper, size, alignment and offset");
      }
      if (at_[c] != absent) {
        fail(std::string{"there are two columns for '"} + names[c] + "'");
      }
      at_[c] = num_columns_++;
      end_is_inside_ = end_is_inside_ || is_end;
    }
    for (const auto c : {id, lower, upper, size}) {
      if (at_[c] == absent) {
        fail(std::string{"the header lacks the column '"} + names[c] + "'");
      }
    }
  }

  template <class T>
  T number(const std::vector<std::string_view>& fields, column c) const {
    return parse_number<T>(fields[at_[c]], names[c], [this](const std::string& problem) { fail(problem); });
  }

  std::string_view text_;
  line_reader lines_;
  std::array<std::size_t, count> at_{};
  std::size_t num_columns_ = 0;
  bool end_is_inside_ = false;
};

} // namespace detail

/// Reads buffers as CSV: a header line with the columns `id`, `lower`, `upper`, `size` and perhaps `alignment`, in any
/// order, and a line per buffer, which lives in [lower, upper). An `offset` is ignored. As in MiniMalloc's older files,
/// `start` and `begin` stand for `lower`, `buffer` and `buffer_id` for `id`, and `end` for the last moment that belongs
/// to the lifetime, one before `upper`. A column `gaps` is refused. Throws `parse_error` with file and line.
/// Complexity: linear. `file` is what errors call the input.
/// Source: github.com/google/minimalloc, and Moffitt, *MiniMalloc*, ASPLOS 2023.
inline buffer_list read_buffers(std::string_view bytes, const std::string& file) {
  return detail::buffer_file{bytes, file}.read();
}
/// The same from a file. Throws `error` if it cannot be opened.
inline buffer_list read_buffers(const std::filesystem::path& path) {
  return read_buffers(read_file(path), path.string());
}

/// Writes them so that `read_buffers` reads the same, if names are not empty and have no blanks or commas; with
/// offsets, if there are some, one per buffer. There is a column for alignments if one is not 1. Complexity: linear.
inline void write_buffers(std::ostream& out, const buffer_list& buffers, std::span<const byte_count> offsets = {}) {
  const bool aligned = std::any_of(buffers.lifetimes.begin(), buffers.lifetimes.end(),
                                   [](const allocate::lifetime& x) { return x.alignment != 1; });
  out << "id,lower,upper,size" << (aligned ? ",alignment" : "") << (offsets.empty() ? "\n" : ",offset\n");
  for (const auto i : ids(buffers.lifetimes.size())) {
    const auto& x = buffers.lifetimes[i];
    out << buffers.names[i] << ',' << x.begin << ',' << x.end << ',' << x.bytes;
    if (aligned) {
      out << ',' << x.alignment;
    }
    if (!offsets.empty()) {
      out << ',' << offsets[i];
    }
    out << '\n';
  }
}

} // namespace weft::io
