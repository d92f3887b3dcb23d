module @jit_block {
  func.func public @main(%arg0: tensor<3x3x16x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<8x28x28x16xf32>) -> tensor<8x32xf32> {
    %0 = stablehlo.convolution(%arg2, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x28x28x32xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<8x28x28x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x28x28x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<8x28x28x32xf32>
    %4 = stablehlo.maximum %3, %cst : tensor<8x28x28x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = "stablehlo.reduce_window"(%4, %cst_0) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %9 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x14x14x32xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_2 = stablehlo.constant dense<1.960000e+02> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.divide %6, %7 : tensor<8x32xf32>
    return %8 : tensor<8x32xf32>
  }
}