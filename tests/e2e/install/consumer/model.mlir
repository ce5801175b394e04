// One layer: relu(x w + b).
func.func @main(%x: tensor<3x4xf32> {sinter.name = "x"}, %w: tensor<4x2xf32> {sinter.name = "w"}, %b: tensor<1x2xf32> {sinter.name = "b"}) -> (tensor<3x2xf32> {sinter.name = "y"}) {
  %0 = sinter.matmul %x, %w : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (3, 2)>} : (tensor<1x2xf32>) -> tensor<3x2xf32>
  %2 = sinter.add %0, %1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = sinter.relu %2 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %3 : tensor<3x2xf32>
}
