// A workgroup multiplies f32: its threads bring panels of both operands to one
// of two stages in its memory, which holds vectors of four, and read their rows
// and columns of the tile as such. Operands may be computed.
// RUN: split-file %s %t
// RUN: sinter inspect %t/large.mlir --stage asm --target vulkan:h200 \
// RUN:   > %t/large
// RUN: FileCheck %s --check-prefix=LARGE < %t/large
// RUN: %spirv_val %t/large
// RUN: sinter inspect %t/large.mlir --stage asm --numerics exact \
// RUN:   --target vulkan:subgroup32+shared48+threads1024+i64 > %t/large.exact
// RUN: FileCheck %s --check-prefix=EXACT < %t/large.exact
// RUN: %spirv_val %t/large.exact
// RUN: sinter inspect %t/large.mlir --stage asm --target vulkan:subgroup64+shared16+i64 \
// RUN:   > %t/large.small
// RUN: FileCheck %s --check-prefix=SMALL < %t/large.small
// RUN: %spirv_val %t/large.small
// RUN: sinter inspect %t/linear.mlir --stage asm --target vulkan:lavapipe \
// RUN:   > %t/linear
// RUN: FileCheck %s --check-prefix=LINEAR < %t/linear
// RUN: %spirv_val %t/linear
// RUN: sinter inspect %t/gradient.mlir --stage asm --target vulkan:h200 \
// RUN:   > %t/gradient
// RUN: FileCheck %s --check-prefix=GRADIENT < %t/gradient
// RUN: %spirv_val %t/gradient
// RUN: sinter inspect %t/windows.mlir --stage asm --target vulkan:lavapipe \
// RUN:   > %t/windows
// RUN: FileCheck %s --check-prefix=WINDOWS < %t/windows
// RUN: %spirv_val %t/windows
// RUN: sinter inspect %t/odd.mlir --stage asm --target vulkan:h200 > %t/odd
// RUN: FileCheck %s --check-prefix=ODD < %t/odd
// RUN: %spirv_val %t/odd
// RUN: sinter inspect %t/symbolic.mlir --stage asm --target vulkan:lavapipe \
// RUN:   > %t/symbolic
// RUN: FileCheck %s --check-prefix=SYMBOLIC < %t/symbolic
// RUN: %spirv_val %t/symbolic
// RUN: sinter inspect %t/half.mlir --stage asm --target vulkan:lavapipe \
// RUN:   > %t/half
// RUN: FileCheck %s --check-prefix=HALF < %t/half
// RUN: %spirv_val %t/half
// RUN: sinter inspect %t/few.mlir --stage asm --target vulkan:h200 > %t/few
// RUN: FileCheck %s --check-prefix=FEW < %t/few
// RUN: %spirv_val %t/few
// RUN: sinter inspect %t/many.mlir --stage asm --target vulkan:h200 > %t/many
// RUN: FileCheck %s --check-prefix=MANY < %t/many
// RUN: %spirv_val %t/many
// RUN: sinter inspect %t/turns.mlir --stage asm --target vulkan:h200 > %t/turns
// RUN: FileCheck %s --check-prefix=TURNS < %t/turns
// RUN: %spirv_val %t/turns

// One wait for all in a round; the loop stays one.
// LARGE: !spirv.array<1056 x vector<4xf32>>, Workgroup
// LARGE: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
// LARGE: spirv.Store "Workgroup" %{{.*}} : vector<4xf32>
// LARGE: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
// LARGE: spirv.mlir.loop control(DontUnroll)
// LARGE: spirv.Load "Workgroup" %{{.*}} : vector<4xf32>
// LARGE-COUNT-512: spirv.GL.Fma
// LARGE-NOT: spirv.GL.Fma
// LARGE: spirv.ControlBarrier
// LARGE-NOT: spirv.ControlBarrier
// LARGE: spirv.Store "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
// LARGE: spirv.ExecutionMode {{.*}} "LocalSize", 256, 1, 1
// Not every device rounds a product and a sum together: there ordered sums are
// of rounded products.
// EXACT-NOT: spirv.GL.Fma
// EXACT-COUNT-512: spirv.FAdd {{.*}}no_contraction
// A device with little memory has smaller tiles.
// SMALL: !spirv.array<800 x vector<4xf32>>, Workgroup
// SMALL: spirv.ExecutionMode {{.*}} "LocalSize", 128, 1, 1
//--- large.mlir
func.func @main(%x: tensor<4096x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = sinter.matmul %x, %w : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// Both operands lie along k: what is read is turned on its way.
// LINEAR: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
// LINEAR: spirv.Store "Workgroup" %{{.*}} : f32
// LINEAR: spirv.GL.Fma
// LINEAR: spirv.Store "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
//--- linear.mlir
func.func @main(%x: tensor<256x784xf32>, %w: tensor<1024x784xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %0 = sinter.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x784xf32>) -> tensor<784x1024xf32>
  %1 = sinter.matmul %x, %0 : (tensor<256x784xf32>, tensor<784x1024xf32>) -> tensor<256x1024xf32>
  %2 = sinter.broadcast %b {shape = affine_map<() -> (256, 1024)>} : (tensor<1024xf32>) -> tensor<256x1024xf32>
  %3 = sinter.add %1, %2 : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %4 = sinter.relu %3 : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %4 : tensor<256x1024xf32>
}

