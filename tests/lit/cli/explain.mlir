// RUN: sinter explain %s | FileCheck %s
// RUN: sinter explain %s --json | FileCheck %s --check-prefix=JSON
// RUN: sinter explain %s > %t
// RUN: sinter explain %s --assert %t
// RUN: not sinter explain %s --assert %t --fusion none

// CHECK: 2 launches
// CHECK: contraction_{{[0-9a-f]+}} (contraction), nodes 2 3
// CHECK: fused, {{[0-9]+}} bytes of traffic saved
// CHECK: saves_traffic: matmul into exp
// CHECK: not fused
// CHECK: column_statistics: exp into sum
// JSON: "accepted": true, "rule": "saves_traffic"
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = sinter.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.exp %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sinter.sum %1 {axes = array<i64: 0>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
