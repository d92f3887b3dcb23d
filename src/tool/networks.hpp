// SPDX-License-Identifier: BSL-1.0
/// The bundled networks, compiled once for all tools.
#pragma once

#include "model_options.hpp"

#include "weft/core/error.hpp"
#include "weft/workload/frozen.hpp"
#include "weft/workload/nn/network.hpp"
#include "weft/workload/workload.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// The networks for a help text: `zoo:` and the name, and what it is.
std::string list_networks();

/// True if there is a network of that name, which a batch size and a mode may follow.
bool is_network(std::string_view spec);

/// A step of a bundled network, with the network that it came from.
struct network {
  std::shared_ptr<const weft::nn::network> net;
  weft::workload ops = {};
  std::vector<weft::op_id> origin = {}; ///< which op of the network each op is
  std::uint64_t batch = 0;         ///< examples of a step
  weft::frozen_parameters frozen = {}; ///< by op of the network; empty if none are, or if it is no training step
};
/// The result of `choose`, which takes the patterns of --freeze; its errors with the names of option and model.
template <class Choose>
auto frozen_by_option(std::string_view model, const Choose& choose) {
  try {
    return choose();
  } catch (const weft::value_error& e) {
    throw weft::error("--freeze for '" + std::string{model} + "': " + std::string{e.what()}.substr(e.where.size() + 2));
  }
}

/// Parameters of a training step that patterns freeze are in `frozen`.
network make_network_with_origins(std::string_view spec, const model_options& o);

} // namespace tool
