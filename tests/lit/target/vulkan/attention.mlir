// The frame of a block of attention fits a workgroup's memory: 32 KiB hold wide
// heads with fewer steps, 16 KiB with fewer lanes, too.
// RUN: sinter inspect %s --target vulkan:lavapipe --stage asm > %t.spv
// RUN: FileCheck %s < %t.spv
// RUN: %spirv_val %t.spv
// RUN: sinter inspect %s --target vulkan:subgroup8+shared16+i64 --stage asm > %t.16.spv
// RUN: FileCheck %s < %t.16.spv
// RUN: %spirv_val %t.16.spv
// RUN: not sinter inspect %s --target vulkan:subgroup8+shared1+i64 --stage asm 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TIGHT
// CHECK: ---- kernel attention_
// TIGHT: kernel attention_{{.*}} needs {{[0-9]+}} bytes of shared memory, a workgroup has 1024
#map = affine_map<() -> (2, 64, 128)>
func.func @main(%q: tensor<2x64x128xf32>, %k: tensor<2x64x128xf32>, %v: tensor<2x64x128xf32>) -> tensor<2x64x128xf32> {
  %c = sinter.full {dtype = f32, shape = #map, value = 0.125 : f64} : () -> tensor<2x64x128xf32>
  %q1 = sinter.mul %q, %c : (tensor<2x64x128xf32>, tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %kt = sinter.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x64x128xf32>) -> tensor<2x128x64xf32>
  %s = sinter.matmul %q1, %kt : (tensor<2x64x128xf32>, tensor<2x128x64xf32>) -> tensor<2x64x64xf32>
  %p = sinter.softmax %s {axis = 2 : i64} : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %o = sinter.matmul %p, %v : (tensor<2x64x64xf32>, tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  return %o : tensor<2x64x128xf32>
}
