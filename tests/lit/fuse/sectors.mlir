// A reduction's lanes lie along the last axis: what a transpose has them read
// across memory, a sector for each element, is turned first, where that is less.
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage fuse --target cuda:sm_90 | FileCheck %s --check-prefix=ROWS
// RUN: sinter inspect %t/rows.mlir --stage fuse --target vulkan:h200 | FileCheck %s --check-prefix=ROWS
// RUN: sinter inspect %t/rows.mlir --stage fuse --target cpu | FileCheck %s --check-prefix=ROWS
// RUN: sinter inspect %t/rows.mlir --stage fuse --target cuda:sm_90 --fusion none | FileCheck %s --check-prefix=UNFUSED
// RUN: sinter explain %t/rows.mlir --target cuda:sm_90 | FileCheck %s --check-prefix=EXPLAIN
// RUN: sinter inspect %t/softmax.mlir --stage fuse --target cuda:sm_90 | FileCheck %s --check-prefix=SOFTMAX
// RUN: sinter inspect %t/others.mlir --stage fuse --target cuda:sm_90 | FileCheck %s --check-prefix=OTHERS
// RUN: sinter inspect %t/others.mlir --stage fuse --target cpu | FileCheck %s --check-prefix=OTHERS
// RUN: sinter run %t/rows.mlir --random-inputs 1 --output-dir %t/fused
// RUN: sinter run %t/rows.mlir --random-inputs 1 --output-dir %t/unfused --fusion none --numerics exact
// RUN: sinter run %t/rows.mlir --random-inputs 1 --output-dir %t/exact --numerics exact
// RUN: cmp %t/exact/output0.npy %t/unfused/output0.npy

// ROWS: program.kernel @map_{{.*}}skeleton = turn
// ROWS: program.kernel @reduce_
// ROWS-NOT: sinter.transpose
// UNFUSED-NOT: sectors
// EXPLAIN: sectors: transpose stored: sum would read 32 bytes for 4 of an element

// Once for all who read it.
// SOFTMAX-COUNT-1: sinter.transpose
// SOFTMAX-NOT: sinter.transpose
// SOFTMAX: program.launch @map_
// SOFTMAX: program.launch @rowwise_
// SOFTMAX-NOT: program.launch

// Not a small one, which is one launch; nor one whose rows stay, or are turned
// back; nor where lines of memory, or rows, are short; and an elementwise kernel
// turns what it reads itself.
// OTHERS-NOT: sectors

// Nor of no elements.
// RUN: sinter inspect %t/empty.mlir --stage fuse --target cuda:sm_90 | FileCheck %s --check-prefix=OTHERS

// What is reduced before it is turned is the same.
// RUN: sinter inspect %t/maxima.mlir --stage fuse | FileCheck %s --check-prefix=MAXIMA
// RUN: sinter run %t/maxima.mlir --random-inputs 1 --output-dir %t/turned
// RUN: sinter run %t/maxima.mlir --random-inputs 1 --output-dir %t/whole --fusion none --numerics exact
// RUN: cmp %t/turned/output0.npy %t/whole/output0.npy
// RUN: cmp %t/turned/output1.npy %t/whole/output1.npy
// MAXIMA-NOT: sinter.transpose

