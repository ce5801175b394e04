// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @unwindow
func.func @unwindow(%x: tensor<3x4xf32>) -> tensor<9x4xf32> {
  // CHECK: sinter.unwindow {{.*}}-> tensor<9x4xf32>
  %0 = sinter.unwindow %x {shape = affine_map<() -> (9)>, axes = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 2>, dilations = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @shape(%x: tensor<3x4xf32>) -> tensor<12x4xf32> {
  // expected-error @+1 {{unwindow: x does not hold the windows of this shape}}
  %0 = sinter.unwindow %x {shape = affine_map<() -> (12)>, axes = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 2>, dilations = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<12x4xf32>
  return %0 : tensor<12x4xf32>
}
