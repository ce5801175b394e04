// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @compare
func.func @compare(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: sinter.compare {{.*}}-> tensor<4x8xi1>
  %0 = sinter.compare %a, %b {predicate = "lt"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// -----

func.func @error0(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // expected-error @+1 {{failed to satisfy constraint: one of eq, ne, lt, le, gt, ge}}
  %0 = sinter.compare %a, %a {predicate = "less"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// -----

func.func @error1(%a: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4x8xi1> {
  // expected-error @+1 {{compare: }}
  %0 = sinter.compare %a, %b {predicate = "eq"} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}
