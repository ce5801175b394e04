// Words of bf16 and of int8 are multiplied in tile registers, four sums side by
// side; without these, bf16 by pairs. `exact` takes each product by itself.
// RUN: sinter inspect %s --stage asm \
// RUN:   --target cpu:x86-64-v4+avx512bf16+amx-tile+amx-bf16+amx-int8 \
// RUN:   | FileCheck %s --check-prefix=TILE
// RUN: sinter inspect %s --stage asm --target cpu:x86-64-v4+avx512bf16 \
// RUN:   | FileCheck %s --check-prefix=PAIR
// RUN: sinter inspect %s --stage asm --numerics exact \
// RUN:   --target cpu:x86-64-v4+avx512bf16+amx-tile+amx-bf16 \
// RUN:   | FileCheck %s --check-prefix=EXACT

// TILE: ldtilecfg
// TILE-COUNT-4: tdpbf16ps
// TILE: ldtilecfg
// TILE-COUNT-4: tdpbusd
// PAIR-NOT: tdp
// PAIR: vdpbf16ps {{.*}}%zmm
// EXACT-NOT: bf16ps
func.func @main(%x: tensor<96x64xbf16>, %w: tensor<64x64xbf16>,
                %a: tensor<96x64xui8>, %b: tensor<64x64xi8>)
    -> (tensor<96x64xbf16>, tensor<96x64xi32>) {
  %0 = sinter.matmul %x, %w : (tensor<96x64xbf16>, tensor<64x64xbf16>) -> tensor<96x64xbf16>
  %1 = sinter.cast %a {dtype = i32} : (tensor<96x64xui8>) -> tensor<96x64xi32>
  %2 = sinter.cast %b {dtype = i32} : (tensor<64x64xi8>) -> tensor<64x64xi32>
  %3 = sinter.matmul %1, %2 : (tensor<96x64xi32>, tensor<64x64xi32>) -> tensor<96x64xi32>
  return %0, %3 : tensor<96x64xbf16>, tensor<96x64xi32>
}
