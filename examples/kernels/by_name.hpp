// SPDX-License-Identifier: BSL-1.0
/// The networks that programs know by name.
#pragma once

#include "kernels/adversarial_networks.hpp"
#include "kernels/networks.hpp"
#include "kernels/sequence_networks.hpp"
#include "kernels/transformers.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace kernels {

inline constexpr std::string_view net_names[] = {"resnet", "dcgan", "inception", "lstm", "gpt2", "bert", "llama"};

/// Throws `weft::error` with the names that there are, unless it is one of them. `known`: others that a
/// program takes, with a comma after each.
inline void check_net_name(std::string_view name, std::string known = {}) {
  if (std::find(std::begin(net_names), std::end(net_names), name) != std::end(net_names)) {
    return;
  }
  for (const auto n : net_names) {
    known += (n == net_names[0] ? "" : ", ") + std::string{n};
  }
  throw weft::error("unknown network '" + std::string{name} + "'; known are: " + known);
}

/// The training step of such a network for a batch of that many examples. Throws `weft::error` for other names.
inline training_net make_separable_net(std::string_view name, std::uint64_t batch) {
  if (name == "convolutions") {
    return convolutions({.batch = batch});
  }
  if (name != "lstm" && name != "lstm_fused") {
    throw weft::error("the examples of a batch depend on each other in '" + std::string{name} +
                      "', or it is unknown; parts of a batch are known of convolutions, lstm and lstm_fused");
  }
  return lstm({.fused = name == "lstm_fused", .batch = batch});
}

/// The training step of that name, of the size at which it takes a core some 10 ms. Its layers become ops in that way.
inline training_net make_net(std::string_view name, const weft::nn::network_options& lowering = {}) {
  check_net_name(name);
  return name == "resnet"      ? resnet_block_stack({.lowering = lowering})
         : name == "dcgan"     ? dcgan({.lowering = lowering})
         : name == "inception" ? inception_block({.lowering = lowering})
         : name == "lstm"      ? lstm({.lowering = lowering})
         : name == "gpt2"      ? gpt2(lowering)
         : name == "bert"      ? bert(lowering)
                               : llama(lowering);
}

} // namespace kernels
