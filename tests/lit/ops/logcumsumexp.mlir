// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @logcumsumexp
func.func @logcumsumexp(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.logcumsumexp {{.*}}-> tensor<4x8xf32>
  %0 = sinter.logcumsumexp %x {axis = 1 : i64, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{logcumsumexp: }}
  %0 = sinter.logcumsumexp %x {axis = 2 : i64, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @dtype(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.logcumsumexp %x {axis = 0 : i64, reverse = true} : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
