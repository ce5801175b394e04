// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// Where the largest of each window stands, channels side by side.
// CHECK-LABEL: @main
// CHECK: %[[ROWS:.*]] = sinter.reshape {{.*}} -> tensor<?x14x14x8x4xf32
// CHECK: %[[TURNED:.*]] = sinter.transpose %[[ROWS]] {permutation = array<i64: 0, 1, 2, 4, 3>}
// CHECK: %[[AT:.*]] = sinter.argmax %[[TURNED]] {axis = 3 : i64, keepdims = false} {{.*}} -> tensor<?x14x14x8xi64
// CHECK: %[[KEPT:.*]] = sinter.reshape %[[AT]] {{.*}} -> tensor<?x14x14x8x1xi64
// CHECK: return %[[KEPT]]
#x = affine_map<()[s0] -> (s0, 28, 28, 8)>
#w = affine_map<()[s0] -> (s0, 14, 14, 8, 2, 2)>
#r = affine_map<()[s0] -> (s0, 14, 14, 8, 4)>
#y = affine_map<()[s0] -> (s0, 14, 14, 8, 1)>
func.func @main(%x: tensor<?x28x28x8xf32, #x>) -> tensor<?x14x14x8x1xi64, #y> {
  %0 = sinter.window %x {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x28x28x8xf32, #x>) -> tensor<?x14x14x8x2x2xf32, #w>
  %1 = sinter.reshape %0 {shape = #r} : (tensor<?x14x14x8x2x2xf32, #w>) -> tensor<?x14x14x8x4xf32, #r>
  %2 = sinter.argmax %1 {axis = 4 : i64, keepdims = true} : (tensor<?x14x14x8x4xf32, #r>) -> tensor<?x14x14x8x1xi64, #y>
  return %2 : tensor<?x14x14x8x1xi64, #y>
}

// -----

// CHECK-LABEL: @main
// CHECK: %[[TURNED:.*]] = sinter.transpose {{.*}} -> tensor<2x3x7xi64>
// CHECK: %[[AT:.*]] = sinter.argmin %[[TURNED]] {axis = 1 : i64, keepdims = false} {{.*}} -> tensor<2x7xi64>
// CHECK: return %[[AT]]
func.func @main(%x: tensor<2x9xi64>) -> tensor<2x7xi64> {
  %0 = sinter.window %x {axes = array<i64: 1>, dilations = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<2x9xi64>) -> tensor<2x7x3xi64>
  %1 = sinter.argmin %0 {axis = 2 : i64, keepdims = false} : (tensor<2x7x3xi64>) -> tensor<2x7xi64>
  return %1 : tensor<2x7xi64>
}

// -----

// Not: what lies in memory as it is searched, another axis than the last one,
// long windows, and windows with too few neighbours.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.transpose
func.func @main(%x: tensor<20x4xf32>, %z: tensor<80xf32>) -> (tensor<20xi64>, tensor<4xi64>, tensor<41xi64>, tensor<2xi64>) {
  %0 = sinter.argmax %x {axis = 1 : i64, keepdims = false} : (tensor<20x4xf32>) -> tensor<20xi64>
  %1 = sinter.window %z {axes = array<i64: 0>, dilations = array<i64: 1>, sizes = array<i64: 4>, strides = array<i64: 4>} : (tensor<80xf32>) -> tensor<20x4xf32>
  %2 = sinter.argmax %1 {axis = 0 : i64, keepdims = false} : (tensor<20x4xf32>) -> tensor<4xi64>
  %3 = sinter.window %z {axes = array<i64: 0>, dilations = array<i64: 1>, sizes = array<i64: 40>, strides = array<i64: 1>} : (tensor<80xf32>) -> tensor<41x40xf32>
  %4 = sinter.argmax %3 {axis = 1 : i64, keepdims = false} : (tensor<41x40xf32>) -> tensor<41xi64>
  %5 = sinter.window %z {axes = array<i64: 0>, dilations = array<i64: 1>, sizes = array<i64: 4>, strides = array<i64: 76>} : (tensor<80xf32>) -> tensor<2x4xf32>
  %6 = sinter.argmax %5 {axis = 1 : i64, keepdims = false} : (tensor<2x4xf32>) -> tensor<2xi64>
  return %0, %2, %4, %6 : tensor<20xi64>, tensor<4xi64>, tensor<41xi64>, tensor<2xi64>
}
