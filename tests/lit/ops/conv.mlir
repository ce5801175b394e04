// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#image = affine_map<()[s0] -> (s0, 4, 8, 9)>
#result = affine_map<()[s0] -> (s0, 6, 4, 5)>

// CHECK-LABEL: @conv
func.func @conv(%x: tensor<2x4x8x9xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<2x6x4x5xf32> {
  // CHECK: sinter.conv {{.*}}-> tensor<2x6x4x5xf32>
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 1, 0>, dilations = array<i64: 1, 2>, groups = 2 : i64, layout = "channels_first"} : (tensor<2x4x8x9xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x4x5xf32>
  return %0 : tensor<2x6x4x5xf32>
}

// CHECK-LABEL: @last
func.func @last(%x: tensor<2x8x9x4xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<2x4x5x6xf32> {
  // CHECK: sinter.conv {{.*}}-> tensor<2x4x5x6xf32>
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 1, 0>, dilations = array<i64: 1, 2>, groups = 2 : i64, layout = "channels_last"} : (tensor<2x8x9x4xf32>, tensor<6x2x3x3xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x4x8x9xf32, #image>, %w: tensor<6x4x3x3xf32>) -> tensor<?x6x4x5xf32, #result> {
  // CHECK: sinter.conv
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 1, 0>, dilations = array<i64: 1, 2>, groups = 1 : i64, layout = "channels_first"} : (tensor<?x4x8x9xf32, #image>, tensor<6x4x3x3xf32>) -> tensor<?x6x4x5xf32, #result>
  return %0 : tensor<?x6x4x5xf32, #result>
}

// -----

func.func @channels(%x: tensor<2x4x8x9xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<2x6x4x5xf32> {
  // expected-error @+1 {{conv: x has 4 channels, not as many as the weight}}
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 1, 0>, dilations = array<i64: 1, 2>, groups = 2 : i64, layout = "channels_first"} : (tensor<2x4x8x9xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x4x5xf32>
  return %0 : tensor<2x6x4x5xf32>
}

// -----

func.func @groups(%x: tensor<2x4x8x9xf32>, %w: tensor<5x2x3x3xf32>) -> tensor<2x5x4x5xf32> {
  // expected-error @+1 {{conv: the weight's first dim is no multiple of 2 groups}}
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 1, 0>, dilations = array<i64: 1, 2>, groups = 2 : i64, layout = "channels_first"} : (tensor<2x4x8x9xf32>, tensor<5x2x3x3xf32>) -> tensor<2x5x4x5xf32>
  return %0 : tensor<2x5x4x5xf32>
}

// -----

func.func @rank(%x: tensor<4x8x9xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<6x4x5xf32> {
  // expected-error @+1 {{conv: an image with 2 axes}}
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 1, 0>, dilations = array<i64: 1, 2>, groups = 1 : i64, layout = "channels_first"} : (tensor<4x8x9xf32>, tensor<6x4x3x3xf32>) -> tensor<6x4x5xf32>
  return %0 : tensor<6x4x5xf32>
}
