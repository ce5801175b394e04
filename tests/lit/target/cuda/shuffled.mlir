// Three channels of an image whose places lie in groups of four, stored one
// channel after the other: squares of four lanes would leave most threads
// without an element. Lanes are a line of what is stored.
// RUN: sinter inspect %s --stage lower --target cuda:sm_90 | FileCheck %s

// CHECK: func.func @map_
// CHECK-NOT: vector<4x
// CHECK: vector.gather {{.*}} vector<64xi16>
// CHECK-NOT: vector<4x
// CHECK: vector.store {{.*}} vector<64xi16>
func.func @main(%x: tensor<64x32x32x12xbf16>) -> tensor<64x3x64x64xbf16> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (64, 32, 32, 2, 2, 3)>} : (tensor<64x32x32x12xbf16>) -> tensor<64x32x32x2x2x3xbf16>
  %1 = sinter.transpose %0 {permutation = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<64x32x32x2x2x3xbf16>) -> tensor<64x32x2x32x2x3xbf16>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (64, 64, 64, 3)>} : (tensor<64x32x2x32x2x3xbf16>) -> tensor<64x64x64x3xbf16>
  %3 = sinter.tanh %2 : (tensor<64x64x64x3xbf16>) -> tensor<64x64x64x3xbf16>
  %4 = sinter.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<64x64x64x3xbf16>) -> tensor<64x3x64x64xbf16>
  return %4 : tensor<64x3x64x64xbf16>
}
