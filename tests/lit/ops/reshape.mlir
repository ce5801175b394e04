// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>
#flat = affine_map<()[s0] -> (s0 * 8)>

// CHECK-LABEL: @reshape
func.func @reshape(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  // CHECK: sinter.reshape {{.*}}-> tensor<2x16xf32>
  %0 = sinter.reshape %x {shape = affine_map<() -> (2, 16)>} : (tensor<4x8xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?xf32, #flat> {
  // CHECK: sinter.reshape
  %0 = sinter.reshape %x {shape = #flat} : (tensor<?x8xf32, #rows>) -> tensor<?xf32, #flat>
  return %0 : tensor<?xf32, #flat>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<2x15xf32> {
  // expected-error @+1 {{reshape: }}
  %0 = sinter.reshape %x {shape = affine_map<() -> (2, 15)>} : (tensor<4x8xf32>) -> tensor<2x15xf32>
  return %0 : tensor<2x15xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{reshape: dim -1 is negative}}
  %0 = sinter.reshape %x {shape = affine_map<() -> (-1)>} : (tensor<4x8xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
