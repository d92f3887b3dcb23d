// SPDX-License-Identifier: BSL-1.0
/// Facts about ops by their type (shapes, FLOP, gradients, rooflines), and machines described by their parts: for those
/// who read models. Apart from all.hpp, which plans with any costs.
#pragma once

#include "weft/platform/described_machine.hpp"
#include "weft/platform/inventory.hpp"
#include "weft/platform/processor_sheets.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/workload/attention_form.hpp"
#include "weft/workload/einsum_equation.hpp"
#include "weft/workload/flop_rules.hpp"
#include "weft/workload/flop_rules_attention.hpp"
#include "weft/workload/flop_rules_classical.hpp"
#include "weft/workload/fused.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/known_numbers.hpp"
#include "weft/workload/known_tensor.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/offloaded.hpp"
#include "weft/workload/op_axes.hpp"
#include "weft/workload/op_call.hpp"
#include "weft/workload/op_catalogue.hpp"
#include "weft/workload/op_facts.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/shape_call.hpp"
#include "weft/workload/shape_rules.hpp"
#include "weft/workload/shape_rules_attention.hpp"
#include "weft/workload/shape_rules_layers.hpp"
#include "weft/workload/shape_rules_matrices.hpp"
#include "weft/workload/shape_rules_tensors.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/strided_slice.hpp"
#include "weft/workload/value_rules.hpp"

#include "weft/partition/pin.hpp"

#include "weft/solve/offloading.hpp"
#include "weft/solve/recomputation.hpp"
