// SPDX-License-Identifier: BSL-1.0
/// Opening files for reading and writing, with errors that say which file and why.
#pragma once

#include "weft/core/error.hpp"

#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <iterator>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

namespace weft::io {

/// Opens a file for reading. Throws `error` in one line if there is no such file, or if it cannot be read.
inline std::ifstream open_for_reading(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto refuse = [&](const char* why) { return error("cannot read '" + path.string() + "': " + why); };
  if (!std::filesystem::exists(path, ignored)) {
    throw refuse("there is no such file");
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw refuse("it is a folder, not a file");
  }
  std::ifstream in{path, std::ios::binary};
  if (!in) {
    throw refuse("it cannot be opened; check its permissions");
  }
  return in;
}

/// Calls `write(out)` with a stream into the file, which is replaced if it exists.
/// Throws `error` if the file cannot be opened, or if not everything could be written to it.
template <class Write>
void write_file(const std::filesystem::path& path, Write&& write) {
  std::ofstream out{path, std::ios::binary};
  if (!out) {
    throw error("cannot write '" + path.string() +
                "': it cannot be opened; check that its folder exists and is writable");
  }
  std::forward<Write>(write)(static_cast<std::ostream&>(out));
  out.close();
  if (!out) {
    throw error("cannot write '" + path.string() + "': the disk may be full");
  }
}

/// Throws what `write_file` would if the file cannot be opened; for programs that work long before they write. Leaves
/// what the file holds, and leaves no file where there was none.
inline void require_writable(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool existed = std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
  if (!std::ofstream{path, std::ios::binary | std::ios::app}) {
    throw error("cannot write '" + path.string() +
                "': it cannot be opened; check that its folder exists and is writable");
  }
  if (!existed) {
    std::filesystem::remove(path, ignored);
  }
}

/// Everything that is in a file, in a string of its size. Throws `error` if it cannot be read.
inline std::string read_file(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  std::error_code unknown; // of what is no plain file, such as a pipe
  const auto size = std::filesystem::file_size(path, unknown);
  std::string text;
  if (!unknown && size > 0) {
    text.resize(static_cast<std::size_t>(size));
    in.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (in) {
    text.append(std::istreambuf_iterator<char>{in}, {}); // it may have grown
  }
  if (in.bad()) {
    throw error("cannot read '" + path.string() + "': reading stopped with an error");
  }
  return text;
}

/// Everything that is left in a stream. Throws `error` if reading fails; `name` says what was read.
inline std::string read_all(std::istream& in, const std::string& name) {
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (in.bad()) {
    throw error("cannot read '" + name + "': reading stopped with an error");
  }
  return text;
}

} // namespace weft::io
