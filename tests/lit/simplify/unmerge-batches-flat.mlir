// One after the other, and joined with the batch too.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK: %[[K:.*]] = sinter.broadcast %{{.*}} : (tensor<2x1x2x128x64xbf16>) -> tensor<2x4x2x128x64xbf16>
// CHECK: sinter.attention %{{.*}}, %[[K]], {{.*}} -> tensor<2x4x2x128x64xbf16>
// PTX: wgmma.mma_async
func.func @main(%q: tensor<16x128x64xbf16>, %k0: tensor<2x2x128x64xbf16>, %v0: tensor<2x2x128x64xbf16>) -> tensor<16x128x64xbf16> {
  %k1 = sinter.reshape %k0 {shape = affine_map<() -> (2, 1, 2, 128, 64)>} : (tensor<2x2x128x64xbf16>) -> tensor<2x1x2x128x64xbf16>
  %k2 = sinter.broadcast %k1 {shape = affine_map<() -> (2, 4, 2, 128, 64)>} : (tensor<2x1x2x128x64xbf16>) -> tensor<2x4x2x128x64xbf16>
  %k = sinter.reshape %k2 {shape = affine_map<() -> (16, 128, 64)>} : (tensor<2x4x2x128x64xbf16>) -> tensor<16x128x64xbf16>
  %v1 = sinter.reshape %v0 {shape = affine_map<() -> (2, 1, 2, 128, 64)>} : (tensor<2x2x128x64xbf16>) -> tensor<2x1x2x128x64xbf16>
  %v2 = sinter.broadcast %v1 {shape = affine_map<() -> (2, 4, 2, 128, 64)>} : (tensor<2x1x2x128x64xbf16>) -> tensor<2x4x2x128x64xbf16>
  %v = sinter.reshape %v2 {shape = affine_map<() -> (16, 128, 64)>} : (tensor<2x4x2x128x64xbf16>) -> tensor<16x128x64xbf16>
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %o = sinter.scaled_dot_product_attention %q, %k, %v, %m {span = "causal", scale = 0.125 : f64} : (tensor<16x128x64xbf16>, tensor<16x128x64xbf16>, tensor<16x128x64xbf16>, tensor<bf16>) -> tensor<16x128x64xbf16>
  return %o : tensor<16x128x64xbf16>
}
