// Keys that are joined, as a rotary embedding does it, are stored: attention
// reads them again for each tile.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage plan | FileCheck %s --check-prefix=PLAN
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK: sinter.concat %{{.*}} {axis = 3 : i64, sinter.stored}
// PLAN: program.launch @map_
// PLAN: program.launch @attention_
// PTX: wgmma.mma_async
func.func @main(%q: tensor<2x8x128x64xbf16>, %k0: tensor<2x8x128x32xbf16>, %k9: tensor<2x8x128x32xbf16>, %v: tensor<2x8x128x64xbf16>) -> tensor<2x8x128x64xbf16> {
  %k = sinter.concat %k0, %k9 {axis = 3 : i64} : (tensor<2x8x128x32xbf16>, tensor<2x8x128x32xbf16>) -> tensor<2x8x128x64xbf16>
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %o = sinter.scaled_dot_product_attention %q, %k, %v, %m {span = "all", scale = 0.125 : f64} : (tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<bf16>) -> tensor<2x8x128x64xbf16>
  return %o : tensor<2x8x128x64xbf16>
}
