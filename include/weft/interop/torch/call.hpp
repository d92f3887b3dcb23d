// SPDX-License-Identifier: BSL-1.0
/// Calls of PyTorch's ops, as programs have them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/interop/pytorch/schema.hpp"
#include "weft/io/text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ScalarOps.h>
#include <ATen/core/ivalue.h> // before lists of it
#include <ATen/core/List.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace weft::torch {

/// The number of a tensor of a program; `none`: there is none.
using slot = std::uint32_t;

/// An argument of a call: a value, or tensors.
struct argument {
  c10::IValue value = {};         ///< unless there are slots
  std::vector<slot> slots = {};   ///< of a tensor, or of a list
  bool is_list = false;
  bool is_optional = false;       ///< a list that may lack some
};

/// An op with its arguments and results.
struct call {
  c10::OperatorHandle op;
  std::string name = {};                          ///< `aten::add.Tensor`
  std::vector<argument> arguments = {};           ///< all of the schema's
  std::vector<std::vector<slot>> results = {};    ///< of each of its returns those of the tensor, or of a list
  std::vector<bool> is_list = {};                 ///< by return
};

namespace detail {

using pytorch::detail::json;

/// An element type by its number in exported programs. Source: ScalarType of torch/_export/serde/schema.py.
inline c10::ScalarType scalar_type(std::int64_t number) {
  using enum c10::ScalarType;
  constexpr std::array types{Undefined, Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat,
                             ComplexDouble, Bool, BFloat16};
  if (number < 1 || number >= static_cast<std::int64_t>(types.size())) {
    throw error("element type " + std::to_string(number) + " is not known");
  }
  return types[static_cast<std::size_t>(number)];
}

/// The same for memory formats: MemoryFormat there.
inline c10::MemoryFormat memory_format(std::int64_t number) {
  using enum c10::MemoryFormat;
  constexpr std::array formats{Contiguous, Contiguous, ChannelsLast, ChannelsLast3d, Preserve};
  if (number < 1 || number >= static_cast<std::int64_t>(formats.size())) {
    throw error("memory format " + std::to_string(number) + " is not known");
  }
  return formats[static_cast<std::size_t>(number)];
}

inline std::int64_t whole_number(const json& value) {
  if (!value.is_number_integer()) {
    throw error("a whole number is missing");
  }
  return value.get<std::int64_t>();
}
/// JSON has no infinite numbers: they are texts.
inline double real_number(const json& value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [name, x] : {std::pair{"Infinity", infinity}, std::pair{"-Infinity", -infinity},
                                std::pair{"NaN", std::numeric_limits<double>::quiet_NaN()}}) {
    if (value == name) {
      return x;
    }
  }
  if (!value.is_number()) {
    throw error("a number is missing");
  }
  return value.get<double>();
}
inline bool truth(const json& value) {
  if (!value.is_boolean()) {
    throw error("true or false is missing");
  }
  return value.get<bool>();
}

template <class Read>
c10::IValue list_of(const json& items, Read read) {
  if (!items.is_array()) {
    throw error("a list is missing");
  }
  c10::List<decltype(read(items))> list;
  for (const auto& item : items) {
    list.push_back(read(item));
  }
  return list;
}

/// The type of an argument if it is given.
inline const c10::Type& type_of(const c10::Argument& formal) {
  const auto& type = *formal.type();
  return type.kind() == c10::TypeKind::OptionalType ? *type.expectRef<c10::OptionalType>().getElementType() : type;
}

/// A number for an argument. Programs write whole ones for floating-point arguments, too, and numbers for tensors,
/// whose type then does not count in that of the result.
inline c10::IValue number(const at::Scalar& x, const c10::Argument& formal) {
  switch (type_of(formal).kind()) {
  case c10::TypeKind::FloatType: return x.toDouble();
  case c10::TypeKind::TensorType: {
    auto tensor = c10::scalar_to_tensor(x);
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
  }
  default: return x;
  }
}

/// An argument that is no tensor.
inline c10::IValue value_of(std::string_view kind, const json& value, const c10::Argument& formal) {
  if (kind == "as_none") {
    if (formal.type()->kind() != c10::TypeKind::OptionalType && formal.type()->kind() != c10::TypeKind::NoneType) {
      throw error("it has to be given");
    }
    return {};
  }
  if (kind == "as_bool") {
    return number(truth(value), formal);
  }
  if (kind == "as_int") {
    return number(whole_number(value), formal);
  }
  if (kind == "as_float") {
    return number(real_number(value), formal);
  }
  if (kind == "as_string" && value.is_string()) {
    return value.get<std::string>();
  }
  if (kind == "as_ints") {
    return list_of(value, whole_number);
  }
  if (kind == "as_floats") {
    return list_of(value, real_number);
  }
  if (kind == "as_bools") {
    return list_of(value, truth);
  }
  if (kind == "as_scalar_type") {
    return static_cast<std::int64_t>(scalar_type(whole_number(value)));
  }
  if (kind == "as_memory_format") {
    return static_cast<std::int64_t>(memory_format(whole_number(value)));
  }
  if (kind == "as_layout" && value == 7) {
    return static_cast<std::int64_t>(c10::Layout::Strided);
  }
  if (kind == "as_device") {
    if (const auto type = pytorch::detail::text(value, "type"); type != "cpu") {
      throw error("device " + io::in_quotes(type) + " is not the CPU, on which the model has to be traced");
    }
    return c10::Device{c10::DeviceType::CPU};
  }
  throw error(io::in_quotes(kind) + " is not known here");
}

/// The name and overload of `torch.ops.aten.add.Tensor`.
inline c10::OperatorName operator_of(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  const auto rest = target.starts_with(prefix) ? target.substr(prefix.size()) : std::string_view{};
  const auto space = rest.find('.');
  const auto overload = rest.rfind('.');
  if (space == rest.npos || overload == space) {
    throw error(io::in_quotes(target) + " cannot be called by name: it is not one of PyTorch's ops");
  }
  const auto last = rest.substr(overload + 1);
  return {std::string{rest.substr(0, space)} + "::" + std::string{rest.substr(space + 1, overload - space - 1)},
          last == "default" ? "" : std::string{last}};
}

} // namespace detail

/// Runs a call on a stack that has its arguments, and leaves its results there. Records no gradients. Throws `error`
/// with the op's name for what the op refuses.
inline void run(const call& c, std::vector<c10::IValue>& stack) {
  const at::AutoDispatchBelowAutograd no_gradients;
  try {
    c.op.callBoxed(&stack);
  } catch (const c10::Error& e) {
    throw error(c.name + ": " + io::on_one_line(e.what_without_backtrace()));
  }
}

} // namespace weft::torch
