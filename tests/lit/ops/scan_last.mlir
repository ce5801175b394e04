// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @last
func.func @last(%e: tensor<4xi1>, %c: tensor<8xi32>) -> tensor<8xi32> {
  // CHECK: sinter.scan_last {{.*}}-> tensor<8xi32>
  %l = sinter.scan_last %e, %c : (tensor<4xi1>, tensor<8xi32>) -> tensor<8xi32>
  return %l : tensor<8xi32>
}

// -----

func.func @type(%e: tensor<4xi1>, %c: tensor<8xi32>) -> tensor<9xi32> {
  // expected-error @+1 {{infers i32[8], which is not the result's type}}
  %l = sinter.scan_last %e, %c : (tensor<4xi1>, tensor<8xi32>) -> tensor<9xi32>
  return %l : tensor<9xi32>
}
