// RUN: split-file %s %t
// RUN: not sinter inspect %t/unknown-dim.mlir --stage import 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not sinter inspect %t/taken.mlir --stage import 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not sinter inspect %t/shapes.mlir --stage import 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: not sinter inspect %t/no-main.mlir --stage import 2>&1 | FileCheck %s --check-prefix=MAIN
// RUN: not sinter inspect %t/dtype.mlir --stage import 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not sinter inspect %t/symbols.mlir --stage import 2>&1 | FileCheck %s --check-prefix=SYMBOLS

//--- unknown-dim.mlir
// DIM: error: argument 0 has an unknown dim without an expression
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
//--- taken.mlir
// TAKEN: error: argument 1 has the number 0, which is taken
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32> {sinter.node = 0 : i64})
    -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- shapes.mlir
// SHAPES: error: {{.*}}matmul: {{.*}}f32[4,8] x f32[16,2]
func.func @main(%x: tensor<4x8xf32>, %y: tensor<16x2xf32>) -> tensor<4x2xf32> {
  %0 = sinter.matmul %x, %y : (tensor<4x8xf32>, tensor<16x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
//--- no-main.mlir
// MAIN: error: the module needs a function `main` with one block
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- dtype.mlir
// DTYPE: error: argument 0 is not a tensor that can be computed with: {{.*}}tensor<2xi128>
func.func @main(%x: tensor<2xi128>) -> tensor<2xi128> {
  return %x : tensor<2xi128>
}
//--- symbols.mlir
// SYMBOLS: error: sinter.num_symbols has to be an i64 that counts the symbols s0, s1, ... in use (2), not 1 : i64
#x = affine_map<()[s0, s1] -> (s1)>
func.func @main(%x: tensor<?xf32, #x>) -> tensor<?xf32, #x> attributes {sinter.num_symbols = 1 : i64} {
  return %x : tensor<?xf32, #x>
}
