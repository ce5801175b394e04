// The import stage numbers values, keeps symbols and expands composites.
// RUN: sinter inspect %s --stage import | FileCheck %s
// RUN: sinter opt %s --until=import | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: func.func @main
// CHECK-SAME: sinter.kind = "data", sinter.node = 0
// CHECK-SAME: sinter.kind = "parameter", sinter.node = 1
// CHECK-SAME: {sinter.node = 3 : i64}) attributes {sinter.num_symbols = 1 : i64}
func.func @main(%x: tensor<?x8xf32, #rows>,
                %w: tensor<8x8xf32> {sinter.kind = "parameter"})
    -> tensor<?x8xf32, #rows> {
  // CHECK: %[[PRODUCT:.*]] = sinter.matmul
  %0 = sinter.matmul %x, %w : (tensor<?x8xf32, #rows>, tensor<8x8xf32>) -> tensor<?x8xf32, #rows>
  // CHECK-NOT: sinter.relu
  // CHECK: %[[ZERO:.*]] = sinter.full {{.*}}value = 0
  // CHECK: sinter.maximum %[[PRODUCT]], %[[ZERO]]
  %1 = sinter.relu %0 : (tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  return %1 : tensor<?x8xf32, #rows>
}
