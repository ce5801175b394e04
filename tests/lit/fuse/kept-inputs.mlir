// A product's kernel knows a parameter that stays the same: of these not the
// data, not what a result may be the next value of, and not a small one.
// RUN: sinter inspect %s --stage fuse | FileCheck %s

// CHECK: program.kernel @contraction_{{.*}}schedule = #program.schedule<skeleton = contraction, tile = "block {{[^"]*}}", kept_inputs = [0]>
// CHECK: sinter.transpose
// CHECK: program.kernel @contraction_
// CHECK-NOT: kept_inputs
func.func @main(%x: tensor<8x128xf32>, %w: tensor<256x128xf32> {sinter.kind = "parameter"}, %v: tensor<256x256xf32> {sinter.kind = "parameter"}) -> (tensor<8x256xf32>, tensor<256x256xf32>) {
  %t = sinter.transpose %w {permutation = array<i64: 1, 0>} : (tensor<256x128xf32>) -> tensor<128x256xf32>
  %0 = sinter.matmul %x, %t : (tensor<8x128xf32>, tensor<128x256xf32>) -> tensor<8x256xf32>
  %1 = sinter.matmul %0, %v : (tensor<8x256xf32>, tensor<256x256xf32>) -> tensor<8x256xf32>
  %2 = sinter.exp %v : (tensor<256x256xf32>) -> tensor<256x256xf32>
  return %1, %2 : tensor<8x256xf32>, tensor<256x256xf32>
}
