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

// -----

// A norm over rows of a product whose rows are grouped: reductions take them as
// they are, and their results are spread over them. No row is regrouped in
// between.
// CHECK-LABEL: @main
// CHECK: %[[P:.*]] = sinter.matmul {{.*}} -> tensor<12x20xf32>
// CHECK: %[[B:.*]] = sinter.broadcast %arg2 {{.*}} -> tensor<12x20xf32>
// CHECK: %[[Y:.*]] = sinter.add %[[P]], %[[B]]
// CHECK: %[[S:.*]] = sinter.sum %[[Y]] {axes = array<i64: 1>, keepdims = true} {{.*}} -> tensor<12x1xf32>
// CHECK: %[[T:.*]] = sinter.reshape %arg3 {{.*}} -> tensor<12x1xf32>
// CHECK: %[[N:.*]] = sinter.mul %[[S]], %[[T]]
// CHECK: %[[M:.*]] = sinter.broadcast %[[N]] {{.*}} -> tensor<12x20xf32>
// CHECK: %[[D:.*]] = sinter.sub %[[Y]], %[[M]]
// CHECK: %[[G:.*]] = sinter.broadcast %{{.*}} {{.*}} -> tensor<12x20xf32>
// CHECK: %[[E:.*]] = sinter.mul %[[D]], %[[G]]
// CHECK: %[[R:.*]] = sinter.reshape %[[E]] {{.*}} -> tensor<3x4x20xf32>
// CHECK: return %[[R]]
func.func @main(%a: tensor<12x8xf32>, %w: tensor<8x20xf32>, %b: tensor<20xf32>, %n: tensor<3x4x1xf32>) -> tensor<3x4x20xf32> {
  %0 = sinter.matmul %a, %w : (tensor<12x8xf32>, tensor<8x20xf32>) -> tensor<12x20xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (3, 4, 20)>} : (tensor<12x20xf32>) -> tensor<3x4x20xf32>
  %2 = sinter.broadcast %b {shape = affine_map<() -> (3, 4, 20)>} : (tensor<20xf32>) -> tensor<3x4x20xf32>
  %3 = sinter.add %1, %2 : (tensor<3x4x20xf32>, tensor<3x4x20xf32>) -> tensor<3x4x20xf32>
  %4 = sinter.sum %3 {axes = array<i64: 2>, keepdims = false} : (tensor<3x4x20xf32>) -> tensor<3x4xf32>
  %5 = sinter.reshape %4 {shape = affine_map<() -> (3, 4, 1)>} : (tensor<3x4xf32>) -> tensor<3x4x1xf32>
  %6 = sinter.mul %5, %n : (tensor<3x4x1xf32>, tensor<3x4x1xf32>) -> tensor<3x4x1xf32>
  %7 = sinter.broadcast %6 {shape = affine_map<() -> (3, 4, 20)>} : (tensor<3x4x1xf32>) -> tensor<3x4x20xf32>
  %8 = sinter.broadcast %n {shape = affine_map<() -> (3, 4, 20)>} : (tensor<3x4x1xf32>) -> tensor<3x4x20xf32>
  %9 = sinter.sub %3, %7 : (tensor<3x4x20xf32>, tensor<3x4x20xf32>) -> tensor<3x4x20xf32>
  %10 = sinter.mul %9, %8 : (tensor<3x4x20xf32>, tensor<3x4x20xf32>) -> tensor<3x4x20xf32>
  return %10 : tensor<3x4x20xf32>
}

// -----

// The rows of a batch, whose number is known at run time; all leading axes at
// once, in the same order.
// CHECK-LABEL: @main
// CHECK: %[[P:.*]] = sinter.matmul
// CHECK: %[[S:.*]] = sinter.sum %[[P]] {axes = array<i64: 0>, keepdims = false} {{.*}} -> tensor<20xf32>
// CHECK: %[[T:.*]] = sinter.amax %[[P]] {axes = array<i64: 1>, keepdims = true} {{.*}} -> tensor<?x1xf32, #{{.*}}>
// CHECK: %[[U:.*]] = sinter.reshape %[[T]] {{.*}} -> tensor<?x4xf32, #{{.*}}>
// CHECK: return %[[S]], %[[U]]
func.func @main(%a: tensor<?x8xf32, affine_map<()[s0] -> (s0 * 4, 8)>>, %w: tensor<8x20xf32>) -> (tensor<20xf32>, tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) {
  %0 = sinter.matmul %a, %w : (tensor<?x8xf32, affine_map<()[s0] -> (s0 * 4, 8)>>, tensor<8x20xf32>) -> tensor<?x20xf32, affine_map<()[s0] -> (s0 * 4, 20)>>
  %1 = sinter.reshape %0 {shape = affine_map<()[s0] -> (s0, 4, 20)>} : (tensor<?x20xf32, affine_map<()[s0] -> (s0 * 4, 20)>>) -> tensor<?x4x20xf32, affine_map<()[s0] -> (s0, 4, 20)>>
  %2 = sinter.sum %1 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x4x20xf32, affine_map<()[s0] -> (s0, 4, 20)>>) -> tensor<20xf32>
  %3 = sinter.amax %1 {axes = array<i64: 2>, keepdims = false} : (tensor<?x4x20xf32, affine_map<()[s0] -> (s0, 4, 20)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  return %2, %3 : tensor<20xf32>, tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
}

// -----

// What takes some of the grouped axes only needs them apart.
// CHECK-LABEL: @main
// CHECK: %[[P:.*]] = sinter.matmul
// CHECK: %[[V:.*]] = sinter.reshape %[[P]] {{.*}} -> tensor<3x4x20xf32>
// CHECK: sinter.sum %[[V]] {axes = array<i64: 1>
func.func @main(%a: tensor<12x8xf32>, %w: tensor<8x20xf32>) -> tensor<3x20xf32> {
  %0 = sinter.matmul %a, %w : (tensor<12x8xf32>, tensor<8x20xf32>) -> tensor<12x20xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (3, 4, 20)>} : (tensor<12x20xf32>) -> tensor<3x4x20xf32>
  %2 = sinter.sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<3x4x20xf32>) -> tensor<3x20xf32>
  return %2 : tensor<3x20xf32>
}
