// What is larger or smaller than a number takes three instructions: it, NaN
// found, the canonical NaN put in. No second look at NaN follows.
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefix=V4
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=V3
// RUN: sinter inspect %s --stage asm --target vulkan:h200 \
// RUN:   | FileCheck %s --check-prefix=SPIRV

// SPIRV: spirv.IsNan
// SPIRV: spirv.GL.FMax
// SPIRV: spirv.Select
// SPIRV-NOT: FOrdLessThan
// V4: vmaxps {{.*}}zmm
// V4-COUNT-1: vcmpunordps {{.*}}zmm
// V4-NOT: vcmpunordps
// V3: vmaxps {{.*}}ymm
// V3-COUNT-2: vcmpunordps {{.*}}ymm
// V3-NOT: vcmpunordps
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = sinter.relu %x : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
