// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// One matrix for all batches: their rows are the rows of one product.
// CHECK-LABEL: @main
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
// CHECK: sinter.matmul {{.*}} -> tensor<2x3x4x7xf32>
func.func @main(%x: tensor<2x3x4x5xf32>, %w: tensor<3x5x7xf32>) -> tensor<2x3x4x7xf32> {
  %0 = sinter.broadcast %w {shape = affine_map<() -> (2, 3, 5, 7)>} : (tensor<3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %1 = sinter.matmul %x, %0 : (tensor<2x3x4x5xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x4x7xf32>
  return %1 : tensor<2x3x4x7xf32>
}
