// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @cumsum
func.func @cumsum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.cumsum {{.*}}-> tensor<4x8xf32>
  %0 = sinter.cumsum %x {axis = 1 : i64, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{cumsum: }}
  %0 = sinter.cumsum %x {axis = 2 : i64, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
