// SPDX-License-Identifier: BSL-1.0
/// The kernels that the ops of a network's layers run as.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>

namespace weft::nn {

/// The kernels that the ops of layers run as.
enum class kernel_set : std::uint8_t {
  separate,  ///< an op for each piece of arithmetic, as TensorFlow 1 ran them
  framework, ///< a kernel for each op of a layer, as PyTorch runs them one by one: a product with its bias, dropout
             ///< with a mask, softmax of scaled and masked scores, a loss
  compiled   ///< as a compiler joins them: a sum with its normalisation, a batch normalisation with its activation;
             ///< dropout makes its mask again from a seed
};

/// The kernels of an attention.
enum class attention_kernels : std::uint8_t {
  separate, ///< products, and a softmax between them whose scores go through memory
  fused     ///< one that keeps the scores on the chip, forward and backward (FlashAttention)
};

} // namespace weft::nn
