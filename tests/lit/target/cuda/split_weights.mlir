// The gradient of a convolution's weight sums over a batch and its places.
// Either operand may be one that was reshaped to images and turned: both begin
// with the slowest axis in memory, and k is cut into parts that a second phase
// adds.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s

// CHECK: entry [[K:contraction_[0-9a-f]+]](
// CHECK: wgmma.mma_async
// CHECK: entry [[K]]_phase1(
func.func @main(%y: tensor<100352x64xbf16>, %g: tensor<100352x256xbf16>) -> tensor<64x256xbf16> {
  %0 = sinter.reshape %y {shape = affine_map<() -> (32, 56, 56, 64)>} : (tensor<100352x64xbf16>) -> tensor<32x56x56x64xbf16>
  %1 = sinter.transpose %0 {permutation = array<i64: 3, 0, 1, 2>} : (tensor<32x56x56x64xbf16>) -> tensor<64x32x56x56xbf16>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (64, 100352)>} : (tensor<64x32x56x56xbf16>) -> tensor<64x100352xbf16>
  %3 = sinter.matmul %2, %g : (tensor<64x100352xbf16>, tensor<100352x256xbf16>) -> tensor<64x256xbf16>
  return %3 : tensor<64x256xbf16>
}
