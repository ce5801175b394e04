// A product whose k has no elements reads none of its operands, not even before
// the loop over k: they have no memory.
// RUN: sinter inspect %s --stage lower --numerics exact | FileCheck %s
// CHECK: func.func @contraction
// CHECK-NOT: memref.load
// CHECK-NOT: vector.load
// CHECK: return
func.func @main(%x: tensor<0x1xf64>, %w: tensor<0x5xf64>) -> tensor<1x5xf64> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (1, 0)>} : (tensor<0x1xf64>) -> tensor<1x0xf64>
  %1 = sinter.matmul %0, %w : (tensor<1x0xf64>, tensor<0x5xf64>) -> tensor<1x5xf64>
  return %1 : tensor<1x5xf64>
}
