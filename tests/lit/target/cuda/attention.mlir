// Attention of bf16 and f16 on Hopper: scores, and what gradients are made of,
// stay in registers, from where a block's warpgroups multiply them again.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/output.mlir --stage ptx --target cuda:sm_90 > %t/output.ptx
// RUN: FileCheck %s --check-prefix=OUTPUT < %t/output.ptx
// RUN: %ptxas -arch=sm_90a -v %t/output.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/query.mlir --stage ptx --target cuda:sm_90 > %t/query.ptx
// RUN: FileCheck %s --check-prefix=QUERY < %t/query.ptx
// RUN: %ptxas -arch=sm_90a -v %t/query.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/keys.mlir --stage ptx --target cuda:sm_90 > %t/keys.ptx
// RUN: FileCheck %s --check-prefix=KEYS < %t/keys.ptx
// RUN: %ptxas -arch=sm_90a -v %t/keys.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/masked.mlir --stage ptx --target cuda:sm_90 > %t/masked.ptx
// RUN: FileCheck %s --check-prefix=MASKED < %t/masked.ptx
// RUN: %ptxas -arch=sm_90a -v %t/masked.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/heads.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=HEADS
// RUN: sinter inspect %t/floats.mlir --stage ptx --target cuda:sm_90 > %t/floats.ptx
// RUN: FileCheck %s --check-prefix=FLOATS < %t/floats.ptx
// RUN: %ptxas -arch=sm_90 -v %t/floats.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/floats-query.mlir --stage ptx --target cuda:sm_90 > %t/floats.ptx
// RUN: FileCheck %s --check-prefix=FLOATS < %t/floats.ptx
// RUN: %ptxas -arch=sm_90 -v %t/floats.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/floats-keys.mlir --stage ptx --target cuda:sm_90 > %t/floats.ptx
// RUN: FileCheck %s --check-prefix=FLOATS < %t/floats.ptx
// RUN: %ptxas -arch=sm_90 %t/floats.ptx -o %t/out
// RUN: sinter inspect %t/output.mlir --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=HALVES

// No warnings of wgmma that waits for each other (C75xx), no spills.
// CHECK-NOT: C75
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: C75

// Of f32, and of 16 bits on older devices, rows and steps are brought to shared
// memory in fours, and summed by multiply-add; weights go there, too.
// FLOATS-NOT: wgmma
// FLOATS: .reqntid
// FLOATS: ld.global.v4.b32
// FLOATS: st.shared.v4.b32
// FLOATS: bar.sync
// FLOATS: ld.shared.v4.b32
// FLOATS: fma.rn.f32
// FLOATS: st.shared.b32
// FLOATS: bar.sync
// FLOATS: ld.shared.v4.b32
// FLOATS: fma.rn.f32
// FLOATS-NOT: wgmma
// HALVES-NOT: wgmma
// HALVES: ld.global.v{{[24]}}
// HALVES: st.shared.v4.b32
// HALVES: fma.rn.f32

// The first scores; then those of a stage with the values of the one before,
// one warpgroup after the other. What only all threads together may do is
// there once for each box of results.
// OUTPUT: setmaxnreg.inc.sync.aligned.u32 240
// OUTPUT: bar.arrive
// OUTPUT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, a, b, p, 1, 1, 0, 0;
// OUTPUT: wgmma.wait_group.sync.aligned 0
// OUTPUT: bar.sync
// OUTPUT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, a, b, p, 1, 1, 0, 0;
// OUTPUT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, b, p, 1, 1, 1;
// OUTPUT: bar.arrive
// OUTPUT: wgmma.wait_group.sync.aligned 1
// OUTPUT: ex2.approx.ftz.f32
// OUTPUT: wgmma.wait_group.sync.aligned 0
// OUTPUT: cvt.rn.bf16x2.f32
// OUTPUT: lg2.approx.ftz.f32
// OUTPUT-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// OUTPUT-NOT: stmatrix
// OUTPUT: // tensor_map {{.*}} bf16 0 4 0 128 1 64 200 128 128 3 25600 1 2 76800 1
// OUTPUT: // tensor_map {{.*}} bf16 1 4 0 128 1 64 300 128 128 3 38400 1 2 115200 1
//--- output.mlir
func.func @main(%q: tensor<2x3x200x128xbf16>, %k: tensor<2x3x300x128xbf16>, %v: tensor<2x3x300x128xbf16>) -> (tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %0 = sinter.attention %q, %k, %m, %v {scale = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<bf16>, tensor<2x3x300x128xbf16>) -> tensor<2x3x200x128xbf16>
  %1 = sinter.attention_logsumexp %q, %k, %m {scale = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<bf16>) -> tensor<2x3x200x1xf32>
  return %0, %1 : tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>
}

