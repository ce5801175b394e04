// What is computed of repeated keys is computed of each once; joined rows are
// stored, so that attention reads a plain view.
// RUN: sinter inspect %s --stage simplify | FileCheck %s
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK: %[[K:.*]] = sinter.tanh %{{.*}} -> tensor<2x2x1x128x64xbf16>
// CHECK: sinter.broadcast %[[K]] {{.*}} -> tensor<2x2x4x128x64xbf16>
// CHECK: %[[V:.*]] = sinter.tanh %{{.*}} -> tensor<2x2x1x128x64xbf16>
// CHECK: sinter.broadcast %[[V]] {{.*}} -> tensor<2x2x4x128x64xbf16>
// PTX: wgmma.mma_async
func.func @main(%q: tensor<2x8x128x64xbf16>, %k0: tensor<2x2x128x32xbf16>, %k9: tensor<2x2x128x32xbf16>, %v0: tensor<2x2x128x64xbf16>) -> tensor<2x8x128x64xbf16> {
  %kj = sinter.concat %k0, %k9 {axis = 3 : i64} : (tensor<2x2x128x32xbf16>, tensor<2x2x128x32xbf16>) -> tensor<2x2x128x64xbf16>
  %k1 = sinter.reshape %kj {shape = affine_map<() -> (2, 2, 1, 128, 64)>} : (tensor<2x2x128x64xbf16>) -> tensor<2x2x1x128x64xbf16>
  %k2 = sinter.broadcast %k1 {shape = affine_map<() -> (2, 2, 4, 128, 64)>} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
  %k3 = sinter.reshape %k2 {shape = affine_map<() -> (2, 8, 128, 64)>} : (tensor<2x2x4x128x64xbf16>) -> tensor<2x8x128x64xbf16>
  %k = sinter.tanh %k3 : (tensor<2x8x128x64xbf16>) -> tensor<2x8x128x64xbf16>
  %v1 = sinter.reshape %v0 {shape = affine_map<() -> (2, 2, 1, 128, 64)>} : (tensor<2x2x128x64xbf16>) -> tensor<2x2x1x128x64xbf16>
  %v2 = sinter.broadcast %v1 {shape = affine_map<() -> (2, 2, 4, 128, 64)>} : (tensor<2x2x1x128x64xbf16>) -> tensor<2x2x4x128x64xbf16>
  %v3 = sinter.reshape %v2 {shape = affine_map<() -> (2, 8, 128, 64)>} : (tensor<2x2x4x128x64xbf16>) -> tensor<2x8x128x64xbf16>
  %v = sinter.tanh %v3 : (tensor<2x8x128x64xbf16>) -> tensor<2x8x128x64xbf16>
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %o = sinter.scaled_dot_product_attention %q, %k, %v, %m {span = "all", scale = 0.125 : f64} : (tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<2x8x128x64xbf16>, tensor<bf16>) -> tensor<2x8x128x64xbf16>
  return %o : tensor<2x8x128x64xbf16>
}
