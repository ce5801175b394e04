// A transposed tensor that is stored: squares are loaded along the lines of the
// one, turned in registers, and written along those of the other.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @map_
// CHECK-NOT: vector.gather
// CHECK-COUNT-16: vector.load {{.*}}vector<16xf32>
// CHECK: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}}vector<16xf32>
// CHECK-NOT: vector.scatter
// CHECK: return
func.func @main(%x: tensor<2x10x12x64xf32>) -> tensor<2x64x10x12xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x10x12x64xf32>) -> tensor<2x64x10x12xf32>
  return %0 : tensor<2x64x10x12xf32>
}
