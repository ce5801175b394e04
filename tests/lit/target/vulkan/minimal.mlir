// What Vulkan 1.3 promises of every device is enough for f32 and i32, and for
// i64, which is two words: no capability but that for addresses, which are
// loaded as pointers. What subgroups do elsewhere goes through a workgroup's
// memory.
// RUN: split-file %s %t
// RUN: sinter inspect %t/map.mlir --stage asm --target vulkan:minimal13 > %t/map
// RUN: FileCheck %s --check-prefixes=ALL,MAP < %t/map
// RUN: FileCheck %s --check-prefix=NOT < %t/map
// RUN: %spirv_val %t/map
// RUN: sinter inspect %t/sum.mlir --stage asm --target vulkan:minimal13 > %t/sum
// RUN: FileCheck %s --check-prefixes=ALL,SUM < %t/sum
// RUN: FileCheck %s --check-prefix=NOT < %t/sum
// RUN: %spirv_val %t/sum
// RUN: sinter inspect %t/softmax.mlir --stage asm --target vulkan:minimal13 > %t/softmax
// RUN: FileCheck %s --check-prefixes=ALL,SOFTMAX < %t/softmax
// RUN: FileCheck %s --check-prefix=NOT < %t/softmax
// RUN: %spirv_val %t/softmax
// RUN: sinter inspect %t/product.mlir --stage asm --target vulkan:minimal13 > %t/product
// RUN: FileCheck %s --check-prefixes=ALL,PRODUCT < %t/product
// RUN: FileCheck %s --check-prefix=NOT < %t/product
// RUN: %spirv_val %t/product
// RUN: sinter inspect %t/words.mlir --stage asm --target vulkan:minimal13 > %t/words
// RUN: FileCheck %s --check-prefixes=ALL,WORDS < %t/words
// RUN: FileCheck %s --check-prefix=NOT < %t/words
// RUN: %spirv_val %t/words

// A file has what the text has.
// RUN: sinter compile %t/product.mlir -o %t/product.sinter --target vulkan:minimal13
// RUN: sinter inspect %t/product.sinter --stage spirv > %t/file
// RUN: FileCheck %s --check-prefix=FILE < %t/file
// RUN: %spirv_val %t/file

// Threads count in groups of 32.
// ALL: // groups 32
// Where sizes are known at run time only, launches look at them: of x and of
// what it makes.
// PRODUCT: // sizes d0 64 * ; {{.*}}d0 96 * ;
// ALL: spirv.module PhysicalStorageBuffer64 GLSL450
// ALL-SAME: [Shader, PhysicalStorageBufferAddresses], []>
// ALL: @arguments : !spirv.ptr<!spirv.struct<(!spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<2xi32>, stride=8> [0]), Block>, PhysicalStorageBuffer> [0]), Block>, PushConstant>
// NOT-NOT: Int64
// NOT-NOT: Int16
// NOT-NOT: Int8
// NOT-NOT: Float16
// NOT-NOT: i64{{[^[:alnum:]}]}}
// NOT-NOT: Subgroup
// NOT-NOT: GroupNonUniform

// Groups that wait for nothing share a workgroup.
// MAP-NOT: ControlBarrier
// MAP: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0]), Block>, PhysicalStorageBuffer>
// MAP: spirv.FAdd
// MAP: spirv.Store "PhysicalStorageBuffer" %{{.*}} : vector<4xf32>
// MAP: "LocalSize", 128, 1, 1
//--- map.mlir
func.func @main(%x: tensor<100x300xf32>, %y: tensor<100x300xf32>) -> tensor<100x300xf32> {
  %0 = sinter.add %x, %y : (tensor<100x300xf32>, tensor<100x300xf32>) -> tensor<100x300xf32>
  %1 = sinter.exp %0 : (tensor<100x300xf32>) -> tensor<100x300xf32>
  return %1 : tensor<100x300xf32>
}

// A thread stores its number, waits, reads another's, and waits again.
// SUM: !spirv.array<32 x i32>, Workgroup
// SUM: spirv.Store "Workgroup" %{{.*}} : i32
// SUM-NEXT: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
// SUM: spirv.Load "Workgroup" %{{.*}} : i32
// SUM-NEXT: spirv.ControlBarrier
// SUM: "LocalSize", 32, 1, 1
//--- sum.mlir
func.func @main(%x: tensor<100x1024xf32>) -> tensor<100xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<100x1024xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// SOFTMAX: Workgroup
// SOFTMAX: spirv.ControlBarrier
// SOFTMAX: "LocalSize", 128, 1, 1
//--- softmax.mlir
func.func @main(%x: tensor<100x2048xf32>) -> tensor<100x2048xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<100x2048xf32>) -> tensor<100x2048xf32>
  return %0 : tensor<100x2048xf32>
}

// FILE: ExtInst %{{.*}} Fma
// PRODUCT: x vector<4xf32>>, Workgroup
// PRODUCT: spirv.GL.Fma
// PRODUCT: "LocalSize", {{32|64|128}}, 1, 1
//--- product.mlir
#rows = affine_map<()[s0] -> (s0, 64)>
#made = affine_map<()[s0] -> (s0, 96)>
func.func @main(%x: tensor<?x64xf32, #rows>, %w: tensor<64x96xf32>) -> tensor<?x96xf32, #made> {
  %0 = sinter.matmul %x, %w : (tensor<?x64xf32, #rows>, tensor<64x96xf32>) -> tensor<?x96xf32, #made>
  return %0 : tensor<?x96xf32, #made>
}

// WORDS: spirv.IAddCarry
//--- words.mlir
func.func @main(%x: tensor<100xi64>, %y: tensor<100xi64>) -> tensor<100xi64> {
  %0 = sinter.add %x, %y : (tensor<100xi64>, tensor<100xi64>) -> tensor<100xi64>
  return %0 : tensor<100xi64>
}
