module @jit_step {
  func.func public @main(%arg0: tensor<64x64xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8x64xf32>, %arg2: tensor<8x64xf32>) -> (tensor<64x64xf32>, tensor<8x64xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [0] x [0] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.add %1, %1 : tensor<64x64xf32>
    return %2, %0 : tensor<64x64xf32>, tensor<8x64xf32>
  }
}