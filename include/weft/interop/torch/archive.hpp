// SPDX-License-Identifier: BSL-1.0
/// The tensors beside an exported program: parameters, buffers, constants and example inputs.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/pytorch/archive.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <string>

#include <torch/csrc/jit/serialization/pickle.h>

namespace weft::torch::detail {

/// The value that torch.save wrote into an entry of the archive; nothing if there is none. Throws `parse_error`.
inline c10::IValue saved_in(const pytorch::detail::opened_archive& archive, const std::string& entry) {
  const auto& names = archive.names();
  const auto at = std::ranges::find_if(names, [&](const auto& n) { return n == entry || n.ends_with("/" + entry); });
  if (at == names.end()) {
    return {};
  }
  const auto text = archive.entry(static_cast<std::size_t>(at - names.begin()));
  try {
    return ::torch::jit::pickle_load({text.begin(), text.end()});
  } catch (const std::exception&) {
    throw archive.refusal("entry \"" + entry + "\" cannot be read: PyTorch reads dictionaries of plain tensors in C++, "
                          "no ordered ones, nor parameters; scripts/torch_step.py writes those");
  }
}

/// Tensors by name, of an entry that is a dictionary of them.
inline std::map<std::string, at::Tensor> tensors_in(const pytorch::detail::opened_archive& archive,
                                                    const std::string& entry) {
  std::map<std::string, at::Tensor> tensors;
  if (const auto saved = saved_in(archive, entry); saved.isGenericDict()) {
    for (const auto& item : saved.toGenericDict()) {
      if (item.key().isString() && item.value().isTensor()) {
        tensors.emplace(item.key().toStringRef(), item.value().toTensor());
      }
    }
  }
  return tensors;
}

} // namespace weft::torch::detail
