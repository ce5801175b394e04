// RUN: sinter inspect %s --stage plan | FileCheck %s

// The update of w runs after the other reader of w, and may take its memory. A
// result is made when what it reads is there: @t0 is not kept for the other one.
// CHECK: program.may_alias = array<i64: 0, 0
// CHECK: program.launch @contraction_{{.*}}buffers = [@in1, @in0, @t0], step = 0
// CHECK: program.launch @map_{{.*}}buffers = [@in0, @out0], step = 1
// CHECK: program.launch @reduce_{{.*}}buffers = [@t0, @out1], step = 2
func.func @main(%w: tensor<8x8xf32> {sinter.kind = "parameter"}, %g: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = sinter.exp %w : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.matmul %g, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sinter.tanh %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sinter.sum %2 {axes = array<i64: 0>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %0, %3 : tensor<8x8xf32>, tensor<8xf32>
}
