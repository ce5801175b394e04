// Forms of a target, and stages after a space.
// RUN: sinter inspect %s --stage spirv --target vulkan | FileCheck %s --check-prefix=SPIRV
// RUN: sinter inspect %s --stage asm --target vulkan | FileCheck %s --check-prefix=MLIR
// RUN: not sinter inspect %s --stage spirv 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not sinter inspect %s --stage llvm --target vulkan 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: sinter inspect %s --stage lower | FileCheck %s --check-prefix=LOWER
// RUN: sinter opt %s --until fuse | FileCheck %s --check-prefix=UNTIL
// RUN: sinter opt %s --until=fuse | FileCheck %s --check-prefix=UNTIL
// RUN: not sinter run %s --device null --random-inputs 1 2>&1 | FileCheck %s --check-prefix=NULL

// SPIRV: // ---- kernel map_
// SPIRV: OpCapability Shader
// SPIRV: OpEntryPoint GLCompute
// MLIR: spirv.module
// NONE: target cpu has no SPIR-V; name one with --target vulkan
// LLVM: target vulkan has no LLVM IR: its kernels become SPIR-V
// LOWER: // ---- kernel map_
// LOWER-NEXT: // of 1 ops
// LOWER-NEXT: module
// LOWER-NEXT: func.func @map_
// UNTIL: program.kernel @map_
// NULL: null runs no compiled programs

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sinter.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
