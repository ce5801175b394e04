// RUN: sinter inspect %s --stage plan | FileCheck %s

// The kernel reads w in another shape, but every element at its place in memory:
// its update may take w's memory.
// CHECK: program.may_alias = array<i64: 0, 0>
// CHECK: program.launch @contraction_{{.*}}buffers = [@in0, @in1, @in2, @out0]
func.func @main(%w: tensor<8x1x3x3xf32> {sinter.kind = "parameter"}, %x: tensor<8x16xf32>, %y: tensor<16x9xf32>) -> tensor<8x1x3x3xf32> {
  %0 = sinter.matmul %x, %y : (tensor<8x16xf32>, tensor<16x9xf32>) -> tensor<8x9xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (8, 1, 3, 3)>} : (tensor<8x9xf32>) -> tensor<8x1x3x3xf32>
  %2 = sinter.sub %w, %1 : (tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>) -> tensor<8x1x3x3xf32>
  return %2 : tensor<8x1x3x3xf32>
}
