func.func public @main(%arg0: tensor<4x8xf32>, %n: tensor<i32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c_1 = stablehlo.constant dense<10> : tensor<i32>
  %0:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %c_1) : tensor<i32>, tensor<4x8xf32>, tensor<i32> attributes {mhlo.frontend_attributes = {}}
    cond {
    %1 = stablehlo.compare  LT, %iterArg, %iterArg_1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @next(%iterArg) : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.multiply %iterArg_0, %iterArg_0 : tensor<4x8xf32>
    stablehlo.return %1, %2, %iterArg_1 : tensor<i32>, tensor<4x8xf32>, tensor<i32>
  }
  return %0#1 : tensor<4x8xf32>
}
func.func private @next(%arg0: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %arg0, %c : tensor<i32>
  return %0 : tensor<i32>
}
