// Rows of a length that a launch finds: threads take several blocks of them in a
// step, but of a long body, which would be written out as many times more, one.
// RUN: split-file %s %t
// RUN: sinter inspect %t/short.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=SHORT
// RUN: sinter inspect %t/long.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=LONG

// SHORT: of 1 ops
// SHORT: sinter.elements = 19 :
// LONG: of 7 ops
// LONG: sinter.elements = 15 :
//--- short.mlir
#rows = affine_map<()[s0] -> (16, s0)>
func.func @main(%x: tensor<16x?xf32, #rows>) -> tensor<16xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<16x?xf32, #rows>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
//--- long.mlir
#rows = affine_map<()[s0] -> (16, s0)>
func.func @main(%x: tensor<16x?xf32, #rows>) -> tensor<16xf32> {
  %0 = sinter.sin %x : (tensor<16x?xf32, #rows>) -> tensor<16x?xf32, #rows>
  %1 = sinter.erf %0 : (tensor<16x?xf32, #rows>) -> tensor<16x?xf32, #rows>
  %2 = sinter.exp %1 : (tensor<16x?xf32, #rows>) -> tensor<16x?xf32, #rows>
  %3 = sinter.tanh %2 : (tensor<16x?xf32, #rows>) -> tensor<16x?xf32, #rows>
  %4 = sinter.cos %3 : (tensor<16x?xf32, #rows>) -> tensor<16x?xf32, #rows>
  %5 = sinter.exp %4 : (tensor<16x?xf32, #rows>) -> tensor<16x?xf32, #rows>
  %6 = sinter.sum %5 {axes = array<i64: 1>, keepdims = false} : (tensor<16x?xf32, #rows>) -> tensor<16xf32>
  return %6 : tensor<16xf32>
}
