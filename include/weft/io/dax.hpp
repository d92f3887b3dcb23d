// SPDX-License-Identifier: BSL-1.0
/// Reads abstract workflows of Pegasus, the XML called DAX.
#pragma once

#include "weft/core/numbering.hpp"
#include "weft/io/detail/workflow.hpp"
#include "weft/io/detail/xml_tags.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// A workflow, read tag by tag. What refers to jobs and files is kept as it is in the text, and made sense of at the
/// end, since anything may come before what it is about.
class dax_file {
public:
  dax_file(std::string_view text, std::string file) : text_{text}, file_{std::move(file)} {}

  model read() && {
    read_tags();
    use_files();
    order();
    try {
      flow_.build();
    } catch (const cycle_error& e) {
      std::throw_with_nested(parse_error(file_, line_of(jobs_[e.ops.front()]), on_one_line(e.what())));
    } catch (const error& e) {
      std::throw_with_nested(parse_error(file_, 0, on_one_line(e.what())));
    }
    return std::move(flow_).finish("Pegasus DAX");
  }

private:
  static constexpr std::size_t max_depth = 64;

  enum class direction : std::uint8_t { in, out, both, other };
  struct use {
    op_id job;
    std::uint32_t file;
    direction link;
    std::optional<byte_count> size = {}; ///< as this use tells it
  };
  struct dependency {
    std::string_view parent;
    std::string_view child;
  };

  std::size_t line_of(std::string_view part) const {
    return line_at(text_, static_cast<std::size_t>(part.data() - text_.data()));
  }
  [[noreturn]] void fail(std::string_view part, const std::string& problem) const {
    throw parse_error(file_, part.data() == nullptr ? 0 : line_of(part), problem);
  }

  /// Without blanks and line breaks around it.
  static std::string_view content(std::string_view text) {
    const auto first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
  }

  double number(std::string_view text, const char* what) const {
    return parse_number<double>(content(text), what, [&](const std::string& problem) { fail(text, problem); });
  }

  void read_tags() {
    const auto refuse = [this](std::size_t line, const std::string& problem) {
      throw parse_error(file_, line, problem);
    };
    xml_tags tags{text_, refuse};
    std::vector<std::string_view> open;
    bool seen = false;
    while (tags.next()) {
      if (open.empty() && (seen || tags.name() != "adag")) {
        refuse(tags.line(), "the outermost element is not 'adag'");
      }
      seen = true;
      if (tags.opens()) {
        if (open.size() == max_depth) {
          refuse(tags.line(), "elements are nested more than " + std::to_string(max_depth) + " deep");
        }
        open.push_back(tags.name());
        begin(tags, open.size());
      }
      if (tags.closes()) {
        if (open.empty() || open.back() != tags.name()) {
          refuse(tags.line(), "the end of '" + std::string{tags.name().substr(0, 40)} + "' is not expected here");
        }
        end(tags.name(), tags.text_before());
        open.pop_back();
      }
    }
    if (!seen || !open.empty()) {
      refuse(0, "the workflow is not complete: the end of '" + std::string{open.empty() ? "adag" : open.back()} +
                  "' is missing");
    }
  }

  template <class Tags>
  std::string_view required(const Tags& tags, const char* key) const {
    const auto value = tags[key];
    if (value.empty()) {
      throw parse_error(file_, tags.line(), "'" + std::string{tags.name()} + "' has no attribute '" + key + "'");
    }
    return value;
  }

  template <class Tags>
  void begin(const Tags& tags, std::size_t depth) {
    const auto name = tags.name();
    key_ = {};
    if (depth == 2 && (name == "job" || name == "dag" || name == "dax")) {
      add_job(required(tags, "id"), tags["name"]);
      read_time(tags["runtime"]);
    } else if (depth == 2 && name == "child") {
      child_ = required(tags, "ref");
    } else if (depth == 3 && name == "parent" && !child_.empty()) {
      dependencies_.push_back({required(tags, "ref"), child_});
    } else if (depth == 3 && name == "uses" && in_job_) {
      const auto file = tags["file"].empty() ? required(tags, "name") : tags["file"];
      uses_.push_back({static_cast<op_id>(jobs_.size() - 1), add_file(file), link_of(tags["link"])});
      in_use_ = true;
      read_size(tags["size"]);
    } else if (depth == 2 && name == "file") {
      (void)add_file(required(tags, "name"));
      read_size(tags["size"]);
    } else if (name == "profile" || name == "metadata") {
      key_ = tags["key"];
    }
  }

  void end(std::string_view name, std::string_view text) {
    if (name == "profile" || name == "metadata") {
      if (key_ == "size") {
        read_size(text);
      } else if (key_ == "runtime" && in_job_) {
        read_time(text);
      } else if (key_ == "cores" && in_job_) {
        flow_.set_cores(static_cast<op_id>(jobs_.size() - 1), number(text, "cores"));
      }
      key_ = {};
    } else if (name == "job" || name == "dag" || name == "dax") {
      in_job_ = false;
    } else if (name == "child") {
      child_ = {};
    } else if (name == "uses" || name == "file") {
      current_file_ = none;
      in_use_ = false;
    }
  }