// The gradient of a weight: parts of k, added by a second phase.
// GRADIENT: spirv.func @contraction_
// GRADIENT: spirv.func @contraction_{{.*}}_phase1
//--- gradient.mlir
func.func @main(%x: tensor<2048x256xf32>, %g: tensor<2048x192xf32>) -> tensor<256x192xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2048x256xf32>) -> tensor<256x2048xf32>
  %1 = sinter.matmul %0, %g : (tensor<256x2048xf32>, tensor<2048x192xf32>) -> tensor<256x192xf32>
  return %1 : tensor<256x192xf32>
}

// Windows of an image, eight channels side by side.
// WINDOWS: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xf32>
// WINDOWS: spirv.GL.Fma
//--- windows.mlir
func.func @main(%x: tensor<64x26x26x8xf32>, %w: tensor<72x16xf32>) -> tensor<36864x16xf32> {
  %0 = sinter.window %x {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<64x26x26x8xf32>) -> tensor<64x24x24x8x3x3xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<64x24x24x8x3x3xf32>) -> tensor<64x24x24x3x3x8xf32>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (36864, 72)>} : (tensor<64x24x24x3x3x8xf32>) -> tensor<36864x72xf32>
  %3 = sinter.matmul %2, %w : (tensor<36864x72xf32>, tensor<72x16xf32>) -> tensor<36864x16xf32>
  return %3 : tensor<36864x16xf32>
}

// Nothing comes out even: elements are read and stored one by one.
// ODD-NOT: "PhysicalStorageBuffer" {{.*}} : vector<4xf32>
// ODD: spirv.GL.Fma
// ODD: spirv.Store "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
//--- odd.mlir
func.func @main(%x: tensor<3x129x37xf32>, %w: tensor<3x37x65xf32>) -> tensor<3x129x65xf32> {
  %0 = sinter.matmul %x, %w : (tensor<3x129x37xf32>, tensor<3x37x65xf32>) -> tensor<3x129x65xf32>
  return %0 : tensor<3x129x65xf32>
}

// k is known at run time only, and may be nothing.
// SYMBOLIC: spirv.func @contraction_
// SYMBOLIC: spirv.func @contraction_{{.*}}_phase1
//--- symbolic.mlir
#rows = affine_map<()[s0] -> (s0, 128)>
#turned = affine_map<()[s0] -> (128, s0)>
func.func @main(%x: tensor<?x128xf32, #rows>, %g: tensor<?x128xf32, #rows>) -> tensor<128x128xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x128xf32, #rows>) -> tensor<128x?xf32, #turned>
  %1 = sinter.matmul %0, %g : (tensor<128x?xf32, #turned>, tensor<?x128xf32, #rows>) -> tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}

// Few rows: four slices of k, four subgroups' of a tile of 32 x 16. Each
// finishes a row of a thread's, the sums of all four in order.
// FEW: spirv.ControlBarrier
// FEW-COUNT-256: spirv.GL.Fma
// FEW-NOT: spirv.GL.Fma
// FEW: spirv.ControlBarrier
// FEW-COUNT-4: spirv.Store "Workgroup" %{{.*}} : vector<4xf32>
// FEW-NOT: spirv.Store "Workgroup"
// FEW: spirv.ControlBarrier
// FEW-COUNT-4: spirv.Load "Workgroup" %{{.*}} : vector<4xf32>
// FEW-COUNT-4: spirv.FAdd
// FEW: spirv.Store "PhysicalStorageBuffer"
// FEW: spirv.ExecutionMode {{.*}} "LocalSize", 128, 1, 1
// Any rows: a phase for each number of slices, with sums to exchange or none.
// MANY: spirv.func @[[KERNEL:contraction_[0-9a-f]+]]()
// MANY-COUNT-3: spirv.ControlBarrier
// MANY: spirv.func @[[KERNEL]]_phase1()
// MANY-COUNT-3: spirv.ControlBarrier
// MANY: spirv.func @[[KERNEL]]_phase2()
// MANY-COUNT-2: spirv.ControlBarrier
// MANY-NOT: spirv.ControlBarrier
// Where a workgroup has too little memory to exchange all sums at once, it does
// so in turns.
// TURNS: !spirv.array<2176 x vector<4xf32>>, Workgroup
// TURNS: spirv.mlir.loop
// TURNS-COUNT-4: spirv.ControlBarrier
// TURNS-NOT: spirv.ControlBarrier
//--- few.mlir
func.func @main(%x: tensor<64x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<64x512xf32> {
  %0 = sinter.matmul %x, %w : (tensor<64x1024xf32>, tensor<1024x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}
//--- turns.mlir
func.func @main(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %0 = sinter.matmul %x, %w : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}
//--- many.mlir
#x = affine_map<()[s0] -> (s0, 1024)>
#y = affine_map<()[s0] -> (s0, 512)>
func.func @main(%x: tensor<?x1024xf32, #x>, %w: tensor<1024x512xf32>) -> tensor<?x512xf32, #y> {
  %0 = sinter.matmul %x, %w : (tensor<?x1024xf32, #x>, tensor<1024x512xf32>) -> tensor<?x512xf32, #y>
  return %0 : tensor<?x512xf32, #y>
}

// What has sixteen bits is read as it is and stands in memory as f32.
// HALF: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : vector<4xi16>
// HALF: spirv.Store "Workgroup" %{{.*}} : vector<4xf32>
// HALF: spirv.GL.Fma
// HALF: spirv.Store "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : vector<4xi16>
//--- half.mlir
func.func @main(%x: tensor<256x64xbf16>, %w: tensor<64x512xbf16>) -> tensor<256x512xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<256x64xbf16>, tensor<64x512xbf16>) -> tensor<256x512xbf16>
  return %0 : tensor<256x512xbf16>
}
