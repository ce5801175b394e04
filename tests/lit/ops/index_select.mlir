// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#some = affine_map<()[s0] -> (s0)>
#picked = affine_map<()[s0] -> (4, s0)>

// CHECK-LABEL: @index_select
func.func @index_select(%x: tensor<4x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // CHECK: sinter.index_select %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %0 = sinter.index_select %x, %i {axis = 0 : i64} : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<4x8xf32>, %i: tensor<?xi32, #some>) -> tensor<4x?xf32, #picked> {
  // CHECK: sinter.index_select
  %0 = sinter.index_select %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<?xi32, #some>) -> tensor<4x?xf32, #picked>
  return %0 : tensor<4x?xf32, #picked>
}

// -----

func.func @rank(%x: tensor<4x8xf32>, %i: tensor<1x3xi64>) -> tensor<3x8xf32> {
  // expected-error @+1 {{index_select: the indices must have one axis}}
  %0 = sinter.index_select %x, %i {axis = 0 : i64} : (tensor<4x8xf32>, tensor<1x3xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @empty(%x: tensor<0x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // expected-error @+1 {{index_select: axis 0 is empty}}
  %0 = sinter.index_select %x, %i {axis = 0 : i64} : (tensor<0x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @dtype(%x: tensor<4x8xf32>, %i: tensor<3xi8>) -> tensor<3x8xf32> {
  // expected-error @+1 {{operand #1 must be ranked tensor of}}
  %0 = sinter.index_select %x, %i {axis = 0 : i64} : (tensor<4x8xf32>, tensor<3xi8>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
