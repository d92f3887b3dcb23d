// SPDX-License-Identifier: BSL-1.0
/// Finds the exported program in the archives that torch.export writes.
#pragma once

#include "weft/core/error.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zip.h>

namespace weft::pytorch {

namespace detail {

struct close_archive {
  void operator()(zip_t* z) const { zip_discard(z); }
};
struct close_entry {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};

/// What an archive is whose entries have these names, where it has no exported program.
inline std::string what_else(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view part) {
    return std::ranges::any_of(names, [&](const std::string& n) { return n.find(part) != n.npos; });
  };
  return has("aotinductor/")    ? "a compiled PyTorch model (AOTInductor); export it without compiling"
         : has("constants.pkl") ? "a TorchScript model; export the module with torch.export"
         : has("data.pkl")
           ? "weights that torch.save wrote, without the model; export the module with torch.export"
         : has("model.weights.h5") || has(".keras") ? "a Keras model; convert it to ONNX"
                                                    : "a zip archive without an exported program of PyTorch";
}

/// The path of a program in an archive: older ones have one name for it, newer ones a folder `models`, in a folder of
/// the archive. Source: torch/export/pt2_archive.
inline bool is_program(std::string_view path) {
  if (path == "serialized_exported_program.json" || path.ends_with("/serialized_exported_program.json")) {
    return true;
  }
  const auto slash = path.rfind('/');
  return path.ends_with(".json") && slash != path.npos &&
         (path.substr(0, slash) == "models" || path.substr(0, slash).ends_with("/models"));
}

/// A zip archive in memory, whose entries are read one by one. Errors are `parse_error`.
class opened_archive {
public:
  opened_archive(std::string_view bytes, std::string file) : file_{std::move(file)}, size_{bytes.size()} {
    zip_error_t problem;
    zip_error_init(&problem);
    const auto reason = [&problem] {
      std::string text = zip_error_strerror(&problem);
      zip_error_fini(&problem);
      return text;
    };
    auto* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &problem);
    if (source == nullptr) {
      throw refusal("the archive cannot be read: " + reason());
    }
    archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &problem));
    if (archive_ == nullptr) {
      zip_source_free(source);
      throw refusal("the archive is damaged or truncated: " + reason());
    }
    const auto count = zip_get_num_entries(archive_.get(), 0);
    for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(std::max<zip_int64_t>(count, 0)); ++i) {
      const char* name = zip_get_name(archive_.get(), i, ZIP_FL_ENC_RAW);
      names_.emplace_back(name == nullptr ? "" : name);
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  parse_error refusal(const std::string& what) const { return parse_error(file_, 0, io::on_one_line(what)); }

  /// The bytes of an entry, which inflates to at most 20 times the archive and 64 MiB.
  std::string entry(std::size_t i) const {
    const std::uint64_t most = 20 * std::uint64_t{size_} + (std::uint64_t{64} << 20);
    const auto name = "entry " + io::in_quotes(names_[i]);
    const std::unique_ptr<zip_file_t, close_entry> opened{zip_fopen_index(archive_.get(), i, 0)};
    if (opened == nullptr) {
      throw refusal(name + " of the archive cannot be read: " + zip_strerror(archive_.get()));
    }
    std::string text;
    for (;;) {
      const auto before = text.size();
      text.resize(before + (std::size_t{1} << 18));
      const auto read = zip_fread(opened.get(), text.data() + before, text.size() - before);
      if (read < 0) {
        throw refusal(name + " of the archive is damaged");
      }
      text.resize(before + static_cast<std::size_t>(read));
      if (read == 0) {
        return text;
      }
      if (text.size() > most) {
        throw refusal(name + " inflates to over 20 times the archive");
      }
    }
  }

private:
  std::string file_;
  std::size_t size_;
  std::unique_ptr<zip_t, close_archive> archive_;
  std::vector<std::string> names_;
};

/// The text of the program in an archive, of which nothing else is read. `chosen` becomes a note if there are several.
inline std::string program_in(const opened_archive& archive, std::vector<std::string>& notes) {
  const auto& names = archive.names();
  std::vector<std::size_t> programs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_program(names[i])) {
      programs.push_back(i);
    }
  }
  if (programs.empty()) {
    throw archive.refusal(what_else(names));
  }
  const auto usual = std::ranges::find_if(programs, [&](auto i) { return names[i].ends_with("models/model.json"); });
  const auto chosen = usual == programs.end() ? programs.front() : *usual;
  if (programs.size() > 1) {
    notes.push_back("the archive has " + std::to_string(programs.size()) + " programs: " +
                    io::in_quotes(names[chosen]) + " is read");
  }
  return archive.entry(chosen);
}

} // namespace detail
} // namespace weft::pytorch
