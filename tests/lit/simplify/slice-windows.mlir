// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// What windows are summed to, without its frame: the frame is not summed.
// CHECK-LABEL: @main
// CHECK: %[[PLACED:.*]] = sinter.unwindow
// CHECK: %[[INSIDE:.*]] = sinter.slice %[[PLACED]] {{.*}}starts = array<i64: 0, 1, 1, 0, 0, 0>{{.*}} -> tensor<2x8x8x5x3x3xf32>
// CHECK: %[[SUM:.*]] = sinter.sum %[[INSIDE]] {axes = array<i64: 4, 5>, {{.*}} -> tensor<2x8x8x5xf32>
// CHECK: return %[[SUM]]
func.func @main(%x: tensor<2x4x4x5x3x3xf32>) -> tensor<2x8x8x5xf32> {
  %0 = sinter.unwindow %x {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, shape = affine_map<() -> (2, 10, 10, 5)>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<2x4x4x5x3x3xf32>) -> tensor<2x10x10x5x3x3xf32>
  %1 = sinter.sum %0 {axes = array<i64: 4, 5>, keepdims = false} : (tensor<2x10x10x5x3x3xf32>) -> tensor<2x10x10x5xf32>
  %2 = sinter.slice %1 {limits = affine_map<() -> (2, 9, 9, 5)>, starts = array<i64: 0, 1, 1, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x10x10x5xf32>) -> tensor<2x8x8x5xf32>
  return %2 : tensor<2x8x8x5xf32>
}

// -----

// With dims kept, and in steps.
// CHECK-LABEL: @main
// CHECK: %[[PART:.*]] = sinter.slice {{.*}} {limits = {{.*}}, starts = array<i64: 1, 0, 2>, steps = array<i64: 1, 1, 3>} {{.*}} -> tensor<3x7x2xf32>
// CHECK: sinter.amax %[[PART]] {axes = array<i64: 1>, keepdims = true} {{.*}} -> tensor<3x1x2xf32>
func.func @main(%x: tensor<7x4x8xf32>) -> tensor<3x1x2xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<7x4x8xf32>) -> tensor<4x7x8xf32>
  %1 = sinter.amax %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x7x8xf32>) -> tensor<4x1x8xf32>
  %2 = sinter.slice %1 {limits = affine_map<() -> (4, 1, 8)>, starts = array<i64: 1, 0, 2>, steps = array<i64: 1, 1, 3>} : (tensor<4x1x8xf32>) -> tensor<3x1x2xf32>
  return %2 : tensor<3x1x2xf32>
}

// -----

// Not: what others read whole, what is computed, and no element of an axis.
// CHECK-LABEL: @main
// CHECK: sinter.sum {{.*}} -> tensor<4x8xf32>
// CHECK: sinter.sum {{.*}} -> tensor<7x8xf32>
// CHECK: sinter.sum {{.*}} -> tensor<4x1x8xf32>
func.func @main(%x: tensor<7x4x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<4x0x8xf32>) {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<7x4x8xf32>) -> tensor<4x7x8xf32>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<4x7x8xf32>) -> tensor<4x8xf32>
  %2 = sinter.slice %1 {limits = affine_map<() -> (2, 8)>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %3 = sinter.exp %x : (tensor<7x4x8xf32>) -> tensor<7x4x8xf32>
  %4 = sinter.sum %3 {axes = array<i64: 1>, keepdims = false} : (tensor<7x4x8xf32>) -> tensor<7x8xf32>
  %5 = sinter.slice %4 {limits = affine_map<() -> (2, 8)>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<7x8xf32>) -> tensor<2x8xf32>
  %6 = sinter.sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x7x8xf32>) -> tensor<4x1x8xf32>
  %7 = sinter.slice %6 {limits = affine_map<() -> (4, 0, 8)>, starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<4x1x8xf32>) -> tensor<4x0x8xf32>
  return %1, %2, %5, %7 : tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<4x0x8xf32>
}
