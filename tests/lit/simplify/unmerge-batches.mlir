// Heads that share keys and values, which were repeated and joined with them, get
// an axis of their own: keys and values are plain views then, and tensor cores
// take them. In `exact`, where attention stays as products, these are apart.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage simplify --numerics exact \
// RUN:   | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK: %[[Q:.*]] = sinter.reshape %arg0 {{.*}} -> tensor<2x2x4x128x64xbf16>
// CHECK: %[[K:.*]] = sinter.broadcast %{{.*}} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
// CHECK: %[[V:.*]] = sinter.broadcast %{{.*}} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
// CHECK: sinter.attention %[[Q]], %[[K]], %{{.*}}, %[[V]] {{.*}} -> tensor<2x2x4x128x64xbf16>
// EXACT: sinter.matmul %{{.*}} -> tensor<2x2x4x128x128xbf16>
// EXACT: sinter.exp %{{.*}} -> tensor<2x2x4x128x128xf32>
// EXACT: sinter.matmul %{{.*}} -> tensor<2x2x4x128x64xbf16>
// PTX: wgmma.mma_async
func.func @main(%q: tensor<2x8x128x64xbf16>, %k0: tensor<2x2x128x64xbf16>, %v0: tensor<2x2x128x64xbf16>) -> tensor<2x8x128x64xbf16> {
  %k1 = sinter.reshape %k0 {shape = affine_map<() -> (2, 2, 1, 128, 64)>} : (tensor<2x2x128x64xbf16>) -> tensor<2x2x1x128x64xbf16>
  %k2 = sinter.broadcast %k1 {shape = affine_map<() -> (2, 2, 4, 128, 64)>} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
  %k = sinter.reshape %k2 {shape = affine_map<() -> (2, 8, 128, 64)>} : (tensor<2x2x4x128x64xbf16>) -> tensor<2x8x128x64xbf16>
  %v1 = sinter.reshape %v0 {shape = affine_map<() -> (2, 2, 1, 128, 64)>} : (tensor<2x2x128x64xbf16>) -> tensor<2x2x1x128x64xbf16>
  %v2 = sinter.broadcast %v1 {shape = affine_map<() -> (2, 2, 4, 128, 64)>} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
  %v = sinter.reshape %v2 {shape = affine_map<() -> (2, 8, 128, 64)>} : (tensor<2x2x4x128x64xbf16>) -> tensor<2x8x128x64xbf16>
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %o = sinter.scaled_dot_product_attention %q, %k, %v, %m {span = "causal", scale = 0.125 : f64} : (tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<bf16>) -> tensor<2x8x128x64xbf16>
  return %o : tensor<2x8x128x64xbf16>
}
