// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @conv_transpose
func.func @conv_transpose(%x: tensor<2x4x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x6x10xf32> {
  // CHECK: sinter.conv_transpose {{.*}}-> tensor<2x6x10xf32>
  %0 = sinter.conv_transpose %x, %w {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64, space = affine_map<() -> (10)>, layout = "channels_first"} : (tensor<2x4x5xf32>, tensor<4x3x3xf32>) -> tensor<2x6x10xf32>
  return %0 : tensor<2x6x10xf32>
}

// -----

func.func @space(%x: tensor<2x4x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x6x8xf32> {
  // expected-error @+1 {{conv_transpose: the result's space is too small}}
  %0 = sinter.conv_transpose %x, %w {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64, space = affine_map<() -> (8)>, layout = "channels_first"} : (tensor<2x4x5xf32>, tensor<4x3x3xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}
