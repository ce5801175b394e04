// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @logsumexp
func.func @logsumexp(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: sinter.logsumexp {{.*}}-> tensor<4xf32>
  %0 = sinter.logsumexp %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @keepdims
func.func @keepdims(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  // CHECK: sinter.logsumexp {{.*}}-> tensor<4x1xf32>
  %0 = sinter.logsumexp %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{logsumexp: }}
  %0 = sinter.logsumexp %x {axes = array<i64: 2>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @shape(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{which is not the result's type}}
  %0 = sinter.logsumexp %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
