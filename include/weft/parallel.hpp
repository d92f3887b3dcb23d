// SPDX-License-Identifier: BSL-1.0
/// Steps that several devices do together: collectives as ops and transfers, and data parallelism. Apart from all.hpp,
/// which plans where each op runs once.
#pragma once

#include "weft/platform/canonical_order.hpp"

#include "weft/parallel/batch_parts.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/choose_devices.hpp"
#include "weft/parallel/choose_resharding.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/parallel/copies_in_order.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/experts.hpp"
#include "weft/parallel/find_pipeline_order.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/parallel/micro_batches.hpp"
#include "weft/parallel/one_forward_one_backward.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/parallel/pipeline_order.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/parallel/placed_way.hpp"
#include "weft/parallel/replica_placement.hpp"
#include "weft/parallel/resharding.hpp"
#include "weft/parallel/sharded_parameters.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/split_model.hpp"
#include "weft/parallel/staged_step.hpp"
#include "weft/parallel/tensor_parallel.hpp"
