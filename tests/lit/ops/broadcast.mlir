// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<4x1xf32>) -> tensor<3x4x8xf32> {
  // CHECK: sinter.broadcast {{.*}}-> tensor<3x4x8xf32>
  %0 = sinter.broadcast %x {shape = affine_map<() -> (3, 4, 8)>} : (tensor<4x1xf32>) -> tensor<3x4x8xf32>
  return %0 : tensor<3x4x8xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{broadcast: }}
  %0 = sinter.broadcast %x {shape = affine_map<() -> (4, 9)>} : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}
