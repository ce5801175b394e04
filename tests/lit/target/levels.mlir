// Each level uses its own vectors, and none calls a library.
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefixes=V4,ALL
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v3 \
// RUN:   | FileCheck %s --check-prefixes=V3,ALL
// RUN: sinter inspect %s --stage asm --target cpu:scalar \
// RUN:   | FileCheck %s --check-prefixes=SCALAR,ALL

// V4: zmm
// V3: ymm
// V3-NOT: zmm
// SCALAR: xmm
// SCALAR-NOT: ymm
// ALL-NOT: callq
func.func @main(%x: tensor<64xf16>, %y: tensor<64xf32>) -> tensor<64xf16> {
  %0 = sinter.cast %x {dtype = f32} : (tensor<64xf16>) -> tensor<64xf32>
  %1 = sinter.exp %0 : (tensor<64xf32>) -> tensor<64xf32>
  %2 = sinter.log %y : (tensor<64xf32>) -> tensor<64xf32>
  %3 = sinter.tanh %2 : (tensor<64xf32>) -> tensor<64xf32>
  %4 = sinter.add %1, %3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %5 = sinter.cast %4 {dtype = f16} : (tensor<64xf32>) -> tensor<64xf16>
  return %5 : tensor<64xf16>
}
