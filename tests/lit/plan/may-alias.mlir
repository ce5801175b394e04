// RUN: split-file %s %t
// RUN: sinter inspect %t/report.mlir --stage plan | FileCheck %t/report.mlir
// RUN: sinter inspect %t/later.mlir --stage plan | FileCheck %t/later.mlir
// RUN: sinter inspect %t/twice.mlir --stage plan | FileCheck %t/twice.mlir
// RUN: sinter inspect %t/first.mlir --stage plan | FileCheck %t/first.mlir
// RUN: sinter inspect %t/loop.mlir --stage plan | FileCheck %t/loop.mlir

//--- report.mlir
// A launch that may report an error must not have overwritten state by then.
// CHECK: program.may_alias = array<i64>
// CHECK: program.launch {{.*}}error_node
func.func @main(%p: tensor<8x4xf32> {sinter.kind = "parameter"}, %x: tensor<9x4xf32>, %i: tensor<8x4xi64>) -> tensor<8x4xf32> {
  %0 = sinter.gather %x, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<8x4xi64>) -> tensor<8x4xf32>
  %1 = sinter.add %p, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
//--- later.mlir
// The first reader would overwrite what the second reads.
// CHECK: program.may_alias = array<i64>
// CHECK: program.launch @map_{{.*}}buffers = [@in0, @out0], step = 0
// CHECK: program.launch @contraction_{{.*}}step = 1
func.func @main(%w: tensor<8x8xf32> {sinter.kind = "parameter"}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sinter.exp %w : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
//--- twice.mlir
// One reader, which takes rows of w beside its own index.
// CHECK: program.may_alias = array<i64>
// CHECK: program.launch @contraction_{{.*}}buffers = [@in0, @in1, @out0]
func.func @main(%w: tensor<4x16xf32> {sinter.kind = "parameter"}, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sinter.reshape %w {shape = affine_map<() -> (8, 8)>} : (tensor<4x16xf32>) -> tensor<8x8xf32>
  %1 = sinter.matmul %0, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (4, 16)>} : (tensor<8x8xf32>) -> tensor<4x16xf32>
  %3 = sinter.add %2, %w : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = sinter.reshape %3 {shape = affine_map<() -> (8, 8)>} : (tensor<4x16xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
//--- first.mlir
// A launch may take w, which it reads at its own index, and not x.
// CHECK: program.may_alias = array<i64: 0, 0>
// CHECK: program.launch
// CHECK-NOT: program.launch
func.func @main(%w: tensor<8x8xf32> {sinter.kind = "parameter"}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sinter.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.sub %w, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
//--- loop.mlir
// After a loop whose body may report, state may be overwritten; it is not read
// by the loop any more.
// CHECK: program.may_alias = array<i64: 0, 0
// CHECK: program.launch {{.*}}error_node
// CHECK: program.launch @map_{{.*}}buffers = [@in0, {{.*}}@out0]
func.func @main(%p: tensor<8x4xf32> {sinter.kind = "parameter"}, %x: tensor<9x4xf32>, %is: tensor<5x8x4xi64>, %h: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %i = sinter.scan_index {length = affine_map<() -> (5)>, reverse = false} : () -> tensor<5xi1>
  %c = sinter.scan_carry %i, %h : (tensor<5xi1>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %at = sinter.scan_slice %i, %is : (tensor<5xi1>, tensor<5x8x4xi64>) -> tensor<8x4xi64>
  %g = sinter.gather %x, %at {axis = 0 : i64} : (tensor<9x4xf32>, tensor<8x4xi64>) -> tensor<8x4xf32>
  %n = sinter.add %c, %g : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %end = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 0 : i64} : (tensor<5xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<5xi1>
  %last = sinter.scan_last %end, %c : (tensor<5xi1>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %next = sinter.sub %p, %last : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %next : tensor<8x4xf32>
}
