// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @slice
func.func @slice(%x: tensor<4x8xf32>) -> tensor<2x3xf32> {
  // CHECK: sinter.slice {{.*}}-> tensor<2x3xf32>
  %0 = sinter.slice %x {limits = affine_map<() -> (3, 8)>, starts = array<i64: 1, 0>, steps = array<i64: 1, 3>} : (tensor<4x8xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{slice: }}
  %0 = sinter.slice %x {limits = affine_map<() -> (5, 8)>, starts = array<i64: 1, 0>, steps = array<i64: 1, 3>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>) -> tensor<3x3xf32> {
  // expected-error @+1 {{slice: }}
  %0 = sinter.slice %x {limits = affine_map<() -> (4, 8)>, starts = array<i64: 1, 0>, steps = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
