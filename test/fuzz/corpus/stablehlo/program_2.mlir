"builtin.module"() <{sym_name = "jit_block"}> ({
  "func.func"() <{function_type = (tensor<3x3x16x32xf32>, tensor<8x28x28x16xf32>) -> tensor<8x14x14x32xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x3x16x32xf32>, %arg1: tensor<8x28x28x16xf32>):
    %0 = "stablehlo.convolution"(%arg1, %arg0) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<8x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x28x28x32xf32>
    %1 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %2 = "func.call"(%0, %1) <{callee = @pool}> : (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>
    "func.return"(%2) : (tensor<8x14x14x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>, sym_name = "pool", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x28x28x32xf32>, %arg1: tensor<f32>):
    %0 = "stablehlo.reduce_window"(%arg0, %arg1) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = "stablehlo.maximum"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%1) : (tensor<f32>) -> ()
    }) {window_dimensions = dense<[1, 2, 2, 1]> : tensor<4xi64>, window_strides = dense<[1, 2, 2, 1]> : tensor<4xi64>} : (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>
    "func.return"(%0) : (tensor<8x14x14x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
