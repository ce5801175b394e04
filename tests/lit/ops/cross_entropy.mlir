// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%x: tensor<4x8xf32>, %l: tensor<4xi64>) -> tensor<f32> {
  // CHECK: sinter.cross_entropy {{.*}}-> tensor<f32>
  %0 = sinter.cross_entropy %x, %l : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>, %l: tensor<8xi64>) -> tensor<f32> {
  // expected-error @+1 {{cross_entropy: }}
  %0 = sinter.cross_entropy %x, %l : (tensor<4x8xf32>, tensor<8xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}
