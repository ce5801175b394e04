// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @iota
func.func @iota() -> tensor<2x3xi64> {
  // CHECK: sinter.iota {{.*}}-> tensor<2x3xi64>
  %0 = sinter.iota {axis = 1 : i64, dtype = i64, shape = affine_map<() -> (2, 3)>} : () -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// -----

func.func @error0() -> tensor<2x3xi64> {
  // expected-error @+1 {{iota: }}
  %0 = sinter.iota {axis = 2 : i64, dtype = i64, shape = affine_map<() -> (2, 3)>} : () -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}
