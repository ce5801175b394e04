// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @argsort
func.func @argsort(%x: tensor<4x8xf32>) -> tensor<4x3xi64> {
  // CHECK: sinter.argsort {{.*}}-> tensor<4x3xi64>
  %0 = sinter.argsort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (3)>} : (tensor<4x8xf32>) -> tensor<4x3xi64>
  return %0 : tensor<4x3xi64>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x9xi64> {
  // expected-error @+1 {{argsort: count 9 is more than axis 1 has}}
  %0 = sinter.argsort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (9)>} : (tensor<4x8xf32>) -> tensor<4x9xi64>
  return %0 : tensor<4x9xi64>
}
