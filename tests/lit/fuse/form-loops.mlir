// RUN: sinter inspect %s --stage fuse | FileCheck %s
// RUN: sinter inspect %s --stage plan | FileCheck %s --check-prefix=PLAN
// RUN: sinter compile %s -o %t.sinter
// RUN: sinter inspect %t.sinter \
// RUN:   | FileCheck %s --check-prefix=FILE

// What does not depend on the step is outside; a view of what is read in the
// body costs nothing there. The stack is where the body writes it; the carry
// and the slice are where they are.
// CHECK-LABEL: func.func @main
// CHECK: %[[B:[0-9]+]] = program.launch @map_{{[0-9a-f]*}}(%arg2)
// CHECK-NEXT: program.for carries(%arg1) slices(%arg0) count
// CHECK-NEXT: ^bb0(%[[C:arg[0-9]+]]: tensor<8x16xf32>, %[[X:arg[0-9]+]]: tensor<8x16xf32>):
// CHECK-NEXT: %[[N:[0-9]+]]:2 = program.launch @contraction_{{[0-9a-f]*}}(%arg3, %[[C]], %[[B]], %[[X]])
// CHECK-NEXT: program.next %[[N]]#0, %[[N]]#1

// PLAN: program.buffer @[[C:m[0-9]+]] "moving" 1
// PLAN: program.for {{.*}}carry_buffers = [@[[C]], @in1, @[[N:m[0-9]+]], @out0, @t{{[0-9]+}}]
// PLAN-SAME: slice_buffers = [@[[X:m[0-9]+]], @in0, @[[Y:m[0-9]+]], @out1]
// PLAN-SAME: step = 1 : i64, steps = 1 : i64
// PLAN: program.launch @contraction_{{.*}}buffers = [@in3, @[[C]], @t0, @[[X]], @[[N]], @[[Y]]], step = 2

// FILE: step 1: loop 32 times, steps 2 to 2
// FILE-NEXT: m{{[0-9]+}} becomes m{{[0-9]+}}: in1 at first, then t{{[0-9]+}} and out0 in turn
// FILE: m{{[0-9]+}} is a slice of in0
// FILE: m{{[0-9]+}} is a slice of out1
func.func @main(%xs: tensor<32x8x16xf32>, %h: tensor<8x16xf32>, %b: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<32x8x16xf32>) {
  %i = sinter.scan_index {length = affine_map<() -> (32)>, reverse = false} : () -> tensor<32xi1>
  %c = sinter.scan_carry %i, %h : (tensor<32xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %x = sinter.scan_slice %i, %xs : (tensor<32xi1>, tensor<32x8x16xf32>) -> tensor<8x16xf32>
  %t = sinter.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %e = sinter.exp %b : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = sinter.matmul %c, %t : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %s = sinter.add %m, %e : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %n = sinter.add %s, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %k = sinter.tanh %n : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %end = sinter.scan_end %i, %c, %n, %k {carries = 1 : i64, condition = 0 : i64} : (tensor<32xi1>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<32xi1>
  %last = sinter.scan_last %end, %c : (tensor<32xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %ys = sinter.scan_stack %end, %k : (tensor<32xi1>, tensor<8x16xf32>) -> tensor<32x8x16xf32>
  return %last, %ys : tensor<8x16xf32>, tensor<32x8x16xf32>
}
