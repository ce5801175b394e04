// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK: sinter.transpose {{.*}}-> tensor<8x4xf32>
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{transpose: }}
  %0 = sinter.transpose %x {permutation = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{transpose: axes are negative or not in order}}
  %0 = sinter.transpose %x {permutation = array<i64: -1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
