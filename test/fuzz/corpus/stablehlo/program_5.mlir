module @jit_f {
  func.func public @main(%arg0: tensor<2x2048xf32>) -> tensor<2x2048xf32> {
    %cst = stablehlo.constant dense<"0x0000803F"> : tensor<2048xf32>
    %cst_0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %cst_1 = stablehlo.constant dense<1.0> : tensor<2x2048xf32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<2048xf32>) -> tensor<2x2048xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x2048xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<2x2048xf32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [0] : (tensor<2xf32>) -> tensor<2x2048xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x2048xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<2x2048xf32>
    %6 = stablehlo.add %5, %cst_1 : tensor<2x2048xf32>
    return %6 : tensor<2x2048xf32>
  }
}
{-#
  dialect_resources: { builtin: { blob: "0x08000000" } }
#-}
