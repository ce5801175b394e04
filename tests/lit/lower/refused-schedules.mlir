// What a text may say of a kernel and its target, and no kernel has.
// RUN: split-file %s %t
// RUN: sinter inspect %t/row.mlir --stage fuse --target cuda:sm_90 > %t/row.fused
// RUN: sinter inspect %t/weight.mlir --stage fuse --target cpu > %t/weight.fused

// A tile is a product's; the name of a way is none.
// RUN: sed 's/owner = grid, split = 8192/owner = warp, tile = "rows by block"/' %t/row.fused > %t/way.mlir
// RUN: not sinter inspect %t/way.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=WAY
// WAY: error: {{.*}}has a tile 'rows by block', which is for skeleton, owner and staging to say
// RUN: sed 's/tile = "[^"]*"/tile = "nonsense"/' %t/weight.fused > %t/tile.mlir
// RUN: not sinter opt %t/tile.mlir --pipeline=choose-schedules 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: sed 's/owner = grid, split = 65536/tile = "nonsense"/; s/owner = grid, split = 8192/tile = "nonsense"/' %t/row.fused > %t/tile.mlir
// RUN: not sinter opt %t/tile.mlir --pipeline=choose-schedules 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: {{.*}}has no tile 'nonsense'

// RUN: sed 's/split = 8192/&, variants = [#program.variant<when = affine_map<() -> (1)>, tile = "x">]/' %t/row.fused > %t/variant.mlir
// RUN: not sinter inspect %t/variant.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=VARIANT
// VARIANT: error: {{.*}}cannot have a variant when affine_map<() -> (1)>; only a product has some

// RUN: sed 's/split = 8192/&, kept_inputs = [-1]/' %t/row.fused > %t/kept.mlir
// RUN: not sinter inspect %t/kept.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: error: {{.*}}has kept_inputs, but no input -1
// RUN: sed 's/tile = "[^"]*"/&, kept_inputs = [0, 1, 2]/' %t/weight.fused > %t/kept.mlir
// RUN: not sinter inspect %t/kept.mlir --stage lower --target cpu 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: error: {{.*}}has kept_inputs, but no input 2
// RUN: sed 's/tile = "[^"]*"/&, kept_inputs = [1, 0, 1]/' %t/weight.fused > %t/kept.mlir
// RUN: not sinter inspect %t/kept.mlir --stage lower --target cpu 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}has the input 1 in kept_inputs twice

// A user's own kernel has no choices.
// RUN: sinter inspect %t/given.mlir --stage fuse --target cuda:sm_90 > %t/given.fused
// RUN: sed 's/skeleton = opaque/skeleton = sort/' %t/given.fused > %t/sort.mlir
// RUN: not sinter inspect %t/sort.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=SORT
// SORT: error: {{.*}}cannot have a schedule of skeleton = sort; it is one of opaque
// RUN: sed 's/skeleton = opaque/&, owner = grid/' %t/given.fused > %t/grid.mlir
// RUN: not sinter inspect %t/grid.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: {{.*}}cannot have a schedule of owner = grid; it is one of opaque

// RUN: sed 's/num_symbols = 0/num_symbols = -1/' %t/row.fused > %t/symbols.mlir
// RUN: not sinter inspect %t/symbols.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS: error: {{.*}}num_symbols = -1 is negative

// What cannot be loaded is not written.
// RUN: sed 's/dims #map[0-9]*/& {error_node = 99 : i64}/' %t/weight.fused > %t/node.mlir
// RUN: not sinter compile %t/node.mlir -o %t/node.sinter 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not ls %t/node.sinter
// NODE: error: {{.*}}node.mlir: what it says cannot be loaded: model file: a launch reports for node 99
// RUN: sed 's/dims #map[0-9]*/dims affine_map<()[s0] -> ()>/' %t/weight.fused > %t/stray.mlir
// RUN: not sinter compile %t/stray.mlir -o %t/stray.sinter 2>&1 | FileCheck %s --check-prefix=STRAY
// STRAY: error: {{.*}}symbol s0 does not follow from the inputs' dims

// RUN: sed 's/launch_cycles = /nonsense = 4 : i64, &/' %t/row.fused > %t/field.mlir
// RUN: not sinter opt %t/field.mlir --pipeline=choose-schedules 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: error: {{.*}}a machine has no "nonsense"
// RUN: sed 's/launch_cycles = /&9999999/' %t/row.fused > %t/large.mlir
// RUN: not sinter opt %t/large.mlir --pipeline=choose-schedules 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: {{.*}}a machine's "launch_cycles" is a positive i64 of at most 1073741824
// RUN: not sinter inspect %t/row.mlir --target 'cuda:sm_90{threads=64+threads=64}' 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: {{.*}}'threads' is there twice

//--- row.mlir
func.func @main(%x: tensor<4x1048576xf32>) -> tensor<4xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x1048576xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- weight.mlir
func.func @main(%x: tensor<64x96xf32>, %y: tensor<96x32xf32>) -> tensor<64x32xf32> {
  %0 = sinter.matmul %x, %y : (tensor<64x96xf32>, tensor<96x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

//--- given.mlir
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "extern \"C\" __global__ void f(const float *x, float *y) { y[0] = x[0]; }", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
