// Equalities that shape rules rely on become guards of a text that is silent
// about them, so that no kernel reads beyond a tensor.
// RUN: sinter inspect %s --stage import | FileCheck %s
// RUN: sinter run %s --random-inputs 1 --dim s0=4 --dim s1=4 | FileCheck %s --check-prefix=RUNS
// RUN: not sinter run %s --random-inputs 1 --dim s0=4 --dim s1=2 2>&1 | FileCheck %s --check-prefix=GUARD

#x = affine_map<()[s0] -> (s0)>
#y = affine_map<()[s0, s1] -> (s1)>

// CHECK: #[[EQUAL:.*]] = affine_map<()[s0, s1] -> (s0, s1)>
// CHECK: attributes {sinter.guards = [#[[EQUAL]]], sinter.num_symbols = 2 : i64}
// RUNS: output0: f32[4]
// GUARD: error: dims do not fit together: s0 has to equal s1, they are 4 and 2
func.func @main(%x: tensor<?xf32, #x>, %y: tensor<?xf32, #y>) -> tensor<?xf32, #x> {
  %0 = sinter.add %x, %y : (tensor<?xf32, #x>, tensor<?xf32, #y>) -> tensor<?xf32, #x>
  return %0 : tensor<?xf32, #x>
}
