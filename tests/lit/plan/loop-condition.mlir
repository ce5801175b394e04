// RUN: sinter inspect %s --stage plan | FileCheck %s

// A branch: at most one step, so no second buffer for what it passes on, and the
// slice, of 12 bytes, is read where it lies. What it was given up for, and what
// it begins with, stay until it ends.
// CHECK-DAG: #[[ONE:map[0-9]*]] = affine_map<() -> (1)>
// CHECK-DAG: #[[NONE:map[0-9]*]] = affine_map<() -> (0)>
// CHECK: program.buffer @in0 "input" 0 bytes {{.*}} live 0 to 2
// CHECK: program.buffer @in1 "input" 1 bytes {{.*}} live 0 to 2
// CHECK: program.buffer @out0 "output" 0
// CHECK: program.buffer @t{{[0-9]+}} "temp" {{[0-9]+}} bytes #[[NONE]] live 0 to 2
// CHECK: program.for {{.*}} count #[[ONE]]
// CHECK-SAME: condition = -2 : i64
// CHECK: program.launch @map_
// CHECK-NEXT: program.copy
// CHECK-NEXT: program.next
func.func @main(%flag: tensor<i1>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %i = sinter.scan_index {length = affine_map<() -> (1)>, reverse = false} : () -> tensor<1xi1>
  %r = sinter.reshape %x {shape = affine_map<() -> (1, 3)>} : (tensor<3xf32>) -> tensor<1x3xf32>
  %s = sinter.scan_slice %i, %r : (tensor<1xi1>, tensor<1x3xf32>) -> tensor<3xf32>
  %o = sinter.scan_carry %i, %y : (tensor<1xi1>, tensor<3xf32>) -> tensor<3xf32>
  %f = sinter.scan_carry %i, %flag : (tensor<1xi1>, tensor<i1>) -> tensor<i1>
  %n = sinter.exp %s : (tensor<3xf32>) -> tensor<3xf32>
  %e = sinter.scan_end %i, %o, %n, %f, %f {carries = 2 : i64, condition = -2 : i64} : (tensor<1xi1>, tensor<3xf32>, tensor<3xf32>, tensor<i1>, tensor<i1>) -> tensor<1xi1>
  %l = sinter.scan_last %e, %o : (tensor<1xi1>, tensor<3xf32>) -> tensor<3xf32>
  return %l : tensor<3xf32>
}
