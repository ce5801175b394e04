// Short reductions over columns keep their states in registers, and a sum does
// not round the products that it takes in. Where no window
// reaches over the border, neighbours share what they read and nothing is
// masked: two results of two vectors each read 3 x 4 elements, not 2 x 9.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v3 | FileCheck %s

// CHECK-LABEL: func.func @reduce_
// CHECK-NOT: memref.alloca
// CHECK-NOT: vector.maskedload
// At the border, one result: what is outside is not read.
// CHECK-COUNT-9: scf.if {{.*}} -> (vector<16xf32>)
// CHECK-NOT: -> (vector<16xf32>)
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c2
// CHECK-COUNT-12: vector.load {{.*}} vector<16xf32>
// CHECK-NOT: vector.load
// CHECK-COUNT-2: vector.store
// CHECK: scf.for {{.*}} step %c1
// CHECK-COUNT-9: vector.load {{.*}} vector<16xf32>
// CHECK-NOT: vector.load
// CHECK: math.fma {{.*}} vector<16xf32>
// CHECK: vector.store
// CHECK-NOT: scf.if
// CHECK: return
func.func @main(%x: tensor<1x40x40x32xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x40x40x32xf32> {
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64, layout = "channels_last"} : (tensor<1x40x40x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x40x40x32xf32>
  return %0 : tensor<1x40x40x32xf32>
}
