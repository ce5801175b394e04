// A product whose sizes a launch finds has a tile for each range of them. The
// schedule says which, and for what: another tile is taken, other sizes are not.
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage fuse --target cuda:sm_90 > %t/fused.mlir
// RUN: FileCheck %s --check-prefix=GPU < %t/fused.mlir
// RUN: sinter inspect %t/fused.mlir --stage fuse --target cuda:sm_90 | diff - %t/fused.mlir
// RUN: sinter inspect %t/rows.mlir --stage fuse --target vulkan:h200 | FileCheck %s --check-prefix=VULKAN
// RUN: sinter inspect %t/rows.mlir --stage fuse --target cpu | FileCheck %s --check-prefix=CPU
// RUN: sinter inspect %t/rows.mlir --stage lower --target cuda:sm_90 > %t/plain.low
// RUN: sinter inspect %t/fused.mlir --stage lower --target cuda:sm_90 | diff - %t/plain.low
// RUN: sed 's/tile = "fma 128x128 thread 8x8 depth 8"/tile = "fma 64x128 thread 8x8 depth 8"/' %t/fused.mlir > %t/other.mlir
// RUN: not diff -q %t/fused.mlir %t/other.mlir
// RUN: sinter inspect %t/other.mlir --stage lower --target cuda:sm_90 | not diff -q - %t/plain.low
// RUN: sed 's/tile = "fma 128x128 thread 8x8 depth 8"/tile = "fma 1x1"/' %t/fused.mlir > %t/none.mlir
// RUN: not sinter inspect %t/none.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/tile = "fma 128x128 thread 8x8 depth 8"/tile = "warpgroups 64x64 pieces 3"/' %t/fused.mlir > %t/stranger.mlir
// RUN: not sinter inspect %t/stranger.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=STRANGER
// RUN: sed 's/, tile = "fma 128x128 thread 8x8 depth 8"//' %t/fused.mlir > %t/empty.mlir
// RUN: not sinter inspect %t/empty.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: sed 's/schedule<skeleton = contraction, /&tile = "fma 1x1", /' %t/fused.mlir > %t/both.mlir
// RUN: not sinter inspect %t/both.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/variants = \[/&1, /' %t/fused.mlir > %t/number.mlir
// RUN: not sinter inspect %t/number.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: sed 's/\(#program.variant<when = [^>]*>\)\]/\1, \1]/' %t/fused.mlir > %t/twice.mlir
// RUN: not sinter inspect %t/twice.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/when = #[a-z0-9]*/when = affine_map<()[s0] -> (s0)>/' %t/fused.mlir > %t/when.mlir
// RUN: not sinter inspect %t/when.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=WHEN

// A flag for each range, of which one is 1: three of the tile, one of the unit.
// GPU: #[[LARGE:.*]] = affine_map<()[s0] -> (-(1 floordiv (s0 floordiv 2048 + 1)) + 1)>
// GPU: schedule = #program.schedule<skeleton = contraction, variants = [
// GPU-SAME: #program.variant<when = #[[LARGE]], tile = "warpgroups {{[^"]*}} pieces 3">,
// GPU-SAME: #program.variant<when = #{{[a-z0-9]+}}, tile = "fma {{.*}}">,
// GPU-SAME: #program.variant<when = #{{[a-z0-9]+}}, tile = "fma 128x128 thread 8x8 depth 8">]>
// VULKAN: variants = [#program.variant<when = #{{[a-z0-9]+}}, tile = "fma
// CPU: #program.schedule<skeleton = contraction, tile = "block
// The tiles of these sizes, not those of others.
// NONE: error: {{.*}}has no tile 'fma 1x1' when affine_map<{{.*}}>; it is one of fma
// STRANGER: error: {{.*}}has no tile 'warpgroups 64x64 pieces 3' when affine_map<{{.*}}>; it is one of fma
// EMPTY: error: {{.*}}has no tile '' when affine_map<{{.*}}>; it is one of fma
// BOTH: error: {{.*}}has a tile, and variants that have
// NUMBER: error: {{.*}}has variants that are no #program.variant
// TWICE: error: {{.*}}has two variants when affine_map
// WHEN: error: {{.*}}cannot have a variant when affine_map<()[s0] -> (s0)>; it is one of affine_map

//--- rows.mlir
#x = affine_map<()[s0] -> (s0, 512)>
#y = affine_map<()[s0] -> (s0, 768)>
func.func @main(%a: tensor<?x512xf32, #x>, %b: tensor<512x768xf32>) -> tensor<?x768xf32, #y> {
  %0 = sinter.matmul %a, %b : (tensor<?x512xf32, #x>, tensor<512x768xf32>) -> tensor<?x768xf32, #y>
  return %0 : tensor<?x768xf32, #y>
}
