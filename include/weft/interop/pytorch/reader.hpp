// SPDX-License-Identifier: BSL-1.0
/// Reads programs that torch.export wrote as workloads.
#pragma once

#include "weft/interop/pytorch/archive.hpp"
#include "weft/interop/pytorch/workload_of_export.hpp"
#include "weft/io/files.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::pytorch {

inline bool reader::recognises(std::string_view bytes) const {
  if (bytes.starts_with(std::string_view{"PK\x03\x04", 4})) {
    return true;
  }
  const auto start = io::trim(bytes.substr(0, std::min<std::size_t>(bytes.size(), 1024)));
  return start.starts_with('{') && start.substr(0, 200).find("\"graph_module\"") != start.npos;
}

/// A program, parsed once to be read with several options.
class parsed_program {
public:
  /// Errors call the program `file`. Throws as `reader::read`.
  parsed_program(std::string_view bytes, std::string file) : file_{std::move(file)} {
    const bool is_archive = bytes.starts_with(std::string_view{"PK\x03\x04", 4});
    const auto inflated = is_archive ? detail::program_in(detail::opened_archive{bytes, file_}, notes_) : std::string{};
    program_ = detail::parse_document(is_archive ? std::string_view{inflated} : bytes, file_);
  }

  /// The workload. Throws as `reader::read`.
  model read(const reader& options = {}) const {
    auto m = io::in_file(file_, [&] { return detail::workload_of_export{program_, options}(); });
    m.notes.insert(m.notes.begin(), notes_.begin(), notes_.end());
    return m;
  }

private:
  std::string file_;
  std::vector<std::string> notes_;
  detail::json program_;
};

inline model reader::read(std::string_view bytes, const std::string& file) const {
  return parsed_program{bytes, file}.read(*this);
}

/// Reads a program from a file. Throws `error` if it cannot be opened, else as `reader::read`.
/// ```
/// const weft::model m = weft::pytorch::read_model("net.pt2", {.batch = 8});
/// ```
inline model read_model(const std::filesystem::path& path, const reader& options = {}) {
  return options.read(io::read_file(path), path.string());
}

} // namespace weft::pytorch
