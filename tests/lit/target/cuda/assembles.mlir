// NVIDIA's assembler takes what skeletons give, and spills nothing.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/gather.mlir --stage ptx --target cuda:sm_80 > %t/gather.ptx
// RUN: %ptxas -arch=sm_80 -v %t/gather.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_80 > %t/columns.ptx
// RUN: %ptxas -arch=sm_80 -v %t/columns.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/matmul.mlir --stage ptx --target cuda:sm_90 > %t/matmul.ptx
// RUN: %ptxas -arch=sm_90 -v %t/matmul.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/prefix.mlir --stage ptx --target cuda:sm_90 > %t/prefix.ptx
// RUN: %ptxas -arch=sm_90 -v %t/prefix.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/product.mlir --stage ptx --target cuda:sm_80 > %t/product.ptx
// RUN: %ptxas -arch=sm_80 -v %t/product.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/attention.mlir --stage ptx --target cuda:sm_80 > %t/attention.ptx
// RUN: FileCheck %s --check-prefix=LAUNCHED < %t/attention.ptx
// RUN: %ptxas -arch=sm_80 -v %t/attention.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/turn.mlir --stage ptx --target cuda:sm_80 > %t/turn.ptx
// RUN: %ptxas -arch=sm_80 -v %t/turn.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_90 > %t/softmax.ptx
// RUN: %ptxas -arch=sm_90 -v %t/softmax.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: not sinter inspect %t/prefix.mlir --stage ptx 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU

// CHECK: 0 bytes spill stores, 0 bytes spill loads
// More than a block may declare is asked for by the launch, which reads how much
// in the array's name.
// LAUNCHED: .extern .shared .align 16 .b8 attention_{{[0-9a-f]+}}_launched_87040[];
// CPU: error: inspect: target cpu has no PTX; name one with --target cuda:sm_90

//--- gather.mlir
func.func @main(%x: tensor<100x64xf32>, %i: tensor<33xi64>) -> tensor<33x64xf32> {
  %0 = sinter.index_select %x, %i {axis = 0 : i64} : (tensor<100x64xf32>, tensor<33xi64>) -> tensor<33x64xf32>
  return %0 : tensor<33x64xf32>
}
//--- columns.mlir
func.func @main(%x: tensor<500x300xbf16>) -> tensor<300xbf16> {
  %0 = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<500x300xbf16>) -> tensor<300xbf16>
  return %0 : tensor<300xbf16>
}
//--- matmul.mlir
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = sinter.matmul %x, %w : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = sinter.relu %0 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}
//--- prefix.mlir
func.func @main(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = sinter.cumsum %x {axis = 1 : i64, reverse = false} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}
//--- product.mlir
func.func @main(%x: tensor<2x128x512xbf16>, %w: tensor<2x512x100xbf16>) -> tensor<2x128x100xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<2x128x512xbf16>, tensor<2x512x100xbf16>) -> tensor<2x128x100xbf16>
  return %0 : tensor<2x128x100xbf16>
}
//--- attention.mlir
func.func @main(%q: tensor<2x5x64xf32>, %k: tensor<2x7x64xf32>, %m: tensor<2x5x7xf32>, %v: tensor<2x7x64xf32>, %g: tensor<2x5x64xf32>, %l: tensor<2x5x1xf32>, %d: tensor<2x5x1xf32>) -> tensor<2x7x64xf32> {
  %0 = sinter.attention_key_gradient %q, %k, %m, %v, %g, %l, %d {factor = 2.000000e+00 : f64, scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x64xf32>, tensor<2x7x64xf32>, tensor<2x5x7xf32>, tensor<2x7x64xf32>, tensor<2x5x64xf32>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x7x64xf32>
  return %0 : tensor<2x7x64xf32>
}

//--- turn.mlir
func.func @main(%x: tensor<5x300x77xbf16>, %y: tensor<5x77x300xbf16>) -> tensor<5x77x300xbf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<5x300x77xbf16>) -> tensor<5x77x300xbf16>
  %1 = sinter.add %0, %y : (tensor<5x77x300xbf16>, tensor<5x77x300xbf16>) -> tensor<5x77x300xbf16>
  return %1 : tensor<5x77x300xbf16>
}

//--- softmax.mlir
func.func @main(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}
