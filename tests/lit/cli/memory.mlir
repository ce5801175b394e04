// RUN: sinter inspect %s --memory --dim s0=100 | FileCheck %s
// RUN: sinter run %s --memory --random-inputs 3 --dim s0=100 | FileCheck %s --check-prefixes=CHECK,VALUE
// RUN: not env SINTER_MEMORY_LIMIT=20000 sinter run %s --memory --random-inputs 3 --dim s0=200 2>&1 | FileCheck %s --check-prefix=REFUSED

// A temporary stands between two contractions.
// CHECK: peak 19136 bytes: 3136 of inputs, 3200 of outputs, 12800 of temporaries
// CHECK-NEXT: in memory at step 0:
// CHECK-NEXT:   12800 bytes, temporary t{{[0-9]+}}
// CHECK-NEXT:   3200 bytes, output 'y'
// CHECK-NEXT:   1600 bytes, input 'x'
// CHECK-NEXT:   1024 bytes, input 'v'
// CHECK-NEXT:   512 bytes, input 'w'
// VALUE-NEXT: y: f32[100,8]
// REFUSED: peak {{[0-9]+}} bytes
// REFUSED: error: run: 6400 bytes of outputs and 25600 of temporaries
#in = affine_map<()[s0] -> (s0, 4)>
#mid = affine_map<()[s0] -> (s0, 32)>
#out = affine_map<()[s0] -> (s0, 8)>
func.func @main(%x: tensor<?x4xf32, #in> {sinter.name = "x"}, %w: tensor<4x32xf32> {sinter.name = "w"}, %v: tensor<32x8xf32> {sinter.name = "v"}) -> (tensor<?x8xf32, #out> {sinter.name = "y"}) {
  %0 = sinter.matmul %x, %w : (tensor<?x4xf32, #in>, tensor<4x32xf32>) -> tensor<?x32xf32, #mid>
  %1 = sinter.matmul %0, %v : (tensor<?x32xf32, #mid>, tensor<32x8xf32>) -> tensor<?x8xf32, #out>
  return %1 : tensor<?x8xf32, #out>
}
