// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @carry
func.func @carry(%i: tensor<4xi1>, %h: tensor<8xf16>) -> tensor<8xf16> {
  // CHECK: sinter.scan_carry {{.*}}-> tensor<8xf16>
  %c = sinter.scan_carry %i, %h : (tensor<4xi1>, tensor<8xf16>) -> tensor<8xf16>
  return %c : tensor<8xf16>
}

// -----

func.func @token(%i: tensor<4x2xi1>, %h: tensor<8xf16>) -> tensor<8xf16> {
  // expected-error @+1 {{scan_carry: the first operand is no loop}}
  %c = sinter.scan_carry %i, %h : (tensor<4x2xi1>, tensor<8xf16>) -> tensor<8xf16>
  return %c : tensor<8xf16>
}
