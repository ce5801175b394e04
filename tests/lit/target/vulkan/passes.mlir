// From loops to SPIR-V pass by pass (tests/lit/lower/passes.mlir has those of a
// processor).
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage fuse --target vulkan:lavapipe > %t/rows.fused
// RUN: sinter opt %t/rows.fused --pipeline=emit-loops,expand-math,cluster-loads > %t/rows.loops
// RUN: FileCheck %t/rows.mlir --check-prefix=LOOPS < %t/rows.loops
// RUN: sinter opt %t/rows.loops --pipeline=distribute-lanes > %t/rows.lanes
// RUN: FileCheck %t/rows.mlir --check-prefix=LANES < %t/rows.lanes
// RUN: sinter opt %t/rows.lanes --pipeline=narrow-math | diff - %t/rows.lanes
// RUN: sinter opt %t/rows.lanes --pipeline=split-vectors | FileCheck %t/rows.mlir --check-prefix=SPLIT
// RUN: sinter opt %t/rows.lanes --pipeline=split-vectors,call-far-trig,fit-types,lower-abi | FileCheck %t/rows.mlir --check-prefix=SPIRV

// What is left at the end is what a compilation makes.
// RUN: sinter inspect %t/rows.mlir --stage asm --target vulkan:lavapipe > %t/rows.asm
// RUN: sinter opt %t/rows.fused --pipeline=emit-loops,expand-math,cluster-loads,distribute-lanes,split-vectors,call-far-trig,fit-types,lower-abi > %t/rows.spirv
// RUN: grep -o "spirv\.[A-Za-z.]* .*" %t/rows.asm > %t/rows.asm.ops
// RUN: grep -o "spirv\.[A-Za-z.]* .*" %t/rows.spirv > %t/rows.spirv.ops
// RUN: diff %t/rows.asm.ops %t/rows.spirv.ops

// RUN: sinter inspect %t/words.mlir --stage fuse --target vulkan:minimal13 > %t/words.fused
// RUN: sinter opt %t/words.fused --pipeline=emit-loops,expand-math,cluster-loads,distribute-lanes,split-vectors,call-far-trig > %t/words.low
// RUN: FileCheck %t/words.mlir --check-prefix=WIDE < %t/words.low
// RUN: sinter opt %t/words.low --pipeline=fit-types | FileCheck %t/words.mlir --check-prefix=WORDS

//--- rows.mlir
// LOOPS: module @rowwise_{{.*}}name = "vulkan:lavapipe"{{.*}}sinter.sizes
// LOOPS: memref.alloca() {{.*}}: memref<{{[0-9]+}}xf32>
// LANES: func.func @rowwise_{{.*}}sinter.threads = 64
// LANES: memref.alloca() {{.*}}: memref<{{[0-9]+}}xf32, #spirv.storage_class<Workgroup>>
// LANES: vector.load {{.*}}vector<4xf32>
// SPLIT: vector.load {{.*}}sinter.whole}
// SPLIT-NEXT: vector.extract {{.*}}[0] {sinter.whole}
// SPLIT-NOT: arith.{{[a-z]*}}f {{.*}}vector
// SPIRV: module @[[K:rowwise_[0-9a-f]+]]
// SPIRV-NEXT: spirv.module PhysicalStorageBuffer64 GLSL450 requires
// SPIRV: spirv.func @[[K]]
// SPIRV: spirv.EntryPoint "GLCompute" @[[K]]
// SPIRV: spirv.ExecutionMode @[[K]] "LocalSize", 64, 1, 1
// SPIRV: program.launch @[[K]]
func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}
//--- words.mlir
// WIDE: func.func @map_
// WIDE: arith.addi {{.*}} : i64
// WORDS: func.func @map_
// WORDS-NOT: arith.addi {{.*}} : i64
// WORDS: arith.addui_extended {{.*}} : i32
// WORDS: memref.store {{.*}} : memref<?xvector<2xi32>>
func.func @main(%x: tensor<1000xi64>, %y: tensor<1000xi64>) -> tensor<1000xi64> {
  %0 = sinter.add %x, %y : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  return %0 : tensor<1000xi64>
}