// Of 128 queries and 64 keys: scores, changes, and their product with keys.
// QUERY-COUNT-3: wgmma.commit_group
// QUERY-NOT: wgmma.commit_group
//--- query.mlir
func.func @main(%q: tensor<2x3x200x128xbf16>, %k: tensor<2x3x300x128xbf16>, %v: tensor<2x3x300x128xbf16>, %g: tensor<2x3x200x128xbf16>, %l: tensor<2x3x200x1xf32>, %d: tensor<2x3x200x1xf32>) -> (tensor<2x3x200x128xbf16>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %0 = sinter.attention_query_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<bf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>, tensor<2x3x200x1xf32>) -> tensor<2x3x200x128xbf16>
  return %0 : tensor<2x3x200x128xbf16>
}

// Of 128 keys and 64 queries; both gradients in one kernel.
// KEYS-COUNT-4: wgmma.commit_group
// KEYS-NOT: wgmma.commit_group
// KEYS-COUNT-16: stmatrix
// KEYS-NOT: stmatrix
//--- keys.mlir
func.func @main(%q: tensor<2x3x200x128xbf16>, %k: tensor<2x3x300x128xbf16>, %v: tensor<2x3x300x128xbf16>, %g: tensor<2x3x200x128xbf16>, %l: tensor<2x3x200x1xf32>, %d: tensor<2x3x200x1xf32>) -> (tensor<2x3x300x128xbf16>, tensor<2x3x300x128xbf16>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = bf16} : () -> tensor<bf16>
  %0 = sinter.attention_key_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<bf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>, tensor<2x3x200x1xf32>) -> tensor<2x3x300x128xbf16>
  %1 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<bf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>, tensor<2x3x200x1xf32>) -> tensor<2x3x300x128xbf16>
  return %0, %1 : tensor<2x3x300x128xbf16>, tensor<2x3x300x128xbf16>
}

// A mask is read where scores are.
// MASKED: wgmma.mma_async.sync.aligned.m64n32k16
// MASKED: ld.global
//--- masked.mlir
func.func @main(%q: tensor<2x3x200x128xbf16>, %k: tensor<2x3x300x128xbf16>, %v: tensor<2x3x300x128xbf16>, %g: tensor<2x3x200x128xbf16>, %l: tensor<2x3x200x1xf32>, %d: tensor<2x3x200x1xf32>, %m0: tensor<2x1x1x300xbf16>) -> (tensor<2x3x300x128xbf16>, tensor<2x3x300x128xbf16>) {
  %m = sinter.broadcast %m0 {shape = affine_map<() -> (2, 3, 200, 300)>} : (tensor<2x1x1x300xbf16>) -> tensor<2x3x200x300xbf16>
  %0 = sinter.attention_key_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x300xbf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>, tensor<2x3x200x1xf32>) -> tensor<2x3x300x128xbf16>
  %1 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xbf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x300xbf16>, tensor<2x3x300x128xbf16>, tensor<2x3x200x128xbf16>, tensor<2x3x200x1xf32>, tensor<2x3x200x1xf32>) -> tensor<2x3x300x128xbf16>
  return %0, %1 : tensor<2x3x300x128xbf16>, tensor<2x3x300x128xbf16>
}

