// SPDX-License-Identifier: BSL-1.0
/// Programs of PyTorch's ops, run by PyTorch's own kernels. Component `weft::torch`.
#pragma once

#include "weft/interop/torch/session.hpp" // IWYU pragma: export
#include "weft/interop/torch/tune.hpp"    // IWYU pragma: export
