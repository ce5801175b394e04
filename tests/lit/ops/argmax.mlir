// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @argmax
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // CHECK: sinter.argmax {{.*}}-> tensor<4xi64>
  %0 = sinter.argmax %x {axis = 1 : i64, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{argmax: }}
  %0 = sinter.argmax %x {axis = 2 : i64, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
