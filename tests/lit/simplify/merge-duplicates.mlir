// RUN: sinter opt %s --pipeline=number-nodes,merge-duplicates --mlir-print-debuginfo | FileCheck %s

// Equal ops become one that stands for both nodes. So do draws of one counter,
// and draws of two counters stay two.
// CHECK-LABEL: @main
// CHECK: %[[EXP:.*]] = sinter.exp %arg0 {{.*}} loc(#[[BOTH:.*]])
// CHECK-NOT: sinter.exp
// CHECK: sinter.add %[[EXP]], %[[EXP]]
// CHECK: sinter.random_uniform %arg1, %arg1, %arg1
// CHECK: sinter.random_uniform %arg1, %arg1, %arg2
// CHECK-NOT: sinter.random_uniform
// CHECK-DAG: #[[A:.*]] = loc("node":3:0)
// CHECK-DAG: #[[B:.*]] = loc("node":4:0)
// CHECK: #[[BOTH]] = loc(fused[#[[A]], #[[B]]])
func.func @main(%x: tensor<4xf32>, %k: tensor<i64> {sinter.kind = "scalar"},
                %c: tensor<i64> {sinter.kind = "scalar"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = sinter.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sinter.random_uniform %k, %k, %k {shape = affine_map<() -> (4)>, dtype = f32} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %4 = sinter.random_uniform %k, %k, %k {shape = affine_map<() -> (4)>, dtype = f32} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %5 = sinter.random_uniform %k, %k, %c {shape = affine_map<() -> (4)>, dtype = f32} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
  return %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
