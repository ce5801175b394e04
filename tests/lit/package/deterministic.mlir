// Two builds are the same bytes; the file shows itself without the compiler.
// RUN: sinter compile %s -o %t.a.sinter
// RUN: sinter compile %s -o %t.b.sinter
// RUN: cmp %t.a.sinter %t.b.sinter
// RUN: sinter compile %s -o %t.c.sinter --strip
// RUN: sinter compile %t.a.sinter -o %t.d.sinter --strip
// RUN: cmp %t.c.sinter %t.d.sinter
// RUN: sinter inspect %t.a.sinter | FileCheck %s
// RUN: sinter inspect %t.a.sinter --stage asm | FileCheck %s --check-prefix=ASM
// RUN: sinter inspect %t.a.sinter --stage fuse | FileCheck %s --check-prefix=FUSE

// CHECK: program for cpu
// CHECK: input 'x': f32[s0,8]
// CHECK: output 0: f32[s0,8]
// CHECK: kernel map_{{.*}}
// CHECK: step 0: launch map_{{.*}} (in0, out0)
// ASM: map_{{[0-9a-f]+}}{{.*}}:
// ASM: ret
// FUSE: program.kernel @map_
#rows = affine_map<()[s0] -> (s0, 8)>
func.func @main(%x: tensor<?x8xf32, #rows> {sinter.name = "x"}) -> tensor<?x8xf32, #rows> {
  %0 = sinter.exp %x : (tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  %1 = sinter.neg %0 : (tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  return %1 : tensor<?x8xf32, #rows>
}
