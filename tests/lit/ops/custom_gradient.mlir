// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @custom_gradient
func.func @custom_gradient(%x: tensor<4x8xf32>, %y: tensor<3xi64>) -> tensor<4x8xf32> {
  // CHECK: sinter.custom_gradient {{.*}}-> tensor<4x8xf32>
  %0 = sinter.custom_gradient %x, %y : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error0(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be}}
  %0 = sinter.custom_gradient %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
