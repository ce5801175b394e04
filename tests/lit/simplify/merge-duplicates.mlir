// RUN: sinter opt %s --until=simplify --mlir-print-debuginfo | FileCheck %s

// Equal ops become one that stands for both nodes; two random draws stay two.
// CHECK-LABEL: @main
// CHECK: %[[EXP:.*]] = sinter.exp %arg0 {{.*}} loc(#[[BOTH:.*]])
// CHECK-NOT: sinter.exp
// CHECK: sinter.add %[[EXP]], %[[EXP]]
// CHECK: sinter.random_uniform
// CHECK: sinter.random_uniform
// CHECK-DAG: #[[A:.*]] = loc("node":2:0)
// CHECK-DAG: #[[B:.*]] = loc("node":3:0)
// CHECK: #[[BOTH]] = loc(fused[#[[A]], #[[B]]])
func.func @main(%x: tensor<4xf32>, %k: tensor<i64> {sinter.kind = "scalar"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = sinter.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sinter.random_uniform %k, %k, %k {shape = affine_map<() -> (4)>, dtype = f32} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %4 = sinter.random_uniform %k, %k, %k {shape = affine_map<() -> (4)>, dtype = f32} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
