// SPDX-License-Identifier: BSL-1.0
/// Reads models and platforms from files of any format that is known, recognised by content.
#pragma once

#include "weft/io/bsp_machine.hpp"
#include "weft/io/critical_path_csv.hpp"
#include "weft/io/dax.hpp"
#include "weft/io/foreign_formats.hpp"
#include "weft/io/dnn_partitioning.hpp"
#include "weft/io/dot.hpp"
#include "weft/io/hyperdag.hpp"
#include "weft/io/job_shop.hpp"
#include "weft/io/json_platform.hpp"
#include "weft/io/json_workload.hpp"
#include "weft/io/pipedream.hpp"
#include "weft/io/stg.hpp"
#include "weft/io/wfformat.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace weft::io {

/// The readers of model files that `read_model` asks, in this order, after those that it is given. No two of them
/// take the same bytes for theirs, except that any text that starts with a number alone on a line passes for a task
/// graph, and that what begins with two or three numbers is for the first of those who take it for theirs: a task
/// graph, a job shop, a hyperdag.
inline constexpr std::tuple<json_workload_reader, dnn_partitioning_reader, wfformat_reader, dax_reader,
                            critical_path_csv_reader, pipedream_reader, stg_reader, job_shop_reader, hyperdag_reader,
                            dot_reader>
  model_readers{};

/// The readers of platform files that `read_platform` asks, in this order, after those that it is given.
inline constexpr std::tuple<json_platform_reader, critical_path_csv_platform_reader, bsp_machine_reader>
  platform_readers{};

namespace detail {

/// Calls `found(reader)` with the first reader that recognises the bytes; whether there was one.
template <class Readers, class Found>
bool with_reader_of(std::string_view bytes, const Readers& readers, const Found& found) {
  const auto ask = [&](const auto& reader) { return reader.recognises(bytes) && (found(reader), true); };
  return std::apply([&](const auto&... reader) { return (ask(reader) || ...); }, readers);
}

template <class... Readers>
std::string formats_of(const std::tuple<Readers...>& readers) {
  std::string list;
  const auto add = [&](std::string_view name) {
    if ((", " + list + ", ").find(", " + std::string{name} + ", ") == std::string::npos) {
      list += (list.empty() ? "" : ", ") + std::string{name};
    }
  };
  std::apply([&](const auto&... reader) { (add(reader.format()), ...); }, readers);
  return list;
}

/// Says what bytes are that none of `asked` takes: something for `others`, of which `instead` is the reader, or of a
/// format that is known by sight, or unknown.
template <class Asked, class Others>
[[noreturn]] void refuse(std::string_view bytes, const std::string& file, const char* what, const Asked& asked,
                         const Others& others, const char* instead) {
  std::string problem;
  const auto other = [&](const auto& reader) {
    problem = "it is " + std::string{instead} + " (" + std::string{reader.format()} + ")";
  };
  if (!with_reader_of(bytes, others, other)) {
    problem = what_it_looks_like(bytes) + "; the formats understood are " + formats_of(asked);
  }
  throw parse_error(file, 1, std::string{"not a "} + what + ": " + problem);
}

/// The result of the first reader that recognises some bytes: those given are asked first.
template <class T, class Given, class Own, class Others>
T read_any(std::string_view bytes, const std::string& file, const char* what, const Given& given, const Own& own,
           const Others& others, const char* instead) {
  std::optional<T> result;
  const auto readers = std::tuple_cat(given, own);
  if (!with_reader_of(bytes, readers, [&](const auto& reader) { result.emplace(reader.read(bytes, file)); })) {
    refuse(bytes, file, what, readers, others, instead);
  }
  return *std::move(result);
}

} // namespace detail

/// The model that bytes describe. Asks `readers` in their order and then `model_readers`; the first that recognises
/// the content reads it, so a reader with other options than the default ones is given to be taken instead of its
/// like. `file` is what errors call the input. Throws `parse_error` for everything that is wrong, and if no reader
/// recognises the bytes: it says then what they look like.
template <model_reader... Readers>
model model_from(std::string_view bytes, const std::string& file, const Readers&... readers) {
  return detail::read_any<model>(bytes, file, "model", std::tuple{readers...}, model_readers, platform_readers,
                                 "a platform");
}

/// Reads a model from a file of any format for which there is a reader (see `model_from`); the content decides, not
/// the name. For formats of other libraries give their readers:
/// ```
/// const model m = io::read_model("net.onnx", onnx::reader{.batch = 8}, tensorflow::reader{});
/// ```
/// Throws `error` if the file cannot be opened, `parse_error` for everything that is wrong in it.
template <model_reader... Readers>
model read_model(const std::filesystem::path& path, const Readers&... readers) {
  return model_from(read_file(path), path.string(), readers...);
}

/// The same without measured times and notes.
template <model_reader... Readers>
workload read_workload(const std::filesystem::path& path, const Readers&... readers) {
  return read_model(path, readers...).ops;
}

/// The platform that bytes describe, found as `model_from` finds models.
template <platform_reader... Readers>
platform<> platform_from(std::string_view bytes, const std::string& file, const Readers&... readers) {
  return detail::read_any<platform<>>(bytes, file, "platform", std::tuple{readers...}, platform_readers, model_readers,
                                      "a model");
}

/// Reads a platform from a file of any format for which there is a reader; the content decides, not the name.
/// Throws `error` if the file cannot be opened, `parse_error` for everything that is wrong in it.
template <platform_reader... Readers>
platform<> read_platform(const std::filesystem::path& path, const Readers&... readers) {
  return platform_from(read_file(path), path.string(), readers...);
}

/// Whether a file holds a problem of the device-placement study (io/dnn_partitioning.hpp), see
/// `is_dnn_partitioning`. Throws `error` if it cannot be opened.
inline bool holds_dnn_partitioning(const std::filesystem::path& path) { return is_dnn_partitioning(read_file(path)); }

} // namespace weft::io
