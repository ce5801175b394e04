// The loop over k has four of them a round: for each the register tile's
// multiply-adds, and of the copied operands two vectors and an element of every
// row. Lines of the copy of all of the right operand are asked for 4 KiB ahead.
// Nothing is kept on the stack.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v3 | FileCheck %s
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=ASM

// CHECK-LABEL: func.func @contraction_
// CHECK: scf.for {{.*}} step %c4{{.*}} iter_args
// CHECK: memref.prefetch {{.*}}read, locality<3>, data
// CHECK-COUNT-48: math.fma {{.*}} vector<8xf32>
// CHECK-NOT: math.fma
// CHECK: scf.yield

// ASM: prefetcht0 4096(
// ASM-NOT: rsp
// ASM: vfmadd
// ASM-COUNT-47: {{^[^(]*vfmadd231ps[^(]*$}}
// ASM-NEXT: addq $4,
// ASM-NOT: rsp
// ASM: jl
func.func @main(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = sinter.matmul %x, %w : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
