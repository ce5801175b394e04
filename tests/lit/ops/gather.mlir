// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @gather
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>) -> tensor<4x2xf32> {
  // CHECK: sinter.gather {{.*}}-> tensor<4x2xf32>
  %0 = sinter.gather %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>, %i: tensor<3x2xi64>) -> tensor<3x2xf32> {
  // expected-error @+1 {{gather: }}
  %0 = sinter.gather %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{operand #1 must be ranked tensor of 64-bit signless integer}}
  %0 = sinter.gather %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Where nothing is gathered, there may be nothing to gather from.
// CHECK-LABEL: @nothing
func.func @nothing(%x: tensor<0x5xf32>, %i: tensor<0x5xi64>) -> tensor<0x5xf32> {
  // CHECK: sinter.gather
  %0 = sinter.gather %x, %i {axis = 0 : i64} : (tensor<0x5xf32>, tensor<0x5xi64>) -> tensor<0x5xf32>
  return %0 : tensor<0x5xf32>
}

// -----

func.func @something_from_nothing(%x: tensor<0x5xf32>, %i: tensor<?x5xi64, affine_map<()[s0] -> (s0, 5)>>) -> tensor<?x5xf32, affine_map<()[s0] -> (s0, 5)>> {
  // expected-error @+1 {{gather: axis 0 is empty}}
  %0 = sinter.gather %x, %i {axis = 0 : i64} : (tensor<0x5xf32>, tensor<?x5xi64, affine_map<()[s0] -> (s0, 5)>>) -> tensor<?x5xf32, affine_map<()[s0] -> (s0, 5)>>
  return %0 : tensor<?x5xf32, affine_map<()[s0] -> (s0, 5)>>
}
