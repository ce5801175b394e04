// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @all
func.func @all(%x: tensor<4x8xi1>) -> tensor<4xi1> {
  // CHECK: sinter.all {{.*}}-> tensor<4xi1>
  %0 = sinter.all %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @keepdims
func.func @keepdims(%x: tensor<4x8xi1>) -> tensor<4x1xi1> {
  // CHECK: sinter.all {{.*}}-> tensor<4x1xi1>
  %0 = sinter.all %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xi1>) -> tensor<4x1xi1>
  return %0 : tensor<4x1xi1>
}

// -----

func.func @axis(%x: tensor<4x8xi1>) -> tensor<4xi1> {
  // expected-error @+1 {{all: }}
  %0 = sinter.all %x {axes = array<i64: 2>, keepdims = false} : (tensor<4x8xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @shape(%x: tensor<4x8xi1>) -> tensor<4xi1> {
  // expected-error @+1 {{which is not the result's type}}
  %0 = sinter.all %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
