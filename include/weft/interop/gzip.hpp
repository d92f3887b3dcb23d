// SPDX-License-Identifier: BSL-1.0
/// Files that gzip compressed, read as streams through zlib. Component `weft::gzip`.
#pragma once

#include "weft/core/error.hpp"

#include <cstddef>
#include <filesystem>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <system_error>

#include <zlib.h>

namespace weft::interop {

/// A stream of what a file holds, decompressed if it is compressed by gzip, as it is if not. What is damaged throws
/// `error` from the read that meets it. Memory: some 100 KiB.
class gzip_stream : public std::istream {
public:
  /// Throws `error` if the file cannot be opened.
  explicit gzip_stream(const std::filesystem::path& path) : std::istream{nullptr}, content_{path} {
    rdbuf(&content_);
    exceptions(std::ios::badbit); // so that errors of the content reach the caller
  }

private:
  class content : public std::streambuf {
  public:
    explicit content(const std::filesystem::path& path) : name_{path.string()} {
      std::error_code ignored;
      file_.reset(std::filesystem::is_directory(path, ignored) ? nullptr : gzopen(name_.c_str(), "rb"));
      if (!file_) {
        throw error("cannot read '" + name_ + "': it is not a file that can be opened");
      }
      gzbuffer(file_.get(), sizeof chars_);
    }

  protected:
    int_type underflow() override {
      const int count = gzread(file_.get(), chars_, sizeof chars_);
      int state = Z_OK;
      const char* const problem = gzerror(file_.get(), &state);
      if (count < 0 || (state != Z_OK && state != Z_STREAM_END)) {
        throw error("cannot read '" + name_ + "': the compressed data are damaged or end early (" + problem + ")");
      }
      setg(chars_, chars_, chars_ + count);
      return count == 0 ? traits_type::eof() : traits_type::to_int_type(chars_[0]);
    }

  private:
    struct closer {
      void operator()(gzFile_s* f) const { gzclose(f); }
    };
    std::string name_;
    std::unique_ptr<gzFile_s, closer> file_;
    char chars_[1 << 15];
  };

  content content_;
};

} // namespace weft::interop
