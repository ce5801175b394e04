// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @pad
func.func @pad(%x: tensor<4x8xf32>) -> tensor<6x15xf32> {
  // CHECK: sinter.pad {{.*}}-> tensor<6x15xf32>
  %0 = sinter.pad %x {interior = array<i64: 0, 1>, low = array<i64: 1, 0>, shape = affine_map<() -> (6, 15)>, value = 0.5 : f64} : (tensor<4x8xf32>) -> tensor<6x15xf32>
  return %0 : tensor<6x15xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<6x14xf32> {
  // expected-error @+1 {{pad: }}
  %0 = sinter.pad %x {interior = array<i64: 0, 1>, low = array<i64: 1, 0>, shape = affine_map<() -> (6, 14)>, value = 0 : i64} : (tensor<4x8xf32>) -> tensor<6x14xf32>
  return %0 : tensor<6x14xf32>
}