  void add_job(std::string_view id, std::string_view program) {
    if (!jobs_.insert(id)) {
      fail(id, "there is another job with the id " + in_quotes(id) + "; ids must differ");
    }
    flow_.add_task({.name = xml_value(id), .type = xml_value(program)});
    in_job_ = true;
  }

  void read_time(std::string_view text) {
    if (!content(text).empty()) {
      flow_.set_time(static_cast<op_id>(jobs_.size() - 1), number(text, "runtime"));
    }
  }

  std::uint32_t add_file(std::string_view name) {
    current_file_ = files_.number(name);
    sizes_.resize(files_.size());
    return current_file_;
  }

  /// The largest of those that are told counts.
  void read_size(std::string_view text) {
    if (current_file_ == none || content(text).empty()) {
      return;
    }
    const double bytes = std::ceil(number(text, "size"));
    if (bytes > static_cast<double>(workload_builder::max_total_bytes)) {
      fail(text, "size " + in_quotes(content(text)) + " is too large");
    }
    auto& size = sizes_[current_file_];
    size = std::max(size.value_or(0), static_cast<byte_count>(bytes));
    if (in_use_) {
      uses_.back().size = static_cast<byte_count>(bytes);
    }
  }

  static direction link_of(std::string_view text) {
    const auto word = lower(text);
    return word == "input" ? direction::in : word == "output" ? direction::out : word == "inout" ? direction::both
                                                                                                   : direction::other;
  }

  void use_files() {
    flow_.set_files(files_.size());
    std::size_t without_size = 0;
    for (const auto& size : sizes_) {
      without_size += size ? 0u : 1u;
    }
    if (without_size > 0) {
      flow_.result.notes.push_back(
        counted(without_size, "{file has|files have} no size; {it takes|they take} 0 bytes"));
    }
    std::vector<std::uint32_t> writers(files_.size(), 0);
    for (const auto& u : uses_) {
      writers[u.file] += writes(u) ? 1u : 0u;
    }
    for (const auto& u : uses_) { // of what several jobs write, each writes as much as it says
      const auto whole = sizes_[u.file].value_or(0);
      if (writes(u)) {
        flow_.produce(u.job, u.file, writers[u.file] > 1 ? u.size.value_or(whole) : whole);
      }
      if (u.link == direction::in || u.link == direction::both) {
        flow_.consume(u.job, u.file, whole);
      }
    }
  }

  static bool writes(const use& u) { return u.link == direction::out || u.link == direction::both; }

  op_id job_called(std::string_view ref) const {
    const auto v = jobs_.find(ref);
    if (v == none) {
      fail(ref, "there is no job with the id " + in_quotes(ref));
    }
    return v;
  }

  void order() {
    std::vector<workflow::op_pair> listed;
    listed.reserve(dependencies_.size());
    for (const auto& [parent, child] : dependencies_) {
      listed.emplace_back(job_called(parent), job_called(child));
    }
    sort_unique(listed);
    flow_.order(std::move(listed));
  }

  std::string_view text_;
  std::string file_;
  workflow flow_;
  numbering<std::string_view> jobs_;
  numbering<std::string_view> files_;
  std::vector<std::optional<byte_count>> sizes_; // of files
  std::vector<use> uses_;
  std::vector<dependency> dependencies_;
  bool in_job_ = false;
  bool in_use_ = false;
  std::uint32_t current_file_ = none;
  std::string_view child_;
  std::string_view key_;
};

} // namespace detail

/// Reads a DAX of version 2 or 3, as Pegasus and its workflow generator write it.
///
/// Jobs, and workflows inside the workflow, become ops in their order, named by their ids; the type is the name of
/// the program. Each file that a job writes is a tensor that all jobs which read it consume; its size is told by an
/// attribute or metadata. Of a file that several jobs write, each makes a part, and who reads it waits for all parts
/// that are made before, as far as parents and children allow; who reads and writes it makes one of them. A child
/// without a common file with its parent waits for it by a control edge. Work is the
/// run time in seconds that an attribute or a profile tells, and so are `model::seconds` (NaN for jobs without);
/// `cores` of a profile are how many slots of its device the op takes. Files that no job writes are staged in from
/// outside, which is not modelled. Notes tell what is left out.
///
/// Throws `parse_error` with file and line; when the graph as a whole is unusable (a cycle), the underlying error is
/// nested in it. Complexity: O((jobs + uses) · log(jobs + uses)), and the size of the text.
/// Source: pegasus.isi.edu/schema, dax-2.1 and dax-3.6; Bharathi et al., Characterization of scientific workflows,
/// WORKS 2008.
struct dax_reader {
  static constexpr std::string_view format() { return "Pegasus DAX"; }
  static bool recognises(std::string_view bytes) {
    const auto begin = bytes.substr(0, 10'000);
    const auto first = begin.find_first_not_of("\xef\xbb\xbf \t\r\n");
    return first != begin.npos && begin[first] == '<' && begin.find("<adag") != begin.npos;
  }
  static model read(std::string_view bytes, const std::string& file) { return detail::dax_file{bytes, file}.read(); }
};

/// The same from a stream. `file` is what errors call the input.
inline model read_dax(std::istream& in, const std::string& file = "<stream>") {
  return dax_reader::read(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline model read_dax(const std::filesystem::path& path) { return dax_reader::read(read_file(path), path.string()); }

} // namespace weft::io
