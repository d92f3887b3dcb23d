// SPDX-License-Identifier: BSL-1.0
// The code of docs/stablehlo.md, each piece between two lines with its name.
#include "weft/interop/stablehlo.hpp"

#include <doctest/doctest.h>

#include <string>

namespace docs_stablehlo_test {

// [read]
/// FLOP of a program whose first `parameters` arguments are parameters.
double flop_of(const std::string& text, std::size_t parameters) {
  const weft::model m = weft::stablehlo::reader{.leading_parameters = parameters}.read(text, "net.mlir");
  double sum = 0;
  for (const weft::op_id v : weft::ids(m.ops.num_ops())) {
    sum += m.ops.work(v);
  }
  return sum;
}
// [read]

TEST_CASE("docs: a StableHLO program is read") {
  CHECK(flop_of(R"(module @jit_f {
  func.func public @main(%arg0: tensor<64x10xf32>, %arg1: tensor<8x64xf32>) -> tensor<8x10xf32> {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x10xf32>) -> tensor<8x10xf32>
    return %0 : tensor<8x10xf32>
  }
})",
                1) == 2 * 8 * 64 * 10);
}

} // namespace docs_stablehlo_test
