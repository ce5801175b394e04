// tanh and erf of f32 by the machine's power of two, and what tanh divides by
// its quick division; in `exact` as on every other machine.
// RUN: split-file %s %t
// RUN: sinter inspect %t/tanh.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=TANH
// RUN: sinter inspect %t/erf.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ERF
// RUN: sinter inspect %t/tanh.mlir --numerics exact --stage ptx \
// RUN:   --target cuda:sm_90 | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %t/tanh.mlir --stage asm --target vulkan:h200 > %t.spv
// RUN: %spirv_val %t.spv

// TANH-NOT: div.rn
// TANH: ex2.approx
// TANH-NOT: div.rn
// TANH: div.approx.f32
// TANH-NOT: div.rn

// ERF: ex2.approx

// EXACT-NOT: .approx
// EXACT: div.rn.f32
// EXACT-NOT: .approx

//--- tanh.mlir
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = sinter.tanh %x : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
//--- erf.mlir
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = sinter.erf %x : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
