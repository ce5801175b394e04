// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// Windows side by side: their elements in the image's order. The zero makes -0
// what a sum makes of it.
// CHECK-LABEL: @main
// CHECK: %[[ORDER:.*]] = sinter.transpose %arg0 {permutation = array<i64: 0, 1, 3, 2, 4>}
// CHECK: %[[LAID:.*]] = sinter.reshape %[[ORDER]] {{.*}} -> tensor<2x12x20xf32>
// CHECK-NOT: sinter.pad
// CHECK: %[[ZERO:.*]] = sinter.full {{.*}}value = 0
// CHECK: %[[SUM:.*]] = sinter.add %[[LAID]], %[[ZERO]]
// CHECK: return %[[SUM]]
func.func @main(%x: tensor<2x4x5x3x4xf32>) -> tensor<2x12x20xf32> {
  %0 = sinter.unwindow %x {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, shape = affine_map<() -> (2, 12, 20)>, sizes = array<i64: 3, 4>, strides = array<i64: 3, 4>} : (tensor<2x4x5x3x4xf32>) -> tensor<2x12x20x3x4xf32>
  %1 = sinter.sum %0 {axes = array<i64: 3, 4>, keepdims = false} : (tensor<2x12x20x3x4xf32>) -> tensor<2x12x20xf32>
  return %1 : tensor<2x12x20xf32>
}

// -----

// Gaps between windows and the end that none reaches hold zeros; the batch may
// be a symbol.
// CHECK-LABEL: @main
// CHECK: sinter.pad {{.*}} -> tensor<?x4x3xi64
// CHECK: sinter.reshape {{.*}} -> tensor<?x12xi64
// CHECK: sinter.pad {{.*}} -> tensor<?x13xi64
// CHECK-NOT: sinter.sum
#x = affine_map<()[s0] -> (s0, 4, 2)>
#y = affine_map<()[s0] -> (s0, 13)>
#w = affine_map<()[s0] -> (s0, 13, 2)>
func.func @main(%x: tensor<?x4x2xi64, #x>) -> tensor<?x13xi64, #y> {
  %0 = sinter.unwindow %x {axes = array<i64: 1>, dilations = array<i64: 1>, shape = #y, sizes = array<i64: 2>, strides = array<i64: 3>} : (tensor<?x4x2xi64, #x>) -> tensor<?x13x2xi64, #w>
  %1 = sinter.sum %0 {axes = array<i64: 2>, keepdims = false} : (tensor<?x13x2xi64, #w>) -> tensor<?x13xi64, #y>
  return %1 : tensor<?x13xi64, #y>
}

// -----

// A last gap ends behind the image.
// CHECK-LABEL: @main
// CHECK: sinter.slice {{.*}} -> tensor<11xi64>
func.func @main(%x: tensor<4x2xi64>) -> tensor<11xi64> {
  %0 = sinter.unwindow %x {axes = array<i64: 0>, dilations = array<i64: 1>, shape = affine_map<() -> (11)>, sizes = array<i64: 2>, strides = array<i64: 3>} : (tensor<4x2xi64>) -> tensor<11x2xi64>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<11x2xi64>) -> tensor<11xi64>
  return %1 : tensor<11xi64>
}

// -----

// Not: windows that overlap.
// CHECK-LABEL: @main
// CHECK: sinter.sum
func.func @main(%x: tensor<4x3xi64>) -> tensor<9xi64> {
  %0 = sinter.unwindow %x {axes = array<i64: 0>, dilations = array<i64: 1>, shape = affine_map<() -> (9)>, sizes = array<i64: 3>, strides = array<i64: 2>} : (tensor<4x3xi64>) -> tensor<9x3xi64>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<9x3xi64>) -> tensor<9xi64>
  return %1 : tensor<9xi64>
}
