module @jit_f attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}]> : tensor<8x16xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2:2 = stablehlo.optimization_barrier %1, %arg1 : tensor<8x16xf32>, tensor<16x4xf32>
    %3 = sdy.manual_computation(%2#0, %2#1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x16xf32>, %arg3: tensor<16x4xf32>) {
      %5 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
      sdy.return %5 : tensor<4x4xf32>
    } : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.composite "my.gelu" %3 {composite_attributes = {approximate = true}, decomposition = @gelu.impl} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
  func.func private @gelu.impl(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}