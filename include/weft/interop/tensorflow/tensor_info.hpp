// SPDX-License-Identifier: BSL-1.0
/// Static facts about a tensor: type, shape, and the values of small integer tensors, such as shapes and axes.
#pragma once

#include "weft/interop/tensorflow/graph.hpp"
#include "weft/workload/nn/shape.hpp"

#include <algorithm>
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
  std::shared_ptr<const std::vector<std::int64_t>> values = {}; ///< all elements, where these are known
};

namespace detail {

inline constexpr std::size_t max_values = 32; ///< larger tensors are not shapes or axes

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

using values_of = std::shared_ptr<const std::vector<std::int64_t>>;

inline values_of make_values(std::vector<std::int64_t> list) {
  return list.size() <= max_values ? std::make_shared<const std::vector<std::int64_t>>(std::move(list)) : nullptr;
}

/// A TensorProto: type and shape, small integers, and how many of its elements are stored (the last one of them stands
/// for all that follow).
struct stored_tensor {
  tensor_info info;
  double stored = 0;
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
  const bool small = t.info.known && (t.info.type == dt::int32 || t.info.type == dt::int64) &&
                     elements(t.info.dims) <= static_cast<double>(max_values);
  std::vector<std::int64_t> values;
  for (const auto& f : wire::fields{bytes}) {
    if (f.number == 4 && f.kind == wire::kind::bytes) {
      t.stored += static_cast<double>(f.bytes.size()) / static_cast<double>(size);
      for (std::size_t at = 0; small && at + size <= f.bytes.size() && values.size() < max_values; at += size) {
        const auto raw = wire::fixed(f.bytes.substr(at, size));
        values.push_back(size == 4 ? static_cast<std::int32_t>(raw) : static_cast<std::int64_t>(raw));
      }
    } else if ((f.number >= 5 && f.number <= 18) && f.kind == wire::kind::bytes) { // packed, or a text
      const double width = f.number == 5 || f.number == 9 ? 4 : f.number == 6 || f.number == 12 ? 8 : 1;
      t.stored += f.number == 8 || f.number == 14 || f.number == 15 ? 1 : static_cast<double>(f.bytes.size()) / width;
    } else if (f.number >= 5) {
      t.stored += 1;
    }
    if (small && (f.number == 7 || f.number == 10)) {
      wire::for_each_integer(f, [&](std::uint64_t i) {
        values.push_back(static_cast<std::int64_t>(i));
        return values.size() < max_values;
      });
    }
  }
  if (small && (!values.empty() || elements(t.info.dims) == 0)) {
    values.resize(static_cast<std::size_t>(elements(t.info.dims)), values.empty() ? 0 : values.back());
    t.info.values = make_values(std::move(values));
  }
  return t;
}

/// The shape of an elementwise result, or nothing if the operands do not fit.
inline partial_shape broadcast(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 1; i <= dims.size(); ++i) {
    const auto x = i <= a.size() ? a[a.size() - i] : 1;
    const auto y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return std::nullopt;
    }
    dims[dims.size() - i] = x == 1 ? y : x;
  }
  return dims;
}

/// The axes along which a broadcast repeats its first and its second operand.
inline std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>
repeated_axes(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> axes;
  const auto rank = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const auto x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const auto y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x == 1) { // also where both are 1, as in TensorFlow: the sum over an extent of 1 changes nothing
      axes.first.push_back(static_cast<std::int64_t>(i));
    }
    if (y == 1) {
      axes.second.push_back(static_cast<std::int64_t>(i));
    }
  }
  return axes;
}

/// The label of each extent of a term of an Einsum; those of an ellipsis are numbers, from the innermost on, as
/// broadcasting aligns them. Nothing if the term does not fit the rank.
inline std::optional<std::string> einsum_labels(std::string_view term, std::size_t rank) {
  std::string labels{term};
  if (const auto at = labels.find("..."); at != labels.npos && rank + 3 >= labels.size() && rank <= max_values) {
    std::string unnamed;
    for (auto i = rank + 3 - labels.size(); i > 0; --i) {
      unnamed += static_cast<char>(i);
    }
    labels.replace(at, 3, unnamed);
  }
  return labels.size() == rank ? std::optional{labels} : std::nullopt;
}

/// a op b for small integers, wrapping around; nothing for other ops and for divisions by zero.
inline std::optional<std::int64_t> integer_arithmetic(std::string_view op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  const auto wrapped = [](std::uint64_t u) { return static_cast<std::int64_t>(u); };
  if (op == "Add" || op == "AddV2" || op == "Sum") {
    return wrapped(x + y);
  }
  if (op == "Sub") {
    return wrapped(x - y);
  }
  if (op == "Mul" || op == "Prod") {
    return wrapped(x * y);
  }
  if (op == "Maximum" || op == "Max") {
    return std::max(a, b);
  }
  if (op == "Minimum" || op == "Min") {
    return std::min(a, b);
  }
  const bool floors = op.starts_with("Floor");
  if (b == 0 || b == -1) { // -1 would overflow for the smallest number
    return b == 0 ? std::nullopt : op.ends_with("Div") ? std::optional{wrapped(0 - x)} : std::optional<std::int64_t>{};
  }
  const bool adjust = floors && a % b != 0 && (a < 0) != (b < 0);
  if (op == "Div" || op == "RealDiv" || op == "FloorDiv" || op == "TruncateDiv") {
    return a / b - (adjust ? 1 : 0);
  }
  if (op == "Mod" || op == "FloorMod" || op == "TruncateMod") {
    return a % b + (adjust ? b : 0);
  }
  return std::nullopt;
}

} // namespace detail
} // namespace weft::tensorflow
