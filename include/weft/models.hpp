// SPDX-License-Identifier: BSL-1.0
/// Facts about ops by their type (shapes, FLOP, gradients, rooflines), and machines described by their parts: for those
/// who read models. Apart from all.hpp, which plans with any costs.
#pragma once

#include "weft/ops/attention_form.hpp"
#include "weft/ops/axes.hpp"
#include "weft/ops/axes_rules.hpp"
#include "weft/ops/call.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/ops/einsum_equation.hpp"
#include "weft/ops/facts.hpp"
#include "weft/ops/flop_rules.hpp"
#include "weft/ops/flop_rules_attention.hpp"
#include "weft/ops/flop_rules_classical.hpp"
#include "weft/ops/known_numbers.hpp"
#include "weft/ops/known_tensor.hpp"
#include "weft/ops/rows_by_type.hpp"
#include "weft/ops/shape_call.hpp"
#include "weft/ops/shape_rules_attention.hpp"
#include "weft/ops/shape_rules_layers.hpp"
#include "weft/ops/shape_rules_matrices.hpp"
#include "weft/ops/shape_rules_tensors.hpp"
#include "weft/ops/strided_slice.hpp"
#include "weft/ops/value_rules.hpp"

#include "weft/platform/described_machine.hpp"
#include "weft/platform/gpu_names.hpp"
#include "weft/platform/inventory.hpp"
#include "weft/platform/processor_sheets.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/workload/fused.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/offloaded.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/parameter_holders.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/stored_as.hpp"

#include "weft/model/graph.hpp"
#include "weft/model/lower.hpp"
#include "weft/model/traced_workload.hpp"

#include "weft/partition/on_accelerators.hpp"
#include "weft/partition/pin.hpp"

#include "weft/solve/fastest_amount.hpp"
#include "weft/solve/narrower_numbers.hpp"
#include "weft/solve/offloading.hpp"
#include "weft/solve/recomputation.hpp"
