// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @argmin
func.func @argmin(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // CHECK: sinter.argmin {{.*}}-> tensor<4xi64>
  %0 = sinter.argmin %x {axis = 1 : i64, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: @keepdims
func.func @keepdims(%x: tensor<4x8xui8>) -> tensor<4x1xi64> {
  // CHECK: sinter.argmin {{.*}}-> tensor<4x1xi64>
  %0 = sinter.argmin %x {axis = 1 : i64, keepdims = true} : (tensor<4x8xui8>) -> tensor<4x1xi64>
  return %0 : tensor<4x1xi64>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{argmin: }}
  %0 = sinter.argmin %x {axis = 2 : i64, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @empty(%x: tensor<4x0xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{argmin: axis 1 is empty}}
  %0 = sinter.argmin %x {axis = 1 : i64, keepdims = false} : (tensor<4x0xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
