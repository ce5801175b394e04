// What is cheap is computed again where keeping it would pass the limit.
// RUN: split-file %s %t
// RUN: sinter explain %t/apart.mlir --memory-limit 250000 | FileCheck %t/apart.mlir
// RUN: sinter explain %t/apart.mlir --memory-limit 1000000 | FileCheck %t/apart.mlir --check-prefix=ROOM
// RUN: sinter explain %t/apart.mlir --memory-limit 1000 | FileCheck %t/apart.mlir --check-prefix=NEVER
// RUN: mkdir -p %t.a %t.b
// RUN: sinter run %t/apart.mlir --random-inputs 1 --numerics exact --output-dir %t.a
// RUN: sinter run %t/apart.mlir --random-inputs 1 --numerics exact --output-dir %t.b --memory-limit 250000
// RUN: cmp %t.a/output0.npy %t.b/output0.npy
// RUN: sinter run %t/apart.mlir --random-inputs 1 --numerics exact --output-dir %t.b --memory-limit 250000 --fusion none
// RUN: cmp %t.a/output0.npy %t.b/output0.npy
// RUN: sinter explain %t/beside.mlir --memory-limit 265000 | FileCheck %t/beside.mlir
// RUN: sinter opt %t/beside.mlir --pipeline=number-nodes,recompute-values{memory-limit=265000} | FileCheck %t/beside.mlir --check-prefix=PASS

//--- apart.mlir
// The tanh is read at once and again at the end; between the two stands the
// large product. The kernel is the same one.
// CHECK: 0: map_[[KERNEL:[0-9a-f]+]] (map), nodes 4 5
// CHECK: 4: map_[[KERNEL]] (map), nodes 4 5
// CHECK: memory: tanh computed again by 2 ops, not kept from launch 0 to 4, 16384 bytes
// ROOM-NOT: memory:
// NEVER: memory: about {{[0-9]+}} bytes are needed, the limit is 1000: nothing else is cheap to compute again
func.func @main(%b: tensor<64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x256xf32>, %u: tensor<256x64xf32>) -> tensor<64x64xf32> {
  %x = sinter.broadcast %b {shape = affine_map<() -> (64, 64)>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %t = sinter.tanh %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = sinter.matmul %t, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = sinter.matmul %p, %v : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %s = sinter.matmul %r, %u : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %y = sinter.matmul %s, %t : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
//--- beside.mlir
// Both read the input as they walk it; they do not become one kernel.
// CHECK: 0: map_[[KERNEL:[0-9a-f]+]] (map), nodes 4
// CHECK: 4: map_[[KERNEL]] (map), nodes 4
// CHECK: memory: tanh computed again by 1 ops
// PASS: sinter.tanh %arg0 : (
// PASS: sinter.tanh %arg0 {sinter.recomputed}
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x256xf32>, %u: tensor<256x64xf32>) -> tensor<64x64xf32> {
  %t = sinter.tanh %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = sinter.matmul %t, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = sinter.matmul %p, %v : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %s = sinter.matmul %r, %u : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %y = sinter.matmul %s, %t : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
