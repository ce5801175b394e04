// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline="simplify-ops{exact=true},remove-dead-ops" | FileCheck %s --check-prefix=EXACT

// One matrix for all batches: their rows are the rows of one product.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[LHS:.*]] = sinter.reshape %arg0 {{.*}} -> tensor<24x5xf32>
// CHECK: %[[FLAT:.*]] = sinter.matmul %[[LHS]], %arg1
// CHECK: %[[RESULT:.*]] = sinter.reshape %[[FLAT]] {{.*}} -> tensor<2x3x4x7xf32>
// CHECK: return %[[RESULT]]
func.func @main(%x: tensor<2x3x4x5xf32>, %w: tensor<5x7xf32>) -> tensor<2x3x4x7xf32> {
  %0 = sinter.broadcast %w {shape = affine_map<() -> (2, 3, 5, 7)>} : (tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %1 = sinter.matmul %x, %0 : (tensor<2x3x4x5xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x4x7xf32>
  return %1 : tensor<2x3x4x7xf32>
}

// -----

// The batch may be a symbol.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: sinter.matmul {{.*}} -> tensor<?x7xf32, #{{.*}}>
#x = affine_map<()[s0] -> (s0, 4, 5)>
#w = affine_map<()[s0] -> (s0, 5, 7)>
#y = affine_map<()[s0] -> (s0, 4, 7)>
func.func @main(%x: tensor<?x4x5xf32, #x>, %w: tensor<5x7xf32>) -> tensor<?x4x7xf32, #y> {
  %0 = sinter.broadcast %w {shape = #w} : (tensor<5x7xf32>) -> tensor<?x5x7xf32, #w>
  %1 = sinter.matmul %x, %0 : (tensor<?x4x5xf32, #x>, tensor<?x5x7xf32, #w>) -> tensor<?x4x7xf32, #y>
  return %1 : tensor<?x4x7xf32, #y>
}

// -----

// Not: one matrix for each of several batches.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: sinter.matmul {{.*}} -> tensor<2x3x4x7xf32>
func.func @main(%x: tensor<2x3x4x5xf32>, %w: tensor<3x5x7xf32>) -> tensor<2x3x4x7xf32> {
  %0 = sinter.broadcast %w {shape = affine_map<() -> (2, 3, 5, 7)>} : (tensor<3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %1 = sinter.matmul %x, %0 : (tensor<2x3x4x5xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x4x7xf32>
  return %1 : tensor<2x3x4x7xf32>
}

// -----

// The repeated matrix may be exchanged after it was repeated.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[EXCHANGED:.*]] = sinter.transpose %arg1 {permutation = array<i64: 1, 0>}
// CHECK: sinter.matmul {{.*}}, %[[EXCHANGED]] {{.*}} -> tensor<8x7xf32>
func.func @main(%x: tensor<2x4x5xf32>, %w: tensor<7x5xf32>) -> tensor<2x4x7xf32> {
  %0 = sinter.broadcast %w {shape = affine_map<() -> (2, 7, 5)>} : (tensor<7x5xf32>) -> tensor<2x7x5xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<2x7x5xf32>) -> tensor<2x5x7xf32>
  %2 = sinter.matmul %x, %1 : (tensor<2x4x5xf32>, tensor<2x5x7xf32>) -> tensor<2x4x7xf32>
  return %2 : tensor<2x4x7xf32>
}

// -----

// The gradient of a matrix that all batches share is one product.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[X:.*]] = sinter.reshape %arg0 {{.*}} -> tensor<24x5xf32>
// CHECK: %[[Y:.*]] = sinter.reshape %arg1 {{.*}} -> tensor<24x7xf32>
// CHECK: %[[LHS:.*]] = sinter.transpose %[[X]]
// CHECK: %[[RESULT:.*]] = sinter.matmul %[[LHS]], %[[Y]] {{.*}} -> tensor<5x7xf32>
// CHECK-NOT: sinter.sum
// CHECK: return %[[RESULT]]

// EXACT: sinter.matmul {{.*}} -> tensor<2x3x5x7xf32>
// EXACT: sinter.sum
func.func @main(%x: tensor<2x3x4x5xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<5x7xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32>
  %1 = sinter.matmul %0, %y : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %2 = sinter.sum %1 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3x5x7xf32>) -> tensor<5x7xf32>
  return %2 : tensor<5x7xf32>
}

// -----

// Not: some of the batches.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: sinter.sum
func.func @main(%x: tensor<2x3x4x5xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<3x5x7xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32>
  %1 = sinter.matmul %0, %y : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %2 = sinter.sum %1 {axes = array<i64: 0>, keepdims = false} : (tensor<2x3x5x7xf32>) -> tensor<3x5x7xf32>
  return %2 : tensor<3x5x7xf32>
}
