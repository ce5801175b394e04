// The same where keys stand before heads, and are turned when heads have been
// joined.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK: sinter.transpose %{{.*}} : (tensor<2x128x2x1x64xbf16>) -> tensor<2x2x1x128x64xbf16>
// CHECK: %[[K:.*]] = sinter.broadcast %{{.*}} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
// CHECK: sinter.attention %{{.*}}, %[[K]], {{.*}} -> tensor<2x2x4x128x64xbf16>
// PTX: wgmma.mma_async
func.func @main(%q: tensor<2x8x128x64xbf16>, %k0: tensor<2x128x2x64xbf16>, %v0: tensor<2x128x2x64xbf16>) -> tensor<2x8x128x64xbf16> {
  %k1 = sinter.reshape %k0 {shape = affine_map<() -> (2, 128, 2, 1, 64)>} : (tensor<2x128x2x64xbf16>) -> tensor<2x128x2x1x64xbf16>
  %k2 = sinter.broadcast %k1 {shape = affine_map<() -> (2, 128, 2, 4, 64)>} : (tensor<2x128x2x1x64xbf16>) -> tensor<2x128x2x4x64xbf16>
  %k3 = sinter.reshape %k2 {shape = affine_map<() -> (2, 128, 8, 64)>} : (tensor<2x128x2x4x64xbf16>) -> tensor<2x128x8x64xbf16>
  %k = sinter.transpose %k3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x128x8x64xbf16>) -> tensor<2x8x128x64xbf16>
  %v1 = sinter.reshape %v0 {shape = affine_map<() -> (2, 128, 2, 1, 64)>} : (tensor<2x128x2x64xbf16>) -> tensor<2x128x2x1x64xbf16>
  %v2 = sinter.broadcast %v1 {shape = affine_map<() -> (2, 128, 2, 4, 64)>} : (tensor<2x128x2x1x64xbf16>) -> tensor<2x128x2x4x64xbf16>
  %v3 = sinter.reshape %v2 {shape = affine_map<() -> (2, 128, 8, 64)>} : (tensor<2x128x2x4x64xbf16>) -> tensor<2x128x8x64xbf16>
  %v = sinter.transpose %v3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x128x8x64xbf16>) -> tensor<2x8x128x64xbf16>
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %o = sinter.scaled_dot_product_attention %q, %k, %v, %m {span = "causal", scale = 0.125 : f64} : (tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<bf16>) -> tensor<2x8x128x64xbf16>
  return %o : tensor<2x8x128x64xbf16>
}
