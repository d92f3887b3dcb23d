func.func @main(%i: tensor<i32>, %a: tensor<4x256xf32>, %z: tensor<f32>) -> tensor<4x256xf32> {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<4x256xf32>
  }, {
    %1 = stablehlo.tanh %a : tensor<4x256xf32>
    stablehlo.return %1 : tensor<4x256xf32>
  }) : (tensor<i32>) -> tensor<4x256xf32>
  %2 = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare  LT, %p, %q,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x256xf32>) -> tensor<4x256xf32>
  %values, %indices = chlo.top_k(%2, k = 8) : tensor<4x256xf32> -> (tensor<4x8xf32>, tensor<4x8xi32>)
  %3 = stablehlo.slice %2 [0:4, 0:256:1] : (tensor<4x256xf32>) -> tensor<4x256xf32>
  %4 = stablehlo.select %i, %3, %3 : tensor<i1>, tensor<4x256xf32>
  return %4 : tensor<4x256xf32>
}
