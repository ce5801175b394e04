// Positions that are used behind something long are checked by a kernel that
// waits for nothing else: once for all that use them, where a host waits for it
// or a parameter could get a new value.
// RUN: sinter inspect %s --stage simplify --target cuda:sm_90 | FileCheck %s
// RUN: sed 's/%x: tensor<64x32xf32>/%x: tensor<64x10xf32> {sinter.kind = "parameter"}, %y: tensor<64x32xf32>/; s/matmul %x/matmul %y/; s/ {sinter.node = 2 : i64}//' %s > %t.mlir
// RUN: sinter inspect %t.mlir --stage simplify --target cpu | FileCheck %s
// RUN: sinter inspect %s --stage simplify --target cpu \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: sinter inspect %s --stage plan --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: sinter inspect %s --stage plan --target cuda:sm_90 --fusion none \
// RUN:   | FileCheck %s --check-prefix=NONE

// CHECK: %[[ALL:.*]] = sinter.iota {{.*}}axis = 0{{.*}} -> tensor<10xi64>
// CHECK: %[[IN:.*]] = sinter.gather %[[ALL]], %{{.*}} {axis = 0 : i64, sinter.checks}
// CHECK: %[[COLUMN:.*]] = sinter.reshape %[[IN]]
// CHECK: sinter.gather %{{.*}}, %[[COLUMN]] {axis = 1 : i64, sinter.checked}
// CHECK: sinter.scatter_add %{{.*}}, %[[COLUMN]], %{{.*}} {axis = 1 : i64, sinter.checked}
// CHECK-NOT: sinter.checks
// NONE-NOT: sinter.check

// PLAN: program.launch @{{.*}}buffers = [@in2{{.*}}error_node = 6 :
// PLAN-NOT: error_node
// PLAN: rejected check

func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x10xf32>, %labels: tensor<64xi64> {sinter.node = 2 : i64}) -> (tensor<64x1xf32>, tensor<64x10xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<64x32xf32>, tensor<32x10xf32>) -> tensor<64x10xf32>
  %1 = sinter.log_softmax %0 {axis = 1 : i64} : (tensor<64x10xf32>) -> tensor<64x10xf32>
  %2 = sinter.reshape %labels {shape = affine_map<() -> (64, 1)>} : (tensor<64xi64>) -> tensor<64x1xi64>
  %3 = sinter.gather %1, %2 {axis = 1 : i64} : (tensor<64x10xf32>, tensor<64x1xi64>) -> tensor<64x1xf32>
  %4 = sinter.full {dtype = f32, shape = affine_map<() -> (64, 10)>, value = 0 : i64} : () -> tensor<64x10xf32>
  %5 = sinter.scatter_add %1, %2, %3 {axis = 1 : i64} : (tensor<64x10xf32>, tensor<64x1xi64>, tensor<64x1xf32>) -> tensor<64x10xf32>
  return %3, %5 : tensor<64x1xf32>, tensor<64x10xf32>
}
