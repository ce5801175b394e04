// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @amin
func.func @amin(%x: tensor<4x8xf32>) -> tensor<f32> {
  // CHECK: sinter.amin {{.*}}-> tensor<f32>
  %0 = sinter.amin %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @error0(%x: tensor<4x0xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{amin: }}
  %0 = sinter.amin %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x0xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
