// SPDX-License-Identifier: BSL-1.0
/// All generators of workloads; cost/generate/ has those of problems. Options and formulas: docs/generators.md.
#pragma once

#include "weft/workload/generate/amounts.hpp"          // random work and sizes, shared by those below
#include "weft/workload/generate/fft.hpp"              // fft
#include "weft/workload/generate/fork_join.hpp"        // fork_join
#include "weft/workload/generate/gauss.hpp"            // gaussian_elimination
#include "weft/workload/generate/heterogeneity.hpp"    // related platforms, unrelated tables of compute times
#include "weft/workload/generate/layered.hpp"          // layered, layered_sized
#include "weft/workload/generate/random_dag.hpp"       // random_dag
#include "weft/workload/generate/series_parallel.hpp"  // series_parallel
#include "weft/workload/generate/stencil.hpp"          // stencil_1d, stencil_2d
#include "weft/workload/generate/tiles.hpp"            // cholesky, lu
