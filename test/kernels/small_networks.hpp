// SPDX-License-Identifier: BSL-1.0
/// The networks that have kernels, small enough for tests.
#pragma once

#include "kernels/adversarial_networks.hpp"
#include "kernels/networks.hpp"
#include "kernels/sequence_networks.hpp"

#include "trial.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace test {

/// All networks, smaller than by default.
inline std::vector<kernels::training_net> small_networks() {
  std::vector<kernels::training_net> all;
  all.push_back(kernels::resnet_block_stack({.batch = 4, .image = 16, .blocks_per_stage = 1}));
  all.push_back(kernels::inception_block({.image = 9, .channels = 32, .blocks = 1, .width = 16}));
  all.push_back(kernels::dcgan({.batch = 4, .width = 16}));
  all.push_back(kernels::lstm({.batch = 8, .steps = 6, .hidden = 32, .classes = 16}));
  all.push_back(kernels::lstm({.fused = true, .batch = 8, .steps = 6, .hidden = 32, .classes = 16}));
  return all;
}

/// The first loss of a network after each of so many steps of training.
inline std::vector<double> losses_of_whole(const kernels::training_net& net, std::size_t num_steps) {
  auto step = net.bind();
  std::vector<double> losses;
  for (std::size_t i = 0; i < num_steps; ++i) {
    run_in_order(step);
    losses.push_back(step.values(net.losses[0])[0]);
  }
  return losses;
}

} // namespace test
