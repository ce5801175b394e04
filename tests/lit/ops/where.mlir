// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @where
func.func @where(%c: tensor<4x8xi1>, %a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.where {{.*}}-> tensor<4x8xf32>
  %0 = sinter.where %c, %a, %b : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error0(%c: tensor<4xi1>, %a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{where: }}
  %0 = sinter.where %c, %a, %a : (tensor<4xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error1(%c: tensor<4x8xi32>, %a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of 1-bit signless integer}}
  %0 = sinter.where %c, %a, %a : (tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
