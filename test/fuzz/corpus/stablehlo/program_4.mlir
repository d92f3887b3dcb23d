module @jit_fun_flat_jax attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%arg0: tensor<?x4xf32> {mhlo.sharding = ""}, %arg1: tensor<4x?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }
    %3 = stablehlo.tanh %arg1 : tensor<4x?xf32>
    return %1 : tensor<?xf32>
  }
}