// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @dynamic_pad
func.func @dynamic_pad(%x: tensor<4x8xf32>, %i: tensor<i64>) -> tensor<4x11xf32> {
  // CHECK: sinter.dynamic_pad {{.*}}-> tensor<4x11xf32>
  %0 = sinter.dynamic_pad %x, %i {axis = 1 : i64, size = affine_map<() -> (11)>} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x11xf32>
  return %0 : tensor<4x11xf32>
}

// -----

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>, %i: tensor<i64>) -> tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>> {
  // CHECK: sinter.dynamic_pad
  %0 = sinter.dynamic_pad %x, %i {axis = 1 : i64, size = affine_map<()[s0] -> (s0)>} : (tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>, tensor<i64>) -> tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>
  return %0 : tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>
}

// -----

func.func @error0(%x: tensor<4x8xf32>, %i: tensor<i64>) -> tensor<4x7xf32> {
  // expected-error @+1 {{dynamic_pad: the result is too small on axis 1}}
  %0 = sinter.dynamic_pad %x, %i {axis = 1 : i64, size = affine_map<() -> (7)>} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>, %i: tensor<1xi64>) -> tensor<4x11xf32> {
  // expected-error @+1 {{dynamic_pad: the start is no number of rank 0}}
  %0 = sinter.dynamic_pad %x, %i {axis = 1 : i64, size = affine_map<() -> (11)>} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x11xf32>
  return %0 : tensor<4x11xf32>
}
