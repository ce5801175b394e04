// An elementwise kernel is one flat loop without a division; its end is masked.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v3 | FileCheck %s

// CHECK-LABEL: func.func @map_
// CHECK-NOT: arith.divui
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @main(%x: tensor<7x5x4xf32>, %y: tensor<7x5x4xf32>) -> tensor<7x5x4xf32> {
  %0 = sinter.mul %x, %y : (tensor<7x5x4xf32>, tensor<7x5x4xf32>) -> tensor<7x5x4xf32>
  %1 = sinter.tanh %0 : (tensor<7x5x4xf32>) -> tensor<7x5x4xf32>
  return %1 : tensor<7x5x4xf32>
}
