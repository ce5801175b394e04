// A long sum of few results: blocks of threads take its chunks, as warps would
// leave most of a device idle; a second phase adds these. The last chunk may be
// short, rows may be cut by an axis that stays, and products are not rounded.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/plain.mlir --stage ptx --target cuda:sm_90 > %t/plain.ptx
// RUN: FileCheck %s < %t/plain.ptx
// RUN: %ptxas -arch=sm_90a -v %t/plain.ptx -o %t/out 2>&1 | FileCheck %s --check-prefix=NOSPILL
// RUN: sinter inspect %t/plain.mlir --stage ptx --target cuda:sm_90 --numerics exact | FileCheck %s
// RUN: sinter inspect %t/around.mlir --stage ptx --target cuda:sm_90 > %t/around.ptx
// RUN: FileCheck %s --check-prefix=AROUND < %t/around.ptx
// RUN: %ptxas -arch=sm_90a -v %t/around.ptx -o %t/out 2>&1 | FileCheck %s --check-prefix=NOSPILL
// RUN: sinter inspect %t/many.mlir --stage ptx --target cuda:sm_90 | FileCheck %s --check-prefix=MANY

// NOSPILL: 0 bytes spill stores, 0 bytes spill loads

// CHECK: entry [[K:reduce_[0-9a-f]+]](
// CHECK: .reqntid 512
// CHECK: bar.sync
// CHECK: add{{.*}}.f32
// CHECK: bar.sync
// CHECK: shfl
// CHECK: entry [[K]]_phase1(
// CHECK-NOT: bar.sync

// AROUND: entry [[K:reduce_[0-9a-f]+]](
// AROUND: .reqntid 512
// AROUND: bar.sync
// AROUND: fma.rn.f32
// AROUND: entry [[K]]_phase1(

// MANY-NOT: .reqntid 512
//--- plain.mlir
func.func @main(%x: tensor<3x40960xf32>) -> tensor<3xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<3x40960xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
//--- around.mlir
func.func @main(%x: tensor<4x64x15000xbf16>) -> tensor<64xf32> {
  %c = sinter.cast %x {dtype = f32} : (tensor<4x64x15000xbf16>) -> tensor<4x64x15000xf32>
  %s = sinter.mul %c, %c : (tensor<4x64x15000xf32>, tensor<4x64x15000xf32>) -> tensor<4x64x15000xf32>
  %0 = sinter.sum %s {axes = array<i64: 0, 2>, keepdims = false} : (tensor<4x64x15000xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
//--- many.mlir
func.func @main(%x: tensor<512x40960xf32>) -> tensor<512xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<512x40960xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}
