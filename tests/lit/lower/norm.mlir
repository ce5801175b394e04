// A row's length is a number: loops over a normalized row take two vectors at
// a time.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v3 | FileCheck %s

// CHECK-LABEL: func.func @rowwise_
// CHECK-NOT: vector<8xf32>
// CHECK-COUNT-4: vector.load {{.*}} vector<16xf32>
// CHECK: math.rsqrt
// CHECK: scf.for {{.*}} step %c16
// CHECK: vector.store {{.*}} vector<16xf32>
func.func @main(%x: tensor<32x128xf32>, %w: tensor<128xf32>, %b: tensor<128xf32>) -> tensor<32x128xf32> {
  %0 = sinter.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : (tensor<32x128xf32>, tensor<128xf32>, tensor<128xf32>) -> tensor<32x128xf32>
  return %0 : tensor<32x128xf32>
}
