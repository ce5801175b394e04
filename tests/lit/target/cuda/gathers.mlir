// Kernels whose warps read lines in pieces say so: in a graph they do not start
// behind those whose shared memory leaves them little of a cache.
// RUN: split-file %s %t
// RUN: sinter inspect %t/pieces.mlir --stage ptx --target cuda:sm_90 | FileCheck %t/pieces.mlir
// RUN: sinter inspect %t/lines.mlir --stage ptx --target cuda:sm_90 | FileCheck %t/lines.mlir
//--- pieces.mlir
// CHECK: .entry [[NAME:map_[0-9a-z_]+]](
// CHECK: // gathers [[NAME]]
func.func @main(%x: tensor<4096x64xbf16>) -> tensor<4096x16xbf16> {
  %0 = sinter.slice %x {starts = array<i64: 0, 0>, limits = affine_map<() -> (4096, 64)>, steps = array<i64: 1, 4>} : (tensor<4096x64xbf16>) -> tensor<4096x16xbf16>
  %1 = sinter.exp %0 : (tensor<4096x16xbf16>) -> tensor<4096x16xbf16>
  return %1 : tensor<4096x16xbf16>
}
//--- lines.mlir
// Not what is read along rows, nor what is turned in shared memory.
// CHECK: .entry map_
// CHECK-NOT: // gathers
func.func @main(%x: tensor<512x256xbf16>, %y: tensor<256x512xbf16>) -> (tensor<512x256xbf16>, tensor<512x256xbf16>) {
  %0 = sinter.exp %x : (tensor<512x256xbf16>) -> tensor<512x256xbf16>
  %1 = sinter.transpose %y {permutation = array<i64: 1, 0>} : (tensor<256x512xbf16>) -> tensor<512x256xbf16>
  %2 = sinter.tanh %1 : (tensor<512x256xbf16>) -> tensor<512x256xbf16>
  return %0, %2 : tensor<512x256xbf16>, tensor<512x256xbf16>
}
