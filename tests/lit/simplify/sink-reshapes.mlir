// What is done to a contraction's reshaped result is done in the contraction's
// own shape, where its kernel can do it.
// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// CHECK-LABEL: @main
// CHECK: %[[P:.*]] = sinter.matmul
// CHECK: %[[B:.*]] = sinter.reshape %{{.*}} -> tensor<2x3x20xf32>
// CHECK: %[[S:.*]] = sinter.add %[[P]], %[[B]] {{.*}} -> tensor<2x3x20xf32>
// CHECK: %[[E:.*]] = sinter.exp %[[S]] {{.*}} -> tensor<2x3x20xf32>
// CHECK: %[[R:.*]] = sinter.reshape %[[E]] {{.*}} -> tensor<2x3x4x5xf32>
// CHECK: return %[[R]]
func.func @main(%a: tensor<2x3x8xf32>, %b: tensor<2x8x20xf32>, %c: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = sinter.matmul %a, %b : (tensor<2x3x8xf32>, tensor<2x8x20xf32>) -> tensor<2x3x20xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (2, 3, 4, 5)>} : (tensor<2x3x20xf32>) -> tensor<2x3x4x5xf32>
  %2 = sinter.add %1, %c : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %3 = sinter.exp %2 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %3 : tensor<2x3x4x5xf32>
}

// -----

// Of another op's result nothing moves.
// CHECK-LABEL: @main
// CHECK: sinter.reshape
// CHECK-NEXT: sinter.exp {{.*}} -> tensor<6xf32>
func.func @main(%a: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = sinter.neg %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (6)>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %2 = sinter.exp %1 : (tensor<6xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}

// -----

// Windows of one element are a reshape.
// CHECK-LABEL: @main
// CHECK: sinter.reshape %arg0
// CHECK-NOT: sinter.window
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3x1xf32> {
  %0 = sinter.window %a {axes = array<i64: 1>, sizes = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}