// Heads that share keys have them from one place; some batches.
// HEADS: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// HEADS: // tensor_map {{.*}} f16 1 4 0 64 1 64 1024 64 128 4 65536 1 1*s0 262144 1
//--- heads.mlir
#s = affine_map<()[s0] -> (s0, 16, 1024, 64)>
#g = affine_map<()[s0] -> (s0, 4, 1024, 64)>
#w = affine_map<()[s0] -> (s0, 4, 4, 1024, 64)>
func.func @main(%q: tensor<?x16x1024x64xf16, #s>, %k: tensor<?x4x1024x64xf16, #g>) -> tensor<?x16x1024x64xf16, #s> {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f16} : () -> tensor<f16>
  %0 = sinter.reshape %q {shape = affine_map<()[s0] -> (s0, 4, 4, 1024, 64)>} : (tensor<?x16x1024x64xf16, #s>) -> tensor<?x4x4x1024x64xf16, #w>
  %1 = sinter.reshape %k {shape = affine_map<()[s0] -> (s0, 4, 1, 1024, 64)>} : (tensor<?x4x1024x64xf16, #g>) -> tensor<?x4x1x1024x64xf16, affine_map<()[s0] -> (s0, 4, 1, 1024, 64)>>
  %2 = sinter.broadcast %1 {shape = affine_map<()[s0] -> (s0, 4, 4, 1024, 64)>} : (tensor<?x4x1x1024x64xf16, affine_map<()[s0] -> (s0, 4, 1, 1024, 64)>>) -> tensor<?x4x4x1024x64xf16, #w>
  %3 = sinter.attention %0, %2, %m, %2 {scale = 0.125 : f64, span = "all"} : (tensor<?x4x4x1024x64xf16, #w>, tensor<?x4x4x1024x64xf16, #w>, tensor<f16>, tensor<?x4x4x1024x64xf16, #w>) -> tensor<?x4x4x1024x64xf16, #w>
  %4 = sinter.reshape %3 {shape = #s} : (tensor<?x4x4x1024x64xf16, #w>) -> tensor<?x16x1024x64xf16, #s>
  return %4 : tensor<?x16x1024x64xf16, #s>
}

//--- floats.mlir
func.func @main(%q: tensor<2x3x200x128xf32>, %k: tensor<2x3x300x128xf32>, %v: tensor<2x3x300x128xf32>) -> (tensor<2x3x200x128xf32>, tensor<2x3x200x1xf32>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.attention %q, %k, %m, %v {scale = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xf32>, tensor<2x3x300x128xf32>, tensor<f32>, tensor<2x3x300x128xf32>) -> tensor<2x3x200x128xf32>
  %1 = sinter.attention_logsumexp %q, %k, %m {scale = 0.125 : f64, span = "causal"} : (tensor<2x3x200x128xf32>, tensor<2x3x300x128xf32>, tensor<f32>) -> tensor<2x3x200x1xf32>
  return %0, %1 : tensor<2x3x200x128xf32>, tensor<2x3x200x1xf32>
}

//--- floats-query.mlir
func.func @main(%q: tensor<2x3x192x64xf32>, %k: tensor<2x3x320x64xf32>, %v: tensor<2x3x320x64xf32>, %g: tensor<2x3x192x64xf32>, %l: tensor<2x3x192x1xf32>, %d: tensor<2x3x192x1xf32>) -> tensor<2x3x192x64xf32> {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.attention_query_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x192x64xf32>, tensor<2x3x320x64xf32>, tensor<f32>, tensor<2x3x320x64xf32>, tensor<2x3x192x64xf32>, tensor<2x3x192x1xf32>, tensor<2x3x192x1xf32>) -> tensor<2x3x192x64xf32>
  return %0 : tensor<2x3x192x64xf32>
}

//--- floats-keys.mlir
func.func @main(%q: tensor<2x3x192x64xf32>, %k: tensor<2x3x320x64xf32>, %v: tensor<2x3x320x64xf32>, %g: tensor<2x3x192x64xf32>, %l: tensor<2x3x192x1xf32>, %d: tensor<2x3x192x1xf32>) -> (tensor<2x3x320x64xf32>, tensor<2x3x320x64xf32>) {
  %m = sinter.full {shape = affine_map<() -> ()>, value = 0 : i64, dtype = f32} : () -> tensor<f32>
  %0 = sinter.attention_key_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x192x64xf32>, tensor<2x3x320x64xf32>, tensor<f32>, tensor<2x3x320x64xf32>, tensor<2x3x192x64xf32>, tensor<2x3x192x1xf32>, tensor<2x3x192x1xf32>) -> tensor<2x3x320x64xf32>
  %1 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {scale = 0.125 : f64, factor = 0.125 : f64, span = "causal"} : (tensor<2x3x192x64xf32>, tensor<2x3x320x64xf32>, tensor<f32>, tensor<2x3x320x64xf32>, tensor<2x3x192x64xf32>, tensor<2x3x192x1xf32>, tensor<2x3x192x1xf32>) -> tensor<2x3x320x64xf32>
  return %0, %1 : tensor<2x3x320x64xf32>, tensor<2x3x320x64xf32>
}
