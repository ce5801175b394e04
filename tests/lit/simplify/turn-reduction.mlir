// A reduction of a transpose reduces what is transposed, where rows of it would
// lie across memory.
// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline='simplify-ops{exact=true},remove-dead-ops' | FileCheck %s --check-prefix=EXACT

// EXACT-LABEL: @main
// EXACT: sinter.transpose
// CHECK-LABEL: @main
// CHECK: sinter.sum %{{.*}} {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<4x14x15x64xf32>) -> tensor<64xf32>
func.func @main(%x: tensor<4x14x15x64xf32>) -> tensor<64xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<4x14x15x64xf32>) -> tensor<4x64x14x15xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0, 2, 3>, keepdims = false} : (tensor<4x64x14x15xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// With dims kept, of which ones are elsewhere; and of a position.
// EXACT-LABEL: @main
// EXACT: sinter.transpose
// CHECK-LABEL: @main
// CHECK: %[[MAX:.*]] = sinter.amax %{{.*}} {axes = array<i64: 1, 2>, keepdims = true} : (tensor<4x14x15x64xf32>) -> tensor<4x1x1x64xf32>
// CHECK: sinter.reshape %[[MAX]] {{.*}} -> tensor<4x64x1x1xf32>
// CHECK: sinter.argmax %{{.*}} {axis = 0 : i64, keepdims = false} : (tensor<100x64xf32>) -> tensor<64xi64>
func.func @main(%x: tensor<4x14x15x64xf32>, %y: tensor<100x64xf32>) -> (tensor<4x64x1x1xf32>, tensor<64xi64>) {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<4x14x15x64xf32>) -> tensor<4x64x14x15xf32>
  %1 = sinter.amax %0 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<4x64x14x15xf32>) -> tensor<4x64x1x1xf32>
  %2 = sinter.transpose %y {permutation = array<i64: 1, 0>} : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %3 = sinter.argmax %2 {axis = 1 : i64, keepdims = false} : (tensor<64x100xf32>) -> tensor<64xi64>
  return %1, %3 : tensor<4x64x1x1xf32>, tensor<64xi64>
}

// -----

// Not: what others read, too; short lines; and what stays in another order.
// EXACT-LABEL: @main
// CHECK-LABEL: @main
// CHECK-COUNT-3: sinter.transpose
func.func @main(%x: tensor<100x64xf32>, %y: tensor<100x8xf32>, %z: tensor<9x100x64xf32>) -> (tensor<64xf32>, tensor<64x100xf32>, tensor<8xf32>, tensor<64x9xf32>) {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<64x100xf32>) -> tensor<64xf32>
  %2 = sinter.transpose %y {permutation = array<i64: 1, 0>} : (tensor<100x8xf32>) -> tensor<8x100xf32>
  %3 = sinter.sum %2 {axes = array<i64: 1>, keepdims = false} : (tensor<8x100xf32>) -> tensor<8xf32>
  %4 = sinter.transpose %z {permutation = array<i64: 2, 0, 1>} : (tensor<9x100x64xf32>) -> tensor<64x9x100xf32>
  %5 = sinter.sum %4 {axes = array<i64: 2>, keepdims = false} : (tensor<64x9x100xf32>) -> tensor<64x9xf32>
  return %1, %0, %3, %5 : tensor<64xf32>, tensor<64x100xf32>, tensor<8xf32>, tensor<64x9xf32>
}
