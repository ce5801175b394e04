// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0)>
#all = affine_map<()[s0] -> (4, s0)>

// CHECK-LABEL: @slices
func.func @slices(%i: tensor<4xi1>, %x: tensor<4x?xf32, #all>) -> tensor<?xf32, #rows> {
  // CHECK: sinter.scan_slice
  %c = sinter.scan_slice %i, %x : (tensor<4xi1>, tensor<4x?xf32, #all>) -> tensor<?xf32, #rows>
  return %c : tensor<?xf32, #rows>
}

// -----

func.func @number(%i: tensor<4xi1>, %x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{scan_slice: a tensor without axes has no slices}}
  %c = sinter.scan_slice %i, %x : (tensor<4xi1>, tensor<f32>) -> tensor<f32>
  return %c : tensor<f32>
}

// -----

func.func @length(%i: tensor<4xi1>, %x: tensor<5x2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{scan_slice: the first axis is not as long as the loop}}
  %c = sinter.scan_slice %i, %x : (tensor<4xi1>, tensor<5x2xf32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}
