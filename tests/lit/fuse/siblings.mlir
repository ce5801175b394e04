// RUN: sinter opt %s --split-input-file --pipeline=number-nodes,form-kernels | FileCheck %s

// Reductions of the same axes that read one tensor are one kernel, which reads
// it once.
// CHECK-LABEL: module
// CHECK: detail = "mul beside sum: reduce"{{.*}} rule = "shares_input"
// CHECK: program.kernel @reduce
// CHECK: sinter.sum
// CHECK: sinter.sum
// CHECK: program.yield %{{.*}}, %{{.*}} :
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%g: tensor<64x48xf32>, %x: tensor<64x48xf32>) -> (tensor<48xf32>, tensor<48xf32>) {
  %m = sinter.mul %g, %x : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %scale = sinter.sum %m {axes = array<i64: 0>, keepdims = false} : (tensor<64x48xf32>) -> tensor<48xf32>
  %shift = sinter.sum %g {axes = array<i64: 0>, keepdims = false} : (tensor<64x48xf32>) -> tensor<48xf32>
  return %scale, %shift : tensor<48xf32>, tensor<48xf32>
}

// -----

// Not those of other axes.
// CHECK-LABEL: module
// CHECK-NOT: shares_input
// CHECK-COUNT-2: program.launch
func.func @main(%g: tensor<64x48xf32>) -> (tensor<48xf32>, tensor<64xf32>) {
  %columns = sinter.sum %g {axes = array<i64: 0>, keepdims = false} : (tensor<64x48xf32>) -> tensor<48xf32>
  %rows = sinter.sum %g {axes = array<i64: 1>, keepdims = false} : (tensor<64x48xf32>) -> tensor<64xf32>
  return %columns, %rows : tensor<48xf32>, tensor<64xf32>
}
