// SPDX-License-Identifier: BSL-1.0
/// The concepts of a reader of model files, and of one of platform files.
#pragma once

#include "weft/platform/platform.hpp"
#include "weft/workload/model.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace weft::io {

namespace reader_parts {

/// R tells from the content whether bytes are meant to be its format, looking at little of them. `format()` is what
/// people call the format.
template <class R>
concept knows_a_format = requires(const R& r, std::string_view bytes) {
  { r.format() } -> std::convertible_to<std::string_view>;
  { r.recognises(bytes) } -> std::same_as<bool>;
};

} // namespace reader_parts

/// Reads models of one format. `recognises(bytes)` tells from the content whether bytes are meant to be that format,
/// looking at little of them; `read(bytes, file)` gives the model or throws `parse_error` that calls the input `file`;
/// `format()` is what people call the format. Readers of foreign libraries are in interop/.
template <class R>
concept model_reader =
  reader_parts::knows_a_format<R> && requires(const R& r, std::string_view bytes, const std::string& file) {
    { r.read(bytes, file) } -> std::same_as<model>;
  };

/// The same for platforms.
template <class R>
concept platform_reader =
  reader_parts::knows_a_format<R> && requires(const R& r, std::string_view bytes, const std::string& file) {
    { r.read(bytes, file) } -> std::same_as<platform<>>;
  };

} // namespace weft::io
