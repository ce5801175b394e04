// A product of few rows is cut along its columns, into as many chunks as keep
// several threads busy.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @contraction_
// CHECK: %[[CHUNKS:.*]] = arith.constant 22 : index
// CHECK: scf.for %[[CHUNK:.*]] = {{.*}} step
// CHECK: arith.remui {{.*}}, %[[CHUNKS]]
// CHECK: arith.muli {{.*}}, %c32
func.func @main(%x: tensor<32x256xf32>, %w: tensor<256x688xf32>) -> tensor<32x688xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x256xf32>, tensor<256x688xf32>) -> tensor<32x688xf32>
  return %0 : tensor<32x688xf32>
}
