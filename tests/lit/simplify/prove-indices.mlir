// Positions that cannot be out of range are not checked, whatever they are made
// by; what may be is.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage simplify --numerics exact | FileCheck %s
// RUN: sinter inspect %s --stage plan | FileCheck %s --check-prefix=PLAN

// PLAN-COUNT-1: error_node
// PLAN-NOT: error_node

func.func @main(
    %table: tensor<10x4xf32>, %scores: tensor<6x10xf32>, %row: tensor<10xf32>,
    %given: tensor<6xi64>, %narrow: tensor<6xi32>, %flags: tensor<6xi1>)
    -> (tensor<10x4xf32>, tensor<6x1xf32>, tensor<6x3xf32>, tensor<6xf32>,
        tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>,
        tensor<10xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>,
        tensor<11xf32>) {
  // Counted along an axis, under views: a table's own rows.
  %i = sinter.iota {shape = affine_map<() -> (10)>, axis = 0 : i64, dtype = i64} : () -> tensor<10xi64>
  %i1 = sinter.reshape %i {shape = affine_map<() -> (10, 1)>} : (tensor<10xi64>) -> tensor<10x1xi64>
  %i2 = sinter.broadcast %i1 {shape = affine_map<() -> (10, 4)>} : (tensor<10x1xi64>) -> tensor<10x4xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10x4xf32>, tensor<10x4xi64>)
  %r0 = sinter.gather %table, %i2 {axis = 0 : i64} : (tensor<10x4xf32>, tensor<10x4xi64>) -> tensor<10x4xf32>
  // Of a search, and of a sort.
  %a = sinter.argmax %scores {axis = 1 : i64, keepdims = true} : (tensor<6x10xf32>) -> tensor<6x1xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 1 : i64, sinter.checked} : (tensor<6x10xf32>, tensor<6x1xi64>)
  %r1 = sinter.gather %scores, %a {axis = 1 : i64} : (tensor<6x10xf32>, tensor<6x1xi64>) -> tensor<6x1xf32>
  %s = sinter.argsort %scores {axis = 1 : i64, descending = true, count = affine_map<() -> (3)>} : (tensor<6x10xf32>) -> tensor<6x3xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 1 : i64, sinter.checked} : (tensor<6x10xf32>, tensor<6x3xi64>)
  %r2 = sinter.gather %scores, %s {axis = 1 : i64} : (tensor<6x10xf32>, tensor<6x3xi64>) -> tensor<6x3xf32>
  // Clamped.
  %zero = sinter.full {shape = affine_map<() -> (6)>, value = 0 : i64, dtype = i64} : () -> tensor<6xi64>
  %nine = sinter.full {shape = affine_map<() -> (6)>, value = 9 : i64, dtype = i64} : () -> tensor<6xi64>
  %ten = sinter.full {shape = affine_map<() -> (6)>, value = 10 : i64, dtype = i64} : () -> tensor<6xi64>
  %low = sinter.maximum %given, %zero : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %both = sinter.minimum %low, %nine : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10xf32>, tensor<6xi64>)
  %r3 = sinter.gather %row, %both {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // What remains of a division, of any sign.
  %rem = sinter.remainder %given, %ten : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10xf32>, tensor<6xi64>)
  %r4 = sinter.gather %row, %rem {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // Counted from the end where negative.
  %f = sinter.fmod %given, %ten : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %isLow = sinter.compare %f, %zero {predicate = "lt"} : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %fromEnd = sinter.add %f, %ten : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %wrapped = sinter.where %isLow, %fromEnd, %f : (tensor<6xi1>, tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10xf32>, tensor<6xi64>)
  %r5 = sinter.gather %row, %wrapped {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // One of two that are, and a flag as a number.
  %flag = sinter.cast %flags {dtype = i64} : (tensor<6xi1>) -> tensor<6xi64>
  %chosen = sinter.where %flags, %rem, %flag : (tensor<6xi1>, tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10xf32>, tensor<6xi64>)
  %r6 = sinter.gather %row, %chosen {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // In i32.
  %zero32 = sinter.full {shape = affine_map<() -> (6)>, value = 0 : i64, dtype = i32} : () -> tensor<6xi32>
  %nine32 = sinter.full {shape = affine_map<() -> (6)>, value = 9 : i64, dtype = i32} : () -> tensor<6xi32>
  %low32 = sinter.maximum %narrow, %zero32 : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  %both32 = sinter.minimum %low32, %nine32 : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10xf32>, tensor<6xi32>)
  %r7 = sinter.gather %row, %both32 {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi32>) -> tensor<6xf32>
  // Where updates go.
  // CHECK: sinter.scatter_add %{{.*}} {axis = 0 : i64, sinter.checked}
  %r8 = sinter.scatter_add %row, %wrapped, %r5 {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<10xf32>
  // One too many; of another sign; given.
  %over = sinter.minimum %low, %ten : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>)
  %r9 = sinter.gather %row, %over {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>)
  %r10 = sinter.gather %row, %f {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>)
  %r11 = sinter.gather %row, %given {axis = 0 : i64} : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
  // What it was padded with.
  %pad = sinter.pad %both {low = array<i64: 0>, shape = affine_map<() -> (11)>, interior = array<i64: 0>, value = 3 : i64} : (tensor<6xi64>) -> tensor<11xi64>
  // CHECK: sinter.gather %{{.*}} {axis = 0 : i64, sinter.checked} : (tensor<10xf32>, tensor<11xi64>)
  %r12 = sinter.gather %row, %pad {axis = 0 : i64} : (tensor<10xf32>, tensor<11xi64>) -> tensor<11xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12 : tensor<10x4xf32>, tensor<6x1xf32>, tensor<6x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<10xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<11xf32>
}
