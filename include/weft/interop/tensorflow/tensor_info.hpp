// SPDX-License-Identifier: BSL-1.0
/// Static facts about a tensor: type, shape, and the elements of small ones, such as shapes and axes.
#pragma once

#include "weft/interop/tensorflow/graph.hpp"
#include "weft/ops/known_tensor.hpp"
#include "weft/workload/nn/shape.hpp"
#include "weft/ops/call.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weft::tensorflow {

/// One output of a node. A reference or handle has the shape of the variable behind it.
struct tensor_info {
  bool known = false; ///< whether its shape is
  data_type type = dt::float32;
  nn::extents dims = {};
  std::shared_ptr<const ops::known_tensor> values = {}; ///< all elements, where these are known

  /// Its only element, if that is a whole number that is known.
  std::optional<std::int64_t> number() const {
    const auto* const whole = values ? values->whole() : nullptr;
    return whole != nullptr && whole->size() == 1 ? std::optional{whole->front()} : std::nullopt;
  }
};

namespace detail {

inline double elements(const nn::extents& dims) {
  double count = 1;
  for (const auto d : dims) {
    count *= static_cast<double>(d);
  }
  return count;
}

/// Bytes of a tensor, 8 for a reference; a number that no workload takes if they do not fit into 62 bits.
inline byte_count bytes_of(const tensor_info& t) {
  const bool is_handle = is_reference(t.type) || value_type(t.type) == dt::resource;
  return is_handle ? 8 : ops::tensor_bytes(t.dims, static_cast<std::uint32_t>(8 * element_bytes(t.type)));
}

/// The format of elements of a type; nothing for types whose numbers are not followed.
constexpr std::optional<ops::element_format> format_of(data_type type) {
  using enum ops::known_tensor::format;
  switch (value_type(type)) {
  case dt::float32: return ops::element_format{single_precision};
  case dt::float64: return ops::element_format{double_precision};
  case dt::boolean: return ops::element_format{truth};
  case dt::int64: return ops::element_format{};
  case dt::int32: return ops::element_format{integer, INT32_MIN, INT32_MAX};
  case dt::int16: return ops::element_format{integer, INT16_MIN, INT16_MAX};
  case dt::int8: return ops::element_format{integer, INT8_MIN, INT8_MAX};
  case dt::uint64: return ops::element_format{integer, 0};
  case dt::uint32: return ops::element_format{integer, 0, UINT32_MAX};
  case dt::uint16: return ops::element_format{integer, 0, UINT16_MAX};
  case dt::uint8: return ops::element_format{integer, 0, UINT8_MAX};
  default: return std::nullopt;
  }
}

/// A TensorProto: type and shape, the elements if they are few, and how many of them are stored (the last one stands
/// for all that follow).
struct stored_tensor {
  tensor_info info;
  double stored = 0;
};

/// Adds the elements in a field of a TensorProto, each of so many bytes where they are raw, up to `max_size`.
inline void add_elements(ops::known_tensor& x, const ops::element_format& format, const wire::field& f,
                         std::size_t bytes, std::size_t max_size) {
  if (f.number == 4 || (format.is_real() && f.number == (bytes == 8 ? 6 : 5))) { // raw, or packed
    if (f.kind != wire::kind::bytes) {
      add_element(x, format, f.value, bytes);
    }
    for (std::size_t at = 0; at + bytes <= f.bytes.size() && x.size() < max_size; at += bytes) {
      add_element(x, format, wire::fixed(f.bytes.substr(at, bytes)), bytes);
    }
  } else if (!format.is_real() && (f.number == 7 || f.number == 10 || f.number == 11 || f.number == 16 ||
                                   f.number == 17)) {
    wire::for_each_integer(f, [&](std::uint64_t i) {
      add_element(x, format, i, 8);
      return x.size() < max_size;
    });
  }
}

inline stored_tensor read_tensor(std::string_view bytes) {
  stored_tensor t;
  t.info.type = static_cast<data_type>(integer_field(bytes, 1));
  const auto dims = shape_of(text_field(bytes, 2));
  t.info.known = dims && std::ranges::all_of(*dims, [](std::int64_t d) { return d >= 0; });
  if (t.info.known) {
    t.info.dims.assign(dims->begin(), dims->end());
  }
  const auto size = element_bytes(t.info.type);
  const auto format = format_of(t.info.type);
  const auto known_size = t.info.known && format ? ops::known::size_of(*dims) : std::nullopt;
  const std::size_t count = known_size.value_or(0);
  auto x = known_size ? std::optional{format->empty(*dims)} : std::nullopt;
  for (const auto& f : wire::fields{bytes}) {
    if (f.number == 4 && f.kind == wire::kind::bytes) {
      t.stored += static_cast<double>(f.bytes.size()) / static_cast<double>(size);
    } else if ((f.number >= 5 && f.number <= 18) && f.kind == wire::kind::bytes) { // packed, or a text
      const double width = f.number == 5 || f.number == 9 ? 4 : f.number == 6 || f.number == 12 ? 8 : 1;
      t.stored += f.number == 8 || f.number == 14 || f.number == 15 ? 1 : static_cast<double>(f.bytes.size()) / width;
    } else if (f.number >= 5) {
      t.stored += 1;
    }
    if (x) {
      add_elements(*x, *format, f, static_cast<std::size_t>(size), count);
    }
  }
  if (x && (x->size() != 0 || count == 0)) {
    std::visit([&](auto& list) { list.resize(count, list.empty() ? 0 : list.back()); }, x->elements);
    t.info.values = format->holds(*x) ? std::make_shared<const ops::known_tensor>(std::move(*x)) : nullptr;
  }
  return t;
}

} // namespace detail
} // namespace weft::tensorflow
