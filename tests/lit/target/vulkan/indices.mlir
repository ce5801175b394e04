// Indices have 32 bits, and say so; of a tensor that is known to be larger than
// those reach, 64. Numbers of 64 bits are compared for the smaller of them. An
// empty loop of matrices gives what it began with.
// RUN: split-file %s %t
// RUN: sinter inspect %t/usual.mlir --stage asm --target vulkan:h200 > %t/usual
// RUN: FileCheck %s --check-prefix=USUAL < %t/usual
// RUN: %spirv_val %t/usual
// RUN: sinter inspect %t/large.mlir --stage asm --target vulkan:h200 > %t/large
// RUN: FileCheck %s --check-prefix=LARGE < %t/large
// RUN: %spirv_val %t/large
// RUN: sinter inspect %t/symbolic.mlir --stage asm --target vulkan:h200 \
// RUN:   | FileCheck %s --check-prefix=SYMBOLIC

// USUAL: // sizes{{ *$}}
// USUAL-NOT: spirv.AccessChain {{.*}}, i64 ->
// USUAL-NOT: spirv.GL.{{[SU]M(in|ax)}} {{.*}} : i64
// USUAL: spirv.SGreaterThan {{.*}} : i64
// LARGE-NOT: // sizes
// LARGE: spirv.AccessChain {{.*}}, i64 ->
// LARGE-NOT: spirv.GL.{{[SU]M(in|ax)}} {{.*}} : i64
// SYMBOLIC: // sizes d0 64 * ;
// SYMBOLIC: !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// SYMBOLIC-NOT: spirv.Select {{.*}}coopmatrix
//--- usual.mlir
func.func @main(%x: tensor<1000xi64>, %y: tensor<1000xi64>) -> tensor<1000xi64> {
  %0 = sinter.maximum %x, %y : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi64>
  return %0 : tensor<1000xi64>
}

//--- large.mlir
func.func @main(%x: tensor<40000x40000xf32>) -> tensor<40000xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<40000x40000xf32>) -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}

//--- symbolic.mlir
#x = affine_map<()[s0] -> (s0, 64)>
#y = affine_map<()[s0] -> (64, s0)>
#z = affine_map<()[s0] -> (64, 64)>
func.func @main(%x: tensor<?x64xbf16, #x>) -> tensor<64x64xbf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x64xbf16, #x>) -> tensor<64x?xbf16, #y>
  %1 = sinter.matmul %0, %x : (tensor<64x?xbf16, #y>, tensor<?x64xbf16, #x>) -> tensor<64x64xbf16>
  return %1 : tensor<64x64xbf16>
}
