// A compiled file runs without mapping the compiler.
// RUN: sinter compile %s -o %t.sinter
// RUN: env LD_DEBUG=files sinter run %t.sinter --random-inputs 1 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=libLLVM --implicit-check-not=libMLIR
// CHECK: output0: f32[4]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
