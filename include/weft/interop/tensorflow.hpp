// SPDX-License-Identifier: BSL-1.0
/// TensorFlow's graph files: reads GraphDef and CostGraphDef, reads measured times, writes placements into graphs, and
/// writes bundled networks as graphs. Needs neither TensorFlow nor Protocol Buffers.
#pragma once

#include "weft/interop/tensorflow/costs.hpp"
#include "weft/interop/tensorflow/network.hpp"
#include "weft/interop/tensorflow/placed.hpp"
#include "weft/interop/tensorflow/reader.hpp"
