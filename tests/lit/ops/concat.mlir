// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @concat
func.func @concat(%a: tensor<4x8xf32>, %b: tensor<2x8xf32>) -> tensor<6x8xf32> {
  // CHECK: sinter.concat {{.*}}-> tensor<6x8xf32>
  %0 = sinter.concat %a, %b {axis = 0 : i64} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

func.func @error0(%a: tensor<4x8xf32>, %b: tensor<2x7xf32>) -> tensor<6x8xf32> {
  // expected-error @+1 {{concat: }}
  %0 = sinter.concat %a, %b {axis = 0 : i64} : (tensor<4x8xf32>, tensor<2x7xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

func.func @error1(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{concat: }}
  %0 = sinter.concat %a {axis = 2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error2() -> tensor<4x8xf32> {
  // expected-error @+1 {{concat: needs at least one operand}}
  %0 = sinter.concat {axis = 0 : i64} : () -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
