// A kernel that others come after, though they do not read it, is none of those
// that nothing waits for: it is not merged with kernels behind them.
// RUN: sinter inspect %s --stage fuse | FileCheck %s

// CHECK-COUNT-9: program.launch
// CHECK-NOT: accepted horizontal
func.func @main(%x: tensor<4x1x5xf32>, %w: tensor<4x5x4xf32>, %v: tensor<4x4x4xf32>, %p: tensor<4x1x4xf32>) -> (tensor<4x1x4xf32>, tensor<4x1x4xf32>) {
  %19 = sinter.matmul %x, %w : (tensor<4x1x5xf32>, tensor<4x5x4xf32>) -> tensor<4x1x4xf32>
  %20 = sinter.log_softmax %19 {axis = 0 : i64} : (tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
  %21 = sinter.after %19, %20 : (tensor<4x1x4xf32>, tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
  %24 = sinter.matmul %21, %v : (tensor<4x1x4xf32>, tensor<4x4x4xf32>) -> tensor<4x1x4xf32>
  %27 = sinter.add %20, %p : (tensor<4x1x4xf32>, tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
  %29 = sinter.quiet_softmax %24 {axis = 0 : i64} : (tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
  return %27, %29 : tensor<4x1x4xf32>, tensor<4x1x4xf32>
}
