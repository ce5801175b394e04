// Equal layers are one kernel, although the first one's zero serves them all.
// RUN: sinter inspect %s --stage fuse | FileCheck %s
// CHECK-COUNT-1: program.kernel
// CHECK-NOT: program.kernel
// CHECK-COUNT-3: program.launch
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %u: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sinter.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.relu %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sinter.matmul %1, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sinter.relu %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = sinter.matmul %3, %u : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = sinter.relu %4 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}
