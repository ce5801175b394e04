// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @sort
func.func @sort(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  // CHECK: sinter.sort {{.*}}-> tensor<4x3xf32>
  %0 = sinter.sort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (3)>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{sort: count 9 is more than axis 1 has}}
  %0 = sinter.sort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (9)>} : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}
