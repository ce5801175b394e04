// Outputs of one element of any rank are walked together: one may take the place
// of what another reads, so all is read before the first is written.
// RUN: sinter inspect %s --stage lower | FileCheck %s

// CHECK: memref.load
// CHECK: memref.load
// CHECK: math.trunc
// CHECK: memref.store
// CHECK: memref.store
// CHECK-NOT: memref.load
func.func @main(%a: tensor<1x1xf32>, %b: tensor<f32>) -> (tensor<f32>, tensor<1x1xf32>) {
  %0 = sinter.reshape %a {shape = affine_map<() -> ()>} : (tensor<1x1xf32>) -> tensor<f32>
  %1 = sinter.add %0, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = sinter.trunc %a : (tensor<1x1xf32>) -> tensor<1x1xf32>
  return %1, %2 : tensor<f32>, tensor<1x1xf32>
}
