// SPDX-License-Identifier: BSL-1.0
/// What a reader of model files is.
#pragma once

#include "weft/workload/model.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace weft::io {

/// Reads models of one format. `recognises(bytes)` tells from the content whether bytes are meant to be that format,
/// looking at little of them; `read(bytes, file)` gives the model or throws `parse_error` that calls the input `file`;
/// `format()` is what people call the format. Readers of foreign libraries are in interop/.
template <class R>
concept model_reader = requires(const R& r, std::string_view bytes, const std::string& file) {
  { r.format() } -> std::convertible_to<std::string_view>;
  { r.recognises(bytes) } -> std::same_as<bool>;
  { r.read(bytes, file) } -> std::same_as<model>;
};

} // namespace weft::io
