// Sums of products of small integers take two neighbours along k in one step,
// whatever the sign of what they were brought from.
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=V3
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefix=V4

// V3-LABEL: contraction_
// V3: vpbroadcastd {{.*}}, %ymm
// V3-COUNT-48: vpmaddwd {{.*}}%ymm
// V3-NOT: vpm{{addwd|ulld}}
// V4: vpmaddwd {{.*}}%zmm
func.func @main(%x: tensor<96x64xui8>, %w: tensor<64x64xi8>) -> tensor<96x64xi32> {
  %a = sinter.cast %x {dtype = i32} : (tensor<96x64xui8>) -> tensor<96x64xi32>
  %b = sinter.cast %w {dtype = i32} : (tensor<64x64xi8>) -> tensor<64x64xi32>
  %0 = sinter.matmul %a, %b : (tensor<96x64xi32>, tensor<64x64xi32>) -> tensor<96x64xi32>
  return %0 : tensor<96x64xi32>
}
