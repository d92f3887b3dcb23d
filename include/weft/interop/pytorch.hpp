// SPDX-License-Identifier: BSL-1.0
/// Programs that PyTorch's torch.export wrote: reads them as workloads. Component `weft::pytorch`.
#pragma once

#include "weft/interop/pytorch/reader.hpp" // IWYU pragma: export