//--- maxima.mlir
func.func @main(%x: tensor<4x14x15x64xf32>, %y: tensor<100x64xf32>) -> (tensor<4x64x1x1xf32>, tensor<64xi64>) {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<4x14x15x64xf32>) -> tensor<4x64x14x15xf32>
  %1 = sinter.amax %0 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<4x64x14x15xf32>) -> tensor<4x64x1x1xf32>
  %2 = sinter.transpose %y {permutation = array<i64: 1, 0>} : (tensor<100x64xf32>) -> tensor<64x100xf32>
  %3 = sinter.argmax %2 {axis = 1 : i64, keepdims = false} : (tensor<64x100xf32>) -> tensor<64xi64>
  return %1, %3 : tensor<4x64x1x1xf32>, tensor<64xi64>
}
//--- empty.mlir
func.func @main(%a: tensor<0x4096x64xf32>, %b: tensor<0x64x4096xf32>) -> tensor<0x64xf32> {
  %0 = sinter.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<0x4096x64xf32>) -> tensor<0x64x4096xf32>
  %1 = sinter.mul %b, %0 : (tensor<0x64x4096xf32>, tensor<0x64x4096xf32>) -> tensor<0x64x4096xf32>
  %2 = sinter.sum %1 {axes = array<i64: 2>, keepdims = false} : (tensor<0x64x4096xf32>) -> tensor<0x64xf32>
  return %2 : tensor<0x64xf32>
}
//--- rows.mlir
func.func @main(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096xf32> {
  %0 = sinter.transpose %b {permutation = array<i64: 1, 0>} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = sinter.mul %a, %0 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %2 = sinter.sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  return %2 : tensor<4096xf32>
}
//--- softmax.mlir
func.func @main(%a: tensor<8x4096x1024xbf16>) -> tensor<8x1024x4096xbf16> {
  %0 = sinter.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<8x4096x1024xbf16>) -> tensor<8x1024x4096xbf16>
  %1 = sinter.softmax %0 {axis = 2 : i64} : (tensor<8x1024x4096xbf16>) -> tensor<8x1024x4096xbf16>
  return %1 : tensor<8x1024x4096xbf16>
}
//--- others.mlir
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<64x128x4096xf32>, %d: tensor<128x64x4096xf32>, %e: tensor<4096x4096xf32>, %f: tensor<1048576x16xf32>, %g: tensor<16x1048576xf32>) -> (tensor<512xf32>, tensor<128x64xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<16xf32>, tensor<1048576xf32>) {
  %0 = sinter.transpose %b {permutation = array<i64: 1, 0>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = sinter.mul %a, %0 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = sinter.sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<512x512xf32>) -> tensor<512xf32>
  %3 = sinter.transpose %c {permutation = array<i64: 1, 0, 2>} : (tensor<64x128x4096xf32>) -> tensor<128x64x4096xf32>
  %4 = sinter.mul %3, %d : (tensor<128x64x4096xf32>, tensor<128x64x4096xf32>) -> tensor<128x64x4096xf32>
  %5 = sinter.sum %4 {axes = array<i64: 2>, keepdims = false} : (tensor<128x64x4096xf32>) -> tensor<128x64xf32>
  %6 = sinter.transpose %e {permutation = array<i64: 1, 0>} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %7 = sinter.exp %6 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %8 = sinter.transpose %7 {permutation = array<i64: 1, 0>} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %9 = sinter.sum %8 {axes = array<i64: 1>, keepdims = false} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  %10 = sinter.add %e, %6 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %11 = sinter.transpose %f {permutation = array<i64: 1, 0>} : (tensor<1048576x16xf32>) -> tensor<16x1048576xf32>
  %12 = sinter.mul %11, %g : (tensor<16x1048576xf32>, tensor<16x1048576xf32>) -> tensor<16x1048576xf32>
  %13 = sinter.sum %12 {axes = array<i64: 1>, keepdims = false} : (tensor<16x1048576xf32>) -> tensor<16xf32>
  %14 = sinter.transpose %g {permutation = array<i64: 1, 0>} : (tensor<16x1048576xf32>) -> tensor<1048576x16xf32>
  %15 = sinter.mul %14, %f : (tensor<1048576x16xf32>, tensor<1048576x16xf32>) -> tensor<1048576x16xf32>
  %16 = sinter.sum %15 {axes = array<i64: 1>, keepdims = false} : (tensor<1048576x16xf32>) -> tensor<1048576xf32>
  return %2, %5, %9, %10, %13, %16 : tensor<512xf32>, tensor<128x64xf32>, tensor<4096xf32>, tensor<4096x4096xf32>, tensor<16xf32>, tensor<1048576xf32>
}
