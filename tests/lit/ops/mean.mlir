// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @mean
func.func @mean(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // CHECK: sinter.mean {{.*}}-> tensor<8xf32>
  %0 = sinter.mean %x {axes = array<i64: 0>, keepdims = false} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{mean: }}
  %0 = sinter.mean %x {axes = array<i64: 2>, keepdims = false} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
