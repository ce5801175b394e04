// A long row is worked on by a workgroup: it is read once, and its subgroups'
// numbers go through the workgroup's memory. Where bits matter, sums are those
// of the 64 lanes of the canonical order, whatever a subgroup's size.
// RUN: split-file %s %t
// RUN: sinter inspect %t/softmax.mlir --stage asm --target vulkan:h200 > %t/warp
// RUN: FileCheck %s --check-prefix=WARP < %t/warp
// RUN: %spirv_val %t/warp
// RUN: sinter inspect %t/softmax.mlir --stage asm --target vulkan:lavapipe \
// RUN:   --numerics exact > %t/exact
// RUN: FileCheck %s --check-prefix=EXACT < %t/exact
// RUN: %spirv_val %t/exact
// RUN: sinter inspect %t/softmax.mlir --stage asm \
// RUN:   --target vulkan:subgroup64+shared32+threads256+i64 > %t/wide
// RUN: FileCheck %s --check-prefix=WIDE < %t/wide
// RUN: %spirv_val %t/wide
// RUN: sinter inspect %t/columns.mlir --stage asm --target vulkan:h200 > %t/columns
// RUN: FileCheck %s --check-prefix=COLUMNS < %t/columns
// RUN: %spirv_val %t/columns
// RUN: sinter inspect %t/columns.mlir --stage asm --target vulkan:lavapipe > %t/half
// RUN: FileCheck %s --check-prefix=HALF < %t/half
// RUN: %spirv_val %t/half

// WARP: !spirv.array<{{[0-9]+}} x f32>, Workgroup
// WARP-COUNT-4: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
// WARP-COUNT-5: spirv.GroupNonUniformShuffleXor <Subgroup>
// WARP: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
// WARP-COUNT-5: spirv.GroupNonUniformShuffleXor <Subgroup>
// WARP: spirv.ControlBarrier
// WARP-NOT: spirv.ControlBarrier
// WARP-COUNT-4: spirv.Store "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
// WARP: "LocalSize", 256, 1, 1

// Eight lanes of each thread are merged as the tree has them, then three times
// those of a subgroup.
// EXACT-COUNT-3: spirv.GroupNonUniformShuffleXor <Subgroup>
// EXACT: spirv.ControlBarrier
// EXACT: spirv.ControlBarrier
// EXACT: spirv.ControlBarrier
// EXACT-COUNT-8: spirv.Load "Workgroup"
// EXACT-COUNT-7: spirv.FAdd
// EXACT-COUNT-3: spirv.GroupNonUniformShuffleXor <Subgroup>
// EXACT-NOT: spirv.GroupNonUniformShuffleXor

// WIDE-COUNT-6: spirv.GroupNonUniformShuffleXor <Subgroup>
// WIDE: "LocalSize", 256, 1, 1
//--- softmax.mlir
func.func @main(%x: tensor<256x4096xf32>) -> tensor<256x4096xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  return %0 : tensor<256x4096xf32>
}

// Two sums of columns join the rows' kernel, whose blocks' numbers a phase
// merges: 32 columns at a time, or, of less memory, 16.
// COLUMNS: !spirv.array<8256 x f32>, Workgroup
// COLUMNS: spirv.func @rowwise_{{[0-9a-f]*}}()
// COLUMNS: spirv.ControlBarrier <Workgroup>
// COLUMNS: spirv.func @rowwise_{{[0-9a-f]*}}_phase1()
// COLUMNS: spirv.ControlBarrier <Workgroup>
// COLUMNS: "LocalSize", 256, 1, 1
// HALF: !spirv.array<4128 x f32>, Workgroup
// HALF: spirv.func @rowwise_{{[0-9a-f]*}}_phase1()
//--- columns.mlir
func.func @main(%x: tensor<16384x4096xf32>, %g: tensor<16384x4096xf32>) -> (tensor<16384x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %sum = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<16384x4096xf32>) -> tensor<16384x1xf32>
  %sums = sinter.broadcast %sum {shape = affine_map<() -> (16384, 4096)>} : (tensor<16384x1xf32>) -> tensor<16384x4096xf32>
  %rest = sinter.sub %x, %sums : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %y = sinter.add %rest, %g : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %product = sinter.mul %rest, %g : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %scale = sinter.sum %product {axes = array<i64: 0>, keepdims = false} : (tensor<16384x4096xf32>) -> tensor<4096xf32>
  %shift = sinter.sum %g {axes = array<i64: 0>, keepdims = false} : (tensor<16384x4096xf32>) -> tensor<4096xf32>
  return %y, %scale, %shift : tensor<16384x4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}
