// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0)>
#matrix = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @var
func.func @var(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // CHECK: sinter.var {{.*}}correction = 1.000000e+00 : f64{{.*}}-> tensor<8xf32>
  %0 = sinter.var %x {axes = array<i64: 0>, correction = 1.0 : f64, keepdims = false} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #matrix>) -> tensor<?xf32, #rows> {
  // CHECK: sinter.var
  %0 = sinter.var %x {axes = array<i64: 1>, correction = 0.0 : f64, keepdims = false} : (tensor<?x8xf32, #matrix>) -> tensor<?xf32, #rows>
  return %0 : tensor<?xf32, #rows>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{var: }}
  %0 = sinter.var %x {axes = array<i64: 2>, correction = 1.0 : f64, keepdims = false} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
