// NVIDIA's assembler takes what skeletons give, and spills nothing.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/gather.mlir --stage ptx --target cuda:sm_80 > %t/gather.ptx
// RUN: %ptxas -arch=sm_80 -v %t/gather.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_80 > %t/columns.ptx
// RUN: %ptxas -arch=sm_80 -v %t/columns.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/matmul.mlir --stage ptx --target cuda:sm_90 > %t/matmul.ptx
// RUN: %ptxas -arch=sm_90 -v %t/matmul.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/prefix.mlir --stage ptx --target cuda:sm_90 > %t/prefix.ptx
// RUN: %ptxas -arch=sm_90 -v %t/prefix.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: not sinter inspect %t/prefix.mlir --stage ptx 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU

// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CPU: error: inspect: target cpu has no PTX; name one with --target cuda:sm_90

//--- gather.mlir
func.func @main(%x: tensor<100x64xf32>, %i: tensor<33xi64>) -> tensor<33x64xf32> {
  %0 = sinter.index_select %x, %i {axis = 0 : i64} : (tensor<100x64xf32>, tensor<33xi64>) -> tensor<33x64xf32>
  return %0 : tensor<33x64xf32>
}
//--- columns.mlir
func.func @main(%x: tensor<500x300xbf16>) -> tensor<300xbf16> {
  %0 = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<500x300xbf16>) -> tensor<300xbf16>
  return %0 : tensor<300xbf16>
}
//--- matmul.mlir
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = sinter.matmul %x, %w : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = sinter.relu %0 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}
//--- prefix.mlir
func.func @main(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = sinter.cumsum %x {axis = 1 : i64, reverse = false} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}
