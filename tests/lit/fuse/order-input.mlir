// What comes after an input comes after nothing; a view of the input that only
// said so is no kernel.
// RUN: sinter inspect %s --stage fuse --fusion none | FileCheck %s

// CHECK-NOT: sinter.reshape
// CHECK: sinter.abs
// CHECK-NOT: sinter.reshape
func.func @main(%x: tensor<15xf32>, %y: tensor<5x3xf32>) -> tensor<15xf32> {
  %0 = sinter.reshape %y {shape = affine_map<() -> (15)>} : (tensor<5x3xf32>) -> tensor<15xf32>
  %1 = sinter.after %x, %0 : (tensor<15xf32>, tensor<15xf32>) -> tensor<15xf32>
  %2 = sinter.abs %1 : (tensor<15xf32>) -> tensor<15xf32>
  return %2 : tensor<15xf32>
}
