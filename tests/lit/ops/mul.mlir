// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @mul
func.func @mul(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.mul %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = sinter.mul %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @unsigned
func.func @unsigned(%a: tensor<3xui8>) -> tensor<3xui8> {
  // CHECK: sinter.mul
  %0 = sinter.mul %a, %a : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%a: tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows> {
  // CHECK: sinter.mul
  %0 = sinter.mul %a, %a : (tensor<?x8xf32, #rows>, tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// -----

func.func @broadcast(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{mul: }}
  %0 = sinter.mul %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @dtypes(%a: tensor<4xf32>, %b: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @+1 {{mul: }}
  %0 = sinter.mul %a, %b : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
