// Words of four bytes are multiplied in one step, an unsigned byte by a signed
// one. Of two signed operands the left one is copied as unsigned, 128 more, and
// what this adds to all rows is found once a panel: sums are exact.
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4+avx512vnni \
// RUN:   | FileCheck %s
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefix=PAIRS

// CHECK-LABEL: contraction_
// CHECK-NOT: vpmaddwd
// The surplus: four rows of two vectors in a round.
// CHECK-COUNT-8: vpdpbusd {{.*}}%zmm
// CHECK: vpsubd {{.*}}%zmm
// CHECK-COUNT-48: vpdpbusd {{.*}}%zmm
// PAIRS-NOT: vpdpbusd
// PAIRS: vpmaddwd {{.*}}%zmm
// PAIRS-NOT: vpdpbusd
func.func @main(%x: tensor<96x64xi8>, %w: tensor<64x64xi8>) -> tensor<96x64xi32> {
  %a = sinter.cast %x {dtype = i32} : (tensor<96x64xi8>) -> tensor<96x64xi32>
  %b = sinter.cast %w {dtype = i32} : (tensor<64x64xi8>) -> tensor<64x64xi32>
  %0 = sinter.matmul %a, %b : (tensor<96x64xi32>, tensor<64x64xi32>) -> tensor<96x64xi32>
  return %0 : tensor<96x64xi32>
}
