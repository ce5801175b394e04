// A text after `fuse` runs as its schedule says, which may have been edited: the
// same sums, in another time.
// RUN: sinter inspect %s --stage fuse > %t.mlir
// RUN: FileCheck %s --check-prefix=FUSED < %t.mlir
// RUN: sed 's/owner = grid, split = 65536/owner = warp/' %t.mlir > %t.warp.mlir
// RUN: sed 's/split = 65536/split = 2097152/' %t.mlir > %t.long.mlir
// RUN: sinter run %t.mlir --random-inputs 1 --repeat 5 | tee %t.out | FileCheck %s
// RUN: sinter run %t.warp.mlir --random-inputs 1 --repeat 5 | tee %t.warp.out | FileCheck %s
// RUN: sinter run %t.long.mlir --random-inputs 1 --repeat 5 | tee %t.long.out | FileCheck %s
// RUN: grep -v 'ms\|us' %t.out > %t.sums
// RUN: grep -v 'ms\|us' %t.warp.out | diff - %t.sums
// RUN: grep -v 'ms\|us' %t.long.out | diff - %t.sums

// FUSED: schedule = #program.schedule<skeleton = rows, owner = grid, split = 65536>
// CHECK: f32[1]
func.func @main(%x: tensor<1x8388608xf32>) -> tensor<1xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<1x8388608xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
