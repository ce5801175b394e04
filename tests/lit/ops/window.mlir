// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>
#windows = affine_map<()[s0] -> (s0, 3, 4)>

// CHECK-LABEL: @window
func.func @window(%x: tensor<2x7x9xf32>) -> tensor<2x5x3x2x3xf32> {
  // CHECK: sinter.window {{.*}}-> tensor<2x5x3x2x3xf32>
  %0 = sinter.window %x {axes = array<i64: 1, 2>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 2>, dilations = array<i64: 2, 2>} : (tensor<2x7x9xf32>) -> tensor<2x5x3x2x3xf32>
  return %0 : tensor<2x5x3x2x3xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?x3x4xf32, #windows> {
  // CHECK: sinter.window
  %0 = sinter.window %x {axes = array<i64: 1>, sizes = array<i64: 4>, strides = array<i64: 2>, dilations = array<i64: 1>} : (tensor<?x8xf32, #rows>) -> tensor<?x3x4xf32, #windows>
  return %0 : tensor<?x3x4xf32, #windows>
}

// -----

func.func @reach(%x: tensor<4xf32>) -> tensor<1x3xf32> {
  // expected-error @+1 {{window: a window of 5 does not fit into 4}}
  %0 = sinter.window %x {axes = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 2>} : (tensor<4xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @stride(%x: tensor<4xf32>) -> tensor<1x3xf32> {
  // expected-error @+1 {{window: strides holds 0}}
  %0 = sinter.window %x {axes = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 0>, dilations = array<i64: 1>} : (tensor<4xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @lists(%x: tensor<4xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{window: sizes has 2 entries, not 1}}
  %0 = sinter.window %x {axes = array<i64: 0>, sizes = array<i64: 3, 1>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
