// Row statistics are computed once a row, ahead of the pass that uses them, and
// so are exponentials, which stand in the frame; nothing is allocated on the
// heap and nothing is called.
// A maximum looks for NaN aside. Outside of `exact` a row's divisor is inverted
// once; what the next row has is asked for.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=EXACT

// CHECK-LABEL: func.func @rowwise_
// CHECK-NOT: memref.alloc(
// CHECK-NOT: call @
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: arith.maximumf {{.*}} fastmath<nnan> : vector<32xf32>
// CHECK: arith.cmpf uno, {{.*}} : vector<32xf32>
// CHECK: math.exp {{.*}} vector<32xf32>
// CHECK: vector.store {{.*}} memref<128xf32>
// CHECK: arith.addf {{.*}} vector<32xf32>
// CHECK: vector.shuffle
// CHECK-NOT: math.exp
// CHECK: arith.divf {{.*}} : f32
// CHECK: memref.prefetch
// CHECK: vector.load {{.*}} memref<128xf32>
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK: vector.store
// CHECK-NOT: call @
// EXACT: arith.divf {{.*}} vector<32xf32>
func.func @main(%x: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<32x128xf32>) -> tensor<32x128xf32>
  return %0 : tensor<32x128xf32>
}
