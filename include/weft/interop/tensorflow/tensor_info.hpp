// SPDX-License-Identifier: BSL-1.0
/// Static facts about a tensor: type, shape, and the elements of small ones, such as shapes and axes.
#pragma once

#include "weft/interop/tensorflow/graph.hpp"
#include "weft/workload/known_tensor.hpp"
#include "weft/workload/nn/shape.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow {

/// One output of a node. A reference or handle has the shape of the variable behind it.
struct tensor_info {
  bool known = false; ///< whether its shape is
  data_type type = dt::float32;
  nn::extents dims = {};
  std::shared_ptr<const known_tensor> values = {}; ///< all elements, where these are known

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
  if (is_reference(t.type) || value_type(t.type) == dt::resource) {
    return 8;
  }
  byte_count bytes = element_bytes(t.type);
  if (elements(t.dims) * static_cast<double>(bytes) >= 4.0e18) {
    return ~byte_count{0};
  }
  for (const auto d : t.dims) {
    bytes *= d;
  }
  return bytes;
}

/// The format of elements of a type; nothing for types whose numbers are not followed.
constexpr std::optional<element_format> format_of(data_type type) {
  using enum known_tensor::format;
  switch (value_type(type)) {
  case dt::float32: return element_format{single_precision};
  case dt::float64: return element_format{double_precision};
  case dt::boolean: return element_format{truth};
  case dt::int64: return element_format{};
  case dt::int32: return element_format{integer, INT32_MIN, INT32_MAX};
  case dt::int16: return element_format{integer, INT16_MIN, INT16_MAX};
  case dt::int8: return element_format{integer, INT8_MIN, INT8_MAX};
  case dt::uint64: return element_format{integer, 0};
  case dt::uint32: return element_format{integer, 0, UINT32_MAX};
  case dt::uint16: return element_format{integer, 0, UINT16_MAX};
  case dt::uint8: return element_format{integer, 0, UINT8_MAX};
  default: return std::nullopt;
  }
}

/// A TensorProto: type and shape, the elements if they are few, and how many of them are stored (the last one stands
/// for all that follow).
struct stored_tensor {
  tensor_info info;
  double stored = 0;
};

/// Elements of a TensorProto that are numbers of 4 or 8 bytes, or variable-length ones, one after the other.
class element_list {
public:
  element_list(const element_format& format, std::size_t width, std::size_t max_size)
      : format_{format}, width_{width}, max_size_{max_size} {}

  /// Takes those of a field.
  void add(const wire::field& f) {
    const bool real = format_.is == known_tensor::format::single_precision ||
                      format_.is == known_tensor::format::double_precision;
    if (f.number == 4 || (real && f.number == (width_ == 8 ? 6 : 5))) { // raw, or packed
      if (f.kind != wire::kind::bytes) {
        add_bits(f.value);
      }
      for (std::size_t at = 0; at + width_ <= f.bytes.size() && size() < max_size_; at += width_) {
        add_bits(wire::detail::fixed(f.bytes.substr(at, width_)));
      }
    } else if (!real && (f.number == 7 || f.number == 10 || f.number == 11 || f.number == 16 || f.number == 17)) {
      wire::for_each_integer(f, [&](std::uint64_t i) {
        whole_.push_back(static_cast<std::int64_t>(i));
        return size() < max_size_;
      });
    }
  }
  std::size_t size() const { return whole_.size() + reals_.size(); }
  /// A tensor of these extents: the last element stands for all that follow. Nothing if there is none.
  std::shared_ptr<const known_tensor> take(const nn::extents& dims) && {
    if (size() == 0 && max_size_ != 0) {
      return nullptr;
    }
    known_tensor made{.dims = {dims.begin(), dims.end()}, .is = format_.is};
    if (whole_.empty() && format_.is != known_tensor::format::truth && format_.is != known_tensor::format::integer) {
      reals_.resize(max_size_, reals_.empty() ? 0 : reals_.back());
      made.elements = std::move(reals_);
    } else {
      whole_.resize(max_size_, whole_.empty() ? 0 : whole_.back());
      made.elements = std::move(whole_);
    }
    return format_.holds(made) ? std::make_shared<const known_tensor>(std::move(made)) : nullptr;
  }

private:
  void add_bits(std::uint64_t bits) {
    const auto unused = 64 - 8 * width_;
    if (format_.is == known_tensor::format::double_precision) {
      reals_.push_back(std::bit_cast<double>(bits));
    } else if (format_.is == known_tensor::format::single_precision) {
      reals_.push_back(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    } else { // a negative number of few bytes has its sign in the last of them
      whole_.push_back(format_.least < 0 ? static_cast<std::int64_t>(bits << unused) >> unused
                                         : static_cast<std::int64_t>(bits));
    }
  }

  element_format format_;
  std::size_t width_;
  std::size_t max_size_;
  known_tensor::integers whole_ = {};
  known_tensor::reals reals_ = {};
};

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
  const auto count = t.info.known && format ? known::size_of(*dims) : std::nullopt;
  auto elements = count ? std::optional{element_list{*format, static_cast<std::size_t>(size), *count}} : std::nullopt;
  for (const auto& f : wire::fields{bytes}) {
    if (f.number == 4 && f.kind == wire::kind::bytes) {
      t.stored += static_cast<double>(f.bytes.size()) / static_cast<double>(size);
    } else if ((f.number >= 5 && f.number <= 18) && f.kind == wire::kind::bytes) { // packed, or a text
      const double width = f.number == 5 || f.number == 9 ? 4 : f.number == 6 || f.number == 12 ? 8 : 1;
      t.stored += f.number == 8 || f.number == 14 || f.number == 15 ? 1 : static_cast<double>(f.bytes.size()) / width;
    } else if (f.number >= 5) {
      t.stored += 1;
    }
    if (elements) {
      elements->add(f);
    }
  }
  if (elements) {
    t.info.values = std::move(*elements).take(t.info.dims);
  }
  return t;
}

} // namespace detail
} // namespace weft::tensorflow
