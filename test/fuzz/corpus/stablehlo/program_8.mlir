func.func @main(%arg0: tensor<10xf32>) {
  %0 = mine.op %arg0, key = 3 {a = 1 : i32, "b" = [1, 2]} : tensor<10xf32>
  %1 = "their.op"(%0) : (tensor<10xf32>) -> tensor<10xf32>
  %2 = stablehlo.custom_call @lapack_sgetrf(%1) : (tensor<10xf32>) -> tensor<10xf32>
  their.effect
  return
}
