// Where arithmetic takes longer than the memory, two numbers at a time do: code
// that ptxas works on for seconds would have them in several copies.
// RUN: split-file %s %t
// RUN: sinter inspect %t/long.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=LONG
// RUN: sinter inspect %t/short.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SHORT

// LONG-NOT: ld.global.v4
// LONG: ld.global.v2.b32
// LONG-NOT: ld.global.v{{[24]}}
// SHORT-COUNT-4: ld.global.v4.b32

//--- long.mlir
func.func @main(%x: tensor<1048577xf32>) -> tensor<1048577xf32> {
  %0 = sinter.sin %x : (tensor<1048577xf32>) -> tensor<1048577xf32>
  %1 = sinter.exp %0 : (tensor<1048577xf32>) -> tensor<1048577xf32>
  %2 = sinter.tanh %1 : (tensor<1048577xf32>) -> tensor<1048577xf32>
  %3 = sinter.log %2 : (tensor<1048577xf32>) -> tensor<1048577xf32>
  %4 = sinter.cos %3 : (tensor<1048577xf32>) -> tensor<1048577xf32>
  return %4 : tensor<1048577xf32>
}
//--- short.mlir
func.func @main(%x: tensor<1048577xf32>) -> tensor<1048577xf32> {
  %0 = sinter.exp %x : (tensor<1048577xf32>) -> tensor<1048577xf32>
  return %0 : tensor<1048577xf32>
}
