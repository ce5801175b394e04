// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @cummin
func.func @cummin(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.cummin {{.*}}-> tensor<4x8xf32>
  %0 = sinter.cummin %x {axis = 1 : i64, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @integers
func.func @integers(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: sinter.cummin {{.*}}-> tensor<4x8xi32>
  %0 = sinter.cummin %x {axis = 0 : i64, reverse = true} : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{cummin: }}
  %0 = sinter.cummin %x {axis = 2 : i64, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
