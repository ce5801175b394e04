// RUN: sinter inspect %s --stage fuse --target cuda:sm_90 | FileCheck %s
// RUN: sinter inspect %s --stage fuse --target cpu:x86-64-v3 | FileCheck %s

// Two long rows less their means, which are known before a kernel stores them:
// those who work on a row would store it alone. Many rows are one kernel.
// CHECK-DAG: kind = "reduce"
// CHECK-DAG: kind = "map"
// CHECK-DAG: kind = "rowwise"
// CHECK-LABEL: @main
// CHECK: %[[S:.*]] = program.launch @reduce_{{.*}}(%arg0)
// CHECK: program.launch @map_{{.*}}%[[S]]
// CHECK: program.launch @rowwise_{{.*}}(%arg1)
// CHECK: rejected parallelism: {{.*}}2 long rows
func.func @main(%x: tensor<2x1048576xf32>, %y: tensor<1024x4096xf32>) -> (tensor<2x1048576xf32>, tensor<1024x4096xf32>) {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x1048576xf32>) -> tensor<2x1xf32>
  %1 = sinter.broadcast %0 {shape = affine_map<() -> (2, 1048576)>} : (tensor<2x1xf32>) -> tensor<2x1048576xf32>
  %2 = sinter.sub %x, %1 : (tensor<2x1048576xf32>, tensor<2x1048576xf32>) -> tensor<2x1048576xf32>
  %3 = sinter.sum %y {axes = array<i64: 1>, keepdims = true} : (tensor<1024x4096xf32>) -> tensor<1024x1xf32>
  %4 = sinter.broadcast %3 {shape = affine_map<() -> (1024, 4096)>} : (tensor<1024x1xf32>) -> tensor<1024x4096xf32>
  %5 = sinter.sub %y, %4 : (tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %2, %5 : tensor<2x1048576xf32>, tensor<1024x4096xf32>
}
