// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @full
func.func @full() -> tensor<2x3xf32> {
  // CHECK: sinter.full {{.*}}-> tensor<2x3xf32>
  %0 = sinter.full {dtype = f32, shape = affine_map<() -> (2, 3)>, value = 0.5 : f64} : () -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @error0() -> tensor<2x3xf32> {
  // expected-error @+1 {{attribute 'value' failed to satisfy constraint: number}}
  %0 = sinter.full {dtype = f32, shape = affine_map<() -> (2, 3)>, value = 0.5 : f32} : () -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
