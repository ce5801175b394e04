// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @any
func.func @any(%x: tensor<4x8xf32>) -> tensor<4xi1> {
  // CHECK: sinter.any {{.*}}-> tensor<4xi1>
  %0 = sinter.any %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @keepdims
func.func @keepdims(%x: tensor<4x8xf32>) -> tensor<4x1xi1> {
  // CHECK: sinter.any {{.*}}-> tensor<4x1xi1>
  %0 = sinter.any %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xi1>
  return %0 : tensor<4x1xi1>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4xi1> {
  // expected-error @+1 {{any: }}
  %0 = sinter.any %x {axes = array<i64: 2>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @shape(%x: tensor<4x8xf32>) -> tensor<4xi1> {
  // expected-error @+1 {{which is not the result's type}}
  %0 = sinter.any %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
