// Row statistics are computed once a row, ahead of the pass that uses them, and
// so are exponentials, which stand in the frame; nothing is allocated on the
// heap and nothing is called.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @rowwise_
// CHECK-NOT: memref.alloc(
// CHECK-NOT: call @
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: arith.maximumf {{.*}} vector<32xf32>
// CHECK: math.exp {{.*}} vector<32xf32>
// CHECK: vector.store {{.*}} memref<128xf32>
// CHECK: arith.addf {{.*}} vector<32xf32>
// CHECK: vector.shuffle
// CHECK-NOT: math.exp
// CHECK: vector.load {{.*}} memref<128xf32>
// CHECK: arith.divf {{.*}} vector<32xf32>
// CHECK: vector.store
// CHECK-NOT: call @
func.func @main(%x: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<32x128xf32>) -> tensor<32x128xf32>
  return %0 : tensor<32x128xf32>
}
