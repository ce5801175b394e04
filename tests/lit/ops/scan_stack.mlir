// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @stack
func.func @stack(%e: tensor<4xi1>, %y: tensor<f64>) -> tensor<4xf64> {
  // CHECK: sinter.scan_stack {{.*}}-> tensor<4xf64>
  %s = sinter.scan_stack %e, %y : (tensor<4xi1>, tensor<f64>) -> tensor<4xf64>
  return %s : tensor<4xf64>
}

// -----

func.func @token(%e: tensor<4xf32>, %y: tensor<f64>) -> tensor<4xf64> {
  // expected-error @+1 {{operand #0 must be}}
  %s = sinter.scan_stack %e, %y : (tensor<4xf32>, tensor<f64>) -> tensor<4xf64>
  return %s : tensor<4xf64>
}
