// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @count_nonzero
func.func @count_nonzero(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // CHECK: sinter.count_nonzero {{.*}}-> tensor<4xi64>
  %0 = sinter.count_nonzero %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: @keepdims
func.func @keepdims(%x: tensor<4x8xf32>) -> tensor<4x1xi64> {
  // CHECK: sinter.count_nonzero {{.*}}-> tensor<4x1xi64>
  %0 = sinter.count_nonzero %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xi64>
  return %0 : tensor<4x1xi64>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{count_nonzero: }}
  %0 = sinter.count_nonzero %x {axes = array<i64: 2>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @shape(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{which is not the result's type}}
  %0 = sinter.count_nonzero %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
