// One query for each head: those that share keys are the rows of one matrix.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK: %[[MASK:.*]] = sinter.{{.*}} -> tensor<2x2x4x192xbf16>
// CHECK: sinter.attention %{{.*}}, %arg1, %{{.*}}, %arg2 {{.*}} -> tensor<2x2x4x64xbf16>
// PTX: wgmma.mma_async
func.func @main(%q: tensor<2x8x1x64xbf16>, %k0: tensor<2x2x192x64xbf16>, %v0: tensor<2x2x192x64xbf16>, %hidden: tensor<2x1x1x192xbf16>) -> tensor<2x8x1x64xbf16> {
  %k1 = sinter.reshape %k0 {shape = affine_map<() -> (2, 2, 1, 192, 64)>} : (tensor<2x2x192x64xbf16>) -> tensor<2x2x1x192x64xbf16>
  %k2 = sinter.broadcast %k1 {shape = affine_map<() -> (2, 2, 4, 192, 64)>} : (tensor<2x2x1x192x64xbf16>) -> tensor<2x2x4x192x64xbf16>
  %k = sinter.reshape %k2 {shape = affine_map<() -> (2, 8, 192, 64)>} : (tensor<2x2x4x192x64xbf16>) -> tensor<2x8x192x64xbf16>
  %v1 = sinter.reshape %v0 {shape = affine_map<() -> (2, 2, 1, 192, 64)>} : (tensor<2x2x192x64xbf16>) -> tensor<2x2x1x192x64xbf16>
  %v2 = sinter.broadcast %v1 {shape = affine_map<() -> (2, 2, 4, 192, 64)>} : (tensor<2x2x1x192x64xbf16>) -> tensor<2x2x4x192x64xbf16>
  %v = sinter.reshape %v2 {shape = affine_map<() -> (2, 8, 192, 64)>} : (tensor<2x2x4x192x64xbf16>) -> tensor<2x8x192x64xbf16>
  %m = sinter.broadcast %hidden {shape = affine_map<() -> (2, 8, 1, 192)>} : (tensor<2x1x1x192xbf16>) -> tensor<2x8x1x192xbf16>
  %o = sinter.scaled_dot_product_attention %q, %k, %v, %m {span = "all", scale = 0.125 : f64} : (tensor<2x8x1x64xbf16>, tensor<2x8x192x64xbf16>, tensor<2x8x192x64xbf16>, tensor<2x8x1x192xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
