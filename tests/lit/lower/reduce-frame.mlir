// Reductions one after the other share the frame: a buffer for each width.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @reduce_
// CHECK: memref.alloca() {{.*}} : memref<1024xf32>
// CHECK: memref.alloca() {{.*}} : memref<2048xf32>
// CHECK-NOT: memref.alloca()
#a = affine_map<()[s0, s1] -> (s0, s1, 1)>
#b = affine_map<()[s0, s1] -> (s0, s1)>
func.func @main(%x: tensor<?x?x1xf32, #a>) -> (tensor<?x?xf32, #b>, tensor<?x?xf32, #b>) {
  %0 = sinter.sum %x {axes = array<i64: 2>, keepdims = false} : (tensor<?x?x1xf32, #a>) -> tensor<?x?xf32, #b>
  %1 = sinter.prod %x {axes = array<i64: 2>, keepdims = false} : (tensor<?x?x1xf32, #a>) -> tensor<?x?xf32, #b>
  return %0, %1 : tensor<?x?xf32, #b>, tensor<?x?xf32, #b>
}
