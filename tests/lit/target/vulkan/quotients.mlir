// A driver may multiply by the reciprocal of a number that it knows, so that a
// program that knows a size would have other bits than one that does not. Where
// Fma rounds once the quotient by a number or a size is rounded from it, unless
// the number is a power of two; in exact numerics every quotient is.
// RUN: split-file %s %t
// RUN: sinter inspect %t/known.mlir --stage asm --target vulkan:h200 \
// RUN:   > %t/known
// RUN: FileCheck %s --check-prefix=ROUNDED < %t/known
// RUN: %spirv_val %t/known
// RUN: sinter inspect %t/symbolic.mlir --stage asm --target vulkan:h200 \
// RUN:   > %t/symbolic
// RUN: FileCheck %s --check-prefix=ROUNDED < %t/symbolic
// RUN: %spirv_val %t/symbolic
// RUN: sinter inspect %t/known.mlir --stage asm --target vulkan:lavapipe \
// RUN:   | FileCheck %s --check-prefix=BARE
// RUN: sinter inspect %t/known.mlir --stage asm --target vulkan:h200 \
// RUN:   --numerics fast | FileCheck %s --check-prefix=BARE
// RUN: sinter inspect %t/power.mlir --stage asm --target vulkan:h200 \
// RUN:   | FileCheck %s --check-prefix=BARE
// RUN: sinter inspect %t/tensor.mlir --stage asm --target vulkan:h200 \
// RUN:   | FileCheck %s --check-prefix=BARE
// RUN: sinter inspect %t/tensor.mlir --stage asm --target vulkan:h200 \
// RUN:   --numerics exact > %t/exact
// RUN: FileCheck %s --check-prefix=EXACT < %t/exact
// RUN: %spirv_val %t/exact
// RUN: sinter inspect %t/tensor.mlir --stage asm --target vulkan:lavapipe \
// RUN:   --numerics exact | FileCheck %s --check-prefix=BARE

// ROUNDED: spirv.FDiv %{{.*}}no_contraction
// ROUNDED-COUNT-6: spirv.GL.Fma %{{.*}}no_contraction
// ROUNDED-NOT: spirv.GL.Fma
// ROUNDED: spirv.Select
// EXACT: spirv.FDiv %{{.*}}no_contraction
// EXACT-COUNT-6: spirv.GL.Fma %{{.*}}no_contraction
// EXACT: spirv.Select
// BARE-NOT: spirv.GL.Fma

//--- known.mlir
func.func @main(%x: tensor<40x15xf32>) -> tensor<15xf32> {
  %0 = sinter.mean %x {axes = array<i64: 0>, keepdims = false} : (tensor<40x15xf32>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}
//--- symbolic.mlir
#rows = affine_map<()[s0] -> (s0, 15)>
func.func @main(%x: tensor<?x15xf32, #rows>) -> tensor<15xf32> {
  %0 = sinter.mean %x {axes = array<i64: 0>, keepdims = false} : (tensor<?x15xf32, #rows>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}
//--- power.mlir
func.func @main(%x: tensor<64x15xf32>) -> tensor<15xf32> {
  %0 = sinter.mean %x {axes = array<i64: 0>, keepdims = false} : (tensor<64x15xf32>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}
//--- tensor.mlir
func.func @main(%x: tensor<40x15xf32>, %y: tensor<40x15xf32>) -> tensor<40x15xf32> {
  %0 = sinter.div %x, %y : (tensor<40x15xf32>, tensor<40x15xf32>) -> tensor<40x15xf32>
  return %0 : tensor<40x15xf32>
}
