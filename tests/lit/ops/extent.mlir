// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @extent
func.func @extent() -> tensor<f32> {
  // CHECK: sinter.extent {{.*}}-> tensor<f32>
  %0 = sinter.extent {dtype = f32, size = affine_map<()[s0] -> (s0 * 8)>} : () -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @error0() -> tensor<f32> {
  // expected-error @+1 {{attribute 'size' is missing or of a wrong kind}}
  %0 = sinter.extent {dtype = f32, size = affine_map<()[s0] -> (s0, 8)>} : () -> tensor<f32>
  return %0 : tensor<f32>
}
